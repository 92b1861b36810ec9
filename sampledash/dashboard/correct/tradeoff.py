"""Bias and scatter of a correction against γ, m, n and |D|: a tab of the Correct page."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import streamlit as st

from sampledash.correction import Correction, correction, parse_correction
from sampledash.dashboard import charts
from sampledash.dashboard.correct import pictures as figures
from sampledash.dashboard.correct import priors, words
from sampledash.dashboard.correct.scene import Scene, with_progress
from sampledash.dashboard.explore.scene import LIVE
from sampledash.report.numbers import count, gamma
from sampledash.sampling import Sampling, parse_sampling
from sampledash.types import Floats

Point = tuple[str, str]  # a correction and a sampling, as texts

GAMMAS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
MS = (10, 20, 50, 100, 200, 500, 1_000)
NS = (100, 1_000, 10_000, 100_000, 10**6, 10**7, 10**8, 10**9)
DS = np.geomspace(1, 10**6, 7)


def tab(scene: Scene) -> None:
    """Bias and scatter of the mean against γ, m, n and |D| (section 5.5)."""
    if scene.sampling.m > LIVE:
        st.info(f"Many fits: drawn up to m = {count(LIVE)}.", icon=":material/hourglass_empty:")
        return
    axes = _axes(scene)
    risks: dict[Point, tuple[float, float]] = {}
    wanted = {(r, s) for points in axes.values() for r, s in points}
    work = _risks(scene, sorted(wanted), risks)
    with_progress(work, len(wanted))
    marks: dict[str, dict[str, float]] = {
        "γ": {f"γ = {gamma(scene.gamma)}": scene.gamma, "1/|D|": 1 / scene.instances},
        "m": {f"m = {count(scene.sampling.m)}": scene.sampling.m},
        "n": {f"n = {count(scene.sampling.n)}": scene.sampling.n},
        "|D|": {f"|D| = {count(scene.instances)}": scene.instances},
    }
    st.markdown(words.tradeoff(scene.taken, scene.instances))
    rows = [st.columns(2), st.columns(2)]
    for place, symbol in zip([*rows[0], *rows[1]], marks, strict=True):
        x, series = _series(scene, symbol, axes, risks)
        with place:
            charts.show(
                figures.tradeoff(symbol, x, series, marks=marks[symbol], dark=charts.is_dark()),
                key=f"correct_against_{symbol}",
                alt=f"Bias and scatter of the mean over {count(scene.instances)} instances "
                f"against {symbol}, uncorrected and corrected.",
            )  # fmt: skip


def _axes(scene: Scene) -> dict[str, list[Point]]:
    """What has to be fitted for each axis: the points of the correction, then of uncorrected."""
    s = scene.sampling
    plain, taken = str(Correction()), str(scene.taken)
    ms = [m for m in MS if s.scheme != "without-replacement" or m < s.n]
    largest = NS[-1] if scene.prior == priors.UNIFORM else priors.MOST_N
    ns = [n for n in NS if n <= largest and (s.scheme != "without-replacement" or s.m < n)]
    over_m = [str(Sampling(s.n, m, s.scheme, s.odds)) for m in sorted({*ms, s.m})]
    over_n = [str(Sampling(n, s.m, s.scheme, s.odds)) for n in sorted({*ns, s.n})]
    gammas = sorted({*GAMMAS, *([scene.gamma] if scene.gamma >= min(GAMMAS) else [])})
    return {
        "γ": [(str(correction("BV", gamma=g)), str(s)) for g in gammas] + [(plain, str(s))],
        "m": [(taken, x) for x in over_m] + [(plain, x) for x in over_m],
        "n": [(taken, x) for x in over_n] + [(plain, x) for x in over_n],
        "|D|": [(taken, str(s)), (plain, str(s))],
    }


def _risks(
    scene: Scene, points: list[Point], found: dict[Point, tuple[float, float]]
) -> Iterator[str]:
    for recipe, sampling in points:
        yield f"{recipe}, {sampling}"
        try:
            fit = scene.fitted(scene.metric, parse_correction(recipe), parse_sampling(sampling))
            found[recipe, sampling] = fit[1:]
        except ValueError:  # own weights leave a sampled rank impossible there: a gap in the line
            found[recipe, sampling] = np.nan, np.nan


def _series(
    scene: Scene, symbol: str, axes: dict[str, list[Point]], risks: dict[Point, tuple[float, float]]
) -> tuple[Floats, list[figures.Tradeoff]]:
    """x and the curves of one axis."""
    points, size = axes[symbol], scene.instances
    found = np.array([risks[point] for point in points])
    plain, bv = Correction(), correction("BV", gamma=scene.gamma)
    if symbol == "γ":
        x = np.array([float(recipe.removeprefix("BV ")) for recipe, _ in points[:-1]])
        last = np.repeat(found[-1:], len(x), axis=0)
        return x, [_curve(bv, "BV", found[:-1], size), _curve(plain, "uncorrected", last, size)]
    if symbol == "|D|":
        rows = [np.repeat(found[i : i + 1], len(DS), axis=0) for i in (0, 1)]
        return DS, [
            _curve(scene.taken, str(scene.taken), rows[0], DS),
            _curve(plain, "uncorrected", rows[1], DS),
        ]
    half = len(points) // 2
    x = np.array([float(text.split(f"{symbol} = ")[1].split(",")[0]) for _, text in points[:half]])
    return x, [
        _curve(scene.taken, str(scene.taken), found[:half], size),
        _curve(plain, "uncorrected", found[half:], size),
    ]


def _curve(
    recipe: Correction, label: str, found: Floats, instances: float | Floats
) -> figures.Tradeoff:
    return figures.Tradeoff(recipe, label, np.sqrt(found[:, 0]), np.sqrt(found[:, 1] / instances))
