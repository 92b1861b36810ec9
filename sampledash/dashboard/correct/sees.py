"""What a sample can see: which components of a metric a correction keeps, and what follows."""

from __future__ import annotations

from typing import Any

import streamlit as st

from sampledash.correction.spectral import resolution, retained
from sampledash.dashboard import charts
from sampledash.dashboard.correct import words_sees as words
from sampledash.dashboard.correct.scene import Scene
from sampledash.dashboard.estimate import pictures as figures
from sampledash.dashboard.ranks.trouble import escaped
from sampledash.dashboard.state import spelled
from sampledash.estimation import full_cutoff
from sampledash.report.numbers import count
from sampledash.sampling import Sampling

VIEWS = ("over γ", "over m")
DEFAULTS: dict[str, Any] = {"sees": VIEWS[0]}
_GAMMAS = (1.0, 0.1, 0.01, 0.001, 1e-6)
_MS = (10, 30, 100, 300, 1000)


def tab(scene: Scene) -> None:
    """The spectral picture, the sentence, and how to read a sampled cutoff."""
    s, gamma = scene.sampling, scene.gamma or 1e-6
    try:
        kept = resolution(s, gamma)
    except ValueError as error:
        st.info(escaped(spelled(error)), icon=":material/info:")
        return
    st.markdown(f"**{words.resolved(s, gamma, kept.degree, kept.width)}**")
    view = st.segmented_control(
        "Lines", list(VIEWS), default=VIEWS[0], required=True, key="sees", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    if view == VIEWS[1]:
        most = s.n - 1 if s.scheme == "without-replacement" else max(_MS)
        ms = sorted({m for m in (*_MS, s.m) if m <= most})
        series = [(f"m = {count(m)}", retained(Sampling(s.n, m, s.scheme), gamma)) for m in ms]
        title = f"Kept at {figures.weights_of_gamma([gamma])[0]}"
    else:
        gammas = sorted({*_GAMMAS, gamma}, reverse=True)
        names = figures.weights_of_gamma(gammas)
        series = [(name, retained(s, g)) for name, g in zip(names, gammas, strict=True)]
        title = f"Kept at m = {count(s.m)}"
    largest = max(resolution(Sampling(s.n, s.m, s.scheme), min(_GAMMAS)).degree, 10)
    charts.show(
        figures.spectrum(title, series, most=min(3 * largest, s.n - 1), dark=charts.is_dark()),
        key="correct_spectrum",
        alt=f"Share kept of the components of degree 1 and up: {', '.join(x for x, _ in series)}.",
    )  # fmt: skip
    st.caption(words.COMPONENTS)
    if scene.metric.k is not None and scene.metric.k <= s.m:
        k = scene.metric.k
        st.markdown(
            words.reading(str(scene.metric), k, s, full_cutoff(k, s.n, s.m), s.n * k / (s.m + 1))
        )
