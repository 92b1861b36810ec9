"""What would make the order sure: negatives and instances needed for a probability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.chance import probability_of_order
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.dashboard import page
from sampledash.dashboard.consistency import pictures_plan as planning
from sampledash.dashboard.consistency import words_sure as words
from sampledash.dashboard.consistency.closer import Part
from sampledash.dashboard.words import plain, system_name
from sampledash.report.numbers import count, in_runs
from sampledash.types import Progress

PROBABILITIES = {f"{p} %": p / 100 for p in (80, 90, 95, 99)}
DEFAULTS: dict[str, Any] = {"wanted": "95 %"}
MOST_CURVES = 6  # pairs in the picture


def view(part: Part) -> None:
    """Negatives needed, and instances needed at this m."""
    wanted = st.segmented_control(
        "The true order in this share of runs", list(PROBABILITIES), default=DEFAULTS["wanted"],
        required=True, key="wanted", bind="query-params",
    )  # fmt: skip
    asked, probability = part.scene.asked, PROBABILITIES[wanted or DEFAULTS["wanted"]]
    sentence = st.empty()
    with page.progress("The chance over m") as report:
        ms, series = over_m(part, report)
    pairs = part.pairs[:MOST_CURVES]
    page.picture(
        planning.chance_over_m(
            ms, {plain(part.label(p)): series[p] for p in pairs}, at=asked.m,
            target=probability, dark=page.is_dark(),
        ),
        key="consistency_over_m",
        alt=f"Chance of the true order over m, up to {count(ms[-1])}, of {len(pairs)} pairs.",
    )  # fmt: skip
    # The picture stands while the numbers, which take longer, are looked for.
    with page.progress("Looking for the number of negatives") as report:
        needed = needed_table(part, part.x, probability, report)
    i, j, truth = part.scene.pair(part.x, part.pair)
    names = system_name(part.scene.systems[i]), system_name(part.scene.systems[j])
    row = part.row(needed, part.pair)
    has = max(ranks.n_instances for ranks in asked.sets)
    sentence.markdown(
        words.plan(
            *names, probability, asked.m, _whole(row["m"]), _whole(row["instances"]), has
        )
        if truth
        else words.tied(*names)
    )  # fmt: skip
    rows = [part.row(needed, pair) for pair in part.pairs]
    printed = pd.DataFrame(
        {
            "Pair": [part.label(pair, system_name) for pair in part.pairs],
            f"Negatives for {100 * probability:.0f} %": [_needed(r["m"]) for r in rows],
            f"Instances at m = {count(asked.m)}": [_needed(r["instances"]) for r in rows],
            "Chance now": [in_runs(float(part.scene.chances[part.x, p])) for p in part.pairs],
        }
    )
    page.table(printed, lambda: plan_table(part, probability), "plan")
    st.caption(
        f"Negatives from which on the chance stays that high, up to m = "
        f"{count(part.scene.m_max)}; it may be that high at single values before. The downloads "
        "hold every metric chosen, which takes as long for each."
    )


def needed_table(
    part: Part, x: int, probability: float, report: Progress | None = None
) -> pd.DataFrame:
    """Negatives and instances needed for a probability, per pair."""
    asked = part.scene.asked

    def make() -> pd.DataFrame:
        metric = asked.metrics[x]
        negatives = negatives_needed(
            metric, part.sets, probability, part.scene.m_max, progress=report, **asked.options
        )
        instances = instances_needed(
            metric, part.sets, asked.m, probability, progress=None, **asked.options
        )
        return negatives.merge(instances, on=["better", "worse"])

    result: pd.DataFrame = part.get("needed", x, probability, make=make)
    return result


def plan_table(part: Part, probability: float) -> pd.DataFrame:
    """The same for every metric."""
    asked = part.scene.asked
    parts = [
        needed_table(part, x, probability).assign(
            metric=str(metric), correction=str(asked.recipe), probability=probability
        )
        for x, metric in enumerate(asked.metrics)
    ]
    columns = ["metric", "correction", "better", "worse", "probability", "m", "instances"]
    return pd.concat(parts, ignore_index=True)[columns]


def over_m(part: Part, report: Progress) -> tuple[Any, dict[int, Any]]:
    """Chance of every pair at some values of m: those values, and a curve per pair."""
    asked, known = part.scene.asked, part.scene.found.m_values
    picked = np.unique(np.geomspace(1, len(known), 14).round().astype(int)) - 1
    ms = np.unique(np.r_[known[picked], asked.m])
    ms = ms[ms <= max(known[-1], asked.m)]

    def make() -> dict[int, Any]:
        tables = []
        for done, m in enumerate(ms):
            report(done / len(ms))
            tables.append(probability_of_order(part.metric, part.sets, int(m), **asked.options))
        return {
            pair: np.array([float(part.row(table, pair)["probability"]) for table in tables])
            for pair in part.pairs
        }

    return ms, part.get("over m", part.x, tuple(ms.tolist()), make=make)


def _whole(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _needed(value: Any) -> str:
    return "not reachable" if pd.isna(value) else count(value)
