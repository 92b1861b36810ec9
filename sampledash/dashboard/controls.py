"""Every control, defined once. Pages call them in the same order, so the sidebar never moves.

A number has two faces: a slider on a fixed ladder, to explore, and a field, to be exact. The field
holds the value and is bound to the address; the slider follows it. Bounds never change (a changed
bound would reset the widget): what cannot be is told by the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from sampledash.dashboard import state
from sampledash.report import numbers as text

_DECADES = [f * 10**e for e in range(1, 9) for f in (1, 2, 5)]
LADDERS: dict[str, tuple[float, ...]] = {
    "n": (*_DECADES, 10**9),
    "m": (1, 2, 5, 10, 20, 50, 99, 100, 200, 500, 1000, 2000, 5000, 10_000),
    "gamma": (*(round(f * 10**-e, 9) for e in range(0, 6) for f in (1, 0.5, 0.2)), 1e-6, 0.0),
    "rank": (1, 2, 3, *_DECADES[:-1], 5, 10**9),
}
LADDERS = {key: tuple(sorted(set(steps), reverse=key == "gamma")) for key, steps in LADDERS.items()}

HELP = {
    "n": "How many items one ranking holds, the relevant one included.",
    "m": "How many irrelevant items are drawn and ranked with the relevant one.",
    "k": "Cutoff: the first k places count. Used by the metrics written with @k.",
    "gamma": "How much a correction minds variance: 1 minds only variance, 0 only bias.",
    "scheme": (
        "Without replacement draws m different items, as papers do; with replacement an item may "
        "come twice; popularity draws the items ranked above the relevant one more often."
    ),
    "odds": "How many times as often an item above the relevant one is drawn as one below it.",
    "metrics": (
        "What is measured. One choice for all pictures of the page. TOPK and ATOP are Steck's (KDD "
        "2010): TOPK's cutoff is a share of the list, here k of n, and shrinks with a sample."
    ),
}


def ladder(
    key: str,
    label: str,
    *,
    default: float,
    unused: str = "",
    help: str | None = None,
    show: Callable[[float], str] = text.count,
) -> None:
    """Draw a slider on a fixed ladder with a field for the exact value.

    Parameters
    ----------
    key
        Key of the value in the session and the address; a key of :data:`LADDERS`.
    unused
        Why the page does not use it, in a word; disables both.
    """
    steps, twin = LADDERS[key], key + state.FOLLOWS
    whole = isinstance(default, int)
    row = st.container(key=f"ladder_{key}")
    slider, field = row.columns(2, gap="small", vertical_alignment="bottom")
    exact = field.number_input(
        f"{label}, exact value",
        value=default,
        step=1 if whole else None,
        format="%d" if whole else "%.9g",
        key=key,
        bind="query-params",
        label_visibility="collapsed",
        disabled=bool(unused),
    )
    _heard()[key] = exact
    _put_near(twin, steps, float(default if exact is None else exact))
    slider.select_slider(
        f"{label} ({unused})" if unused else label,
        options=steps,
        format_func=show,
        key=twin,
        help=help or HELP.get(key),
        disabled=bool(unused),
        on_change=_follow,
        args=(key, twin, whole),
    )


def narrow_m() -> None:
    """Draw m again under the picture, on narrow screens only: there the sidebar is folded away."""
    twin = "m_narrow" + state.FOLLOWS
    _put_near(twin, LADDERS["m"], float(state.value("m")))
    with st.container(key="narrow_only"):
        st.select_slider(
            "m, negatives",
            options=LADDERS["m"],
            format_func=text.count,
            key=twin,
            on_change=_follow,
            args=("m", twin, True),
        )


def _heard() -> dict[str, Any]:
    """What the browser last said of each slider, and the value of its field in the last run."""
    held: dict[str, Any] = st.session_state.setdefault("_heard", {})
    return held


def _put_near(twin: str, steps: Sequence[float], value: float) -> None:
    """Put a slider on the step nearest to the value of its field."""
    _heard()[twin] = st.session_state.get(twin)
    nearest = _nearest(steps, value)
    if st.session_state.get(twin) != nearest:
        st.session_state[twin] = nearest


def _follow(key: str, twin: str, whole: bool) -> None:
    """Give a field the value of its slider.

    A browser that has not yet heard of the last change (its field says so) sends what it still
    shows of every slider: what it said before is nobody's choice.
    """
    heard, chosen = _heard(), st.session_state[twin]
    if st.session_state.get(key) != heard.get(key) and chosen == heard.get(twin):
        return
    st.session_state[key] = heard[key] = int(chosen) if whole else float(chosen)


def _nearest(steps: Sequence[float], value: float) -> float:
    """The step that has the value nearest in ratio; zero only for zero."""
    if value in steps:
        return value
    ordered = sorted(s for s in steps if s > 0)
    for low, high in pairwise(ordered):
        if value < (low * high) ** 0.5:
            return low
    return ordered[-1]


def sidebar(
    *,
    lock_n: tuple[int, str] | None = None,
    unused: Mapping[str, str] | None = None,
    page_defaults: Mapping[str, Any] | None = None,
) -> None:
    """Draw the shared controls in the sidebar; then :func:`sampledash.dashboard.state.current`.

    Parameters
    ----------
    lock_n
        n as the data have it and what to show: ``(3706, "3,706, from your file")``.
    unused
        Controls this page does not use and why, in a word: ``{"gamma": "corrections"}``.
    page_defaults
        Keys of the page's own widgets with their defaults: undone and reset with the shared ones.
    """
    why = dict(unused or {})
    state.stamp()
    state.lock(None if lock_n is None else lock_n[0])
    defaults = state.DEFAULTS
    with st.sidebar:
        if lock_n is None:
            ladder("n", "n, candidates", default=defaults["n"], unused=why.get("n", ""))
        else:
            # A keyed widget keeps its text: give it the present one.
            st.session_state["n_locked"] = lock_n[1]
            st.text_input(
                "n, candidates",
                disabled=True,
                help=HELP["n"],
                key="n_locked",
            )
        ladder("m", "m, negatives", default=defaults["m"], unused=why.get("m", ""))
        _field("k", "k, cutoff", why.get("k", ""))
        ladder(
            "gamma", "γ", default=defaults["gamma"], unused=why.get("gamma", ""), show=text.gamma
        )
        scheme = st.selectbox(
            "Negatives are drawn",
            list(state.SCHEMES),
            index=list(state.SCHEMES).index(defaults["scheme"]),
            key="scheme",
            bind="query-params",
            help=HELP["scheme"],
            disabled="scheme" in why,
        )
        _field("odds", "ω, odds", "" if scheme == "popularity" else "popularity only")
        back, again = st.columns(2)
        everything = {**defaults, **(page_defaults or {})}
        state.remember(tuple(everything))
        back.button(
            "Undo",
            icon=":material/undo:",
            on_click=state.undo,
            disabled=not state.can_undo(),
            width="stretch",
        )
        again.button(
            "Reset",
            icon=":material/restart_alt:",
            on_click=state.reset,
            args=(everything,),
            width="stretch",
        )


def _field(key: str, label: str, unused: str) -> None:
    whole = isinstance(state.DEFAULTS[key], int)
    st.number_input(
        f"{label} ({unused})" if unused else label,
        value=state.DEFAULTS[key],
        step=1 if whole else None,
        format="%d" if whole else "%.6g",
        key=key,
        bind="query-params",
        help=HELP[key],
        disabled=bool(unused),
    )


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
        label_visibility="collapsed" if hidden else "visible",
    )
    return chosen or first


def metric_chips() -> None:
    """Draw the one row of metric chips that serves all pictures of a page."""
    st.pills(
        "Metrics",
        list(state.CHIPS),
        selection_mode="multi",
        default=state.DEFAULTS["metrics"],
        key="metrics",
        bind="query-params",
        help=HELP["metrics"],
        wrap=True,
    )


def link_notes() -> None:
    """Say what a followed link asked for in vain."""
    for complaint in state.complaints():
        st.warning(complaint, icon=":material/link_off:")


def copy_link(page_defaults: Mapping[str, Any] | None = None) -> None:
    """Draw the button that shows the link to this very picture, ready to copy."""
    with st.popover("Copy link", icon=":material/link:"):
        st.caption("Opens this page with these settings. Uploaded files never travel in a link.")
        st.code(
            (st.context.url or "") + state.permalink(page_defaults), language=None, wrap_lines=True
        )


def download(label: str, data: Callable[[], str | bytes], file_name: str, mime: str) -> None:
    """Draw a download button whose data are made only when it is pressed."""
    st.download_button(
        label, data, file_name=file_name, mime=mime, on_click="ignore", icon=":material/download:"
    )
