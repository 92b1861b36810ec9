"""The three tabs of the Correct page: Vector, Bias and variance, On real ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.correction import Correction
from sampledash.dashboard.correct import real, tradeoff
from sampledash.dashboard.correct.scene import Scene
from sampledash.explain import correct as words
from sampledash.explain.text import count

NAMES = ("Vector", "Bias and variance", "On real ranks")
_HEAD = 8  # rows of a table on the page


def show(scene: Scene) -> None:
    """Draw the tabs; only the open one is computed."""
    tabs = st.tabs(list(NAMES), key="sheet", bind="query-params")
    for tab, draw in zip(tabs, (vector_tab, tradeoff.tab, real.tab), strict=True):
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
