"""The first page: a headline, a picture, and links to the page for each kind of data."""

from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import sampledash as sd
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, movielens, names
from sampledash.analyses.sliding import ALL, slopes
from sampledash.dashboard import page, sliders
from sampledash.report.numbers import unbroken
from sampledash.report.sentences import ranking
from sampledash.report.templates import Sentences

LADDER = (20, 30, 40, 50, 70, 100, 130, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1500, 2000)
say = Sentences(Path(__file__).with_suffix(".jinja"))
# A row for each kind of data that a reader may have. Columns: page for the data, query of the
# page's address, name of the data, icon, question that the page answers.
HAVE = pd.read_csv(Path(__file__).with_suffix(".csv"), keep_default_na=False).to_numpy().tolist()


@st.cache_resource(max_entries=2, show_spinner=False)
def made(dark: bool) -> tuple[str, str, go.Figure, str]:
    """Return headline, caption, slope chart, and text for screen readers; cached for all sessions.

    In the chart, each bundled recommender has a line from its exact to its sampled metric.
    """
    sets, systems, means, _, settled = data = movielens()
    exact, ms = np.array(means), data.visited(*LADDER, M, settled[-1] - 1)
    sampled = dict(zip(ms, sd.curve(METRIC, sets, ms, scheme=WITHOUT).to_numpy(), strict=True))
    fig = slopes(METRIC, systems, exact, sampled, at=M, dark=dark)
    on_all, shown = ranking(systems, exact), ranking(systems, sampled[M])
    worst_is_best = np.argmax(sampled[M]) == np.argmin(exact)
    headline = say.headline(M, on_all, shown, worst_is_best, len(systems))
    n = np.concatenate([rs.n for rs in sets])
    about = unbroken(say.about(METRIC, (n.min(), n.max()), settled[-1]))
    return headline, about, fig, say.alt(METRIC, ALL, on_all, M, shown)


def show() -> None:
    """Draw the Start page."""
    headline, about, fig, alt = made(page.is_dark())
    with st.container(key="start"):
        st.markdown(f"### {headline}")
    st.markdown(about)
    sliders.moving(fig, key="start_slopes", alt=alt)
    st.markdown("**What do you have?**")
    for place, (target, query, name, icon, about) in zip(st.columns(len(HAVE)), HAVE, strict=True):
        with place.container(border=True, height="stretch"):
            page.link(target, f"**{name}**", f":material/{icon}:", dict(parse_qsl(query)))
            st.caption(about)
    page.link("learn", say.lessons(names()), ":material/school:")
