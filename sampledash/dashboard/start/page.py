"""The first page: its numbers, its picture, its doors."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from sampledash.comparison import curve, mean, right_from
from sampledash.dashboard import page
from sampledash.dashboard.learn.lesson import names
from sampledash.dashboard.start import pictures, words
from sampledash.dashboard.words import ranking
from sampledash.readers import example
from sampledash.sampling import Scheme
from sampledash.types import Floats

METRIC, DATA, M = "Recall@10", "movielens-xyz", 100
SCHEME: Scheme = "without-replacement"
LADDER = (20, 30, 40, 50, 70, 100, 130, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1500, 2000)


@st.cache_resource(max_entries=1, show_spinner=False)
def numbers() -> tuple[list[str], Floats, dict[int, Floats], int | None, int, int]:
    """Systems, exact means, expected means by m, where the order is right, candidates of a user."""
    sets = example(DATA)
    late = right_from(METRIC, sets, scheme=SCHEME)["m"]
    settled = None if late.isna().any() else int(late.max())
    turns = () if settled is None else (settled - 1, settled)
    n = np.concatenate([rs.n for rs in sets])
    fewest, most = int(n.min()), int(n.max())
    ms = sorted({*LADDER, M, *turns, most - 1})
    sampled = curve(METRIC, sets, ms, scheme=SCHEME).to_numpy()
    exact = np.array([mean(METRIC, rs) for rs in sets])
    systems = [rs.system for rs in sets]
    return systems, exact, dict(zip(ms, sampled, strict=True)), settled, fewest, most


@st.cache_resource(max_entries=2, show_spinner=False)
def picture(dark: bool) -> go.Figure:
    """The slope chart."""
    systems, exact, sampled, *_ = numbers()
    titles = [words.step_title(systems, exact, values) for values in sampled.values()]
    return pictures.slopes(systems, exact, sampled, titles, everything=words.ALL, at=M, dark=dark)


def show() -> None:
    """Draw the page."""
    systems, exact, sampled, settled, fewest, most = numbers()
    with st.container(key="start"):
        st.markdown(f"### {words.headline(systems, exact, sampled[M], M)}")
    st.markdown(words.about(METRIC, fewest, most, settled))
    page.moving(
        picture(page.is_dark()),
        key="start_slopes",
        alt=(
            f"{METRIC} on {words.ALL}: {ranking(systems, exact)}. "
            f"With {M} sampled negatives: {ranking(systems, sampled[M])}."
        ),
    )
    for place, (door, name, icon, about) in zip(st.columns(3), words.DOORS, strict=True):
        with place.container(border=True, height="stretch", key=f"door_{door}"):
            st.page_link(_file(door), label=f"**{name}**", icon=icon)
            st.caption(about)
    st.page_link(_file("learn"), label=words.learn(len(names())), icon=":material/school:")


def _file(page: str) -> str:
    return f"sampledash/dashboard/pages/{page}.py"
