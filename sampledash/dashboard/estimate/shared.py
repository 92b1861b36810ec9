"""Elements that the page "Correct" draws both for sampled ranks and for a printed table."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import choices
from sampledash.analyses.choices import CANDIDATES
from sampledash.analyses.estimate import pictures
from sampledash.analyses.estimate.result import DATA, Result
from sampledash.dashboard import page, sliders, state
from sampledash.estimation.bounds import Range
from sampledash.metrics import Metric
from sampledash.readers.files import example
from sampledash.report import estimates as words
from sampledash.report.escape import escaped
from sampledash.report.numbers import count, percent
from sampledash.report.templates import texts
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme
from sampledash.types import Progress

HELP = texts(Path(__file__).with_name("help.txt"))
# Key of a setting in a link -> its options and its default.
OFFERED: state.Offered = {"candidates": (CANDIDATES, CANDIDATES[0])}
# Default settings that the pages for sampled ranks and for a printed table share.
DEFAULTS = {"metric": "Recall@k", "candidates": CANDIDATES[0]}


def is_corpus() -> bool:
    """Whether the reader says that the ranked candidates are a sample of a larger corpus."""
    return bool(state.value("candidates", DEFAULTS) == CANDIDATES[1])


def ask_candidates() -> None:
    """Draw a choice: was the item ranked among sampled negatives, or all candidates of a test?"""
    page.segments("It was ranked among", CANDIDATES, "candidates", help=HELP["candidates"])


def mean_n(name: str = DATA) -> tuple[int, str]:
    """Return n, the mean number of candidates of a bundled example, and a text that shows n."""
    mean = round(float(np.mean(example(name)[0].n)))
    return mean, f"{count(mean)}, mean of the users"


def places() -> tuple[DeltaGenerator, sliders.Bar, DeltaGenerator]:
    """Draw the choice of the metric; return containers for sentence, bar of sliders, and picture.

    The caller then draws the input, such as an uploader, below the picture.
    """
    with st.container(key="above"):
        sliders.metric()
    return st.container(key="given_headline"), sliders.place(), st.container(key="given_answer")


def bar(
    place: sliders.Bar, defaults: Mapping[str, Any], n: tuple[int, str] | None, m: str, *more: str
) -> None:
    """Draw the bar of sliders in ``place``, and a button that copies the link to the page.

    ``n`` holds the number of candidates in the data, and a text that shows it; ``m`` is a text that
    shows the number of negatives. If ``n`` is None or ``m`` is "", the reader sets the number.
    ``more`` are keys of further sliders.
    """
    numbers = ["m", "n", *["k"] * sliders.uses_cutoff("metric"), *more]
    sliders.bar(place, *numbers, n=n, m=m, late=numbers, sampled=not is_corpus())
    with place.row:
        page.copy_link(defaults)
    page.note(defaults)


def scheme() -> Scheme:
    """Return the sampling scheme by which the negatives were drawn.

    If the candidates are a sample of a larger corpus, the scheme is always without replacement.
    """
    return DEFAULT_SCHEME if is_corpus() else state.current().scheme


def metric_asked() -> Metric:
    settings = state.current()
    if SCHEMES[scheme()].weighted:
        raise page.Problem(HELP["popularity"])
    return choices.chip_metric(state.value("metric", DEFAULTS), settings.k, settings.n)


def answered(
    headline: DeltaGenerator,
    found: DeltaGenerator,
    key: str,
    check: Callable[[], Any],
    compute: Callable[[Any, Progress], Result[Any]],
    doing: str,
    explain: Callable[[ValueError], page.Problem] = page.Problem.of,
) -> tuple[Result[Any] | None, bool]:
    """Draw the page's result: its sentence in ``headline``, and its picture in ``found``.

    Return the result, and whether it is outdated, because a setting is invalid. While the page asks
    for data, the result is None, because an outdated result would be about other data.
    """
    with headline:  # a progress bar replaces an earlier error message
        answer, problem = page.answer(key, check, compute, lambda _: doing, explain)
        dim = problem is not None
        if problem is not None:
            problem.show()
            answer = None if problem.asking else answer
        if answer is None:
            return None, dim
        icon, color = words.VERDICTS[answer.word]
        badge = f":{color}-badge[{icon} {answer.word}] " if answer.pairs else ""
        page.say(answer.sentence, badge, dim=dim, about="earlier data")
        for note in answer.notes:
            st.caption(escaped(note))
    where = "the whole corpus" if answer.question.corpus else "all items"
    fig = pictures.ranges(f"{answer.question.metric} on {where}", answer.rows, dark=page.is_dark())
    alt = "; ".join(f"{row.name}: {range_text(row.free)}" for row in answer.rows)
    with found:
        with st.container(key="given_picture"):
            page.picture(fig, key=f"{key}_ranges", dim=dim, alt=alt)
        st.caption(answer.legend)
    return answer, dim


def range_text(span: Range | None, other: str = "") -> str:
    if span is None:
        return "contradicted"
    return words.span(*span) if other else f"{percent(span[0])} to {percent(span[1])}"
