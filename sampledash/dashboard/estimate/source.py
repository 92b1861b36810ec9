"""Where sampled ranks come from: one run on the bundled ranks, uploaded files or pasted text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.dashboard import cache, page, state
from sampledash.dashboard.estimate import words
from sampledash.dashboard.estimate.result import DATA, Sampled
from sampledash.dashboard.page import Problem
from sampledash.dashboard.uploads import carry, pasted, template, upload
from sampledash.dashboard.words import LONGEST_NAME, adaptive, escaped
from sampledash.ranksets import RankSet
from sampledash.readers import (
    MissingCandidates,
    MissingNegatives,
    NoRankColumn,
    Opened,
    ZeroBasedRanks,
    example,
    lacks,
    open_text,
    sampled_sets,
)
from sampledash.report.numbers import count, shortened
from sampledash.simulation import sample_ranks

EXAMPLE, UPLOAD, PASTE = "MovieLens 1M: one run", "Upload a file", "Paste sampled ranks"
SOURCES = (EXAMPLE, UPLOAD, PASTE)
DEFAULTS: dict[str, Any] = {"sampled_source": EXAMPLE, "draw_seed": 1, "m_set": False}
SEED = "Another seed draws other negatives."
MOST_M = 2_000
MOST_SYSTEMS = 8  # shown at a time: every pair of them is compared
PLACEHOLDER = (
    "m = 100, n = 3706\nsystem,sampled_rank,count\nA,1,310\nA,2,120\nA,7,41\nB,1,290\nB,9,30"
)
IN_LINK, MOST_IN_LINK = "sampled", 1_000
_SHIFT, _SHOWN = "_sampled_from_0", "_sampled_shown"


@dataclass(frozen=True)
class Given:
    """What was given, before n, m and the scheme are known."""

    ident: str  # the same only for the same content
    opened: Opened | None = None  # parsed files; None for the bundled run
    about: DeltaGenerator | None = None  # where that is described, once the sidebar has told m

    @property
    def lacks(self) -> tuple[bool, bool]:
        """Whether n and m are to come from the sidebar."""
        return (False, True) if self.opened is None else lacks(self.opened)


def choose() -> Given:
    """Draw the choice; a ValueError, such as a Problem, says why there is nothing yet."""
    about = "The rank of each relevant item among itself and its sampled negatives, 1 to m + 1."
    chosen = page.segments("Sampled ranks of", SOURCES, "sampled_source", help=about)
    if chosen != PASTE:
        carry(IN_LINK, "")
    try:
        if chosen != EXAMPLE:
            return _uploaded() if chosen == UPLOAD else _pasted()
    except NoRankColumn as error:
        raise ValueError(error.sampled) from None
    left, right = st.columns([1, 5], vertical_alignment="bottom")
    linked: dict[str, Any] = {"key": "draw_seed", "bind": "query-params"}
    left.number_input("Seed", 0, value=1, step=1, help=SEED, **linked)
    return Given(DATA, about=right)


def true_ranks() -> tuple[RankSet, ...]:
    """The bundled ranks."""
    return cache.cached(("bundled", DATA), lambda: tuple(example(DATA)), shared=True)


def _uploaded() -> Given:
    last = upload(
        "Sampled ranks as CSV, TSV, Parquet or .npy; also packed as .gz",
        lambda: template("Template", "sampled.csv", "sampled-ranks.csv", "text/csv", "sampled"),
        key="sampled_file",
        help="Columns system and sampled_rank, or one column per system. Optional: instance, "
        "n_candidates, m, count, seed, adaptive (yes or no). Files stay in this session "
        "and never travel in a link.",
        asking="Choose a file of sampled ranks.",
    )
    return _given(last.ident, last.parse)


def _pasted() -> Given:
    typed = pasted(
        "Sampled ranks: a table with a header, or one system a line",
        key="sampled_typed",
        address=IN_LINK,
        height=140,
        placeholder=PLACEHOLDER,
        help="'A: 1, 1, 7', or a table as in a file; 'm = 100, n = 3706' may stand on a line.",
    )
    carry(IN_LINK, typed if len(typed) <= MOST_IN_LINK else "")
    if len(typed) > MOST_IN_LINK:
        st.caption(f"Up to {count(MOST_IN_LINK)} characters travel in a link; these do not.")
    if not typed.strip():
        raise Problem("Paste sampled ranks, as in the example.", asking=True)
    return _given(f"typed-{hash(typed)}", lambda: open_text(typed))


def _given(ident: str, parse: Callable[[], Opened]) -> Given:
    return Given(ident, cache.cached(("opened", ident), parse, shared=False, large=True))


def sampled(given: Given) -> Sampled:
    """The sampled ranks, with the n, m and scheme of the sidebar where the data say none."""
    settings, seed = state.current(), int(state.value("draw_seed", DEFAULTS))
    if given.about is not None:
        given.about.caption(words.about_example(len(true_ranks()[0]), settings.m, seed))
    lacks_n, lacks_m = given.lacks
    n, m = settings.n if lacks_n else None, settings.m if lacks_m else None
    if m is not None:
        _require_few(m)
    scheme, opened = settings.scheme, given.opened
    if opened is None:
        rng = np.random.default_rng(seed)
        sets = cache.cached(
            ("run", DATA, settings.m, scheme, seed),
            lambda: tuple(
                sample_ranks(x, settings.m, rng, fit_scheme=scheme) for x in true_ranks()
            ),
            shared=True,
        )
        return Sampled(sets, bundled=True, true=true_ranks())
    shift = st.session_state.get(_SHIFT) == given.ident
    sets = cache.cached(
        ("sampled", given.ident, n, m, scheme, shift),
        lambda: tuple(sampled_sets(opened, n=n, m=m, scheme=scheme, zero_based=shift)),
        shared=False,
    )
    _require_few(max(one.outcomes.m[-1] for one in sets))
    return Sampled(sets)


def _require_few(m: int) -> None:
    if m > MOST_M:
        raise ValueError(
            f"m = {m} is more than this page estimates from: take m <= {MOST_M}, "
            "or call sampledash.estimate from Python"
        )


def shown(source: Sampled, given: Given) -> Sampled:
    """Draw what was read, and a choice of systems where there are many; return the chosen."""
    total = len(source.sets)
    if not source.bundled:
        names = [shortened(one.system, LONGEST_NAME) for one in source.sets]
        st.caption(escaped(words.understood(names, sum(map(len, source.sets)))))
    source = _as_said(source)
    if total <= MOST_SYSTEMS:
        return source
    kept: dict[str, list[int]] = st.session_state.setdefault(_SHOWN, {})
    before = [place for place in kept.get(given.ident, range(MOST_SYSTEMS)) if place < total]
    chosen = st.multiselect(
        f"Systems shown, up to {MOST_SYSTEMS} of {count(total)}",
        range(total),
        default=before,
        format_func=lambda place: source.sets[place].system,
        max_selections=MOST_SYSTEMS,
        key=f"shown_{given.ident}_{total}",
        help="Every pair of them is compared.",
    )
    st.session_state[_SHOWN] = {given.ident: chosen}
    some = tuple(source.sets[place] for place in sorted(chosen))
    return replace(source, sets=some, whole=source.sets)


def _as_said(source: Sampled) -> Sampled:
    """Say where what was drawn decided m, and let the reader know better."""
    found = [one for one in source.sets if one.is_adaptive]
    if not found:
        return source
    names = [shortened(one.system, LONGEST_NAME) for one in found]
    chances = [one.chance_if_set for one in found if one.adaptive is None]
    if not st.session_state.get("m_set", DEFAULTS["m_set"]):
        said = adaptive(names, max(chances, default=None))
        st.info(escaped(said), icon=":material/info:")
    if not st.checkbox(
        "m was set beforehand",
        key="m_set",
        bind="query-params",
        help="Then m may differ between instances, but not by what was drawn for them, and all "
        "estimators apply.",
    ):
        return source
    return replace(source, sets=tuple(replace(one, adaptive=False) for one in source.sets))


def trouble(error: ValueError, ident: str) -> Problem:
    """Why there is nothing to estimate from, with a way out where there is one."""
    if isinstance(error, ZeroBasedRanks):
        shift, label = {_SHIFT: ident}, "The ranks count from 0: add 1"
        return Problem(state.spelled(error), (label, lambda: st.session_state.update(shift)))
    if isinstance(error, MissingCandidates | MissingNegatives):
        return Problem(state.spelled(error), asking=True)
    return Problem.of(error)
