"""The controls of the shared settings: n, m, k, γ and how negatives are drawn.

Each number has only one Streamlit widget, a field whose value is in the page's address too. The
browser draws a slider beside the field (``slider.js``), which shows and changes the field's value.
Two Streamlit widgets for one number would lose changes: the browser may send a message before it
knows of the last change, and this message would hold the old value of the other widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from sampledash.analyses import choices
from sampledash.dashboard import state
from sampledash.report import numbers as text
from sampledash.report.templates import texts
from sampledash.schemes import SCHEMES

FIELD = 112  # width of a field, in pixels
_SLIDER = st.components.v2.component(
    "sampledash_slider",
    js=Path(__file__).with_name("slider.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
HELP = texts(Path(__file__).with_suffix(".txt"))


def draw(
    *, lock_n: tuple[int, str] | None = None, sampled: bool = True, page_defaults: Mapping[str, Any]
) -> None:
    """Draw the sidebar: the shared settings except m and γ, which pages draw beside their pictures.

    Parameters
    ----------
    lock_n
        n of the data and the text to show, such as ``(3706, "3,706, from your file")``. If None,
        the reader chooses n.
    sampled
        Whether the page samples negatives; if not, there is no choice of how they are drawn.
    page_defaults
        Key of a setting of this page -> its default, which Reset restores too.
    """
    state.stamp()
    state.lock(None if lock_n is None else lock_n[0])
    with st.sidebar:
        if lock_n is None:
            ladder("n", "n, candidates", above="m" if _distinct() else None)
        else:
            _locked("n", "n, candidates", lock_n[1])
        _field("k", "k, cutoff", help=HELP["k"])
        if sampled:
            _scheme()
        back, again = st.columns(2)
        back.button("Undo", icon=":material/undo:", width="stretch", on_click=state.undo)
        defaults = {**state.DEFAULTS, **page_defaults}
        options: dict[str, Any] = {"icon": ":material/restart_alt:", "width": "stretch"}
        again.button("Reset", on_click=state.reset, args=(defaults,), **options)


def _scheme() -> None:
    schemes = list(choices.SCHEMES)
    scheme = st.selectbox(
        "Negatives are drawn",
        schemes,
        index=schemes.index(state.DEFAULTS["scheme"]),
        key="scheme",
        bind="query-params",
        help=HELP["scheme"],
    )
    if SCHEMES[choices.SCHEMES[scheme]].weighted:
        _field("odds", "ω, odds", digits="%.6g", help=HELP["odds"])


def ladder(
    key: str,
    label: str,
    *,
    default: float | None = None,
    high: float = float("inf"),
    above: str | None = None,
    show: Callable[[float], str] = text.count,
) -> None:
    """Draw a slider, whose steps are round numbers up to ``high``, and the field of its value.

    ``key`` names the value in the session and in the address, and its steps in ``choices.LADDERS``.
    ``default`` is needed if the value is not a shared setting. ``high`` is a step too, and the
    slider stays above the number with the key ``above``, so that both ends of the slider are valid
    values. ``show`` writes a step as text.
    """
    default = state.DEFAULTS[key] if default is None else default
    with st.container(key=f"ladder_{key}", horizontal=True, vertical_alignment="bottom"):
        # The field is drawn first, because only the field reads the value in the address.
        place = st.container(key=f"{key}_slider", gap=None)
        _field(key, f"{label}, exact value", default, label_visibility="collapsed", width=FIELD)
        number, steps = state.value(key, {key: default}), steps_up_to(key, high)
        face = {"name": key, "label": label, "help": HELP[key], "number": number, "above": above}
        texts = {"text": show(number), "steps": steps, "texts": [*map(show, steps)]}
        with place:
            _SLIDER(key=f"{key}_face", data=face | texts)


def steps_up_to(key: str, high: float) -> list[float]:
    """Return the steps of the slider ``key`` up to ``high``, in falling order for γ.

    If the slider has steps beyond ``high``, the last step is ``high`` itself.

    Examples
    --------
    >>> steps_up_to("m", 333)
    [1, 2, 5, 10, 20, 50, 99, 100, 200, 333]
    """
    ends = {high} if high < max(choices.LADDERS[key]) else set()
    steps = {step for step in choices.LADDERS[key] if step <= high} | ends
    return sorted(steps, reverse=key == "gamma")


def metric() -> None:
    """Draw the choice of a single metric."""
    options: dict[str, Any] = {"key": "metric", "bind": "query-params", "help": HELP["metric"]}
    st.pills(
        "Metric", list(choices.CHIPS), default=choices.METRIC, required=True, wrap=True, **options
    )


def m(given: str = "", *, most: int | None = None) -> None:
    """Draw the slider of m, or the text ``given`` if the data decide m.

    If the negatives of a sample are distinct, the slider ends at ``most``, by default n - 1.
    """
    if given:
        _locked("m", "m, negatives", given)
        return
    others = state.candidates() - 1 if most is None else most
    ladder("m", "m, negatives", high=max(others, 1) if _distinct() else float("inf"))


def _distinct() -> bool:
    """Whether the scheme is the default, in which the negatives of a sample are distinct."""
    return bool(state.value("scheme") == state.DEFAULTS["scheme"])


def gamma() -> None:
    """Draw the slider of γ."""
    ladder("gamma", "γ", show=text.gamma)


def _locked(key: str, label: str, shown: str) -> None:
    """Draw a number that comes from the data, so that the reader cannot change the number."""
    # Set the text in the session, because a widget with a key would keep its old text.
    st.session_state[f"{key}_locked"] = shown
    st.text_input(label, disabled=True, help=HELP[key], key=f"{key}_locked")


def _field(
    key: str, label: str, default: float | None = None, *, digits: str = "%.9g", **options: Any
) -> Any:
    default = state.DEFAULTS[key] if default is None else default
    stepping: dict[str, Any] = {"step": None, "format": digits}
    if isinstance(default, int):
        stepping = {"step": 1, "format": "%d"}
    return st.number_input(
        label, value=default, key=key, bind="query-params", **stepping, **options
    )
