"""How sure is the order: in one run, over other instances, and what would make it sure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.dashboard import page, state
from sampledash.dashboard.consistency import pictures_plan as planning
from sampledash.dashboard.consistency import plan
from sampledash.dashboard.consistency import words_sure as words
from sampledash.dashboard.consistency.closer import Part
from sampledash.dashboard.consistency.result import Scene
from sampledash.dashboard.words import escaped, plain, system_name
from sampledash.ranksets import RankSet
from sampledash.report.numbers import in_runs
from sampledash.types import Progress

Bounds = dict[int, tuple[float, float]]  # by pair

VIEWS = ("One run", "Over instances", "Plan")
SEED = 1  # of the resamples
NO_BOUNDS = (float("nan"), float("nan"))
_ASKED = "_consistency_bounds"
DEFAULTS: dict[str, Any] = {"sure_view": VIEWS[0], **plan.DEFAULTS}


def tab(scene: Scene, x: int, pair: int) -> None:
    """One section at a time; only that one is computed."""
    view = st.segmented_control(
        "How sure", list(VIEWS), default=DEFAULTS["sure_view"], required=True, key="sure_view",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    part = Part.of(scene, x, pair)
    if part.note:
        st.caption(part.note)
    draw = {VIEWS[1]: over_instances, VIEWS[2]: plan.view}.get(view or "", one_run)
    try:
        draw(part)
    except ValueError as error:  # what these data do not allow, such as fractions as counts
        st.info(escaped(state.spelled(error)), icon=":material/info:")


def one_run(part: Part) -> None:
    """Chance of the true order, with negatives of one's own or shared ones (Table 4)."""
    scene, asked = part.scene, part.scene.asked
    pairs = part.pairs[: page.MOST_ROWS]
    picture = st.container()
    bounds, why = _bounds_if_asked(part, pairs)
    i, j, truth = scene.pair(part.x, part.pair)
    names = system_name(scene.systems[i]), system_name(scene.systems[j])
    chances = {pair: float(scene.chances[part.x, pair]) for pair in pairs}
    with picture:
        st.markdown(
            words.one_run(*names, asked.m, chances[part.pair], *bounds.get(part.pair, NO_BOUNDS))
            if truth
            else words.tied(*names)
        )
        page.picture(
            planning.chances(
                [plain(part.label(pair)) for pair in pairs], list(chances.values()),
                [bounds.get(pair, NO_BOUNDS)[0] for pair in pairs],
                [bounds.get(pair, NO_BOUNDS)[1] for pair in pairs], dark=page.is_dark(),
            ),
            key="consistency_chances",
            alt="; ".join(f"{part.label(p)}: {in_runs(chance)}" for p, chance in chances.items()),
        )  # fmt: skip
    shared = words.SHARED if bounds else ""
    st.caption(words.OWN + (f"No bounds for shared ones: {why}" if why else shared))
    printed = {"Pair": [scene.label(pair, system_name) for pair in pairs]}
    others = [y for y in range(len(asked.metrics)) if y != part.x]
    for y in [part.x, *others]:
        printed[str(asked.metrics[y])] = [in_runs(float(scene.chances[y, p])) for p in pairs]
        if y == part.x and bounds:
            printed["if shared"] = [_range(*bounds.get(pair, NO_BOUNDS)) for pair in pairs]
    page.table(
        pd.DataFrame(printed), lambda: chances_table(part, bounds), "chances", rows=scene.pairs
    )


def _range(low: float, high: float) -> str:
    if not np.isfinite(low):
        return "–"
    ends = in_runs(low), in_runs(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _bounds_if_asked(part: Part, pairs: list[int]) -> tuple[Bounds, str]:
    """Bounds for shared negatives; once asked for, they follow m."""
    key = part.scene.asked.key, part.x
    if st.session_state.get(_ASKED) != key:
        st.button(
            "Bounds for shared negatives", icon=":material/calculate:", key="bounds",
            on_click=lambda: st.session_state.update({_ASKED: key}),
            help="The chance where both systems are ranked against the same negatives.",
        )  # fmt: skip
        return {}, ""
    with page.progress("Bounds for shared negatives") as report:
        return shared_bounds(part, pairs, report)


def shared_bounds(part: Part, pairs: list[int], report: Progress) -> tuple[Bounds, str]:
    """Bounds of the chance where both systems see the same negatives, or why there are none."""
    asked, found = part.scene.asked, {}
    for done, pair in enumerate(pairs):
        report(done / len(pairs))
        sets = [asked.sets[end[pair]] for end in part.scene.ends]

        def make(sets: list[RankSet] = sets) -> tuple[float, float]:
            row = probability_if_shared(part.metric, sets, asked.m, **asked.options).iloc[0]
            return float(row["low"]), float(row["high"])

        try:
            found[pair] = part.get("shared", part.x, pair, make=make)
        except ValueError as error:  # not the same instances, or not as many negatives
            return {}, escaped(state.spelled(error))
    return found, ""


def chances_table(part: Part, bounds: Bounds) -> pd.DataFrame:
    """Chance in one run of every pair and metric; the bounds that were asked for."""
    columns = ["metric", "correction", "better", "worse", "probability"]
    table = part.scene.table[columns].copy()
    if bounds:
        rows = [part.x * part.scene.pairs + pair for pair in bounds]
        table[["low", "high"]] = np.nan
        table.loc[rows, ["low", "high"]] = list(bounds.values())
    return table


def over_instances(part: Part) -> None:
    """Is there anything to order? Significance, and the chance with new instances."""
    with page.progress("Resampling the instances") as report:
        table = significance_table(part, report)
    scene = part.scene
    row = part.row(table, part.pair)
    names = system_name(str(row["better"])), system_name(str(row["worse"]))
    low, high = row["interval"]
    st.markdown(
        words.anything_to_order(
            *names, float(row["difference"]), low, high, float(row["p_holm"]), len(table)
        )
        if scene.pair(part.x, part.pair).truth
        else words.tied(*names)
    )
    rows = [part.row(table, pair) for pair in part.pairs]
    head = rows[: page.MOST_ROWS]
    labels = [f"{plain(r['better'])} − {plain(r['worse'])}" for r in head]
    page.picture(
        planning.differences(
            labels, [float(r["difference"]) for r in head], [r["interval"][0] for r in head],
            [r["interval"][1] for r in head], dark=page.is_dark(),
        ),
        key="consistency_differences",
        alt="; ".join(
            f"{label}: {words.points(r['difference'])}"
            for label, r in zip(labels, head, strict=True)
        ),
    )  # fmt: skip
    printed = pd.DataFrame(
        {
            "Pair": [f"{system_name(r['better'])} − {system_name(r['worse'])}" for r in rows],
            "Difference, points": [words.points(r["difference"], unit=False) for r in rows],
            "95 % interval": [
                f"{words.points(r['interval'][0], unit=False)} to "
                f"{words.points(r['interval'][1], unit=False)}"
                for r in rows
            ],
            "p": [words.p_value(r["p"]) for r in rows],
            "p, Holm": [words.p_value(r["p_holm"]) for r in rows],
            "Redrawn": [in_runs(float(r["probability"])) for r in rows],
        }
    )
    page.table(printed, table, "significance")
    again = words.REPEATED if scene.asked.source.averaged else ""
    st.caption(f"{words.REDRAWN} {again}10,000 resamples, seed {SEED}.")


def significance_table(part: Part, report: Progress | None = None) -> pd.DataFrame:
    """Difference, interval, p, Holm's p and the chance when all is redrawn, of every pair."""
    asked = part.scene.asked

    def make() -> pd.DataFrame:
        protocol = asked.protocol
        found = significance(
            part.metric, part.sets, np.random.default_rng(SEED), progress=report,
            ties=protocol.ties, weighting=protocol.weighting,
        )  # fmt: skip
        again = probability_if_redrawn(part.metric, part.sets, asked.m, **asked.options)
        return found.merge(again, on=["better", "worse"]).assign(metric=str(part.metric))

    result: pd.DataFrame = part.get("significance", part.x, make=make)
    return result
