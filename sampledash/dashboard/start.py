"""The first page: its headline, its picture, and links ("doors") to other pages."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import sampledash as sd
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, movielens, names
from sampledash.analyses.sliding import ALL, slopes
from sampledash.dashboard import page
from sampledash.report.numbers import count
from sampledash.report.sentences import negatives, ranking
from sampledash.types import Floats

LADDER = (20, 30, 40, 50, 70, 100, 130, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1500, 2000)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# What a reader may have: the page to open and its address query, the name, icon and question.
HAVE = pd.read_csv(Path(__file__).with_suffix(".csv"), keep_default_na=False).to_numpy().tolist()


def number(value: int) -> str:
    """Return a number as text; numbers up to ten are words."""
    return _NUMBERS[value] if value < len(_NUMBERS) else count(value)


def headline(systems: Sequence[str], exact: Floats, sampled: Floats, m: int) -> str:
    """Return a headline on how sampling ``m`` negatives changes the order of the systems."""
    best, size = np.argmax(sampled), number(len(systems))
    outcome = "the order is wrong"
    if ranking(systems, sampled) == ranking(systems, exact):
        outcome = "the order is right"
    elif best == np.argmin(exact):
        outcome = f"the worst of {size} looks best"
    return f"With {negatives(m)} {outcome}"


@st.cache_resource(max_entries=2, show_spinner=False)
def made(dark: bool) -> tuple[str, str, go.Figure, str]:
    """Return headline, caption, slope chart and its alternative text, cached for all sessions."""
    sets, systems, means, _, settled = data = movielens()
    exact, ms = np.array(means), data.visited(*LADDER, M, settled[-1] - 1)
    over_m = sd.curve(METRIC, sets, ms, scheme=WITHOUT).to_numpy()
    sampled = dict(zip(ms, over_m, strict=True))
    fig = slopes(METRIC, systems, exact, sampled, at=M, dark=dark)
    alt = (
        f"{METRIC} on {ALL}: {ranking(systems, exact)}. "
        f"With {M} sampled negatives: {ranking(systems, sampled[M])}."
    )
    n = np.concatenate([rs.n for rs in sets])
    about = (
        f"{METRIC} of three recommenders on MovieLens 1M, {count(n.min())} to {count(n.max())} "
        "candidate movies a user; each side on its own scale. "
        f"**Move m: the order is right from m\u00a0=\u00a0{count(settled[-1])}.**"
    )
    return headline(systems, exact, sampled[M], M), about, fig, alt


def show() -> None:
    """Draw the page."""
    headline, about, fig, alt = made(page.is_dark())
    with st.container(key="start"):
        st.markdown(f"### {headline}")
    st.markdown(about)
    page.moving(fig, key="start_slopes", alt=alt)
    st.markdown("**What do you have?**")
    for place, (target, query, name, icon, about) in zip(st.columns(len(HAVE)), HAVE, strict=True):
        with place.container(border=True, height="stretch"):
            page.link(target, f"**{name}**", f":material/{icon}:", dict(parse_qsl(query)))
            st.caption(about)
    short = f"Learn it in {number(len(names()))} short lessons, one question each"
    page.link("learn", short, ":material/school:")
