"""The scene of the Explore page: what is shown, from the choices to the numbers.

A scene is valid by construction. When the choices make no picture, the last good scene stays and a
problem says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from sampledash.dashboard import cache, grid, state
from sampledash.dashboard.explore import words
from sampledash.dashboard.page import Problem
from sampledash.dashboard.state import Settings
from sampledash.metrics import Metric
from sampledash.report.numbers import count
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints

Curve = tuple[Floats, Floats, Floats]  # exact, expected, standard deviation

LIVE, MOST = 2_000, 10_000  # negatives: recomputed at once, and at all
VIEWS: dict[str, int | None] = {"all ranks": None, "top 1,000": 1_000, "top 100": 100}
DEFAULTS: dict[str, Any] = {"rank": 100, "view": "all ranks"}
_GOOD, _AGREED = "_explore_good", "_explore_agreed"


def _curves(metrics: tuple[Metric, ...], sampling: Sampling, ranks: Ints) -> Curve:
    parts = [_one_piece(metrics, sampling, piece) for piece in _pieces(ranks, sampling.m)]
    if len(parts) == 1:
        return parts[0]
    exact, mean, std = (np.hstack(part) for part in zip(*parts, strict=True))
    return exact, mean, std


def _one_piece(metrics: tuple[Metric, ...], sampling: Sampling, ranks: Ints) -> Curve:
    names = tuple(str(metric) for metric in metrics)
    return cache.curves(names, str(sampling), ranks.tobytes())


def _pieces(ranks: Ints, m: int) -> list[Ints]:
    """Ranks that are computed in one go: more negatives, fewer ranks."""
    return [ranks] if m <= LIVE else np.array_split(ranks, min(len(ranks), 8))


@dataclass(frozen=True)
class Scene:
    """Everything the page shows, valid by construction."""

    settings: Settings
    sampling: Sampling
    rank: int
    top: int | None
    focus: Metric
    ranks: Ints
    note: str = ""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The chosen metrics."""
        return self.settings.metrics

    def curve(self, metric: Metric) -> Curve:
        """Exact value, expectation and standard deviation over :attr:`ranks`."""
        found = _curves(self.metrics, self.sampling, self.ranks)
        place = self.metrics.index(metric)
        exact, mean, std = (part[place] for part in found)
        return exact, mean, std

    def drawn_curve(self, metric: Metric) -> tuple[Ints, Curve]:
        """The same with the chosen rank among the ranks, when the picture reaches that far.

        It is put in afterwards, so that another rank does not mean another curve.
        """
        at = int(np.searchsorted(self.ranks, self.rank))
        parts = self.curve(metric)
        if at == len(self.ranks) or self.ranks[at] == self.rank:
            return self.ranks, parts
        here = self.at_rank(metric)
        exact, mean, std = (np.insert(p, at, v) for p, v in zip(parts, here, strict=True))
        return np.insert(self.ranks, at, self.rank), (exact, mean, std)

    def at_rank(self, metric: Metric) -> tuple[float, float, float]:
        """The same at the chosen rank."""
        found = _curves(self.metrics, self.sampling, np.array([self.rank], dtype=np.int64))
        exact, mean, std = (float(part[self.metrics.index(metric), 0]) for part in found)
        return exact, mean, std

    def sentence(self) -> str:
        """The page in one sentence."""
        exact, mean, _ = self.at_rank(self.focus)
        return words.sentence(self.focus, self.rank, self.sampling, exact, mean)

    def csv(self) -> str:
        """The curves as text, one row per rank drawn."""
        names, columns = ["rank"], [self.drawn_curve(self.focus)[0].astype(np.float64)]
        for metric in self.metrics:
            names += [f"{metric} {part}" for part in ("exact", "expected", "std")]
            columns += list(self.drawn_curve(metric)[1])
        rows = (",".join(f"{x:.17g}" for x in row) for row in zip(*columns, strict=True))
        return "\n".join([f"# {self.sampling}", ",".join(names), *rows]) + "\n"


def scene() -> tuple[Scene, Problem | None]:
    """The scene to show: the one asked for, or the last good one with what is wrong."""
    try:
        asked = _asked(state.current())
    except ValueError as error:
        return _last_good(), Problem.of(error)
    if asked.sampling.m > LIVE:
        agreed: set[str] = st.session_state.setdefault(_AGREED, set())
        key = str(asked.sampling)
        if key not in agreed:
            m = count(asked.sampling.m)
            return _last_good(), Problem(
                f"m = {m} takes a moment: up to m = {count(LIVE)} the picture follows by itself.",
                f"Compute m = {m}",
                lambda: agreed.add(key),
                asking=True,
            )
        _compute_with_progress(asked)
    st.session_state[_GOOD] = (asked.settings, asked.rank, asked.top, asked.focus)
    return asked, None


def _asked(settings: Settings) -> Scene:
    sampling = settings.sampling()
    if sampling.m > MOST:
        raise ValueError(
            f"m = {sampling.m} is more than this page draws: take m ≤ {MOST}, "
            "or call sampledash.expected from Python"
        )
    if not settings.metrics:
        raise ValueError("no metric is chosen: pick at least one above the picture")
    rank, note = int(state.value("rank", DEFAULTS)), ""
    if rank > sampling.n:
        note = f"Rank {count(rank)} is beyond n = {count(sampling.n)}: showing the last rank."
        rank = sampling.n
    settings.metrics[0](rank, sampling.n)  # a rank below 1 is an error
    chip = st.session_state.get("focus")
    focus = settings.metrics[0]
    if chip is not None and state.chip_metric(chip, settings.k, settings.n) in settings.metrics:
        focus = state.chip_metric(chip, settings.k, settings.n)
    return _scene(settings, rank, VIEWS[state.value("view", DEFAULTS)], focus, note)


def _scene(settings: Settings, rank: int, top: int | None, focus: Metric, note: str = "") -> Scene:
    sampling = settings.sampling()
    keep: set[int] = set()
    for metric in settings.metrics:
        keep.update(grid.jumps(sampling, metric))
    ranks = grid.rank_grid(sampling.n, top=top, keep=sorted(keep))
    return Scene(settings, sampling, rank, top, focus, ranks, note)


def _last_good() -> Scene:
    good = st.session_state.get(_GOOD)
    if good is not None:
        return _scene(*good)
    k, chips = state.DEFAULTS["k"], state.DEFAULTS["metrics"]
    metrics = tuple(state.chip_metric(chip, k, state.DEFAULTS["n"]) for chip in chips)
    d = state.DEFAULTS
    settings = Settings(
        d["n"], d["m"], k, d["gamma"], state.SCHEMES[d["scheme"]], d["odds"], metrics
    )
    return _scene(settings, DEFAULTS["rank"], None, metrics[0])


def _compute_with_progress(asked: Scene) -> None:
    """Fill the cache piece by piece; between two pieces a change of mind can stop it."""
    pieces = _pieces(asked.ranks, asked.sampling.m)
    bar = st.progress(0.0)
    for done, piece in enumerate(pieces):
        bar.progress(done / len(pieces), f"m = {count(asked.sampling.m)}")
        _one_piece(asked.metrics, asked.sampling, piece)
    bar.empty()
