"""The tabs of the Correct page on a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.correction import Correction
from sampledash.dashboard.correct import real, sees, tradeoff, words
from sampledash.dashboard.correct import words_code as code
from sampledash.dashboard.correct.scene import Scene
from sampledash.report.numbers import count

NAMES = ("Vector", "What it costs", "What a sample can see")
COSTS = ("Bias and variance", "On real ranks")
DEFAULTS: dict[str, Any] = {"sheet": NAMES[0], "costs": COSTS[0], **sees.DEFAULTS}
_HEAD = 8  # rows of a table on the page


def show(scene: Scene) -> None:
    """Draw the tabs; only the open one is computed."""
    tabs = st.tabs(list(NAMES), key="sheet", bind="query-params")
    for tab, draw in zip(tabs, (vector_tab, costs_tab, sees.tab), strict=True):
        if tab.open:
            with tab:
                draw(scene)


def costs_tab(scene: Scene) -> None:
    """Bias and variance over the ranks, or on those of real recommenders."""
    view = st.segmented_control(
        "What it costs", list(COSTS), default=COSTS[0], required=True, key="costs",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    (real.tab if view == COSTS[1] else tradeoff.tab)(scene)


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
        st.code(code.script(fit), language="python", wrap_lines=True)
        st.caption("All values as a function, to copy")
        st.code(code.function(fit), language="python", height=140, wrap_lines=True)
