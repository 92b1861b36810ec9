"""The bar of sliders for m, n, k and other numbers, and the choice how negatives are drawn.

m is the number of negatives, n the number of candidates, and k the cutoff of a metric.

Each number has one widget: a field, whose value is also in the address. The script ``sliders.js``
draws a slider around the field. The slider shows the value of the field, and writes into the field.
With two Streamlit widgets for one number, changes would be lost: right after the reader has changed
one widget, the browser may still send the old value of the other widget.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import choices, theme
from sampledash.dashboard import page, scripts, state
from sampledash.report.templates import texts
from sampledash.schemes import SCHEMES

_SLIDERS = scripts.component("sliders.js")
HELP = texts(Path(__file__).with_suffix(".txt"))


Bound = tuple[float, str]  # limit of a slider, and its formula as text, such as (99, "n - 1")


class Bar(NamedTuple):
    """Containers of the bar of sliders: the whole bar, its sliders, and a row for choices."""

    whole: DeltaGenerator
    sliders: DeltaGenerator
    row: DeltaGenerator


def place() -> Bar:
    """Return the containers of the bar of sliders, which :func:`bar` fills."""
    whole = st.container(key="bar", gap=None)
    row: dict[str, Any] = {"key": "bar_choices", "horizontal": True, "vertical_alignment": "center"}
    return Bar(whole, whole.container(key="bar_sliders", gap=None), whole.container(**row))


def bar(
    place: Bar,
    *keys: str,
    n: tuple[int, str] | None = None,
    m: str = "",
    sampled: bool = True,
    late: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    sets: Sequence[object] | None = None,
) -> None:
    """Draw sliders in ``place``, and the choice of the sampling scheme in the row of ``place``.

    Parameters
    ----------
    keys
        The numbers of ``choices.NUMBERS`` that the page uses, from left to right.
    n
        Number of candidates in the data, and the text to show: ``(3706, "3,706, from your file")``.
        If None, the user sets n.
    m
        Text that shows the number of negatives in the data. If "", the user sets m.
    sampled
        Whether negatives are drawn. If not, the bar has no choice of the sampling scheme.
    late
        Numbers for which the page changes only when the user releases the slider, because each
        step takes longer than 0.1 seconds. Such a slider is labelled "on release".
    defaults
        Defaults of the numbers that are not in ``state.DEFAULTS``.
    sets
        Rank sets, or () if they are not read yet. A scheme is offered only if all rank sets have
        the classes, strata or weights that the scheme needs. ``choices.CATALOGUE`` if the user sets
        how popular items are. None if the page has no rank sets: a scheme by weight then needs only
        ``odds``, a number that the user sets: the weight of an item above the relevant item,
        divided by the weight of an item below.
    """
    state.lock(None if n is None else n[0])
    locked = {key: text for key, text in (("n", n[1] if n else ""), ("m", m)) if text}
    if sampled:
        with place.row:
            # A scheme that a link asks for is offered even if the rank sets do not allow it. The
            # page then says what the rank sets lack.
            asked = {state.value("scheme"), st.query_params.get("scheme")}
            asked &= {choices.ODDS} if sets is choices.CATALOGUE else asked
            label, possible = "Negatives are drawn", {*choices.offered(sets or ())}
            possible |= set() if sets is None else asked
            offered = [name for name in choices.SCHEMES if name in possible]
            chosen = page.segments(label, offered, "scheme", help=HELP["scheme"], hidden=True)
        design, catalogue = SCHEMES[choices.SCHEMES[chosen]], sets is choices.CATALOGUE
        if catalogue and chosen != choices.ODDS and not design.uniform:
            keys = (*keys, "zipf", "bestsellers")
            late = {*keys} - {"rank"} if design.by_class else late
        elif design.weighted and (catalogue or sets is None):
            keys = (*keys, "odds")
    default = {**state.DEFAULTS, **(defaults or {})}
    with place.sliders:
        _draw("bar", keys, default, locked, late, lambda key: _bounds(key, keys))


def ladder(key: str, *, default: int, high: int) -> None:
    """Draw one slider outside the bar, for a number that only one part of a page uses."""
    bounds = None, (high, "the most that is drawn")
    with st.container(key=f"bar_{key}", gap=None):
        _draw(key, (key,), {key: default}, {}, (), lambda _: bounds)


def _draw(
    name: str,
    keys: Collection[str],
    defaults: Mapping[str, Any],
    locked: Mapping[str, str],
    late: Collection[str],
    bounds: Callable[[str], tuple[Bound | None, Bound | None]],
) -> None:
    """Draw a number field for each setting in ``keys``, and one component with all sliders."""
    # The keys of these elements do not contain values of settings: an element with a new key is
    # replaced, which would end the drag of a slider. All fields are drawn before the sliders: a
    # field reads its number from the address, and the ends of other sliders depend on this number.
    with st.container(key=f"fields_{name}", horizontal=True, gap=None):
        for key in keys:
            if key in locked:
                st.html("<i></i>")  # no field, because the reader cannot set this number
            else:
                _field(key, defaults[key])
    # Streamlit calls the script of a component only if the component's data have changed. After
    # Back, the data may be the same as before, although the slider shows a later change of the
    # reader. So the data of each run of the whole page also hold the time of the run.
    run = 0 if state.in_fragment() else time.monotonic()
    every = []
    for key in keys:
        about = {"name": key, "label": choices.NUMBERS[key].label, "help": HELP[key], "run": run}
        more = {"locked": locked[key]} if key in locked else _rail(key, *bounds(key), key in late)
        every.append(about | more)
    _SLIDERS(key=f"rails_{name}", data=every)


def moving(fig: theme.Picture, *, key: str, alt: str) -> None:
    """Draw a picture of a fixed example; if the picture has steps, draw a slider above it.

    The slider works without the server.
    """
    for slider in fig.to_dict()["layout"].get("sliders", ()):
        about = {"name": key, "label": slider["currentvalue"]["prefix"].rstrip(" =:")}
        about |= {"kind": "steps", "texts": [step["label"] for step in slider["steps"]]}
        _SLIDERS(key=f"rails_{key}", data=[about | {"number": slider["active"]}])
    page.picture(fig, key=key, alt=alt, shown={})  # the example has its own n and m


def uses_cutoff(key: str = "metrics") -> bool:
    """Whether a metric chosen by the widget ``key`` uses the cutoff k."""
    chosen = state.value(key, {**state.DEFAULTS, "metric": choices.METRIC})
    chips = [chosen] if isinstance(chosen, str) else chosen
    return any(choices.CHIPS[chip][1] for chip in chips if chip in choices.CHIPS)


def _bounds(key: str, keys: tuple[str, ...]) -> tuple[Bound | None, Bound | None]:
    """Return the lower and upper bound that other settings imply for the setting ``key``.

    For example, m <= n - 1 without replacement. A bound is None if other settings imply none.
    """
    n, distinct = max(state.candidates(), 2), _distinct()
    if key == "m":
        return None, (n - 1, "n - 1") if distinct else None
    if key in {"k", "rank"}:
        return None, (n, "n")
    least: dict[str, int] = {x: int(st.session_state[x]) for x in ("k", "rank") if x in keys}
    least |= {"m + 1": int(state.value("m")) + 1} if distinct else {}
    if key != "n" or not least:
        return None, None
    name = max(least, key=least.__getitem__)
    return (least[name], {"rank": "r"}.get(name, name)), None


def _field(key: str, default: float) -> None:
    """Draw the field of a number, which style.css puts over the number that the slider shows."""
    step, form = (1, "%d") if isinstance(default, int) else (None, "%.9g")
    options: dict[str, Any] = {"step": step, "format": form, "label_visibility": "collapsed"}
    label = f"{choices.NUMBERS[key].label}, exact value"
    st.number_input(label, value=default, key=key, bind="query-params", **options)


def _rail(key: str, low: Bound | None, high: Bound | None, late: bool) -> dict[str, Any]:
    """Return the data of a slider for sliders.js; its ends lie within the bounds low and high."""
    number = choices.NUMBERS[key]
    ends, texts = [number.low, number.high], [number.write(number.low), number.write(number.high)]
    if low is not None and low[0] > number.low:
        ends[0], texts[0] = low[0], f"{number.write(low[0])} ({low[1]})"
    if high is not None and high[0] < number.high:
        ends[1], texts[1] = high[0], f"{number.write(high[0])} ({high[1]})"
    about = f"{HELP[key]} From {texts[0]} to {texts[1]}; type over the number for an exact value."
    scale = {"kind": number.kind, "low": ends[0], "high": max(ends), "least": number.least}
    shown = {"number": st.session_state[key], "late": "on release" * late}
    return {"help": about, **scale, **shown}


def metrics() -> None:
    """Draw the row of buttons that choose the metrics for all pictures of a page."""
    page.chips("Metrics", choices.CHIPS, "metrics", state.DEFAULTS["metrics"], HELP["metrics"])


def metric() -> None:
    """Draw the choice of a single metric."""
    options = page.bound("metric", HELP["metric"], default=choices.METRIC, required=True, wrap=True)
    st.pills("Metric", list(choices.CHIPS), **options)


def _distinct() -> bool:
    """Whether the chosen scheme draws each negative at most once; True if no scheme is chosen."""
    chosen = choices.SCHEMES.get(state.value("scheme"))
    return chosen is None or SCHEMES[chosen].distinct
