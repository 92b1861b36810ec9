"""What is asked on the Consistency page: its choices, checked, and their answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from sampledash.comparison.means import exact_means
from sampledash.comparison.order import M_CAP, Orders, largest_m, quick_ladder
from sampledash.comparison.verdict import verdict_at_m
from sampledash.correction import Correction, correction
from sampledash.dashboard import cache, page, state
from sampledash.dashboard.consistency.result import Asked, Scene
from sampledash.dashboard.explore.result import LIVE
from sampledash.dashboard.page import Problem
from sampledash.dashboard.ranks import Source
from sampledash.metrics import Metric
from sampledash.protocol import Options, Protocol, Weighting
from sampledash.ranksets import RankSet
from sampledash.report.numbers import count

# As shown and as written in a link -> as the core names it. BV takes the γ of the sidebar.
CORRECTIONS = {
    "uncorrected": "uncorrected", "rank estimate": "rank-estimate", "CLS": "monotone",
    "BV": "bias-variance",
}  # fmt: skip
WEIGHTINGS: dict[str, Weighting] = {"instances": "instances", "relevant items": "relevant-items"}
TIES = ("expected", "optimistic", "pessimistic")
DEFAULTS: dict[str, Any] = {
    "also_k": [], "correction": "uncorrected", "weighting": "instances", "ties": "expected",
    "shown": None,
}  # fmt: skip

_GOOD = "_consistency_good"


def chosen_metrics() -> tuple[Metric, ...]:
    """The chips at the shared cutoff and at those added to it."""
    settings = state.current()
    cutoffs = sorted({settings.k, *(st.session_state.get("also_k") or [])})
    found = [
        state.chip_metric(chip, k, settings.n)
        for chip in state.CHIPS
        if chip in state.value("metrics")
        for k in (cutoffs if state.CHIPS[chip][1] else [settings.k])
    ]
    return tuple(dict.fromkeys(found))


def recipe(name: str, gamma: float) -> Correction:
    """The correction behind a choice; only BV takes γ."""
    if name == "BV" and gamma == 0:
        raise ValueError("gamma = 0 has no usable vector beyond m of about 20: take gamma above 0")
    return correction(CORRECTIONS[name], gamma=gamma if name == "BV" else None)


def needs_fit(which: Correction) -> bool:
    """Whether each m takes a fit of its own."""
    return which.name in ("monotone", "bias-variance", "least-squares")


def ask(source: Source) -> Asked:
    """Check the choices; a ValueError names what is wrong."""
    settings = state.current()
    metrics = chosen_metrics()
    if not metrics:
        raise ValueError("no metric is chosen: pick at least one above the picture")
    chosen = recipe(state.value("correction", DEFAULTS), settings.gamma)
    options: Options = {"scheme": settings.scheme, "correction": chosen}
    if settings.scheme == "popularity":
        options["odds"] = settings.odds
    # Choices that are not drawn because the data leave nothing to choose do not count.
    if any(ranks.has_ties for ranks in source.sets):
        options["ties"] = state.value("ties", DEFAULTS)
    if several(source.sets):
        options["weighting"] = WEIGHTINGS[state.value("weighting", DEFAULTS)]
    protocol = Protocol.of(options)
    for ranks in source.sets:
        protocol.check(ranks, settings.m)
    most = LIVE if needs_fit(chosen) else M_CAP
    if settings.m > most:
        what = f"this page corrects with {chosen}" if most == LIVE else "this page looks at"
        raise ValueError(
            f"m = {settings.m} is more than {what}: take m <= {most}, "
            "or call sampledash.verdict from Python"
        )
    return Asked(source, metrics, settings.m, options)


def trouble(error: ValueError, source: Source) -> Problem:
    """Why it cannot be computed; too many negatives are put right with a click."""
    said, limits = state.spelled(error), [M_CAP]
    if state.SCHEMES[state.value("scheme")] == "without-replacement":
        limits += [ranks.max_negatives for ranks in source.sets]
    if state.value("correction", DEFAULTS) in ("CLS", "BV"):
        limits.append(LIVE)
    most = min(limits)
    if int(state.value("m")) <= most:
        return Problem(said)

    def take() -> None:
        st.session_state["m"] = most

    return Problem(said, f"Take m = {count(most)}", take)


def several(sets: Sequence[RankSet]) -> bool:
    """Whether some instance has several relevant items."""
    return any(ranks.max_relevant > 1 for ranks in sets)


def find(asked: Asked) -> tuple[Orders, int]:
    """The order of every pair over m: every m, or a quick look where each m takes a fit.

    Also the number of values of m of the quick look, 0 if every m was looked at.
    """
    protocol, sets = asked.protocol, asked.sets
    m_max = max(largest_m(sets, None, protocol), min(asked.m, M_CAP))
    values, ladder = None, 0
    if needs_fit(protocol.correction):
        ladder = len(quick_ladder(m_max))
        values = sorted({*quick_ladder(m_max), asked.m})
    with page.progress(
        "Looking at every m" if values is None else f"Fitting {protocol.correction} over m"
    ) as report:
        found = cache.orders(
            asked.metrics, sets, m_max, protocol, shared=asked.source.bundled,
            progress=report, m_values=values,
        )  # fmt: skip
    return found, ladder


def look(asked: Asked) -> Scene:
    """Compute, or take from the cache, what is shown. Only the verdict depends on m."""
    found, ladder = find(asked)
    source, protocol = asked.source, asked.protocol
    exact = cache.cached(
        ("exact", asked.key),
        lambda: exact_means(asked.metrics, asked.sets, protocol),
        shared=source.bundled,
    )
    columns = cache.cached(
        ("verdict", asked.key, asked.m),
        lambda: verdict_at_m(found, asked.metrics, asked.sets, asked.m, protocol, exact),
        shared=source.bundled,
    )
    return Scene(asked, found, exact, columns, ladder)


def remembered() -> Asked | None:
    """What was shown last without an error."""
    return st.session_state.get(_GOOD)


def remember(asked: Asked) -> None:
    """Note what is shown, for the next error."""
    st.session_state[_GOOD] = asked


def locked_n(source: Source) -> tuple[int, str]:
    """n as the data have it, and how to say so in a narrow field."""
    low = min(int(ranks.n.min()) for ranks in source.sets)
    high = max(int(ranks.n.max()) for ranks in source.sets)
    span = count(high) if low == high else f"{count(low)} to {count(high)}"
    return high, f"{span}, from the data"
