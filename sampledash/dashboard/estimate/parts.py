"""The parts of the Correct page on sampled ranks: sentence, picture, numbers, tabs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.dashboard import page, state
from sampledash.dashboard.estimate import pictures as figures
from sampledash.dashboard.estimate import words
from sampledash.dashboard.estimate.scene import METHODS, Scene
from sampledash.dashboard.estimate.source import SOURCES
from sampledash.dashboard.grid import rank_grid
from sampledash.dashboard.words import NO_GAMMA, escaped, outside, system_name
from sampledash.estimation import fitted, gamma_table
from sampledash.report.numbers import count, percent
from sampledash.sampledranks import SampledRankSet

NAMES = ("Estimates", "True ranks", "Which γ")
VIEWS = ("Every estimator", "Pairs")
DEFAULTS: dict[str, Any] = {"estimate_tab": NAMES[0], "estimates_view": VIEWS[0]}
# What a link can choose, and the default.
OFFERED: state.Offered = {
    "estimator": (METHODS, next(iter(METHODS))), "sampled_source": (SOURCES, SOURCES[0]),
    "estimate_tab": (NAMES, NAMES[0]), "estimates_view": (VIEWS, VIEWS[0]),
}  # fmt: skip


def estimator_choice() -> None:
    """Which estimate the dots show."""
    st.selectbox(
        "Estimate by", list(METHODS), key="estimator", bind="query-params",
        help=(
            "Side by side: as the shape-constrained MLE, begun from one distribution for all "
            "systems, so that errors cancel in differences. "
            "Shape-constrained MLE: most likely if no rank is more frequent than a better one. "
            "MLE, MES: most likely, and of maximum entropy. BV-…: the corrected vector with that "
            "prior. MN: bias² and variance weighed by the number of instances. Priors are learned "
            "from the same sampled ranks."
        ),
    )  # fmt: skip


def headline(scene: Scene) -> None:
    """The verdict."""
    icon, color = words.VERDICTS[scene.word]
    values = [row.value or 0.0 for row in scene.rows]
    said = words.sentence(
        str(scene.asked.metric), scene.word, [system_name(row.name) for row in scene.rows], values,
        "samples", scene.method, scene.rows[0].free,
    )  # fmt: skip
    badge = f":{color}-badge[{icon} {scene.word}] " if scene.pairs else ""
    st.markdown(f"### {badge}{said}")
    for note in scene.notes:
        st.caption(escaped(note))


def picture(scene: Scene, *, dim: bool) -> None:
    """Ranges and estimates, one row a system."""
    page.picture(
        figures.ranges(str(scene.asked.metric), scene.rows, dark=page.is_dark()),
        key="estimate_ranges", dim=dim,
        alt="; ".join(
            f"{row.name}: {percent(row.free[0])} to {percent(row.free[1])}" for row in scene.rows
        ),
    )  # fmt: skip
    known = words.TICK if scene.rows[0].exact is not None else ""
    legend = words.LEGEND if any(row.falling for row in scene.rows) else words.WIDE
    if not dim:
        st.caption(legend + words.DOT + known)


def numbers(scene: Scene) -> None:
    """The strip."""
    pairs, sets = len(scene.pairs), scene.asked.sets
    widest = max(row.free[1] - row.free[0] for row in scene.rows)
    falling = f"{scene.decided_if_falling} of {pairs}"
    if any(row.falling is None for row in scene.rows):
        falling = "not offered" if scene.asked.adaptive else "contradicted"
    shown = [
        ("Left open", f"{100 * widest:.2f} points",
         f"Widest range of {scene.asked.metric} that one system's samples allow."),
        ("Sampled ranks", count(max(one.n_instances for one in sets)),
         "Of a system, its instances counted."),
    ]  # fmt: skip
    if pairs:
        shown = [
            ("Pairs decided", f"{scene.decided} of {pairs}",
             "Whatever the ranks behind these samples were, at 95 %."),
            ("If ranks fall off", falling,
             "Decided where no rank is more frequent than a better one: an assumption. Where what "
             "was drawn decided m, ranges with it were found not to hold."),
            *shown,
        ]  # fmt: skip
    for place, (label, value, about) in zip(
        st.container(key="strip").columns(len(shown)), shown, strict=True
    ):
        place.metric(label, value, help=about)


def tabs(scene: Scene) -> None:
    """Only the open tab is computed."""
    drawn = (estimates, true_ranks, which_gamma)
    for tab, draw in zip(
        st.tabs(list(NAMES), key="estimate_tab", bind="query-params"), drawn, strict=True
    ):
        if tab.open:
            with tab:
                draw(scene)


def estimates(scene: Scene) -> None:
    """All estimators side by side, or all pairs."""
    view = st.segmented_control(
        "Estimates", list(VIEWS), default=VIEWS[0], required=True, key="estimates_view",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    (pairs if view == VIEWS[1] else every_estimator)(scene)


def estimates_table(scene: Scene) -> pd.DataFrame:
    """Every estimate of every system; the exact value where it is known."""
    asked, rows = scene.asked, []
    for i, row in enumerate(scene.rows):
        found: dict[str, Any] = {"metric": str(asked.metric), "system": row.name}
        found |= _drawn(asked.sets[i])
        values = {name: asked.value(i, name) for name in scene.methods}
        found |= values
        low, high = row.falling or (None, None)
        found |= {"exact": row.exact, "low": row.free[0], "high": row.free[1]}
        found |= {"low if falling": low, "high if falling": high}
        rows.append(
            found | {"outside 0 to 100 %": " ".join(outside({x: [y] for x, y in values.items()}))}
        )
    return pd.DataFrame(rows)


def _drawn(*sets: SampledRankSet) -> dict[str, Any]:
    """How these were sampled, for a table that is taken away."""

    def listed(sizes: set[int]) -> int | str:
        return sizes.pop() if len(sizes) == 1 else ", ".join(map(str, sorted(sizes)))

    n, m = {one.population for one in sets}, {draws.m for one in sets for draws in one.draws}
    adaptive = any(one.is_adaptive for one in sets)
    return {"n": listed(n), "m": listed(m), "scheme": sets[0].scheme, "adaptive": adaptive}


def every_estimator(scene: Scene) -> None:
    """All estimators side by side."""
    table = estimates_table(scene)
    wanted = scene.methods
    printed = {"Estimator": wanted}
    for row, values in zip(scene.rows, table[wanted].to_numpy(dtype=float), strict=True):
        printed[system_name(row.name)] = [percent(float(x)) for x in values]
    frame = pd.DataFrame(printed)
    if scene.rows[0].exact is not None:
        known = [percent(row.exact or 0.0) for row in scene.rows]
        frame.loc[len(frame)] = ["**on all items**", *known]
    st.table(frame, hide_index=True)
    for note in outside({name: table[name].tolist() for name in wanted}):
        st.caption(escaped(note))
    page.take(table, "estimates")


def true_ranks(scene: Scene) -> None:
    """Where the relevant items stand, as estimated."""
    asked = scene.asked
    n = max(one.population for one in asked.sets)
    grid = rank_grid(n)

    def make() -> dict[str, Any]:
        found = {}
        for one in asked.sets:
            if one.population > 10**6:
                raise ValueError(f"n = {one.population} is too large to draw: take n <= 1000000")
            shares = np.cumsum(fitted(one, "monotone-mle").probabilities())
            found[one.system] = shares[np.minimum(grid, len(shares)) - 1]
        return found

    try:
        estimated = asked.kept(f"below|{asked.source.key}", make)
    except ValueError as error:
        st.info(escaped(str(error)), icon=":material/info:")
        return
    exact = {
        ranks.system: np.asarray(rank_distribution_at(ranks, grid, ties="expected"))
        for ranks in asked.source.true
    }
    page.picture(
        figures.ranks_below(grid, estimated, exact, dark=page.is_dark()), key="estimate_below",
        alt=f"Share of relevant items up to each true rank of {len(estimated)} systems.",
    )  # fmt: skip
    st.caption(
        "Estimated as the most likely distribution in which no rank is more frequent than a better "
        "one." + (" Dashed: as it is." if exact else "")
    )


def which_gamma(scene: Scene) -> None:
    """Bias, scatter and error of the corrected mean against γ, for the first system's ranks."""
    asked = scene.asked
    names = [one.system for one in asked.sets]
    place = names.index(st.selectbox("System", names, key="gamma_of")) if len(names) > 1 else 0
    one = asked.sets[place]
    if one.is_adaptive:
        st.info(NO_GAMMA, icon=":material/info:")
        return
    sampling = one.sampling(one.draws[-1].m)
    table: pd.DataFrame = asked.kept(
        f"gamma|{one.digest}",
        lambda: gamma_table(asked.metric, sampling, one.n_instances, fitted(one, "monotone-mle")),
    )
    suggested, best = table.iloc[0], table.iloc[int(table["mse"].to_numpy().argmin())]
    st.markdown(f"**{words.best_gamma(dict(best), dict(suggested), str(asked.metric))}**")
    ordered = table.sort_values("gamma")
    page.picture(
        figures.errors_over_gamma(
            ordered["gamma"].to_numpy(), ordered["bias"].abs().to_numpy(),
            np.sqrt(ordered["variance"].to_numpy()), np.sqrt(ordered["mse"].to_numpy()),
            suggested=float(suggested["gamma"]), best=float(best["gamma"]), dark=page.is_dark(),
        ),
        key="estimate_gamma",
        alt=f"Bias, scatter and error over γ; least at γ = {best['gamma']:g}.",
    )  # fmt: skip
    st.caption(words.price_of_gamma(dict(ordered.iloc[0])))
    page.take(table, "gamma")


def pairs(scene: Scene) -> None:
    """Every pair: the range of its difference, without and with the assumption."""
    if not scene.pairs:
        st.info("One system alone has no pair: add the sampled ranks of a second one.",
                icon=":material/info:")  # fmt: skip
        return
    rows = [
        (pair.first, pair.second, name, *span)
        for pair in scene.pairs
        for name, span in (("none", pair.free), ("ranks fall off", pair.falling))
        if span is not None
    ]
    table = pd.DataFrame(rows, columns=["first", "second", "assumption", "low", "high"])
    drawn = {one.system: one for one in scene.asked.sets}
    how = [_drawn(drawn[a], drawn[b]) for a, b, *_ in rows]
    table = pd.concat([table, pd.DataFrame(how).assign(metric=str(scene.asked.metric))], axis=1)
    printed = pd.DataFrame(
        [
            (
                f"{system_name(a)} − {system_name(b)}", name, words.span(low, high),
                words.told(system_name(a), system_name(b), low, high),
            )
            for a, b, name, low, high in rows
        ],
        columns=["Pair", "Assumption", "Difference lies in", "So"],
    )  # fmt: skip
    page.table(printed, table, "pairs")
