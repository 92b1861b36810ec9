"""The sliders of the sidebar: n, m, k, γ and how negatives are drawn, in one order on every page.

A number has two faces: a slider on a fixed ladder, to explore, and a field, to be exact. The field
holds the value and is bound to the address; the slider follows it. Bounds never change (a changed
bound would reset the widget): what cannot be is told by the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import streamlit as st

from sampledash.dashboard import state
from sampledash.report import numbers as text

FIELD = 112  # pixels
_DECADES = [f * 10**e for e in range(1, 9) for f in (1, 2, 5)]
LADDERS: dict[str, tuple[float, ...]] = {
    "n": (*_DECADES, 10**9),
    "m": (1, 2, 5, 10, 20, 50, 99, 100, 200, 500, 1000, 2000, 5000, 10_000),
    "budget": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "gamma": (*(round(f * 10**-e, 9) for e in range(0, 6) for f in (1, 0.5, 0.2)), 1e-6, 0.0),
    "rank": (1, 2, 3, *_DECADES[:-1], 5, 10**9),
}
LADDERS = {key: tuple(sorted(set(steps), reverse=key == "gamma")) for key, steps in LADDERS.items()}

HELP = {
    "n": "How many items one ranking holds, the relevant one included.",
    "m": "How many irrelevant items are drawn and ranked with the relevant one.",
    "budget": (
        "The price: scores of candidates that may be spent for each instance and system, the "
        "relevant item's own not counted. In the field: a whole number in digits, such as 1500."
    ),
    "k": "Cutoff: the first k places count. Used by the metrics written with @k.",
    "gamma": "How much a correction minds variance: 1 minds only variance, 0 only bias.",
    "scheme": (
        "Without replacement draws m different items, as papers do; with replacement an item may "
        "come twice; popularity draws the items ranked above the relevant one more often."
    ),
    "odds": "How many times as often an item above the relevant one is drawn as one below it.",
    "rank": "Where the relevant item stands among all n candidates.",
}


def draw(
    *,
    lock_n: tuple[int, str] | None = None,
    sampled: bool = True,
    page_defaults: Mapping[str, Any],
) -> None:
    """Draw the sidebar: the shared choices but m and γ, which stand beside the pictures they move.

    Parameters
    ----------
    lock_n
        n as the data have it and what to show: ``(3706, "3,706, from your file")``.
    sampled
        Whether negatives are drawn at all.
    page_defaults
        Keys of the page's own widgets with their defaults: reset with the shared ones.
    """
    state.stamp()
    state.lock(None if lock_n is None else lock_n[0])
    with st.sidebar:
        if lock_n is None:
            ladder("n", "n, candidates")
        else:
            _locked("n", "n, candidates", lock_n[1])
        _field("k", "k, cutoff", help=HELP["k"])
        if sampled:
            _scheme()
        back, again = st.columns(2)
        back.button("Undo", icon=":material/undo:", width="stretch", on_click=state.undo)
        reset: dict[str, Any] = {
            "on_click": state.reset,
            "args": ({**state.DEFAULTS, **page_defaults},),
        }
        again.button("Reset", icon=":material/restart_alt:", width="stretch", **reset)


def _scheme() -> None:
    schemes = list(state.SCHEMES)
    scheme = st.selectbox(
        "Negatives are drawn",
        schemes,
        index=schemes.index(state.DEFAULTS["scheme"]),
        key="scheme",
        bind="query-params",
        help=HELP["scheme"],
    )
    if scheme == "popularity":
        _field("odds", "ω, odds", digits="%.6g", help=HELP["odds"])


def ladder(
    key: str,
    label: str,
    *,
    default: float | None = None,
    show: Callable[[float], str] = text.count,
) -> None:
    """Draw a slider on a fixed ladder with a field for the exact value.

    ``key``: of the value in the session and the address, a key of :data:`LADDERS`; ``default``
    where it is no shared choice.
    """
    default = state.DEFAULTS[key] if default is None else default
    if key in _late():
        st.session_state[key] = _late().pop(key)
    with st.container(key=f"ladder_{key}", horizontal=True, vertical_alignment="bottom"):
        # The address may say a value that only its field brings; what is known needs no place held.
        known = key in st.session_state
        slider = nullcontext() if known else st.empty()
        about = f"{label}, exact value"
        look: dict[str, Any] = {"label_visibility": "collapsed", "width": FIELD}
        if not known:
            _field(key, about, default, **look)
        with slider:
            _slider(key, label, state.value(key, {key: default}), show)
        if known:
            _field(key, about, default, **look)
        _heard()[key] = st.session_state[key]


def m(given: str = "") -> None:
    """Draw m, or what the data say of it."""
    if given:
        _locked("m", "m, negatives", given)
    else:
        ladder("m", "m, negatives")


def gamma() -> None:
    """Draw γ."""
    ladder("gamma", "γ", show=text.gamma)


def _locked(key: str, label: str, said: str) -> None:
    """Draw a number that the data give."""
    # A keyed widget keeps its text: give it the present one.
    st.session_state[f"{key}_locked"] = said
    st.text_input(label, disabled=True, help=HELP[key], key=f"{key}_locked")


def _field(
    key: str, label: str, default: float | None = None, *, digits: str = "%.9g", **look: Any
) -> Any:
    default = state.DEFAULTS[key] if default is None else default
    how: dict[str, Any] = {"step": None, "format": digits}
    if isinstance(default, int):
        how = {"step": 1, "format": "%d"}
    return st.number_input(label, value=default, key=key, bind="query-params", **how, **look)


def _slider(key: str, label: str, value: float, show: Callable[[float], str]) -> None:
    """Draw a slider on the step nearest to the value of its field, which follows it."""
    twin = key + state.FOLLOWS
    _heard()[twin] = st.session_state.get(twin)
    nearest = _nearest(LADDERS[key], float(value))
    if st.session_state.get(twin) != nearest:
        st.session_state[twin] = nearest
    follow: dict[str, Any] = {"on_change": _follow, "args": (key, twin), "help": HELP[key]}
    st.select_slider(label, LADDERS[key], format_func=show, key=twin, **follow)


def _heard() -> dict[str, Any]:
    """What the browser last said of each slider, and the value of its field in the last run."""
    held: dict[str, Any] = st.session_state.setdefault("_heard", {})
    return held


def _late() -> dict[str, Any]:
    """Values of sliders that a run of a fragment brought along.

    It draws no fields, so the browser would not hear of them and send the old value next.
    """
    held: dict[str, Any] = st.session_state.setdefault("_late", {})
    return held


def _follow(key: str, twin: str) -> None:
    """Give a field the value of its slider.

    A browser that has not yet heard of the last change (its field says so) sends what it still
    shows of every slider: what it said before is nobody's choice.
    """
    heard, chosen = _heard(), st.session_state[twin]
    if st.session_state.get(key) != heard.get(key) and chosen == heard.get(twin):
        return
    value = float(chosen) if key == "gamma" else int(chosen)
    if state.in_fragment():
        _late()[key] = value
        return
    st.session_state[key] = heard[key] = value
    _late().pop(key, None)


def _nearest(steps: Sequence[float], value: float) -> float:
    """The step that has the value nearest in ratio; zero only for zero."""
    if value in steps:
        return value
    ordered = sorted(s for s in steps if s > 0)
    for low, high in pairwise(ordered):
        if value < (low * high) ** 0.5:
            return low
    return ordered[-1]
