"""The page "Correct" for lists of negatives: how they were drawn, and with which faults."""

from collections.abc import Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import memory
from sampledash.analyses.audit import pictures
from sampledash.auditing.audit import Audit, effects
from sampledash.auditing.reading import audit_files
from sampledash.dashboard import page, state
from sampledash.dashboard.uploads import Upload, template, upload, uploaded_file
from sampledash.metrics import parse_metric
from sampledash.readers.files import read_rank_sets
from sampledash.report.escape import escaped
from sampledash.report.templates import texts
from sampledash.schemes import DEFAULT_SCHEME
from sampledash.types import Progress

SOURCES = ("An example", "Upload a file")
OFFERED: state.Offered = {"lists_source": (SOURCES, SOURCES[0])}
HELP = texts(Path(__file__).with_suffix(".txt"))


def show(row: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw the page "Correct" for lists of negatives: an audit of how they were drawn.

    ``row`` is the container of the choice of what to correct. ``defaults`` holds the default of
    this choice.
    """
    headline, picture = st.container(key="given_headline"), st.container(key="given_answer")
    page_defaults = {**defaults, "lists_source": SOURCES[0]}
    with row:
        upload_them = page.segments("Lists", SOURCES, "lists_source") == SOURCES[1]
        page.copy_link(page_defaults)
    page.note(page_defaults)
    check = _files if upload_them else list[Upload]
    result, problem = page.answer("audit", check, partial(_audit, headline), lambda _: "Auditing")
    dim = problem is not None
    page.tell(problem, headline)
    if result is None or (problem is not None and problem.asking):
        return
    with headline:
        page.say(escaped(result.sentence), dim=dim, about="earlier data")
    with picture:
        known = len(result.deciles) > 0
        if known:
            fig = pictures.drawn(result, dark=page.is_dark())
            page.picture(fig, key="audit_drawn", dim=dim, alt=HELP["drawn"])
        # The example stays on the page until a file has been read; a caption says "example".
        example = f" {HELP['example']}" if result is pictures.example() else ""
        st.caption(HELP["drawn" if known else "no train"] + example)
        words = result.findings[["finding", "detail"]].map(escaped)
        if len(words):
            page.table(words.set_axis(["Finding", "In words"], axis=1), result.findings, "findings")
        if upload_them:
            _effect(result)


def _effect(result: Audit) -> None:
    """Draw an uploader of true ranks; write how the audited negatives change a metric."""
    label = "True ranks, if you have them: what do these negatives do to a metric?"
    last = uploaded_file(label, key="effect_file", help=HELP["effect_file"])
    if last is None:
        return
    text = st.text_input("Metric", "Recall@10", key="effect_metric")
    asked, doing = (result, last, text), f"Computing {text} with these negatives"
    sentence, problem = page.answer("effect", lambda: asked, _sentence, lambda _: doing)
    if problem is not None:
        problem.show()
    elif sentence is not None:
        st.markdown(escaped(sentence))


def _sentence(asked: tuple[Audit, Upload, str], report: Progress) -> str:
    """Return a sentence: how does the way in which negatives were drawn change a metric?

    ``asked`` holds the audit of the negatives, a file of true ranks, and the name of the metric.
    """
    result, file, text = asked

    def make() -> str:
        sets = read_rank_sets(BytesIO(file.contents[0]), name=file.names[0])
        return effects(result, parse_metric(text), result.effect(text, sets), DEFAULT_SCHEME)

    report(0)
    return memory.cached(("effect", result, file.ident, text), make, shared=False)


def _files() -> list[Upload]:
    """Draw two uploaders: for lists of negatives, and for training data, which are optional.

    Return the uploaded files.
    """
    label = "The training part, if you have it"
    place = st.container()
    last = uploaded_file(label, key="train_file", help=HELP["train_file"])
    button = partial(template, "Template", "test.negative", "test.negative", "text/plain")
    label, words = "Lists of negatives, as text or a table", (HELP["lists_file"], HELP["asking"])
    with place:
        lists = upload(label, button, key="lists_file", help=words[0], asking=words[1])
    if len(lists.names) > 1:
        raise ValueError("lists of negatives are one file: remove the other")
    return [lists, *([last] if last else [])]


def _audit(headline: DeltaGenerator, files: list[Upload], report: Progress) -> Audit:
    """Audit the lists of negatives in the files, or an example if there are no files."""
    report(0)
    sources = [(BytesIO(file.contents[0]), file.names[0]) for file in files]
    key = ("audit", *(file.ident for file in files))
    make = partial(audit_files, *sources) if files else pictures.example
    called = files[0].called if files else "the example"
    with headline, st.spinner(escaped(f"Auditing {called}"), show_time=True):
        return memory.cached(key, make, shared=not files, large=True)
