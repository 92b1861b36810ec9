"""One lesson on the screen: the way through the course, the question, the answer, the picture."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from sampledash.dashboard import controls, page
from sampledash.dashboard.learn import course, moving, teacher
from sampledash.dashboard.learn import drawn as figures
from sampledash.dashboard.learn.lesson import Entry
from sampledash.dashboard.learn.links import link
from sampledash.dashboard.learn.words import PAPER, Choice, Lesson

LESSON, PRESENT, LOOK = "lesson", "present", "look"
NUMBERS = tuple(str(number) for number in range(1, len(course.LESSONS) + 1))


def show() -> None:
    """Draw the page."""
    # The toggle is drawn last; what it says decides how everything is drawn.
    present = bool(
        st.session_state.get(PRESENT, st.query_params.get(PRESENT, "").lower() == "true")
    )
    with st.container(key="projected" if present else "lesson_page"):
        number = _way()
        entry = course.LESSONS[number - 1]
        lesson = course.words(number)
        asked = st.container()
        # Side by side where there is room: the picture stays on the screen.
        with st.container(horizontal=True, vertical_alignment="center", key="answer"):
            chosen = _guess(number, lesson)
            if chosen is not None:
                _reply(chosen)
        with asked:
            _head(number, lesson, revealed=chosen is not None, present=present)
        _body(number, entry, revealed=chosen is not None, present=present)
    _foot(lesson, present)
    course.ahead(number)


def _head(number: int, lesson: Lesson, *, revealed: bool, present: bool) -> None:
    """First the question as the heading, for the title tells what is learnt; then the title."""
    if revealed and not present:
        st.markdown(f"### {number}. {lesson.title}")
        st.markdown(_kept(f"{lesson.setup} **{lesson.question}**"))
        return
    st.markdown(f"### {number}. {_kept(lesson.question)}")
    if not revealed:  # on a projector the picture needs the room, once the answer is out
        st.markdown(_kept(lesson.setup))


def _kept(text: str) -> str:
    """The same text, with no number torn from its percent or equals sign."""
    return text.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")


def _way() -> int:
    """Which lesson: numbers to choose from, and a step back or forth, by arrow key too."""
    row = st.container(horizontal=True, vertical_alignment="center", key="way")
    chosen = row.segmented_control(
        "Lesson", NUMBERS, default=NUMBERS[0], required=True, key=LESSON, bind="query-params",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    number = int(chosen or NUMBERS[0])
    row.button(
        "Back", shortcut="Left", on_click=_step, args=(-1,),
        disabled=number == 1, key="lesson_back",
    )  # fmt: skip
    row.button(
        "Next", shortcut="Right", on_click=_step, args=(1,),
        disabled=number == len(NUMBERS), key="lesson_next", type="primary",
    )  # fmt: skip
    return number


def _step(by: int) -> None:
    place = NUMBERS.index(st.session_state.get(LESSON) or NUMBERS[0]) + by
    st.session_state[LESSON] = NUMBERS[min(max(place, 0), len(NUMBERS) - 1)]


def guess_key(number: int) -> str:
    """Key of the answer given in a lesson, also in the address."""
    return f"guess{number}"


def _guess(number: int, lesson: Lesson) -> Choice | None:
    if lesson.most is not None:
        guess = st.number_input(
            "Your guess", 0, lesson.most, value=None, step=1, key=guess_key(number),
            bind="query-params", persist_state="session", label_visibility="collapsed",
            placeholder=f"Your guess, 0 to {lesson.most}", width=210,
        )  # fmt: skip
        return None if guess is None else lesson.judged(guess)
    texts = [choice.text for choice in lesson.choices]
    chosen = st.pills(
        "Your answer", texts, key=guess_key(number), bind="query-params",
        persist_state="session", wrap=True, label_visibility="collapsed",
    )  # fmt: skip
    return lesson.choices[texts.index(chosen)] if chosen in texts else None


def _reply(chosen: Choice) -> None:
    """Say whether it is right, and why, to everybody alike."""
    said = _kept(chosen.reply)
    if chosen.right:
        st.success(f"Yes. {said}", icon=":material/check_circle:")
    else:
        st.info(f"Not quite. {said}", icon=":material/lightbulb:")


def _body(number: int, entry: Entry, *, revealed: bool, present: bool) -> None:
    if not revealed:
        _picture(number, "", revealed=False, present=present)
        st.caption("Answer first: then the picture can be moved.")
        return
    if present:
        above = st.container()  # the picture is to be seen without scrolling
        look = _look(number, entry)
        with above:
            _picture(number, look, revealed=True, present=True)
        return
    left, right = st.columns([7, 5], gap="medium")
    with left:
        look = _look(number, entry)
        _picture(number, look, revealed=True, present=False)
    lesson = course.words(number, look)
    with right:
        st.markdown(f"**{_kept(lesson.sentence)}**")
        _formula(lesson.formula)
        _points(lesson.points)
        st.markdown(f"*Why it matters.* {_kept(lesson.why)}")
        if entry.extra is not None:
            entry.extra(look)
        link(lesson.link)
        st.caption(f"{PAPER}: {lesson.source}.")


def _formula(steps: Sequence[str]) -> None:
    """All steps as one formula, in short lines: a column is narrow."""
    lines = [line for step in steps for line in step.split(r",\qquad ")]
    st.latex(r"\begin{gathered}" + r"\\[6pt]".join(lines) + r"\end{gathered}")


def _points(points: Sequence[str]) -> None:
    if points:
        st.markdown("\n".join(f"{i}. {point}" for i, point in enumerate(points, 1)))


def _look(number: int, entry: Entry) -> str:
    if not entry.looks:
        return ""
    chosen = st.segmented_control(
        "Metric", entry.looks, default=entry.looks[0], required=True, key=f"{LOOK}{number}",
        bind="query-params", persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    return chosen or entry.looks[0]


def _picture(number: int, look: str, *, revealed: bool, present: bool) -> None:
    entry = course.LESSONS[number - 1]
    look = look or next(iter(entry.looks), "")
    lesson = course.words(number, look)
    fig = made(number, look, revealed, page.is_dark(), present)
    moving.show(
        fig,
        key=f"lesson_{number}_{look}_{revealed}_{present}",
        alt=lesson.sentence if revealed else f"{lesson.question} Before the answer.",
    )


@st.cache_resource(max_entries=120, show_spinner="Computing the picture")
def made(number: int, look: str, revealed: bool, dark: bool, present: bool) -> go.Figure:
    """The picture of a lesson; the same for everybody."""
    if revealed:
        course.ahead(number).result()
    fig = course.LESSONS[number - 1].picture(look, revealed, dark)
    return figures.large(fig) if present else fig


def _foot(lesson: Lesson, present: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_foot"):
        st.toggle(
            "Present", key=PRESENT, bind="query-params",
            help="Large letters and nothing but the picture. With embed=true in the address the "
            "menu is gone too.",
        )  # fmt: skip
        if present:
            return
        with st.popover("For teachers", icon=":material/school:"):
            st.markdown(teacher.notes(lesson))
            controls.download(
                "Exercise sheet of all lessons", lambda: teacher.sheet(course.every()),
                "sampledash-exercises.md", "text/markdown",
            )  # fmt: skip
