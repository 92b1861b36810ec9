"""The parts of the Explore page: the scene it shows, its picture, its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from sampledash.dashboard import cache, charts, controls, explore_tabs, state
from sampledash.dashboard.state import Settings
from sampledash.explain import explore as words
from sampledash.explain.text import count, decimal, percent
from sampledash.figures import explore as figures
from sampledash.figures import grid
from sampledash.metrics import Metric
from sampledash.sampling import Sampling

Floats = NDArray[np.float64]

LIVE, MOST = 2_000, 10_000  # negatives: recomputed at once, and at all
VIEWS: dict[str, int | None] = {"all ranks": None, "top 1,000": 1_000, "top 100": 100}
DEFAULTS: dict[str, Any] = {"rank": 100, "view": "all ranks"}
_GOOD, _AGREED = "_explore_good", "_explore_agreed"


@dataclass(frozen=True)
class Scene:
    """Everything the page shows, valid by construction."""

    settings: Settings
    sampling: Sampling
    rank: int
    top: int | None
    focus: Metric
    ranks: NDArray[np.int64]
    note: str = ""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The chosen metrics."""
        return self.settings.metrics

    def curve(self, metric: Metric) -> tuple[Floats, Floats, Floats]:
        """Exact value, expectation and standard deviation over :attr:`ranks`."""
        return cache.curve(str(metric), str(self.sampling), self.ranks.tobytes())

    def at_rank(self, metric: Metric) -> tuple[float, float, float]:
        """The same at the chosen rank."""
        here = np.array([self.rank], dtype=np.int64).tobytes()
        exact, mean, std = cache.curve(str(metric), str(self.sampling), here)
        return float(exact[0]), float(mean[0]), float(std[0])

    def sentence(self) -> str:
        """The page in one sentence."""
        exact, mean, _ = self.at_rank(self.focus)
        return words.sentence(self.focus, self.rank, self.sampling, exact, mean)

    def csv(self) -> str:
        """The curves as text, one row per rank drawn."""
        names, columns = ["rank"], [self.ranks.astype(np.float64)]
        for metric in self.metrics:
            names += [f"{metric} {part}" for part in ("exact", "expected", "std")]
            columns += list(self.curve(metric))
        rows = (",".join(f"{x:.17g}" for x in row) for row in zip(*columns, strict=True))
        return "\n".join([f"# {self.sampling}", ",".join(names), *rows]) + "\n"


@dataclass(frozen=True)
class Problem:
    """Why the picture cannot follow the controls, and a way out where there is one."""

    sentence: str
    button: str = ""
    action: Callable[[], None] | None = None

    def show(self) -> None:
        """Take the sentence's place."""
        if self.action is None:
            st.error(self.sentence, icon=":material/error:")
        else:
            st.info(self.sentence, icon=":material/hourglass_empty:")
            st.button(self.button, on_click=self.action, type="primary")


def view_control() -> None:
    """Whole range or the top (Figures 1 and 3 of the paper)."""
    st.segmented_control(
        "Ranks",
        list(VIEWS),
        default=DEFAULTS["view"],
        required=True,
        key="view",
        bind="query-params",
        help="All ranks on a logarithmic axis, or the first ones on an even axis.",
    )


def rank_control() -> None:
    """The rank the numbers are about, and the metric."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        controls.ladder(
            "rank",
            "r, true rank",
            default=DEFAULTS["rank"],
            help="Where the relevant item stands among all n candidates.",
        )
    with right:
        chosen = _chosen()
        if len(chosen) > 1:
            st.selectbox(
                "In words and numbers",
                chosen,
                key="focus",
                bind="query-params",
                help="The metric of the sentence, the numbers and the tabs below.",
            )


def _chosen() -> list[str]:
    return [chip for chip in state.CHIPS if chip in state.value("metrics")]


def link_defaults() -> dict[str, Any]:
    """Keys of this page that a link carries; the metric in words is the first one by default."""
    first = next(iter(_chosen()), None)
    tabs_at = {"tab": explore_tabs.NAMES[0], "turn": False, "why": False}
    return {**DEFAULTS, "focus": first, **tabs_at}


def scene() -> tuple[Scene, Problem | None]:
    """The scene to show: the one asked for, or the last good one with what is wrong."""
    try:
        asked = _asked(state.current())
    except ValueError as error:
        return _last_good(), Problem(state.spelled(error))
    if asked.sampling.m > LIVE:
        agreed: set[str] = st.session_state.setdefault(_AGREED, set())
        key = str(asked.sampling)
        if key not in agreed:
            m = count(asked.sampling.m)
            return _last_good(), Problem(
                f"m = {m} takes a moment: up to m = {count(LIVE)} the picture follows by itself.",
                f"Compute m = {m}",
                lambda: agreed.add(key),
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
    if chip is not None and state.chip_metric(chip, settings.k) in settings.metrics:
        focus = state.chip_metric(chip, settings.k)
    return _scene(settings, rank, VIEWS[state.value("view", DEFAULTS)], focus, note)


def _scene(settings: Settings, rank: int, top: int | None, focus: Metric, note: str = "") -> Scene:
    sampling = settings.sampling()
    keep = {rank}
    for metric in settings.metrics:
        keep.update(grid.jumps(sampling, metric.k))
    ranks = grid.rank_grid(sampling.n, top=top, keep=sorted(keep))
    return Scene(settings, sampling, rank, top, focus, ranks, note)


def _last_good() -> Scene:
    good = st.session_state.get(_GOOD)
    if good is not None:
        return _scene(*good)
    k, chips = state.DEFAULTS["k"], state.DEFAULTS["metrics"]
    metrics = tuple(state.chip_metric(chip, k) for chip in chips)
    d = state.DEFAULTS
    settings = Settings(
        d["n"], d["m"], k, d["gamma"], state.SCHEMES[d["scheme"]], d["odds"], metrics
    )
    return _scene(settings, DEFAULTS["rank"], None, metrics[0])


def _compute_with_progress(asked: Scene) -> None:
    """Fill the cache metric by metric; between two of them a change of mind can stop it."""
    bar = st.progress(0.0)
    for done, metric in enumerate(asked.metrics):
        bar.progress(done / len(asked.metrics), f"{metric}, m = {count(asked.sampling.m)}")
        asked.curve(metric)
    bar.empty()


def picture(shown: Scene, *, dim: bool = False) -> None:
    """One panel a metric, three in a row; on a phone they stack."""
    dark = charts.is_dark()
    metrics = shown.metrics
    per_row = 2 if len(metrics) == 4 else min(len(metrics), 3)
    height = 380 if len(metrics) <= 3 else 280
    panels = st.container(key="panels")
    for start in range(0, len(metrics), per_row):
        for place, metric in zip(
            panels.columns(per_row), metrics[start : start + per_row], strict=False
        ):
            exact, mean, std = shown.curve(metric)
            fig = figures.expected_curve(
                metric, shown.ranks, exact, mean, std, m=shown.sampling.m, at=shown.rank,
                log=shown.top is None, dark=dark, height=height,
            )  # fmt: skip
            with place:
                charts.show(
                    fig,
                    key=f"explore_{metric.name}_{metric.k is not None}",
                    alt=words.picture(
                        metric, shown.rank, shown.sampling, *shown.at_rank(metric)[:2]
                    ),
                    dim=dim,
                )
    if shown.note:
        st.caption(shown.note)


def numbers(shown: Scene) -> None:
    """The strip: four numbers at the chosen rank."""
    exact, mean, std = shown.at_rank(shown.focus)
    seen = 1 + shown.sampling.m * float(shown.sampling.share_above(shown.rank))
    name = str(shown.focus)
    for place, (label, shown_value, help_text) in zip(
        st.container(key="strip").columns(4),
        (
            (f"{name}, exact", percent(exact), "Over all candidates."),
            (f"{name}, sampled", percent(mean), "Expectation over the draw of negatives."),
            ("Scatter of one draw", percent(std), "Standard deviation over the draw."),
            ("Sampled rank, mean", decimal(seen), "Expected rank among the drawn negatives."),
        ),
        strict=True,
    ):
        place.metric(label, shown_value, help=help_text)


def why(shown: Scene) -> None:
    """The formula, with the numbers of the picture in it."""
    exact, mean, _ = shown.at_rank(shown.focus)
    st.markdown(words.looks_like(shown.rank, shown.sampling))
    for step in words.formula(shown.focus, shown.rank, shown.sampling, exact, mean):
        st.latex(step)
    st.caption("Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eq. 7-19.")


def tabs(shown: Scene) -> None:
    """One draw, Law, Family."""
    explore_tabs.show(shown.sampling, shown.rank, shown.focus, shown.ranks, shown.top)
