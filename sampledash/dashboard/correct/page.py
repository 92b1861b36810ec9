"""The Correct page on a metric: its corrected vector to take away, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.correction import Correction
from sampledash.dashboard import page, sliders, state
from sampledash.dashboard.correct import custom_prior, pictures, result, tabs, words
from sampledash.dashboard.correct.result import DEFAULTS, OWN, UNIFORM, Question, check
from sampledash.dashboard.estimate.words import cutoff_holds_all
from sampledash.dashboard.explore.result import LIVE
from sampledash.dashboard.page import Problem
from sampledash.report import numbers as text
from sampledash.report.numbers import count
from sampledash.report.vectors import vector_csv, vector_json

LINK: dict[str, Any] = {**DEFAULTS, **tabs.DEFAULTS, "why": False}
OFFERED: state.Offered = {**result.OFFERED, **tabs.OFFERED}
HELP = {
    "metric": "The metric that is corrected.",
    "drawn": "Rank estimate: the metric at the scaled-up rank. CLS: least squares among vectors "
    "that never rise. BV: bias² + γ · variance, with the γ of the sidebar. LS: bias only, γ = 0.",
    "take": "The correction of the sentence, the numbers and the download.",
    "instances": "Over how many instances, such as users, the mean is taken: it divides the "
    "variance.",
    "prior": "How often each true rank is thought to occur: CLS, BV and LS weigh their errors by "
    "it, and so do the averages here.",
    "scatter": "Standard deviation for one instance, averaged over the ranks in the same way.",
    "scatter of the mean": "Standard deviation of the mean over |D| instances.",
}
LACKING = (
    "Give the weights of the true ranks below: paste them, or choose a file. A link carries only "
    "short ones."
)


def show(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw it; ``headline`` is the place of the sentence, ``defaults`` those of the whole page."""
    notes = st.container()
    metric_choice()
    picture, narrow = st.container(), st.container()
    given = _choices()
    understood, strip = st.container(), st.container()
    # After the page's own choices: only what is known then can be undone.
    sliders.draw(page_defaults={**defaults, **DEFAULTS, custom_prior.KEY: ""})
    with notes:
        page.link_notes()
    with narrow:
        sliders.narrow_m()
    q, problem = page.answer(
        "correct", partial(_question, given), _fitted, first=lambda: check(state.DEFAULTS, DEFAULTS)
    )
    assert q is not None
    with headline:
        if problem is None:
            st.markdown(f"### {_sentence(q)}")
            _warnings(q)
        else:
            problem.show()
    with picture:
        _picture(q, dim=problem is not None)
    if problem is not None:
        return
    if q.prior.custom:
        with understood:
            custom_prior.note(np.frombuffer(q.prior.custom))
    with strip:
        page.strip(_numbers(q))
    with st.expander("Why?", icon=":material/lightbulb:", key="why", bind="query-params"):
        _why(q)
    with st.container(horizontal=True):
        own = {custom_prior.KEY: ""} if custom_prior.KEY in st.query_params else {}
        page.copy_link({**defaults, **LINK, **own})
        fit = q.fit()
        name = "-".join(f"sampledash {q.metric} {q.taken} m {q.sampling.m}".split())
        page.download("Vector as CSV", lambda: vector_csv(fit), f"{name}.csv", "text/csv")
        page.download(
            "Vector as JSON", lambda: vector_json(fit), f"{name}.json", "application/json"
        )
    tabs.show(q)


def metric_choice() -> None:
    """The one metric of the page."""
    st.pills("Metric", list(state.CHIPS), required=True, wrap=True, **_linked("metric"))


def _linked(key: str, default: str = "default") -> dict[str, Any]:
    """What the widget of a choice is given: its key, its default and what it is about."""
    return {"key": key, default: DEFAULTS[key], "bind": "query-params", "help": HELP[key]}


def _choices() -> custom_prior.Given | None:
    """The corrections in the pictures, the one taken away, |D|, the prior; own weights for it."""
    left, middle, right = st.columns([41, 32, 27])
    several: dict[str, Any] = {"selection_mode": "multi", "wrap": True}
    left.pills("Corrections", list(result.RECIPES), **several, **_linked("drawn"))
    with middle:
        taken = DEFAULTS["take"]
        page.segments("Take away", result.TAKEN, "take", default=taken, help=HELP["take"])
    right.select_slider("|D|, instances", list(result.SIZES), **_linked("instances", "value"))
    if page.segments("Prior", result.PRIORS, "prior", help=HELP["prior"]) == OWN:
        return custom_prior.choose()
    custom_prior.put_in_address("")
    return None


def _question(given: custom_prior.Given | None) -> Question:
    """What is asked now; what takes long starts with a click."""
    chosen = {key: state.value(key, DEFAULTS) for key in DEFAULTS}
    if chosen["prior"] == OWN and given is None:
        raise Problem(LACKING, asking=True)
    q = check({key: state.value(key) for key in state.DEFAULTS}, chosen, given)
    m = count(q.sampling.m)
    if q.sampling.m > LIVE:
        page.require_agreed(
            (q.metric, q.sampling, q.drawn),
            f"m = {m} takes up to a minute for each fit: "
            f"up to m = {count(LIVE)} the picture follows by itself.",
            f"Compute m = {m}",
        )
    return q


def _fitted(q: Question) -> Question:
    """The same, its corrections fitted."""
    recipes = dict.fromkeys((Correction(), *q.drawn))
    with page.progress("Fitting the corrections") as report:
        for done, recipe in enumerate(recipes):
            report(done / len(recipes))
            q.expected(recipe)
    return q


def _sentence(q: Question) -> str:
    before = q.risk(Correction())[0] ** 0.5
    bias2, variance = q.risk()
    scatter = (variance / q.instances) ** 0.5
    return words.sentence(q.metric, q.sampling.m, q.taken, before, bias2**0.5, scatter, q.instances)


def _warnings(q: Question) -> None:
    if cutoff := cutoff_holds_all(q.metric, q.sampling.n, q.sampling.m):
        st.warning(cutoff, icon=":material/warning:")
    if note := q.fit().note:
        st.warning(text.spell(note), icon=":material/warning:")
    if q.note:
        st.caption(q.note)


def _picture(q: Question, *, dim: bool) -> None:
    """Expectation against truth large; beside it the vector and what each correction costs."""
    dark = page.is_dark()
    large, small = st.container(key="panels").columns([5, 3])
    exact, curves = q.metric(q.ranks, q.sampling.n), {x: q.expected(x) for x in q.drawn}
    vectors, risks = {x: q.fit(x).values for x in q.drawn}, {x: q.risk(x) for x in q.drawn}
    with large:
        fig = pictures.expectation(q.metric, q.ranks, exact, curves, focus=q.taken, dark=dark)
        alt = words.picture(q.metric, q.sampling, q.drawn)
        page.picture(fig, key="correct_expectation", dim=dim, alt=alt)
    with small:
        fig = pictures.vector(q.metric, vectors, focus=q.taken, dark=dark)
        alt = f"Value reported for each sampled rank. {words.vector_note(q.fit())}"
        page.picture(fig, key="correct_vector", dim=dim, alt=alt)
        fig = pictures.risks(risks, instances=q.instances, dark=dark)
        page.picture(fig, key="correct_risks", dim=dim, alt=words.risks(risks, q.instances))


def _numbers(q: Question) -> list[tuple[str, str, str]]:
    """The strip: four numbers of the correction that is taken away."""
    bias2, variance = q.risk()
    values = q.fit().values
    before = q.risk(Correction())[0] ** 0.5
    nothing = replace(q.fit(), values=0 * values).risk()[0] ** 0.5
    over = "all ranks, each weighing the same"
    if q.prior.name != UNIFORM:
        says = "own weights say" if q.prior.custom else f"the prior {q.prior.name} says"
        over = f"the ranks, weighing as {says}"
    bias = (
        f"Root mean square over {over}. Uncorrected: {words.size(before)}; reporting 0 always: "
        f"{words.size(nothing)}. The mean over any number of instances keeps its bias."
    )
    scatter = words.size((variance / q.instances) ** 0.5)
    smallest = f"Of the vector. Its smallest is {words.size(float(values.min()))}."
    return [
        ("Average bias", words.size(bias2**0.5), bias),
        ("Scatter of one draw", words.size(variance**0.5), HELP["scatter"]),
        (f"Scatter over {count(q.instances)}", scatter, HELP["scatter of the mean"]),
        ("Largest value", words.size(float(values.max())), smallest),
    ]


def _why(q: Question) -> None:
    """The formula, with the numbers of the page in it."""
    st.markdown(words.gamma_meaning(q.taken, q.instances))
    for step in words.formula(q.fit(), *q.risk(), prior=result.TEX[q.prior.name]):
        st.latex(step)
    st.markdown(words.AVERAGES if q.prior.name == UNIFORM else words.AVERAGES_BY_PRIOR)
    st.caption(words.FORMULAS)
