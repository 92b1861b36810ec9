"""Functions for all dashboard pages: results, controls, pictures, numbers and tables."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from plotly.utils import PlotlyJSONEncoder
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import memory, theme
from sampledash.dashboard import scripts, state
from sampledash.grids import LIVE
from sampledash.report import tables
from sampledash.report.escape import escaped
from sampledash.report.numbers import count, spell, unbroken
from sampledash.types import Progress

_BARE, _PIPE = r"(?<!\\)\|", r"\\|"  # an unescaped |, and the escaped | that replaces it
# Regular expression of a table cell with a number, a range, a percentage, or only a dash.
_NUMERIC = r"[\\*<>≥≤≈~]*\s*[-−–+±]?[\d–\\].{0,30}"
Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")
Made = pd.DataFrame | Callable[[], pd.DataFrame]
Numbers = Sequence[tuple[str, str, str]]

MOST_ROWS = 9  # largest number of rows that table() shows: three systems times three metrics
# Download formats of a table: label, function that writes the table, file extension, MIME type.
FORMATS: tuple[tuple[str, Callable[[pd.DataFrame], str], str, str], ...] = (
    ("CSV", tables.as_csv, "csv", "text/csv"),
    ("Markdown", tables.as_markdown, "md", "text/markdown"),
    ("LaTeX", tables.as_latex, "tex", "text/x-tex"),
)
_PICTURE = scripts.component("picture.js")
_OUTLINE = scripts.component("access.js")
_COPY = scripts.component("copying.js")
memory.keep_in(lambda: st.session_state)
_PATIENCE, _PAUSE = 0.3, 0.05
_OPEN = "_source_open"  # session key: for which data the reader pressed the button "Change"


def outline(*titles: str) -> None:
    """Add invisible headings above the page for screen readers, the highest level first.

    The script ``access.js``, which adds the headings, also lets the Tab key reach parts that
    scroll, such as a long formula on a phone. The script reruns the page when the theme changes,
    because Python chooses the colours of pictures.
    """
    _OUTLINE(key="outline", data=list(titles), on_scheme_change=lambda: None, height=1)


class Problem(ValueError):
    """An error that a page shows instead of a new result, with buttons that offer remedies.

    Parameters
    ----------
    ways
        Label and action of each button.
    asking
        Whether the page only asks the reader for data or for consent, so that nothing is wrong.
    """

    def __init__(
        self, sentence: str, *ways: tuple[str, Callable[[], None]], asking: bool = False
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.ways, self.asking = sentence, ways, asking

    @classmethod
    def of(cls, error: ValueError) -> Problem:
        """Return ``error`` if it is a Problem, otherwise a Problem with the error's message."""
        return error if isinstance(error, Problem) else cls(spell(error))

    def show(self) -> None:
        """Draw the message and its buttons."""
        if not self.asking:
            st.error(escaped(self.sentence), icon=":material/error:")
        else:
            icon = ":material/hourglass_empty:" if self.ways else ":material/info:"
            st.info(escaped(self.sentence), icon=icon)
        if self.ways:
            with st.container(horizontal=True):
                for place, (label, do) in enumerate(self.ways):
                    kind: Any = "secondary" if place else "primary"
                    if st.button(label, on_click=do, type=kind):
                        # Rerun the whole page, because the button may change any part of it.
                        st.rerun()


def tell(problem: Problem | None, place: DeltaGenerator) -> None:
    """Draw message and buttons of ``problem``, if it is not None, in the container ``place``."""
    if problem is not None:
        with place:
            problem.show()


def answer(
    key: str,
    check: Callable[[], Q],
    compute: Callable[[Q, Progress], R],
    doing: Callable[[Q], str],
    explain: Callable[[ValueError], Problem] = Problem.of,
) -> tuple[R | None, Problem | None]:
    """Compute the page's result for the current settings; return the result and a Problem or None.

    ``check`` returns the settings in one value, the *question*, and ``compute`` computes the result
    of a question. If ``check`` or ``compute`` raises a ValueError, return the result of the last
    valid question (None if there is none), and the Problem that ``explain`` makes of the error.
    ``doing`` returns the text of the progress bar.
    """

    def work(question: Q) -> R:
        with progress(doing(question)) as report:
            return compute(question, report)

    good = f"_good_{key}"
    try:
        question = check()
        result = work(question)
    except ValueError as error:
        last = st.session_state.get(good)
        return None if last is None else work(last), explain(error)
    st.session_state[good] = question
    return result, None


def say(sentence: str, badge: str = "", *, dim: bool = False, about: str = "") -> None:
    """Write a badge and the main sentence of the page; ``dim`` greys an outdated sentence.

    ``about`` names the data of the sentence. A line above an outdated sentence shows this name.
    """
    if dim and about:
        st.caption(f"In gray and dimmed: the last answer that could be shown, about {about}.")
    sentence = unbroken(sentence)
    st.markdown(f"### {badge}{f':gray[{sentence}]' if dim else sentence}")


def require_agreed(what: Hashable, m: int, duration: str) -> None:
    """If m, the number of negatives, is large, ask the reader to allow a slow computation.

    To ask, raise a Problem with a button. ``what`` identifies the computation, and ``duration``
    says how long it takes.
    """
    agreed: set[Hashable] = st.session_state.setdefault("_agreed", set())
    if m > LIVE and what not in agreed:
        smaller = f"up to m = {count(LIVE)} the picture follows by itself."
        button = f"Compute m = {count(m)}", lambda: agreed.add(what)
        raise Problem(f"m = {count(m)} takes {duration}: {smaller}", button, asking=True)


def asked(what: Hashable, key: str, label: str, help: str) -> bool:
    """Return whether the reader has asked for ``what``; if not, draw a button that asks for it."""
    place = f"_asked_{key}"
    if st.session_state.get(place) == what:
        return True

    def ask() -> None:
        st.session_state[place] = what

    st.button(label, icon=":material/calculate:", key=key, help=help, on_click=ask)
    return False


@contextmanager
def progress(words: str) -> Iterator[Progress]:
    """Show the progress of some work in a bar that appears after ``_PATIENCE`` seconds.

    Yield a function that the work calls with the share of the work that is done. Each call also
    stops the work if the reader has changed a setting.
    """
    place, start = None, time.monotonic()
    last = start + _PATIENCE - _PAUSE

    def report(share: float) -> None:
        nonlocal last, place
        state.give_way()
        if time.monotonic() - last > _PAUSE:
            place = place or st.empty()
            place.progress(min(max(share, 0.0), 1.0), words)
            last = time.monotonic()

    yield report
    if place:
        place.empty()


def is_dark() -> bool:
    return bool(st.context.theme.type == "dark")


def picture(
    fig: theme.Picture,
    *,
    key: str,
    alt: str,
    dim: bool = False,
    on_pick: Callable[[Any], None] | None = None,
    drags: str = "",
    shown: Mapping[str, str] | None = None,
) -> None:
    """Draw a figure; ``dim`` makes the figure pale, for a result that is outdated.

    If ``key`` is the same in every run, the figure changes without blinking. ``alt`` is the text
    for screen readers. ``on_pick`` is called with the custom data of a point that is clicked.
    ``drags`` is the key of the setting that the reader changes by dragging the vertical line.
    A downloaded picture lists the settings ``shown`` in its caption and in the name of its file. By
    default, ``shown`` holds the settings that all pages share.
    """
    shown = state.setting() if shown is None else shown
    sent = {"figure": fig.to_dict(), "key": key, "alt": alt, "name": _file(key, shown), "dim": dim}
    sent |= {"hears": on_pick is not None, "drags": drags, "caption": state.caption(shown)}

    def picked() -> None:
        if on_pick is not None:
            on_pick(st.session_state[key].picked)

    _PICTURE(key=key, data=packed(sent), on_picked_change=picked)


def packed(data: Any) -> bytes:
    """Return ``data`` for a script in the browser: as JSON, compressed to a third of its size.

    ``unpack`` in picture.js reads the result.
    """
    written = json.dumps(data, cls=PlotlyJSONEncoder, separators=(",", ":"))
    return zlib.compress(written.encode(), 4)


def _file(name: str, shown: Mapping[str, str]) -> str:
    """Return the name of a download, without extension; ``shown`` holds the settings."""
    settings = (f"{key}-{text}" for key, text in shown.items())
    return "-".join(["sampledash", name, *settings]).replace(",", "").replace(" ", "-")


def panels(fig: theme.Picture, count: int, **options: Any) -> None:
    """Draw a picture with ``count`` panels; on a phone the reader swipes from panel to panel.

    ``options`` are those of :func:`picture`.
    """
    with st.container(key=f"panels_{theme.across(count)}"):
        picture(fig, **options)


def strip(numbers: Numbers, before: Numbers = (), *, dim: bool = False) -> None:
    """Draw the page's numbers, each with label, value and meaning.

    Below each number is its value in ``before``, the numbers for settings that the reader pinned
    for comparison. ``dim`` makes the numbers pale, for a result that is outdated.
    """
    with st.container(key="strip_dimmed" if dim else "strip", horizontal=True):
        for (label, value, about), was in zip_longest(numbers, [x for _, x, _ in before]):
            st.metric(label, value, was, "off", delta_arrow="off", help=about)


def folded(what: Hashable, line: str) -> None:
    """Draw one line about the data, in place of the widgets with which the reader chooses data.

    These widgets are in the container "choice", which is drawn before the line and hidden by
    style.css. The button "Change" shows the container until other data are chosen. ``what``
    identifies the data.
    """
    is_open = st.session_state.get(_OPEN) == what

    def turn() -> None:
        st.session_state[_OPEN] = None if is_open else what

    with st.container(key="choice_open" if is_open else "choice_line", horizontal=True):
        if not is_open:
            st.markdown(line, width="content")
        label = "Done" if is_open else "Change"
        st.button(label, key="choice_turn", type="tertiary", on_click=turn)


def why(draw: Callable[[], None]) -> None:
    """Draw the expander "Why?"; ``draw`` is called to fill the expander only while it is open."""
    icon = ":material/lightbulb:"
    fold = st.expander("Why?", icon=icon, key="why", bind="query-params", on_change="rerun")
    if fold.open:
        with fold:
            draw()


@st.fragment
def tabs(names: Sequence[str], draws: Sequence[Callable[[T], None]], key: str, shown: T) -> None:
    """Draw tabs. Call the function of the open tab, one of ``draws``, with the result ``shown``.

    If the function raises a ValueError, the tab shows the error's message.
    """
    places = st.tabs(names, key=key, bind="query-params")
    for place, draw in zip(places, draws, strict=True):
        if place.open:
            with place:
                try:
                    draw(shown)
                except ValueError as error:
                    st.info(escaped(spell(error)), icon=":material/info:")


def bound(key: str, help: str | None = None, **more: Any) -> dict[str, Any]:
    """Return arguments of a widget whose value is in the address, as the parameter ``key``."""
    return {"key": key, "bind": "query-params", "help": help, **more}


def segments(
    label: str,
    names: Iterable[str],
    key: str,
    *,
    default: str | None = None,
    help: str | None = None,
    hidden: bool = False,
) -> str:
    """Draw buttons to choose one of ``names``; return the choice, which is also in the address.

    If ``default`` is None, the first name is the default. ``hidden`` shows the label to screen
    readers only.
    """
    offered = list(names)
    first = offered[0] if default is None else default
    label_visibility = "collapsed" if hidden else "visible"
    options = bound(key, help, wrap=True, label_visibility=label_visibility)
    return st.segmented_control(label, offered, default=first, required=True, **options) or first


def chips(label: str, offered: Iterable[T], key: str, default: list[T], help: str) -> list[T]:
    """Draw buttons to choose several options; return the choice, which is also in the address."""
    options = bound(key, help, wrap=True)
    return st.pills(label, list(offered), selection_mode="multi", default=default, **options)


def whole_number(
    label: str, key: str, default: int, low: int = 0, most: int | None = None, **options: Any
) -> int:
    """Draw a field for a whole number; return the number, or ``default`` if the field is empty."""
    typed = st.number_input(label, low, most, default, step=1, **bound(key, **options))
    return default if typed is None else int(typed)


def note(page_defaults: Mapping[str, Any]) -> None:
    """Show what is wrong with the link that the reader followed, until a setting changes.

    Call this function once the values of all controls of the page are known. ``page_defaults``
    maps the page's own settings to their defaults.
    """
    for complaint in state.complaints((*state.DEFAULTS, *page_defaults)):
        st.warning(complaint, icon=":material/link_off:")


def copy_link(page_defaults: Mapping[str, Any]) -> None:
    """Draw a button that copies the link to the page with its settings, and a button for Reset."""
    words = {"label": "Copy link", "copied": "Copied. Uploaded files never travel in a link."}
    words["link"] = state.permalink(page_defaults)
    _COPY(key="copy_link", data=words, width="content")
    defaults = {**state.DEFAULTS, **page_defaults}
    about = "Sets every setting of this page to its default."
    options: dict[str, Any] = {"on_click": state.reset, "args": (defaults,), "key": "reset"}
    if st.button("Reset", help=about, type="tertiary", **options):
        st.rerun()  # reruns the whole page, because other parts of the page have settings too


def code(text: str, key: str, height: int | None = None) -> None:
    """Draw a text, such as a script, with a Copy button, at most ``height`` pixels high."""
    words: dict[str, Any] = {"label": "Copy", "copied": "Copied", "text": text, "height": height}
    _COPY(key=key, data=words)


def link(target: str, label: str, icon: str, query: Mapping[str, Any] | None = None) -> None:
    """Draw a link to another page of the dashboard; ``query`` holds parameters of the address."""
    params = None if query is None else {"v": state.VERSION, **query}
    st.page_link(script(target), label=label, icon=icon, query_params=params)


def open_page(target: str, query: Mapping[str, Any]) -> None:
    """Open another page of the dashboard, with ``query`` as the parameters of its address."""
    st.switch_page(script(target), query_params={"v": state.VERSION, **query})


def script(target: str) -> str:
    """Return the path of the script of a page of the dashboard, such as "lab"."""
    # Streamlit looks for relative paths beside app.py, where the package need not be.
    return str(Path(__file__).with_name("pages") / f"{target}.py")


def download(
    label: str, data: Callable[[], str | bytes], name: str, mime: str, **options: Any
) -> None:
    """Draw a download button; ``data`` makes the content when the reader presses the button."""
    icon = ":material/download:"
    st.download_button(label, data, name, mime, on_click="ignore", icon=icon, **options)


def take(table: Made, name: str) -> None:
    """Draw the buttons that download a table as CSV, Markdown or LaTeX.

    ``table`` holds all rows with unrounded numbers, or is a function that makes such a table.
    ``name`` is a part of the name of the downloaded file.
    """

    def render(write: Callable[[pd.DataFrame], str]) -> str:
        return write(table() if callable(table) else table)

    file = _file(name, state.setting())
    with st.container(horizontal=True, gap="small", key=f"take_{name}"):
        for label, writer, end, mime in FORMATS:
            options = {"type": "tertiary", "key": f"take_{name}_{end}"}
            options["help"] = f"The whole table as {label}."
            download(label, partial(render, writer), f"{file}.{end}", mime, **options)


def cells(printed: pd.DataFrame) -> None:
    """Draw a table whose cells are Markdown; columns of numbers are aligned at the right.

    Streamlit's own tables load a JavaScript library that is larger than the rest of most pages.
    """

    def line(texts: Iterable[Any]) -> str:
        # A Markdown cell must be a single line, and its text must not contain an unescaped |.
        whole = (re.sub(r"\s*\n\s*", " ", str(x)) for x in texts)
        return f"| {' | '.join(re.sub(_BARE, _PIPE, x) for x in whole)} |"

    columns = [printed[name].astype(str) for name in printed]
    numbers = (x.str.fullmatch(_NUMERIC).all() for x in columns)
    rules = ["---:" if right else "---" for right in numbers]
    rows = printed.itertuples(index=False, name=None)
    st.markdown("\n".join([line(printed.columns), line(rules), *map(line, rows)]))


def table(printed: pd.DataFrame, whole: Made, name: str, *, rows: int | None = None) -> None:
    """Draw the first rows of ``printed``, whose cells are Markdown, and downloads of ``whole``.

    ``rows`` is the total number of rows. If None, ``printed`` holds all rows.
    """
    cells(printed.head(MOST_ROWS))
    total, shown = len(printed) if rows is None else rows, min(len(printed), MOST_ROWS)
    if total > shown:
        st.caption(f"{shown} of {count(total)} rows; all of them are in the downloads.")
    take(whole, name)
