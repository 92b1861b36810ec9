"""The settings of the reader: keys, defaults, links and reset.

A page calls :func:`current` for the settings that all pages share, after its controls are drawn,
and :func:`permalink` for a link. Streamlit puts the value of a widget into the page's address only
if the value is not the default. A link therefore also holds ``v``, the version of the defaults with
which the link was made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from sampledash import checks, schemes
from sampledash.analyses import choices
from sampledash.catalogue import Catalogue, Drawing
from sampledash.metrics import Metric
from sampledash.report import numbers as text
from sampledash.report.templates import Sentences
from sampledash.sampling import Sampling

# Version of links. In links of version 1, "popularity" is the name of another sampling scheme (see
# explore.py).
VERSION = "2"
say = Sentences(Path(__file__).with_suffix(".jinja"))

# Settings that all pages share. Each key is the key of a widget and of its value in the address.
DEFAULTS: dict[str, Any] = {
    "n": 10_000,
    "m": 100,
    "k": 10,
    "gamma": 0.1,
    "scheme": schemes.SCHEMES[schemes.DEFAULT_SCHEME].label,
    "odds": 2.0,
    "zipf": 0.8,
    "bestsellers": 0.2,
    "metrics": ["Recall@k", "NDCG", "AP"],
}

# Key of a setting in the page's address -> the options to choose from, and the default.
Offered = Mapping[str, tuple[Collection[str], Any]]


def offer(options: Mapping[str, Collection[str]], defaults: Mapping[str, Any]) -> Offered:
    """Return the options and the default of each setting.

    If ``defaults`` has no entry for a setting, its first option is the default.
    """
    return {key: (names, defaults.get(key, next(iter(names)))) for key, names in options.items()}


# Key of a numeric setting in the query of the page's URL -> its type.
_NUMBERS = {key: int if x.kind == "count" else float for key, x in choices.NUMBERS.items()}
_WHOLE = "draws", "draws_seed", "draw_seed", "lab_seed", "seed", "table_instances", "times"
_NUMBERS |= {"least_rating": float, **dict.fromkeys(_WHOLE, int)}
# Key of a setting that is on or off -> its values in the page's address, and its default.
_SWITCHES = dict.fromkeys(("present", "turn", "why"), (("true", "false", "True", "False"), False))
# Settings that the reader pinned for comparison, while their result is computed. Meanwhile,
# :func:`value` returns these settings.
_PINNED: ContextVar[Mapping[str, Any] | None] = ContextVar("pinned", default=None)
_LOCK, _FIRST, _LINK = "_lock_n", "_first_settings", "_link_complaints"
PIN = "pin"  # key, in the address, of settings that the reader pinned for comparison (pins.py)


@dataclass(frozen=True)
class Settings(schemes.HasScheme):
    """The settings that all pages share, as the reader set them.

    The numbers may be invalid: :meth:`sampling`, :meth:`drawn` and ``metrics`` check them.
    """

    n: int
    m: int
    k: int
    gamma: float
    scheme: schemes.Scheme
    odds: float
    # Exponent of a Zipf distribution of the items' popularity. None if the reader sets ``odds``,
    # the weight of an item above the relevant item, divided by that of an item below.
    zipf: float | None
    bestsellers: float
    chips: tuple[str, ...]

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that the reader has chosen, with the cutoff k."""
        return tuple(choices.chip_metric(chip, self.k, self.n) for chip in self.chips)

    def at(self, key: str, number: float) -> Settings:
        """Return these settings with another value of the setting ``key``, such as "n"."""
        changed: dict[str, Any] = {key: number}
        return replace(self, **changed)

    def drawn(self) -> Drawing:
        """Return how negatives are drawn.

        The result is a Catalogue if items differ in popularity, otherwise a Sampling.
        """
        if self.design.uniform or self.zipf is None:
            return self.sampling()
        return Catalogue(self.n, self.m, self.scheme, self.zipf, self.bestsellers)

    def sampling(self) -> Sampling:
        """Return how negatives are drawn by these settings; raise a ValueError if one is invalid.

        A sampling holds the numbers of candidates and negatives, and the sampling scheme.
        """
        return Sampling(self.n, self.m, self.scheme, self.design.odds(self.odds))


def value(key: str, defaults: Mapping[str, Any] = DEFAULTS) -> Any:
    """Return the current value of the setting ``key``, or its default if the session has none."""
    pinned = _PINNED.get()
    present = (st.session_state if pinned is None else pinned).get(key)
    return defaults[key] if present is None else present


def candidates() -> int:
    """Return the number of candidates n of the data or, if unknown, the n that the reader set."""
    return int(st.session_state.get(_LOCK) or value("n"))


def current() -> Settings:
    """Return the current settings; call this function after the controls are drawn."""
    n, m, k = candidates(), int(value("m")), int(value("k"))
    named, odds, chosen = value("scheme"), float(value("odds")), value("metrics")
    zipf = None if named == choices.ODDS else float(value("zipf"))
    chips, popular = tuple(x for x in choices.CHIPS if x in chosen), float(value("bestsellers"))
    gamma, scheme = float(value("gamma")), choices.SCHEMES[named]
    return Settings(n, m, k, gamma, scheme, odds, zipf, popular, chips)


def lock(n: int | None) -> None:
    """Fix the setting n to the number of candidates in the data; if None, the reader sets n."""
    st.session_state[_LOCK] = n


def reset(values: Mapping[str, Any] = DEFAULTS) -> None:
    """Set each setting in ``values`` to its value; this is the callback of the button Reset."""
    for key, chosen in values.items():
        st.session_state[key] = list(chosen) if isinstance(chosen, list) else chosen


def permalink(page_defaults: Mapping[str, Any] | None = None) -> str:
    """Return the query of a link to the page with its settings, such as ``?v=2&n=500``.

    Settings that have their default are left out. The query includes values in the page's address
    that no widget has read yet. ``page_defaults`` maps the page's own settings to their defaults.
    """
    pin = [(PIN, st.query_params[PIN])] if PIN in st.query_params else []
    return "?" + urlencode([("v", VERSION), *changed(page_defaults or {}), *pin])


def changed(page_defaults: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs (key, text), one for each setting that is not the default.

    If a setting is a list, each of its entries gives a pair. ``page_defaults`` maps the page's own
    settings to their defaults.
    """
    pairs: list[tuple[str, str]] = []
    for key, default in {**DEFAULTS, **page_defaults}.items():
        now = st.session_state.get(key, st.query_params.get_all(key) or default)
        if now is not None and now != default:
            pairs += [(key, str(x)) for x in (now if isinstance(now, list) else [now])]
    return pairs


@contextmanager
def pinned(text: str, page_defaults: Mapping[str, Any]) -> Iterator[None]:
    """In a ``with`` block, let :func:`value` return the settings of the query ``text``.

    ``text`` is the URL-encoded result of :func:`changed`.

    Raises a ValueError if a number in ``text`` cannot be read.
    """
    values: dict[str, Any] = {}
    for key, raw in parse_qs(text).items():
        default = {**DEFAULTS, **page_defaults}.get(key)
        if isinstance(default, list):
            values[key] = [int(x) if x.isdecimal() else x for x in raw]
        elif default is None or isinstance(default, str):
            values[key] = raw[-1]
        else:
            try:
                values[key] = type(default)(raw[-1])
            except ValueError:
                raise ValueError(f"{key} = {raw[-1][:30]} is not a number here") from None
    before = _PINNED.set(values)
    try:
        yield
    finally:
        _PINNED.reset(before)


def setting() -> dict[str, str]:
    """Return the settings that all pages share, as text, for captions and names of files.

    These are n (candidates; left out if the data give n), m (negatives), k (cutoff), and each other
    setting that is not the default, except the chosen metrics.
    """
    given = {"n"} if st.session_state.get(_LOCK) is not None else set()
    now = {key: value(key) for key in DEFAULTS if key not in {"metrics", *given}}
    always = ("n", "m", "k")
    changed = {key: x for key, x in now.items() if key in always or x != DEFAULTS[key]}
    return {key: text.count(x) if key in always else str(x) for key, x in changed.items()}


def caption(shown: Mapping[str, str]) -> str:
    """Return the caption of a saved picture; ``shown`` is the result of :func:`setting`, or {}."""
    parts = [f"{key} = {written}" for key, written in shown.items() if key != "scheme"]
    parts.append(f"negatives drawn {schemes.SCHEMES[choices.SCHEMES[value('scheme')]].words}")
    return f"sampledash: {', '.join(parts)}" if shown else "sampledash"


def went_back() -> bool:
    """Whether the reader started this run of the page by the browser's Back or Forward."""
    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))


def address() -> str:
    """Return the query of the page's address when the browser asked for this run of the page."""
    return str(getattr(get_script_run_ctx(), "query_string", ""))


def in_fragment() -> bool:
    """Whether Streamlit reruns only a part (fragment) of the page, as after a slider's change."""
    return bool(getattr(get_script_run_ctx(), "fragment_ids_this_run", None))


def keep_settings(page: str) -> None:
    """Keep the settings that two pages share when the reader goes from one page to the other.

    After the browser's Back or Forward, read all settings of the address, because Streamlit drops
    settings that both pages share. After any other change of page, the address lacks a setting if
    the reader left the previous page before the browser had drawn the setting's widget. Take such
    settings from the session. Call this function before the page named ``page`` is run.
    """
    before, st.session_state["_page"] = st.session_state.get("_page", page), page
    context: Any = get_script_run_ctx()
    if went_back():
        for key, raw in parse_qs(context.query_string, keep_blank_values=True).items():
            if key not in st.query_params and not key.startswith("embed"):
                st.query_params[key] = raw
        with context.session_state.query_params() as params:
            params.set_initial_query_params_from_current()
    elif before != page:
        # Store the missing settings as values of an earlier run, because a widget writes such a
        # value into the address.
        lacking = DEFAULTS.keys() & {*st.session_state} - {*st.query_params}
        context.session_state._state._old_state |= {x: st.session_state[x] for x in lacking}


def put_in_address(key: str, written: str) -> None:
    """Write a text that belongs to no widget into the address; an empty text removes the key.

    Only a change is written, because a write replaces the whole address, and the browser's address
    may already hold a later change that this run of the page does not know. Nothing is written when
    the reader presses Back or Forward: a write adds an entry to the browser's history, so that the
    next Back would only return to the page that wrote the entry.
    """
    if went_back():
        return
    if written and st.query_params.get(key) != written:
        st.query_params[key] = written
    elif not written and key in st.query_params:
        del st.query_params[key]


def stamp(offered: Offered | None = None) -> None:
    """Write :data:`VERSION` into the address; once a session, collect what is wrong in the address.

    A page passes the options of its settings as ``offered``. The page calls this function before
    its first widget, because a widget deletes a value of the address that is not an option.
    """
    if _LINK not in st.session_state:
        params = {key: st.query_params.get_all(key) for key in st.query_params}
        st.session_state[_LINK] = link_complaints(params, offered)
        if bad := _unread(params):
            for key in bad:
                del st.query_params[key]
            st.rerun()  # in the current run, widgets would still read the deleted values, and fail
    # A link that was just opened, or an address without settings, needs no version. Writing the
    # version would only add an entry to the browser's history.
    elif len(st.query_params):
        put_in_address("v", VERSION)


def give_way() -> None:
    """Restart the run of the page's script if a change of settings is waiting.

    Long computations call this function. Without it, Streamlit would finish the run before it
    handles a change in a part of the page that reruns alone (a fragment).
    """
    context = get_script_run_ctx()
    requests = context and context.script_requests
    if context and requests and requests._state == ScriptRequestType.RERUN:
        st.rerun(scope="fragment" if in_fragment() else "app")


def complaints(keys: Sequence[str]) -> list[str]:
    """Return sentences on what is wrong with the link that the reader followed.

    When a setting of ``keys`` changes, the sentences are dropped. A setting that appears for the
    first time, for example on another page, does not count as changed.
    """
    now = {key: st.session_state[key] for key in keys if key in st.session_state}
    first: dict[str, Any] = st.session_state.setdefault(_FIRST, {})
    if any(first.setdefault(key, x) != x for key, x in now.items()):
        st.session_state[_LINK] = []
    return cast(list[str], st.session_state.get(_LINK, []))


def link_complaints(
    params: Mapping[str, Sequence[str]], offered: Offered | None = None
) -> list[str]:
    """Return sentences on the values of an address that are invalid; unknown keys are ignored."""
    sentences = [say.unread(x, params[x][-1][:30], _NUMBERS[x] is int) for x in _unread(params)]
    lists: Offered = {"metrics": (choices.CHIPS, []), "scheme": (choices.offered(), "")}
    for key, (names, default) in {**lists, **_SWITCHES, **(offered or {})}.items():
        several = isinstance(default, list)
        for raw in params.get(key, ())[0 if several else -1 :]:
            if raw not in names and (raw or key == "scheme"):
                instead = "left out" if several else f"{default} instead"
                sentences.append(say.not_offered(key, raw[:30], instead, names))
    version = (*params.get("v", ()), VERSION)[0]
    return sentences + [say.other_version(version[:10])] * (version not in {"1", VERSION})


def _unread(params: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the keys of ``params`` whose value should be a number, but is not a valid number."""

    def reads(raw: str, kind: type) -> bool:
        number = float(raw) if checks.is_numeral(raw) else float("inf")
        return abs(number) < 2**53 and (kind is float or number.is_integer())

    given = [(key, kind, params[key][-1:]) for key, kind in _NUMBERS.items() if key in params]
    return [key for key, kind, last in given if not all(reads(raw, kind) for raw in last)]
