"""The parts of the Correct page: its controls, its pictures, its numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from sampledash.correction import Correction
from sampledash.dashboard import charts, controls, state
from sampledash.dashboard.correct import own, priors, sees, words
from sampledash.dashboard.correct import pictures as figures
from sampledash.dashboard.correct import tabs as correct_tabs
from sampledash.dashboard.correct.scene import DEFAULTS, RECIPES, SIZES, TAKEN, Scene
from sampledash.dashboard.estimate.words import cutoff_holds_all
from sampledash.report import numbers as text
from sampledash.report.numbers import count
from sampledash.report.vectors import vector_csv, vector_json

LINK: dict[str, Any] = {**DEFAULTS, **correct_tabs.DEFAULTS, "why": False}
# What a link can choose, and the default.
OFFERED: state.Offered = {
    key: (names, LINK[key])
    for key, names in (
        ("metric", state.CHIPS), ("take", TAKEN), ("drawn", RECIPES), ("instances", SIZES),
        ("prior", priors.PRIORS), ("sheet", correct_tabs.NAMES), ("costs", correct_tabs.COSTS),
        ("sees", sees.VIEWS),
    )
}  # fmt: skip


def metric_choice() -> None:
    """The one metric of the page."""
    st.pills(
        "Metric", list(state.CHIPS), default=DEFAULTS["metric"], required=True, key="metric",
        bind="query-params", wrap=True, help="The metric that is corrected.",
    )  # fmt: skip


HELP = (
    "Rank estimate: the metric at the scaled-up rank. CLS: least squares among vectors that never "
    "rise. BV: bias² + γ · variance, with the γ of the sidebar. LS: bias only, γ = 0."
)


def choices() -> own.Given | None:
    """The corrections in the pictures, the one taken away, |D|, the prior; own weights for it."""
    left, middle, right = st.columns([41, 32, 27])
    left.pills(
        "Corrections", list(RECIPES), selection_mode="multi", default=DEFAULTS["drawn"],
        key="drawn", bind="query-params", wrap=True, help=HELP,
    )  # fmt: skip
    middle.segmented_control(
        "Take away", TAKEN, default=DEFAULTS["take"], required=True, key="take",
        bind="query-params", help="The correction of the sentence, the numbers and the download.",
    )  # fmt: skip
    right.select_slider(
        "|D|, instances", list(SIZES), value=DEFAULTS["instances"], key="instances",
        bind="query-params",
        help="Over how many instances, such as users, the mean is taken: it divides the variance.",
    )  # fmt: skip
    prior = st.segmented_control(
        "Prior", list(priors.PRIORS), default=DEFAULTS["prior"], required=True, key="prior",
        bind="query-params",
        help="How often each true rank is thought to occur: CLS, BV and LS weigh their errors by "
        "it, and so do the averages here.",
    )  # fmt: skip
    if prior == priors.OWN:
        return own.choose()
    own.leave()
    return None


def _over_ranks(shown: Scene) -> str:
    """How the averages weigh the ranks."""
    if shown.prior == priors.UNIFORM:
        return "over all ranks, each weighing the same"
    says = "own weights say" if shown.weights is not None else f"the prior {shown.prior} says"
    return f"over the ranks, weighing as {says}"


def picture(shown: Scene, *, dim: bool = False) -> None:
    """Expectation against truth large; beside it the vector and what each correction costs."""
    dark = charts.is_dark()
    large, small = st.container(key="panels").columns([5, 3])
    with large:
        charts.show(
            figures.expectation(
                shown.metric, shown.ranks, shown.metric(shown.ranks, shown.sampling.n),
                {x: shown.expected(x) for x in shown.drawn}, focus=shown.taken, dark=dark,
            ),
            key="correct_expectation", dim=dim,
            alt=words.picture(shown.metric, shown.sampling, shown.drawn),
        )  # fmt: skip
    with small:
        charts.show(
            figures.vector(
                shown.metric, figures.sampled_ranks(shown.sampling.m),
                {x: shown.fit(x).values for x in shown.drawn}, focus=shown.taken, dark=dark,
            ),
            key="correct_vector", dim=dim,
            alt=f"Value reported for each sampled rank. {words.vector_note(shown.fit())}",
        )  # fmt: skip
        found = {x: shown.risk(x) for x in shown.drawn}
        charts.show(
            figures.risks(found, instances=shown.instances, dark=dark),
            key="correct_risks", dim=dim,
            alt="; ".join(
                f"{x}: bias {words.size(b**0.5)}, scatter of the mean "
                f"{words.size((v / shown.instances) ** 0.5)}"
                for x, (b, v) in found.items()
            ),
        )  # fmt: skip


def warnings(shown: Scene) -> None:
    """What to beware of."""
    sampling = shown.sampling
    if cutoff := cutoff_holds_all(shown.metric, sampling.n, sampling.m):
        st.warning(cutoff, icon=":material/warning:")
    if note := shown.fit().note:
        st.warning(text.spell(note), icon=":material/warning:")
    if shown.note:
        st.caption(shown.note)


def numbers(shown: Scene) -> None:
    """The strip: four numbers of the correction that is taken away."""
    bias2, variance = shown.risk()
    values = shown.fit().values
    before = shown.risk(Correction())[0] ** 0.5
    nothing = replace(shown.fit(), values=0 * values).risk()[0] ** 0.5
    for place, (label, value, about) in zip(
        st.container(key="strip").columns(4),
        (
            ("Average bias", words.size(bias2**0.5),
             f"Root mean square {_over_ranks(shown)}. Uncorrected: "
             f"{words.size(before)}; reporting 0 always: {words.size(nothing)}. The mean over any "
             "number of instances keeps its bias."),
            ("Scatter of one draw", words.size(variance**0.5),
             "Standard deviation for one instance, averaged over the ranks in the same way."),
            (f"Scatter over {count(shown.instances)}",
             words.size((variance / shown.instances) ** 0.5),
             "Standard deviation of the mean over |D| instances."),
            ("Largest value", words.size(float(values.max())),
             f"Of the vector. Its smallest is {words.size(float(values.min()))}."),
        ),
        strict=True,
    ):  # fmt: skip
        place.metric(label, value, help=about)


def why(shown: Scene) -> None:
    """The formula, with the numbers of the page in it."""
    st.markdown(words.gamma_meaning(shown.taken, shown.instances))
    for step in words.formula(shown.fit(), *shown.risk(), prior=priors.TEX[shown.prior]):
        st.latex(step)
    st.markdown(words.AVERAGES if shown.prior == priors.UNIFORM else words.AVERAGES_BY_PRIOR)
    st.caption(words.FORMULAS)


def downloads(shown: Scene) -> None:
    """The vector as files."""
    fit = shown.fit()
    name = "-".join(f"sampledash {shown.metric} {shown.taken} m {shown.sampling.m}".split())
    controls.download("Vector as CSV", lambda: vector_csv(fit), f"{name}.csv", "text/csv")
    controls.download(
        "Vector as JSON", lambda: vector_json(fit), f"{name}.json", "application/json"
    )
