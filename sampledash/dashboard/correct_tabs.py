"""The three tabs of the Correct page: Vector, Bias and variance, On real ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import mean
from sampledash.comparison.order import Orders, largest_m, true_order
from sampledash.correction import Correction, correction
from sampledash.dashboard import cache, charts
from sampledash.dashboard.correct_scene import Scene, with_progress
from sampledash.dashboard.explore_scene import LIVE
from sampledash.explain import correct as words
from sampledash.explain.text import count, gamma
from sampledash.figures import consistency as curve_figures
from sampledash.figures import correct as figures
from sampledash.metrics import Metric
from sampledash.readers import example
from sampledash.sampling import Sampling
from sampledash.setting import Setting

NAMES = ("Vector", "Bias and variance", "On real ranks")
GAMMAS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
MS = (10, 20, 50, 100, 200, 500, 1_000)
NS = (100, 1_000, 10_000, 100_000, 10**6, 10**7, 10**8, 10**9)
DS = np.geomspace(1, 10**6, 7)
REAL_M = 2_000  # largest m at which corrections are fitted to the bundled ranks
_HEAD = 8  # rows of a table on the page


def show(scene: Scene) -> None:
    """Draw the tabs; only the open one is computed."""
    tabs = st.tabs(list(NAMES), key="sheet", bind="query-params")
    for tab, draw in zip(tabs, (vector_tab, tradeoff_tab, real_tab), strict=True):
        if tab.open:
            with tab:
                draw(scene)


def vector_tab(scene: Scene) -> None:
    """The first values, the whole vector to copy, and the same from Python."""
    fit = scene.fit()
    st.markdown(words.vector_note(fit))
    left, right = st.columns([2, 3])
    top = np.arange(1, min(_HEAD, scene.sampling.m + 1) + 1)
    plain = scene.fit(Correction())
    table = pd.DataFrame(
        {
            "sampled rank": top,
            "uncorrected": [words.size(float(x)) for x in plain(top)],
            str(scene.taken): [words.size(float(x)) for x in fit(top)],
        }
    )
    with left:
        st.dataframe(table, hide_index=True, width="stretch", key="correct_head")
        if scene.sampling.m + 1 > len(top):
            st.caption(f"{count(scene.sampling.m + 1)} values in all.")
    with right:
        st.caption("The same from Python")
        st.code(words.script(fit), language="python", wrap_lines=True)
        st.caption("All values, to copy")
        values = ", ".join(map(repr, fit.values.tolist()))
        st.code(f"[{values}]", language="python", height=140, wrap_lines=True)


def tradeoff_tab(scene: Scene) -> None:
    """Bias and scatter of the mean against γ, m, n and |D| (section 5.5)."""
    if scene.sampling.m > LIVE:
        st.info(f"Many fits: drawn up to m = {count(LIVE)}.", icon=":material/hourglass_empty:")
        return
    axes = _axes(scene)
    risks: dict[tuple[str, str], tuple[float, float]] = {}
    wanted = {(r, s) for points in axes.values() for r, s in points}
    with_progress(_risks(scene.metric, sorted(wanted, key=str), risks), len(wanted), show=_long(scene))
    suggested = 1 / scene.instances
    marks = {
        "γ": {f"γ = {gamma(scene.gamma)}": scene.gamma, "1/|D|": suggested},
        "m": {f"m = {count(scene.sampling.m)}": scene.sampling.m},
        "n": {f"n = {count(scene.sampling.n)}": scene.sampling.n},
        "|D|": {f"|D| = {count(scene.instances)}": scene.instances},
    }
    st.markdown(words.tradeoff(scene.taken, scene.instances))
    panels = st.container(key="panels")
    rows = [panels.columns(2), panels.columns(2)]
    for place, symbol in zip([*rows[0], *rows[1]], marks, strict=True):
        x, series = _series(scene, symbol, axes, risks)
        with place:
            charts.show(
                figures.tradeoff(symbol, x, series, marks=marks[symbol], dark=charts.is_dark()),
                key=f"correct_against_{symbol}",
                alt=f"Bias and scatter of the mean over {count(scene.instances)} instances "
                f"against {symbol}, uncorrected and corrected.",
            )  # fmt: skip


def _long(scene: Scene) -> bool:
    return scene.sampling.m > 300


Point = tuple[str, str]  # a correction and a sampling, as texts


def _axes(scene: Scene) -> dict[str, list[Point]]:
    """What has to be fitted for each axis: the points of the correction, then of uncorrected."""
    s = scene.sampling
    plain, taken = str(Correction()), str(scene.taken)
    ms = [m for m in MS if s.scheme != "without-replacement" or m < s.n]
    ns = [n for n in NS if s.scheme != "without-replacement" or s.m < n]
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
    metric: Metric, points: list[Point], found: dict[Point, tuple[float, float]]
) -> Iterator[str]:
    for recipe, sampling in points:
        yield f"{recipe}, {sampling}"
        found[recipe, sampling] = cache.fitted(str(metric), recipe, sampling)[1:]


def _series(
    scene: Scene, symbol: str, axes: dict[str, list[Point]], risks: dict[Point, tuple[float, float]]
) -> tuple[np.ndarray, list[figures.Tradeoff]]:
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
    recipe: Correction, label: str, found: np.ndarray, instances: float | np.ndarray
) -> figures.Tradeoff:
    return figures.Tradeoff(
        recipe, label, np.sqrt(found[:, 0]), np.sqrt(found[:, 1] / instances)
    )
