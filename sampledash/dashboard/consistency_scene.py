"""What the Consistency page computes: the choices, checked, and the scene they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from sampledash.comparison.means import mean
from sampledash.comparison.order import M_CAP, Orders, largest_m, true_order
from sampledash.dashboard import cache, state
from sampledash.dashboard.rank_source import Source, shown
from sampledash.explain.text import count
from sampledash.metrics import Metric
from sampledash.setting import Options, Setting

Floats = NDArray[np.float64]

_GOOD = "_consistency_good"


@dataclass(frozen=True)
class Asked:
    """Everything the page depends on, checked."""

    source: Source
    metrics: tuple[Metric, ...]
    m: int
    options: Options


@dataclass(frozen=True)
class Scene:
    """What the page shows."""

    asked: Asked
    found: Orders
    exact: Floats  # (systems, metrics)
    table: pd.DataFrame  # the verdict at m

    @property
    def systems(self) -> list[str]:
        """Names in the order of the data."""
        return [ranks.system for ranks in self.asked.source.sets]

    @property
    def m_max(self) -> int:
        """Largest m looked at."""
        return int(self.found.m_values[-1])

    @property
    def capped(self) -> bool:
        """Whether larger m exist than are looked at."""
        return self.m_max < max(ranks.max_negatives for ranks in self.asked.source.sets)

    def pairs(self, x: int) -> list[tuple[int, int, int]]:
        """Pairs (better, worse, truth) of metric x, in one order for all metrics."""
        setting = Setting.of(self.asked.options)
        return true_order(self.asked.metrics[x], self.asked.source.sets, setting)

    def rows(self, x: int) -> pd.DataFrame:
        """The verdict on metric x, one row per pair."""
        size = len(self.table) // len(self.asked.metrics)
        return self.table.iloc[x * size : (x + 1) * size]

    def right_from(self, x: int, pair: int) -> int | None:
        """From which m the pair is right."""
        value = self.rows(x)["right_from"].iloc[pair]
        return None if pd.isna(value) else int(value)

    def worst_pair(self, x: int) -> int:
        """The pair that gets right last."""
        rows = self.rows(x)
        late = rows["right_from"].astype(float).fillna(np.inf).where(rows["state"] != "tied", -1.0)
        return int(np.argmax(late.to_numpy()))

    def note(self) -> str:
        """What the reader may not expect in the data at this m."""
        sets = self.asked.source.sets
        for other in sets[1:]:
            if np.array_equal(other.instances, sets[0].instances):
                differs = np.flatnonzero(other.n != sets[0].n)
                if len(differs):
                    i = int(differs[0])
                    return (
                        f"{shown(sets[0].system)} and {shown(other.system)} ranked different "
                        f"candidates: instance {shown(str(other.instances[i]))} has "
                        f"n = {count(sets[0].n[i])} and {count(other.n[i])}."
                    )
        atoms = sets[0].atoms()
        first = atoms.position == 1
        short = float(atoms.count[first & (atoms.negatives < self.asked.m)].sum())
        if self.asked.options["scheme"] == "without-replacement" and short:
            return (
                f"{count(short)} of {count(atoms.instances)} instances have fewer than "
                f"{count(self.asked.m)} negatives: they are ranked among all of theirs."
            )
        return ""

    def sampled(self) -> Floats:
        """Expected means at m: (systems, metrics)."""
        # Every m up to m_max is there; without replacement more negatives than that change nothing.
        return np.asarray(self.found.means[min(self.asked.m, self.m_max) - 1])


def chosen_metrics() -> tuple[Metric, ...]:
    """The chips at the shared cutoff and at those added to it."""
    settings = state.current()
    cutoffs = sorted({settings.k, *(st.session_state.get("also_k") or [])})
    found = [
        state.chip_metric(chip, k)
        for chip in state.CHIPS
        if chip in state.value("metrics")
        for k in (cutoffs if state.CHIPS[chip][1] else [settings.k])
    ]
    return tuple(dict.fromkeys(found))


def ask(source: Source) -> Asked:
    """Check the choices; a ValueError names what is wrong."""
    settings = state.current()
    metrics = chosen_metrics()
    if not metrics:
        raise ValueError("no metric is chosen: pick at least one above the picture")
    options: Options = {"scheme": settings.scheme}
    if settings.scheme == "popularity":
        options["odds"] = settings.odds
    setting = Setting.of(options)
    for ranks in source.sets:
        setting.check(ranks, settings.m)
    if settings.m > M_CAP:
        raise ValueError(
            f"m = {settings.m} is more than this page looks at: take m <= {M_CAP}, "
            "or call sampledash.verdict from Python"
        )
    return Asked(source, metrics, settings.m, options)


def look(asked: Asked) -> Scene:
    """Compute, or take from the cache, what is shown."""
    setting = Setting.of(asked.options)
    sets, bundled = asked.source.sets, asked.source.bundled
    m_max = max(largest_m(sets, None, setting), min(asked.m, M_CAP))
    key = f"{asked.source.key}|{asked.metrics}|{setting}|{m_max}"
    found = cache.orders(key, asked.metrics, sets, m_max, setting, shared=bundled)
    table = cache.judged(
        f"{key}|{asked.m}", found, asked.metrics, sets, asked.m, setting, shared=bundled
    )
    exact = np.array([[mean(metric, ranks) for metric in asked.metrics] for ranks in sets])
    return Scene(asked, found, exact, table)


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
