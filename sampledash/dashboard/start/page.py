"""The first page: its numbers, its picture, its doors."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import sampledash as sd
from sampledash.dashboard import page, state
from sampledash.dashboard.learn.lesson import METRIC, WITHOUT, M, movielens, names
from sampledash.dashboard.ranks import UPLOAD
from sampledash.dashboard.sliding import ALL, slopes
from sampledash.dashboard.start import words
from sampledash.report.sentences import ranking

LADDER = (20, 30, 40, 50, 70, 100, 130, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1500, 2000)


@st.cache_resource(max_entries=2, show_spinner=False)
def made(dark: bool) -> tuple[str, str, go.Figure, str]:
    """The headline, what is drawn, the slope chart and what it shows: the same for everybody."""
    sets, systems, means, _, settled = data = movielens()
    exact, ms = np.array(means), data.visited(*LADDER, M, settled[-1] - 1)
    over_m = sd.curve(METRIC, sets, ms, scheme=WITHOUT).to_numpy()
    sampled = dict(zip(ms, over_m, strict=True))
    fig = slopes(systems, exact, sampled, at=M, dark=dark)
    alt = (
        f"{METRIC} on {ALL}: {ranking(systems, exact)}. "
        f"With {M} sampled negatives: {ranking(systems, sampled[M])}."
    )
    n = np.concatenate([rs.n for rs in sets])
    about = words.about(METRIC, n.min(), n.max(), settled[-1])
    return words.headline(systems, exact, sampled[M], M), about, fig, alt


def show() -> None:
    """Draw the page."""
    headline, about, fig, alt = made(page.is_dark())
    with st.container(key="start"):
        st.markdown(f"### {headline}")
    st.markdown(about)
    page.moving(fig, key="start_slopes", alt=alt)
    for place, (door, name, icon, behind) in zip(st.columns(3), words.DOORS, strict=True):
        with place.container(border=True, height="stretch", key=f"door_{door}"):
            st.page_link(_file(door), label=f"**{name}**", icon=icon)
            st.caption(behind)
    lab = {"v": state.VERSION, "interactions": UPLOAD}
    st.page_link(_file("lab"), label=words.LAB, icon=":material/science:", query_params=lab)
    short = f"Learn it in {words.number(len(names()))} short lessons, one question each"
    st.page_link(_file("learn"), label=short, icon=":material/school:")


def _file(page: str) -> str:
    return f"sampledash/dashboard/pages/{page}.py"
