"""The Learn page, which shows one lesson: navigation, question, answer and picture."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import sliding, theme
from sampledash.analyses.learn import lesson as lessons
from sampledash.analyses.learn.lesson import LOCKED, PAPER, Choice, Lesson, Link
from sampledash.dashboard import page, sliders, state
from sampledash.report.numbers import unbroken
from sampledash.report.sentences import negatives

LESSON, PRESENT, LOOK, EXAMPLE = "lesson", "present", "look", "example_m"
NUMBERS = tuple(str(number) for number in range(1, len(lessons.course()) + 1))
# Options of choice widgets. The address holds each choice, and the session keeps the choice while
# the reader visits other lessons.
_CHOICE: dict[str, Any] = {
    "bind": "query-params",
    "persist_state": "session",
    "label_visibility": "collapsed",
}
# Keys of settings that every link from a lesson to another page sets. Otherwise, earlier choices of
# the reader would change what the other page shows.
_SHARED = ("n", "m", "k", "scheme")
# A function that answers a request of the reader. It takes a metric's name and the number of
# negatives that the reader chose. It returns a sentence and, if another page can show the result,
# a link to that page.
Answer = Callable[[str, int], tuple[str, Link | None]]


def check_link() -> None:
    """Collect what is wrong with the link to the page that the reader followed."""
    offered: dict[str, tuple[Sequence[str], Any]] = {LESSON: (NUMBERS, NUMBERS[0])}
    for number, module in enumerate(lessons.course(), 1):
        offered[f"{LOOK}{number}"] = lessons.looks(number), lessons.looks(number)[0]
        if (key := f"guess{number}") in st.query_params:  # each call of words() takes long
            offered[key] = [choice.text for choice in lessons.words(number).choices], []
        if offer := getattr(module, "OFFER", None):
            offered[EXAMPLE] = [*map(negatives, offer[1])], []
    state.stamp(offered)


@st.fragment
def show() -> None:
    """Draw the page. A choice of the reader reruns only this function, not the menu and styles."""
    # The toggle "present" is drawn last, but its value decides how everything else is drawn.
    linked = st.query_params.get(PRESENT, "").lower() == "true"
    present = bool(st.session_state.get(PRESENT, linked))
    with st.container(key="projected" if present else "lesson_page"):
        number = _way()
        lesson = lessons.words(number)
        asked = st.container()
        # The possible answers and the reply are side by side, so that the picture below is visible.
        with st.container(horizontal=True, vertical_alignment="center", key="answer"):
            chosen = _guess(number, lesson)
        with asked:
            page.note(dict.fromkeys((LESSON, f"guess{number}", f"{LOOK}{number}", EXAMPLE)))
            _head(number, lesson, revealed=chosen is not None, present=present)
        _body(number, revealed=chosen is not None, present=present)
    _foot(lesson, present)
    lessons.ahead(number)


def _head(number: int, lesson: Lesson, *, revealed: bool, present: bool) -> None:
    """Draw the heading: the question or, once it is answered, the title, which gives the answer."""
    if revealed and not present:
        st.markdown(f"### {number}. {lesson.title}")
        st.markdown(unbroken(f"{lesson.setup} **{lesson.question}**"))
        return
    st.markdown(f"### {number}. {unbroken(lesson.question)}")
    if not revealed:  # once the answer is shown, a projector shows only question and picture
        st.markdown(unbroken(lesson.setup))


def _way() -> int:
    """Draw the choice of a lesson and the buttons Back and Next; return the lesson's number."""
    row = st.container(horizontal=True, vertical_alignment="center", key="way")
    number = _one_of(row, "Lesson", NUMBERS, LESSON)
    back: dict[str, Any] = {"shortcut": "Left", "args": (-1,), "key": "lesson_back"}
    forth: dict[str, Any] = {"shortcut": "Right", "args": (1,), "key": "lesson_next"}
    row.button("Back", on_click=_step, disabled=number == NUMBERS[0], **back)
    row.button("Next", on_click=_step, disabled=number == NUMBERS[-1], type="primary", **forth)
    return int(number)


def _one_of(place: DeltaGenerator, label: str, names: Sequence[str], key: str) -> str:
    """Draw a choice of one of ``names``, at first the first one; return the chosen name."""
    options: dict[str, Any] = {"default": names[0], "required": True, "key": key, **_CHOICE}
    return place.segmented_control(label, names, **options) or names[0]


def _step(by: int) -> None:
    place = NUMBERS.index(st.session_state.get(LESSON) or NUMBERS[0]) + by
    st.session_state[LESSON] = NUMBERS[min(max(place, 0), len(NUMBERS) - 1)]


def _guess(number: int, lesson: Lesson) -> Choice | None:
    """Draw the possible answers to the lesson's question; return the one that the reader chose.

    Also write the reply to this answer.
    """
    choices = {choice.text: choice for choice in lesson.choices}
    chosen = st.pills("Your answer", list(choices), key=f"guess{number}", wrap=True, **_CHOICE)
    answer = choices.get(chosen or "")
    if answer is not None:
        tell, icon = (st.success, "check_circle") if answer.right else (st.info, "lightbulb")
        tell(answer.response, icon=f":material/{icon}:")
    return answer


def _body(number: int, *, revealed: bool, present: bool) -> None:
    left, *right = st.columns([7, 5] if revealed and not present else 1, gap="medium")
    above = left.container()  # holds the picture, which must be visible without scrolling
    looks = lessons.looks(number)
    several = revealed and len(looks) > 1
    view = _one_of(left, "Shown", looks, f"{LOOK}{number}") if several else looks[0]
    lesson = lessons.words(number, view)
    with above:
        fig = _made(number, view, revealed, page.is_dark(), present)
        sliders.moving(fig, key=f"lesson-{number}", alt=lesson.described(revealed))
        st.html(f"<script>{lessons.KEYS}</script>", unsafe_allow_javascript=True)
    if not revealed:
        st.caption(LOCKED)
    for column in right:
        _explain(column, number, view, lesson)


def _explain(column: DeltaGenerator, number: int, view: str, lesson: Lesson) -> None:
    """Draw the explanation of the picture, with its numbers, and a link to another page."""
    with column:
        st.markdown(f"**{unbroken(lesson.sentence)}**")
        st.latex(r"\begin{gathered}" + r"\\[6pt]".join(lesson.lines) + r"\end{gathered}")
        if lesson.points:
            st.markdown("\n".join(f"{i}. {point}" for i, point in enumerate(lesson.points, 1)))
        st.markdown(f"*Why it matters.* {unbroken(lesson.why)}")
        if offer := getattr(lessons.course()[number - 1], "OFFER", None):
            _offer(view, *offer)
        _link(lesson.link)
        st.caption(f"{PAPER}: {lesson.source}.")


def _offer(view: str, ask: str, m_values: Sequence[int], answer: Answer) -> None:
    """Draw a text with a button for each m and, once the reader has chosen m, the answer.

    m is the number of negatives. ``ask`` is the text, such as "Find me a counterexample for {look}
    with", which the label of a button completes. ``view`` is the metric that replaces {look}.
    """
    options = {**_CHOICE, "label_visibility": "visible", "format_func": negatives, "wrap": True}
    chosen = st.pills(ask.format(look=view), m_values, key=EXAMPLE, **options)
    if chosen is None:
        return
    sentence, link = answer(view, chosen)
    if link is None:
        st.info(sentence, icon=":material/verified:")
    else:
        st.markdown(sentence)
        _link(link)


def _link(link: Link) -> None:
    """Draw a link to another page, whose address has the settings of ``link``.

    The other page's n, m, k and sampling scheme are the defaults, unless ``link`` sets them.
    """
    shared = {key: str(state.DEFAULTS[key]) for key in _SHARED}
    page.link(link.page, link.label, ":material/arrow_outward:", {**shared, **link.query})


@st.cache_resource(max_entries=120, show_spinner="Computing the picture")
def _made(number: int, view: str, revealed: bool, dark: bool, present: bool) -> theme.Picture:
    """Return the picture of lesson ``number``, cached for all sessions.

    ``view`` is the metric or picture that the reader chose, ``revealed`` says whether the answer is
    shown, and ``present`` whether the page is on a projector.
    """
    if revealed:
        lessons.ahead(number).result()
    fig = lessons.course()[number - 1].picture(view, revealed, dark)
    return theme.Picture(**(sliding.large(fig) if present else fig).to_dict())


def _foot(lesson: Lesson, present: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_foot"):
        st.toggle("Present", key=PRESENT, bind="query-params", help=sliders.HELP["present"])
        if present:
            return
        with st.popover("For teachers", icon=":material/school:"):
            st.markdown(lessons.notes(lesson))
            label, name = "Exercise sheet of all lessons", "sampledash-exercises.md"
            page.download(label, lessons.sheet, name, "text/markdown")
