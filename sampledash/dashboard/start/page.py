"""The first page: its numbers, its picture, its doors."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from sampledash.comparison import curve, mean, right_from
from sampledash.dashboard import page
from sampledash.dashboard.learn import moving
from sampledash.dashboard.start import pictures as figures
from sampledash.dashboard.start import words
from sampledash.dashboard.words import ranking
from sampledash.readers import example
from sampledash.sampling import Scheme
from sampledash.types import Floats

METRIC, DATA, M = "Recall@10", "movielens-xyz", 100
SCHEME: Scheme = "without-replacement"
LADDER = (20, 30, 40, 50, 70, 100, 130, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1500, 2000)


@st.cache_resource(max_entries=1, show_spinner=False)
def numbers() -> tuple[tuple[str, ...], Floats, tuple[int, ...], Floats, int | None]:
    """Systems, exact means, values of m, expected means there, and where the order is right."""
    sets, (_, n) = example(DATA), candidates()
    late = right_from(METRIC, sets, scheme=SCHEME)["m"]
    settled = None if late.isna().any() else int(late.max())
    turns = () if settled is None else (settled - 1, settled)
    ms = tuple(sorted({*LADDER, M, *turns, n - 1}))
    sampled = curve(METRIC, sets, ms, scheme=SCHEME).to_numpy()
    exact = np.array([mean(METRIC, rs) for rs in sets])
    return tuple(rs.system for rs in sets), exact, ms, sampled, settled


def candidates() -> tuple[int, int]:
    """Fewest and most candidates of a user."""
    n = np.concatenate([rs.n for rs in example(DATA)])
    return int(n.min()), int(n.max())


@st.cache_resource(max_entries=2, show_spinner=False)
def picture(dark: bool) -> go.Figure:
    """The slope chart."""
    systems, exact, ms, sampled, _ = numbers()
    titles = [words.step_title(systems, exact, values) for values in sampled]
    return figures.slopes(
        systems, exact, ms, sampled, titles, everything=words.ALL, at=M, dark=dark
    )


def show() -> None:
    """Draw the page."""
    systems, exact, ms, sampled, settled = numbers()
    there = sampled[ms.index(M)]
    with st.container(key="start"):
        st.markdown(f"### {words.headline(systems, exact, there, M)}")
    st.markdown(words.about(METRIC, candidates(), settled))
    moving.show(
        picture(page.is_dark()),
        key="start_slopes",
        alt=(
            f"{METRIC} on {words.ALL}: {ranking(systems, exact)}. "
            f"With {M} sampled negatives: {ranking(systems, there)}."
        ),
    )
    for place, (door, name, icon, about) in zip(st.columns(3), words.DOORS, strict=True):
        with place.container(border=True, height="stretch", key=f"door_{door}"):
            st.page_link(_file(door), label=f"**{name}**", icon=icon)
            st.caption(about)
    st.page_link(_file("learn"), label=words.LEARN, icon=":material/school:")


def _file(page: str) -> str:
    return f"sampledash/dashboard/pages/{page}.py"
