"""Steck's theorem at work: ratings that go missing at random, or not."""

from __future__ import annotations

import numpy as np
import streamlit as st

from sampledash.dashboard import cache, page, theme
from sampledash.dashboard.paper import words
from sampledash.metrics import parse_metric
from sampledash.papers.steck import Watched, theorem

DEFAULTS = {"times": 9}
MOST = 20
_HEIGHT = 260


def _found() -> dict[int, list[Watched]]:
    def make() -> dict[int, list[Watched]]:
        return {t: theorem(t, np.random.default_rng(2010)) for t in range(1, MOST + 1)}

    return cache.cached(("paper", "missing"), make, shared=True)


def show() -> None:
    """The control that violates the assumption, and what becomes of the two measures."""
    st.markdown(words.MISSING)
    times = st.slider(
        "The best-ranked relevant item is observed so many times as often as the worst",
        1, MOST, DEFAULTS["times"], key="times", bind="query-params", format="%d times",
        help="1: ratings are missing at random, as the theorem assumes.",
    )  # fmt: skip
    found = _found()
    st.markdown(words.missing(times, found[times]))
    for row, panel in enumerate(st.columns(2)):
        with panel:
            _panel(row, times, found)


def _panel(row: int, times: int, found: dict[int, list[Watched]]) -> None:
    dark, measure = page.is_dark(), found[times][row].measure
    line = theme.metric_line(parse_metric(measure), dark)
    at = np.array(list(found))
    seen, complete = (
        100 * np.array([getattr(watched[row], name) for watched in found.values()])
        for name in ("observed", "complete")
    )
    data = [
        theme.curve(at, complete, theme.exact_line(dark), "all relevant items"),
        theme.curve(at, seen, {**line, "dash": "solid"}, "observed ones"),
        {"type": "scatter", "mode": "markers", "x": [times], "y": [float(seen[times - 1])],
         "marker": {"size": 11, "color": line["color"]}, "hoverinfo": "skip", "showlegend": False},
    ]  # fmt: skip
    low = float(min(seen.min(), complete.min()))
    high = float(max(seen.max(), complete.max()))
    names = [
        theme.name_at(MOST, float(complete[-1]), "all", theme.look(dark).ink, log=False,
                      side="left") | {"yanchor": "bottom"},
        theme.name_at(MOST, float(seen[-1]), "observed", line["color"], log=False,
                      side="left") | {"yanchor": "bottom"},
    ]  # fmt: skip
    room = 0.15 * (high - low)
    fig = theme.figure(
        data, dark=dark, height=_HEIGHT, title=measure, title_color=line["color"],
        revision=f"missing-{measure}", annotations=names, showlegend=False,
        xaxis={"title": {"text": "times as often"}, "range": [0.5, MOST + 0.5]},
        yaxis=theme.percent_axis(high + room, low=low - room),
        shapes=[theme.upright(times, theme.look(dark).muted)],
    )  # fmt: skip
    page.picture(
        fig, key=f"paper_missing_{row}",
        alt=f"{measure} of the observed relevant items over how unevenly they are observed.",
    )  # fmt: skip
