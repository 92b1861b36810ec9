"""The parts of the Explore page: its controls, its picture, its numbers."""

from __future__ import annotations

from typing import Any

import streamlit as st

from sampledash.dashboard import controls, page, state
from sampledash.dashboard.explore import pictures as figures
from sampledash.dashboard.explore import tabs as explore_tabs
from sampledash.dashboard.explore import words
from sampledash.dashboard.explore.scene import DEFAULTS, VIEWS, Scene
from sampledash.report.numbers import decimal, percent


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
    return {**DEFAULTS, "focus": first, **tabs_at, **explore_tabs.DEFAULTS}


def picture(shown: Scene, *, dim: bool = False) -> None:
    """One panel a metric, three in a row; on a phone they stack."""
    dark = page.is_dark()
    metrics = shown.metrics
    per_row = 2 if len(metrics) == 4 else min(len(metrics), 3)
    height = 380 if len(metrics) <= 3 else 280
    panels = st.container(key="panels")
    for start in range(0, len(metrics), per_row):
        for place, metric in zip(
            panels.columns(per_row), metrics[start : start + per_row], strict=False
        ):
            ranks, (exact, mean, std) = shown.drawn_curve(metric)
            fig = figures.expected_curve(
                metric, ranks, exact, mean, std, m=shown.sampling.m, at=shown.rank,
                log=shown.top is None, narrow=per_row > 1, dark=dark, height=height,
            )  # fmt: skip
            with place:
                page.picture(
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
    st.markdown(words.looks_like(shown.focus, shown.rank, shown.sampling))
    for step in words.formula(shown.focus, shown.rank, shown.sampling, exact, mean):
        st.latex(step)
    st.caption(words.source(shown.focus))


def tabs(shown: Scene) -> None:
    """One draw, Law, Family."""
    expected = shown.at_rank(shown.focus)[1]
    explore_tabs.show(
        shown.sampling, shown.rank, shown.focus, expected, ranks=shown.ranks, top=shown.top
    )
