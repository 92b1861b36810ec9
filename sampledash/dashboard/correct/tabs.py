"""Tabs of the page "Correct" for a metric: its corrected values, their bias and variance, and more.

The metric is a function of the rank, and thus a sum of polynomials. The last tab shows which of
these polynomials can be recovered from samples.
"""

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.analyses.correct import pictures, result, words
from sampledash.correction import Correction
from sampledash.dashboard import page
from sampledash.estimation.estimate import full_cutoff
from sampledash.grids import LIVE
from sampledash.report.numbers import count, gamma
from sampledash.spectral import resolution

NAMES = ("Vector", "What it costs", "What a sample can see")
SPECTRA = ("over γ", "over m")
OFFERED = {"sheet": (NAMES, NAMES[0]), "sees": (SPECTRA, SPECTRA[0])}
DEFAULTS = {key: default for key, (_, default) in OFFERED.items()}
_HEAD = 8  # number of sampled ranks, from 1, whose corrected values the page shows


def show(q: result.Question) -> None:
    """Draw the tabs; only the open tab is computed."""
    page.tabs(NAMES, (vector, tradeoffs, spectrum), "sheet", q)


def vector(q: result.Question) -> None:
    """Draw the values that a corrected metric has at the first sampled ranks.

    Also draw a script that computes them, and all values to copy.
    """
    fit, plain = q.fit(), q.fit(Correction())
    st.markdown(words.vector_note(fit))
    left, right = st.columns([2, 3])
    top = np.arange(1, min(_HEAD, q.sampling.m + 1) + 1)
    table = {
        "sampled rank": top,
        "uncorrected": [words.size(float(x)) for x in plain(top)],
        str(q.taken): [words.size(float(x)) for x in fit(top)],
    }
    with left:
        page.cells(pd.DataFrame(table))
        if q.sampling.m + 1 > len(top):
            st.caption(f"{count(q.sampling.m + 1)} values in all.")
    with right:
        st.caption("The same from Python")
        page.code(words.script(fit), "vector_script")
        st.caption("All values as a function, to copy")
        page.code(words.function(fit), "vector_function", 140)


def tradeoffs(q: result.Question) -> None:
    """Draw bias and standard deviation of the mean corrected metric against γ, m, n and |D|.

    γ is the weight of the variance in the correction, m the number of negatives, n that of
    candidates, and |D| that of instances. See Section 5.5 of Krichene & Rendle.
    """
    if q.sampling.m > LIVE:
        st.info(f"Many fits: drawn up to m = {count(LIVE)}.", icon=":material/hourglass_empty:")
        return
    with page.progress("Fitting the corrections") as report:
        axes = result.tradeoffs(q, report)
    current = {"m": q.sampling.m, "n": q.sampling.n, "|D|": q.instances}
    marks = {symbol: {f"{symbol} = {count(x)}": float(x)} for symbol, x in current.items()}
    marks["γ"] = {f"γ = {gamma(q.gamma)}": q.gamma, "1/|D|": 1 / q.instances}
    st.markdown(words.say.tradeoff(q.taken, q.instances))
    places = [*st.columns(2), *st.columns(2)]
    for place, (symbol, (x, curves)) in zip(places, axes.items(), strict=True):
        with place:
            alt = words.TEXTS["tradeoff"].format(instances=count(q.instances), symbol=symbol)
            fig = pictures.tradeoff(symbol, x, curves, marks=marks[symbol], dark=page.is_dark())
            page.picture(fig, key=f"correct_against_{symbol}", alt=alt)


def spectrum(q: result.Question) -> None:
    """Draw which components of a metric can be recovered from samples, and explain why.

    The metric, as a function of the rank, is a sum of polynomials, its components (see
    :mod:`sampledash.spectral`). Also write which cutoff on all items corresponds to the cutoff k on
    a sample.
    """
    s, weight, k = q.sampling, q.gamma or 1e-6, q.metric.k
    resolved = resolution(s, weight)
    st.markdown(f"**{words.say.resolved(s, weight, resolved.degree, resolved.width)}**")
    over = page.segments("Lines", SPECTRA, "sees", hidden=True) == SPECTRA[1]
    series = result.spectrum(s, weight, over_m=over)
    title = f"Kept at {f'γ = {gamma(weight)}' if over else f'm = {count(s.m)}'}"
    largest = max(resolution(s, min(result.SPECTRUM_GAMMAS)).degree, 10)
    fig = pictures.spectrum(title, series, most=min(3 * largest, s.n - 1), dark=page.is_dark())
    alt = f"Share kept of the components of degree 1 and up: {', '.join(x for x, _ in series)}."
    page.picture(fig, key="correct_spectrum", alt=alt)
    st.caption(words.TEXTS["components"])
    if k is not None and k <= s.m:
        uniform = s.n * k / (s.m + 1)
        st.markdown(words.say.reading(str(q.metric), k, s, full_cutoff(k, s.n, s.m), uniform))
