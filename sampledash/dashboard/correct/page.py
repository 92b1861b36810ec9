"""The page "Correct" for a metric: corrected value of each sampled rank, bias and variance."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import choices, memory, theme
from sampledash.analyses.correct import pictures, result, words
from sampledash.analyses.correct.result import DEFAULTS, OWN, UNIFORM, Question, check
from sampledash.correction import LABELS, Correction
from sampledash.dashboard import live, page, pins, sliders, state
from sampledash.dashboard.correct import tabs
from sampledash.dashboard.uploads import pasted
from sampledash.grids import LIVE
from sampledash.readers.pasted import weights_of_text
from sampledash.report import numbers as text
from sampledash.report.sentences import cutoff_holds_all
from sampledash.report.tables import vector_csv, vector_json
from sampledash.report.templates import texts
from sampledash.types import Floats, Progress

LINK: dict[str, Any] = {**DEFAULTS, **tabs.DEFAULTS, "why": False}
OFFERED: state.Offered = {**result.OFFERED, **tabs.OFFERED}
HELP = texts(Path(__file__).with_name("help.txt"))
EXPECTED, VECTOR, RISKS = "correct_expectation", "correct_vector", "correct_risks"
LACKING = "Give the weights of the true ranks below: paste them. A link carries only short ones."
# The reader can type a prior distribution of the true rank, as a weight for each rank.
WEIGHTS = "weights"  # key of these weights, in the session and in the page's address
IN_LINK = 1_000  # a link carries these weights if they have at most this many characters
PLACEHOLDER = "rank,weight\n1,40\n2,25\n10,5\n1000,1"

# Steps of the slider of γ, the weight of the variance in the bias-variance correction. Pictures are
# computed in advance for these steps.
GAMMAS = [round(f * 10**-e, 9) for e in range(6) for f in (1, 0.5, 0.2)] + [1e-6]

# Each pin (settings that the reader keeps for comparison): its name, and pictures of its result.
Before = Sequence[tuple[str, dict[str, theme.Picture]]]
Given = Callable[[int], Floats]  # number of candidates n -> the reader's weights of the ranks 1..n


def show(row: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw the page "Correct" for a metric.

    ``row`` is the container of the choice of what to correct. ``defaults`` holds the default of
    this choice.
    """
    with row:
        page.segments("By", result.TAKEN, "take", default=DEFAULTS["take"], help=HELP["take"])
    with st.container(horizontal=True, vertical_alignment="center", key="above"):
        sliders.metric()
        prior = _settings()
    given = None
    if prior == OWN:
        given = _prior_choice()
    else:
        state.put_in_address(WEIGHTS, "")
    live.listen()
    _answer(given, defaults)
    live.below(_below)


@st.fragment
def _answer(given: Given | None, defaults: Mapping[str, Any]) -> None:
    """Draw the bar of sliders, and everything that depends on the sliders.

    ``given`` returns the reader's weights of the true ranks; None if there are none.
    """
    headline, bar = st.container(key="headline"), sliders.place()
    picture, cutoff = st.container(key="picture"), ["k"] * sliders.uses_cutoff("metric")
    controls = live.controls(partial(sliders.bar, bar, "m", "n", *cutoff, "gamma"))
    make, fit = partial(_question, given), partial(_fitted, report=lambda _: None)
    q, problem = page.answer("correct", make, _fitted, lambda _: "Fitting the corrections")
    dim, dark, about = problem is not None, page.is_dark(), lambda x: [str(x.metric), str(x.taken)]
    pinned, draw_pins = pins.pins(q, make, fit, DEFAULTS, about)
    alone = [(x.name, replace(x.answer, drawn=(x.answer.taken,))) for x in pinned]
    before = [(name, _drawn(x, dark)) for name, x in alone]
    if q is not None:
        with picture:
            _picture(q, before, dim=dim)
            pins.note(pinned)
    with headline:
        page.note({**defaults, **DEFAULTS, WEIGHTS: ""})
        if q is not None:
            page.say(_sentence(q), dim=dim, about="earlier settings")
            if not dim:
                _warnings(q)
    page.tell(problem, bar.whole)
    controls()
    weights = {WEIGHTS: ""} if WEIGHTS in st.query_params else {}
    with bar.row:
        draw_pins()
        page.copy_link({**defaults, **LINK, **weights})
    if q is None:
        live.follow()
        return
    page.strip(_numbers(q), _numbers(pinned[-1].answer) if pinned else (), dim=dim)
    known = tuple((x.name, x.question) for x in pinned)
    live.follow(q, () if dim else _follows(q, before, known, dark), (q, dim))


def _below(q: Question) -> None:
    """Draw the part of the page below the pictures: explanation, downloads and tabs."""
    page.why(lambda: _why(q))
    with st.container(horizontal=True):
        fit = q.fit()
        name = "-".join(f"sampledash {q.metric} {q.taken} m {q.sampling.m}".split())
        page.download("Vector as CSV", lambda: vector_csv(fit), f"{name}.csv", "text/csv")
        page.download(
            "Vector as JSON", lambda: vector_json(fit), f"{name}.json", "application/json"
        )
    tabs.show(q)


def _settings() -> str:
    """Draw the settings: corrections, number of instances |D|, and prior of the true rank.

    Return the name of the prior.
    """
    prior, size = (state.value(key, DEFAULTS) for key in ("prior", "instances"))
    about = f"|D| = {size}, {prior}"
    with st.popover(about, icon=":material/tune:", key="settings"):
        page.chips("Corrections", LABELS, "drawn", DEFAULTS["drawn"], HELP["drawn"])
        bound = page.bound("instances", HELP["instances"], value=DEFAULTS["instances"])
        st.select_slider("|D|, instances", list(result.SIZES), **bound)
        return page.segments("Prior", result.PRIORS, "prior", help=HELP["prior"])


def _question(given: Given | None) -> Question:
    """Return the settings as a Question.

    Raise a Problem if the reader's weights are missing, or to ask for consent to a long fit of the
    corrections. ``given`` returns the reader's weights of the true ranks; None if there are none.
    """
    chosen = {key: state.value(key, DEFAULTS) for key in DEFAULTS}
    if chosen["prior"] == OWN and given is None:
        raise page.Problem(LACKING, asking=True)
    now = state.current()
    q = check(now.sampling(), now.k, now.gamma, chosen, given)
    fits = q.metric, q.sampling, q.drawn
    page.require_agreed(fits, q.sampling.m, "up to a minute for each fit")
    return q


def _fitted(q: Question, report: Progress) -> Question:
    """Fit the corrections that the page shows, cache the results, and return ``q`` unchanged.

    The methods of ``q`` then read these results from the cache.
    """
    recipes = dict.fromkeys((Correction(), *q.drawn))
    for done, recipe in enumerate(recipes):
        report(done / len(recipes))
        q.expected(recipe)
    return q


def _sentence(q: Question) -> str:
    before, bias2, variance = q.risk(Correction())[0], *q.risk()
    errors = (square**0.5 for square in (before, bias2, variance / q.instances))
    return words.say.sentence(q.metric, q.sampling.m, q.taken, *errors, q.instances)


def _warnings(q: Question) -> None:
    for cutoff in cutoff_holds_all(q.metric, q.sampling.n, q.sampling.m):
        st.warning(cutoff, icon=":material/warning:")
    if note := q.fit().note:
        st.warning(text.spell(note), icon=":material/warning:")
    if q.note:
        st.caption(q.note)


def _picture(q: Question, before: Before, *, dim: bool) -> None:
    """Draw a large picture of the expected metric; beside it, two small pictures.

    These show the value reported for each sampled rank, and the errors of the corrections.
    ``before`` holds pictures for settings that the reader pinned for comparison.
    """
    drawn, risks = _drawn(q, page.is_dark(), before), {x: q.risk(x) for x in q.drawn}
    alts = {
        EXPECTED: words.say.picture(q.metric, q.sampling, q.drawn),
        VECTOR: f"Value reported for each sampled rank. {words.vector_note(q.fit())}",
        RISKS: words.risks(risks, q.instances),
    }
    large, small = st.columns([5, 3])
    for place, keys in ((large, (EXPECTED,)), (small, (VECTOR, RISKS))):
        with place:
            for key in keys:
                page.picture(drawn[key], key=key, dim=dim, alt=alts[key])


def _drawn(q: Question, dark: bool, before: Before = ()) -> dict[str, theme.Picture]:
    """Return a dict from the key of each picture's page element to the picture.

    Curves of ``before``, for settings that the reader pinned for comparison, are behind the others.
    """
    exact, curves = q.metric(q.ranks, q.sampling.n), {x: q.expected(x) for x in q.drawn}
    vectors, risks = {x: q.fit(x).values for x in q.drawn}, {x: q.risk(x) for x in q.drawn}
    options: dict[str, Any] = {"focus": q.taken, "dark": dark}
    figures = {
        EXPECTED: pictures.expectation(q.metric, q.ranks, exact, curves, **options),
        VECTOR: pictures.vector(q.metric, vectors, **options),
        RISKS: pictures.risks(risks, instances=q.instances, dark=dark),
    }
    for key in (EXPECTED, VECTOR):
        was = [(name, drawn[key]) for name, drawn in before]
        figures[key] = theme.behind(figures[key], was)
    return figures


def _follows(q: Question, before: Before, pinned: Hashable, dark: bool) -> list[live.Follows]:
    """Return pictures, sentence and numbers for the steps of the sliders of m, n, k and γ.

    m is the number of negatives, n that of candidates, k the cutoff, and γ the weight of the
    variance in the correction. ``before`` holds pictures for settings that the reader pinned for
    comparison; ``pinned`` identifies these settings in a cache key.
    """
    s, chip, k = q.sampling, state.value("metric", {"metric": choices.METRIC}), state.current().k
    most = min(LIVE, s.n - 1) if s.design.distinct else LIVE
    weighted = any(x.gamma is not None for x in q.drawn)
    least = max(s.m + 1 if s.design.distinct else 2, k)
    stops: dict[str, Sequence[float]] = {"gamma": GAMMAS} if weighted else {}
    if s.m <= LIVE and not q.note:
        stops["m"] = choices.stops(1, most)
        if not q.prior.custom:  # weights of ranks that the reader typed hold for the current n only
            stops["n"] = choices.stops(least, choices.NUMBERS["n"].high, (1, 2, 5))
        if sliders.uses_cutoff("metric"):
            stops["k"] = choices.stops(1, s.n, (1, 2, 5))

    def at(key: str, number: float) -> Question:
        if key == "gamma":
            return q.weighed(number)
        if key == "m":
            return replace(q, sampling=replace(s, m=int(number)))
        n = int(number) if key == "n" else s.n
        metric = choices.chip_metric(chip, int(number) if key == "k" else k, n)
        return replace(q, metric=metric, sampling=replace(s, n=n))

    def frame(key: str, number: float) -> live.Frame:
        there = at(key, number)
        return live.frame(_drawn(there, dark, before), _sentence(there), _numbers(there))

    follows = []
    for key, numbers in stops.items():
        # The frames (the page's content at each step of a slider) do not depend on the slider's
        # current position, so the cache key holds the settings with the slider at its first step.
        same = at(key, numbers[0])
        depends = same, chip, (s.m, k) if key == "n" else (), pinned, dark
        more = {"shared": not q.prior.custom}
        follows.append(live.Follows(key, depends, numbers, partial(frame, key), **more))
    return follows


def _numbers(q: Question) -> list[tuple[str, str, str]]:
    """Return label, value and meaning of four numbers about the correction the reader chose.

    This correction is ``q.taken``.
    """
    bias2, variance = q.risk()
    values = q.fit().values
    before = q.risk(Correction())[0] ** 0.5
    nothing = replace(q.fit(), values=0 * values).risk()[0] ** 0.5
    bias = words.say.average_bias(q.prior, before, nothing)
    scatter = words.size((variance / q.instances) ** 0.5)
    smallest = f"Of the vector. Its smallest is {words.size(float(values.min()))}."
    return [
        ("Average bias", words.size(bias2**0.5), bias),
        ("Scatter of one draw", words.size(variance**0.5), HELP["scatter"]),
        (f"Scatter over {text.count(q.instances)}", scatter, HELP["scatter of the mean"]),
        ("Largest value", words.size(float(values.max())), smallest),
    ]


def _why(q: Question) -> None:
    """Draw the formulas of the chosen correction, with the numbers of the page put in."""
    st.markdown(words.say.gamma_meaning(q.taken, q.instances))
    for step in words.formula(q.fit(), *q.risk(), prior=result.TEX[q.prior.name]):
        st.latex(step)
    st.markdown(words.TEXTS["averages" if q.prior.name == UNIFORM else "averages by prior"])
    st.caption(words.TEXTS["formulas"])


def _prior_choice() -> Given | None:
    """Draw a field for the reader's weights of the true ranks: a prior distribution.

    Return a function from n, the number of candidates, to the weights of the ranks 1..n. Return
    None if the field is empty.
    """
    about = HELP["weights"].format(most=text.count(IN_LINK))
    field = {"height": 120, "placeholder": PLACEHOLDER, "help": about}
    typed = pasted("Weights of the true ranks", key=WEIGHTS, address=WEIGHTS, **field)
    state.put_in_address(WEIGHTS, typed if len(typed) <= IN_LINK else "")
    if not typed.strip():
        return None
    make = partial(weights_of_text, typed)
    return lambda n: memory.cached(("weights", typed, n), partial(make, n), shared=False)
