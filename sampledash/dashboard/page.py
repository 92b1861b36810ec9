"""What every page is made of: a question checked and answered, its picture, numbers and tables."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd
import plotly
import plotly.graph_objects as go
import streamlit as st
from plotly.utils import PlotlyJSONEncoder
from streamlit.components.v1 import declare_component

from sampledash.analyses import choices, memory, theme
from sampledash.dashboard import state
from sampledash.report import tables
from sampledash.report.escape import escaped
from sampledash.report.numbers import count, unbroken
from sampledash.types import Progress

Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")
Made = pd.DataFrame | Callable[[], pd.DataFrame]
Numbers = Sequence[tuple[str, str, str]]

MOST_ROWS = 9  # of a table on a page: three systems in three metrics
# What a table is taken away as: label, renderer, end of the file's name, type.
FORMATS: tuple[tuple[str, Callable[[pd.DataFrame], str], str, str], ...] = (
    ("CSV", tables.as_csv, "csv", "text/csv"),
    ("Markdown", tables.as_markdown, "md", "text/markdown"),
    ("LaTeX", tables.as_latex, "tex", "text/x-tex"),
)
_HERE = Path(__file__).parent
# Plotly's script as its package brings it, served beside the page.
_PLOTLY = declare_component("plotly", path=Path(plotly.__file__).parent / "package_data")
_SCRIPT = "".join((_HERE / name).read_text("utf-8") for name in ("plotly.js", "picture.js"))
_PICTURE = st.components.v2.component(
    "sampledash_picture", js=_SCRIPT.replace("PLOTLY", _PLOTLY.name), isolate_styles=False
)
memory.keep_in(lambda: st.session_state)
_SLIDING = _HERE / "sliding.js"
_OUTLINE = st.components.v2.component(
    "sampledash_access", js=(_HERE / "access.js").read_text("utf-8"), isolate_styles=False
)
_PATIENCE, _PAUSE = 0.3, 0.05  # seconds without a bar, and between two of its steps


def outline(*titles: str) -> None:
    """Put titles above the page for those who hear it, the highest level first; none is seen.

    Its script lets Tab reach what scrolls within the page, such as a long formula on a phone, and
    runs the page anew where the theme changes, for colours of pictures are chosen here.
    """
    _OUTLINE(key="outline", data=list(titles), on_scheme_change=lambda: None, height=1)


class Problem(ValueError):
    """Why there is nothing new to show, as plain text, and the ways out of it.

    Parameters
    ----------
    ways
        Of each what its button says and does.
    asking
        Nothing is wrong: something is still to be given, or to be agreed to.
    """

    def __init__(
        self, sentence: str, *ways: tuple[str, Callable[[], None]], asking: bool = False
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.ways, self.asking = sentence, ways, asking

    @classmethod
    def of(cls, error: ValueError) -> Problem:
        """An error of the core, spelled for the screen; a problem is one already."""
        return error if isinstance(error, Problem) else cls(state.spelled(error))

    def show(self) -> None:
        """Take the sentence's place."""
        if not self.asking:
            st.error(escaped(self.sentence), icon=":material/error:")
        else:
            icon = ":material/hourglass_empty:" if self.ways else ":material/info:"
            st.info(escaped(self.sentence), icon=icon)
        if self.ways:
            with st.container(horizontal=True):
                for place, (label, do) in enumerate(self.ways):
                    look: Any = "secondary" if place else "primary"
                    if st.button(label, on_click=do, type=look):
                        st.rerun()  # what it puts right may stand outside of this part


def answer(
    key: str,
    check: Callable[[], Q],
    compute: Callable[[Q, Progress], R],
    doing: Callable[[Q], str],
    explain: Callable[[ValueError], Problem] = Problem.of,
    first: Callable[[], Q] | None = None,
) -> tuple[R | None, Problem | None]:
    """Answer what is asked; or answer the last good question again and say what is wrong now.

    ``check`` makes the question of the choices, ``compute`` answers it, from the cache where it
    can; both may raise a ValueError, of which ``explain`` makes a problem. ``doing`` names the
    work; ``first`` makes the question to fall back to where none was good yet.
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
        if last is None and first is not None:
            last = first()
        return None if last is None else work(last), explain(error)
    st.session_state[good] = question
    return result, None


def say(sentence: str, badge: str = "", *, dim: bool = False) -> None:
    """Write the sentence of the page after its badge, dimmed where it is the last good one."""
    sentence = unbroken(sentence)
    st.markdown(f"### {badge}{f':gray[{sentence}]' if dim else sentence}")


def has_answered(key: str) -> bool:
    """Whether an answer of this session can stand: the question to fall back to is nobody's."""
    return f"_good_{key}" in st.session_state


def require_agreed(what: Hashable, sentence: str, button: str) -> None:
    """Raise a problem until its button has been pressed: what takes long starts with a click."""
    agreed: set[Hashable] = st.session_state.setdefault("_agreed", set())
    if what not in agreed:
        raise Problem(sentence, (button, lambda: agreed.add(what)), asking=True)


def asked(what: Hashable, key: str, label: str, help: str) -> bool:
    """Whether this has been asked for with a button, which is drawn until then."""
    place = f"_asked_{key}"
    if st.session_state.get(place) == what:
        return True

    def ask() -> None:
        st.session_state[place] = what

    st.button(label, icon=":material/calculate:", key=key, help=help, on_click=ask)
    return False


class Pinned(NamedTuple):
    """An earlier question that is shown beside the present one."""

    question: Any
    setting: str  # in words

    def note(self) -> None:
        st.caption(f"Dotted, and below the numbers: as pinned, {self.setting}.")


def pinned(now: Any, name: str = "") -> Pinned | None:
    """Draw the button that pins the present question, or lets go; the one that was pinned.

    ``name``: what it is about, besides its setting.
    """
    place = f"_pinned_{type(now).__module__}"
    pin: Pinned | None = st.session_state.get(place)
    state.put_in_address(state.PIN, "1" if pin is not None else "")

    def turn() -> None:
        parts = [name] * bool(name) + [f"{key} = {x}" for key, x in state.setting().items()]
        st.session_state[place] = Pinned(now, ", ".join(parts)) if pin is None else None

    st.button(
        "Pin" if pin is None else "Unpin",
        icon=":material/keep:" if pin is None else ":material/keep_off:",
        key="pin",
        on_click=turn,
        help="Keeps what is shown, to compare it with other settings.",
    )
    return pin if pin is not None and pin.question != now else None


@contextmanager
def progress(words: str) -> Iterator[Progress]:
    """Show how far a piece of work is; the bar appears only once it has taken a moment.

    Yields the function to call with the share that is done. Each call is also where a change of
    mind stops the work.
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
    """Whether the page is dark now; pass it to the functions that draw."""
    return bool(st.context.theme.type == "dark")


def picture(
    fig: go.Figure,
    *,
    key: str,
    alt: str,
    dim: bool = False,
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Draw a figure, dimmed where it is the last good one behind an error.

    The same ``key`` from run to run lets it change instead of blinking; ``alt`` is for a screen
    reader; ``on_pick`` is called with the custom data of a point that is clicked.
    """
    sent = {"figure": fig.to_dict(), "alt": alt, "name": _file(key), "dim": dim}
    sent["hears"] = on_pick is not None

    def picked() -> None:
        if on_pick is not None:
            on_pick(st.session_state[key].picked)

    data = json.dumps(sent, cls=PlotlyJSONEncoder).encode()
    _PICTURE(key=key, data=data, on_picked_change=picked)


def _file(name: str) -> str:
    """What a file that is taken away is called, but for its end: it names its setting."""
    settings = [
        f"{key}-{x.replace(',', '').replace(' ', '-')}" for key, x in state.setting().items()
    ]
    return "-".join(["sampledash", name, *settings])


def moving(fig: go.Figure, *, key: str, alt: str) -> None:
    """Draw a picture whose slider, if it has one, works by mouse, touch and keyboard.

    Plotly draws its sliders for the mouse only. A small script gives each of them a place in the
    tab order, the role of a slider and the arrow keys; it moves them the way a mouse would. It also
    turns lessons by the keys of a clicker, PageUp and PageDown.
    """
    picture(fig, key=key, alt=alt)
    st.html(f"<script>\n{_SLIDING.read_text()}</script>", unsafe_allow_javascript=True)


def panels(fig: go.Figure, count: int, *, key: str, alt: str, dim: bool) -> None:
    """Draw a picture of so many panels; on a phone they are swiped."""
    with st.container(key=f"panels_{theme.across(count)}"):
        picture(fig, key=key, alt=alt, dim=dim)


def strip(numbers: Numbers, before: Numbers = (), *, dim: bool = False) -> None:
    """Draw the numbers of the page: label, value and what it means; below each what it was.

    Numbers of an earlier answer are dimmed.
    """
    with st.container(key="strip_dimmed" if dim else "strip", horizontal=True):
        for (label, value, about), was in zip_longest(numbers, [x for _, x, _ in before]):
            st.metric(label, value, was, "off", delta_arrow="off", help=about)


def why(draw: Callable[[], None]) -> None:
    """Draw the fold "Why?", computed only where it is open."""
    fold = st.expander(
        "Why?", icon=":material/lightbulb:", key="why", bind="query-params", on_change="rerun"
    )
    if fold.open:
        with fold:
            draw()


@st.fragment
def tabs(draws: Mapping[str, Callable[[T], None]], key: str, shown: T) -> None:
    """Draw tabs by their names; only the open one is computed, from what is shown."""
    places = st.tabs(list(draws), key=key, bind="query-params")
    for place, draw in zip(places, draws.values(), strict=True):
        if place.open:
            with place:
                draw(shown)


def segments(
    label: str,
    names: Iterable[str],
    key: str,
    *,
    default: str | None = None,
    help: str | None = None,
    hidden: bool = False,
) -> str:
    """Draw a choice of one name, bound to the address; the first unless ``default`` is another.

    ``hidden``: whether the label is for screen readers only.
    """
    offered = list(names)
    first = offered[0] if default is None else default
    chosen = st.segmented_control(
        label,
        offered,
        default=first,
        required=True,
        key=key,
        bind="query-params",
        help=help,
        wrap=True,
        label_visibility="collapsed" if hidden else "visible",
    )
    return chosen or first


def metric_chips() -> None:
    """Draw the one row of metric chips that serves all pictures of a page."""
    about = (
        "What is measured. One choice for all pictures of the page. TOPK and ATOP are Steck's "
        "(KDD 2010): TOPK's cutoff is a share of the list, here k of n, and shrinks with a sample."
    )
    chips("Metrics", choices.CHIPS, "metrics", state.DEFAULTS["metrics"], about)


def chips(
    label: str,
    offered: Iterable[T],
    key: str,
    default: list[T],
    help: str,
    *,
    wrap: bool | None = True,
) -> list[T]:
    """Draw a choice of any number of things, bound to the address."""
    how: dict[str, Any] = {"key": key, "bind": "query-params", "help": help, "wrap": wrap}
    return st.pills(label, list(offered), selection_mode="multi", default=default, **how)


def whole_number(
    label: str, key: str, default: int, low: int = 0, most: int | None = None, **look: Any
) -> int:
    """Draw a field for a whole number, bound to the address; emptied, it is the default."""
    how: dict[str, Any] = {"step": 1, "key": key, "bind": "query-params", **look}
    typed = st.number_input(label, low, most, default, **how)
    return default if typed is None else int(typed)


def note(page_defaults: Mapping[str, Any]) -> None:
    """Note what is chosen, for Undo, once all controls are drawn; say what a link got wrong."""
    state.remember((*state.DEFAULTS, *page_defaults))
    for complaint in state.complaints():
        st.warning(complaint, icon=":material/link_off:")


def copy_link(page_defaults: Mapping[str, Any] | None = None) -> None:
    """Draw the button that shows the link to this very picture, ready to copy."""
    fold = st.popover("Copy link", icon=":material/link:", key="copy_link", on_change="rerun")
    if fold.open:
        with fold:
            st.caption(
                "Opens this page with these settings. Uploaded files never travel in a link."
            )
            url = (st.context.url or "") + state.permalink(page_defaults)
            st.code(url, language=None, wrap_lines=True)


def link(target: str, label: str, icon: str, query: Mapping[str, Any] | None = None) -> None:
    """Draw a link to another page of the dashboard, with the query of its address."""
    script = f"sampledash/dashboard/pages/{target}.py"
    params = None if query is None else {"v": state.VERSION, **query}
    st.page_link(script, label=label, icon=icon, query_params=params)


def download(
    label: str, data: Callable[[], str | bytes], name: str, mime: str, **look: Any
) -> None:
    """Draw a download button whose data are made only when it is pressed."""
    icon = ":material/download:"
    st.download_button(label, data, name, mime, on_click="ignore", icon=icon, **look)


def take(table: Made, name: str) -> None:
    """Draw the one control with which any table is taken away: CSV, Markdown or LaTeX.

    All rows, numbers unrounded, or a function that makes them when they are wanted.
    """

    def render(how: Callable[[pd.DataFrame], str]) -> str:
        return how(table() if callable(table) else table)

    with st.container(horizontal=True, gap="small", key=f"take_{name}"):
        for label, how, end, mime in FORMATS:
            look = {"type": "tertiary", "key": f"take_{name}_{end}"}
            about = f"The whole table as {label}."
            download(label, partial(render, how), f"{_file(name)}.{end}", mime, help=about, **look)


def table(printed: pd.DataFrame, whole: Made, name: str, *, rows: int | None = None) -> None:
    """Draw the head of a table, cells as Markdown, and the control that takes the whole away.

    ``rows``: how many there are in all, if ``printed`` does not hold them.
    """
    cells = printed.head(MOST_ROWS).map(lambda cell: f"\\{cell}" if cell[:1] == ">" else cell)
    st.table(cells, hide_index=True)  # a leading > would be a quotation
    total, here = len(printed) if rows is None else rows, min(len(printed), MOST_ROWS)
    if total > here:
        st.caption(f"{here} of {count(total)} rows; all of them are in the downloads.")
    take(whole, name)
