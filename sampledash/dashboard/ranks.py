"""The choice of the true ranks that a page shows, and the options with which they are read.

For each uploaded file or pasted text, the session holds a dictionary of options of
:func:`sampledash.read_rank_sets`. The buttons of an error message and the preview change these
options. While a file cannot be read, the page shows the last valid ranks.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from sampledash.analyses.source import OPTIONS, Source, expression
from sampledash.checks import counted
from sampledash.dashboard import page, state
from sampledash.dashboard.uploads import Upload, carry, pasted, template, upload
from sampledash.readers.assemble import Opened, Reading
from sampledash.readers.files import EXAMPLES, bundled, example, open_sources
from sampledash.readers.frame import Facts, few
from sampledash.readers.pasted import open_text
from sampledash.readers.upload_limits import MissingCandidates, ReadError
from sampledash.report.escape import escaped
from sampledash.report.numbers import span, spell
from sampledash.report.templates import Sentences, texts

TEXTS = texts(Path(__file__).with_suffix(".txt"))
say = Sentences(Path(__file__).with_suffix(".jinja"), escaped=escaped, few=few, MOST_COLUMNS=12)
UPLOAD, PASTE, SERVED = "Upload a file", "Paste ranks", "Results"
#: Name -> path of each file of ranks that ``sampledash serve`` was started with.
RESULTS = {Path(path).name: path for path in json.loads(os.environ.get("SAMPLEDASH_RESULTS", "[]"))}
BUNDLED = ("movielens-xyz", "paper-abc", "movielens-xyz-ties", "ncf")
SOURCES = {EXAMPLES[name].title: name for name in BUNDLED}
OFFER = (*[SERVED] * bool(RESULTS), *SOURCES, UPLOAD, PASTE)
DEFAULTS: dict[str, Any] = {"source": OFFER[0], "ranks": "", "result": next(iter(RESULTS), "")}
OFFERED: state.Offered = {"source": (OFFER, OFFER[0])}
NOT_KNOWN = "not known yet"  # text shown for n (number of candidates) until the page has ranks
TYPED_IN_LINK = 200  # a link carries the ranks that the reader typed if they are at most this many
PLACEHOLDER = "n = 10000\nA: 100, 100, 100, 100, 100\nB: 40, 40, 8437, 9266, 4482"
_WRITTEN = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# Template of a file of ranks, in the templates folder -> its description.
TEMPLATES: dict[str, str] = _WRITTEN["templates"]
# Option of ``read_rank_sets`` -> its label in the preview, and the labels of its values.
WAYS = {option: (label, dict(values)) for option, (label, values) in _WRITTEN["ways"].items()}
_USE, _NAME, _RANKS = "Use", "System", "Ranks"
UPLOADED = "_ranks_file"
_GOOD, _OPENED, _READINGS, _HOW = "_good_sets", "_opened", "_readings", "_reading"
_UNSURE = "_unsure"  # session key of a flag: is there a doubt about how the ranks were read?


def choose() -> tuple[Source | None, page.Problem | None]:
    """Draw the choice of ranks; return the ranks to show, and a Problem if the choice is invalid.

    In case of a problem, the last valid ranks are returned, or None if there are none yet.
    """
    # Copy the ranks that a link holds into the session: carry() may remove them from the address.
    st.session_state.setdefault("_pasted", st.query_params.get("ranks", ""))
    st.session_state[_UNSURE] = False
    with st.container(key="choice"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            chosen = page.segments("Ranks of", OFFER, "source", help=TEXTS["ranks"], hidden=True)
            if chosen in SOURCES:
                st.caption(EXAMPLES[SOURCES[chosen]].about)
        if chosen != PASTE:
            carry("ranks", "")
        draws = {UPLOAD: _uploaded, PASTE: _pasted, SERVED: _served}
        try:
            source = st.session_state[_GOOD] = draws.get(chosen, partial(_bundled, chosen))()
        except ValueError as error:
            return st.session_state.get(_GOOD), page.Problem.of(error)
    if not st.session_state[_UNSURE]:
        page.folded(source.key, _line(source))
    return source, None


def _line(source: Source) -> str:
    """Return the name of the ranks and their numbers of systems, instances and candidates."""
    many = [x.n_instances for x in source.sets]
    low, high = min(x.n.min() for x in source.sets), max(x.n.max() for x in source.sets)
    instances = f"{span(min(many), max(many))} instance{'s' * (max(many) != 1)}"
    numbers = f"{counted(len(many), 'system')} · {instances}"
    return f"**{escaped(source.name)}** · {numbers} · n = {span(low, high)}"


def load_text(text: str) -> None:
    """Callback of a button: let the page use ``text`` as if the reader had pasted the ranks."""
    st.session_state.update({"source": PASTE, "pasted": text, "_pasted": text})


def hand_over(name: str, data: bytes) -> None:
    """Give a file to the Consistency page as if the reader had uploaded the file there."""
    st.session_state[UPLOADED] = Upload(sha256(data).hexdigest(), [name], [data])


def _bundled(title: str) -> Source:
    name = SOURCES[title]
    return Source(tuple(example(name)), title, True, expression("example", f'"{name}"', {}))


def _served() -> Source:
    name = next(iter(RESULTS))
    if len(RESULTS) > 1:
        name = st.selectbox("File", list(RESULTS), key="result", bind="query-params")
    path = RESULTS[name]
    try:
        # The key of the cache holds the time of the file's last change. If a new evaluation
        # overwrites the file, the file is therefore read again.
        ident = f"{path}|{os.stat(path).st_mtime_ns}"
    except OSError:
        raise page.Problem(f"{name} is no longer there: choose another file") from None
    return _source(ident, lambda: open_sources([path]), name, "read_rank_sets", repr(name))


def _uploaded() -> Source:
    asking = "Choose a file to see whether its comparison is right."
    words = {"help": TEXTS["columns"], "asking": asking}
    last = upload(TEXTS["files"], _templates, key=UPLOADED[1:], **words)
    argument = repr(last.names if len(last.names) > 1 else last.names[0])
    return _source(last.ident, last.parse, last.called, "read_rank_sets", argument)


def _templates() -> None:
    with st.popover("Templates", icon=":material/download:", type="tertiary"):
        for name, about in TEMPLATES.items():
            template(about, name, f"ranks-{name}" if name.endswith("csv") else name, "text/plain")
    with st.expander("From RecBole, LensKit, implicit … to ranks"):
        st.markdown((bundled() / "templates" / "from_frameworks.md").read_text("utf-8"))


def _pasted() -> Source:
    field = {"height": 120, "placeholder": PLACEHOLDER, "help": TEXTS["pasted"]}
    typed = pasted("Ranks, one system a line", key="pasted", address="ranks", **field)
    try:
        if not typed.strip():
            asking = "Paste the ranks of at least two systems, as in the example."
            raise page.Problem(asking, asking=True)
        ident, parse = f"typed-{hash(typed)}", partial(open_text, typed)
        source = _source(ident, parse, "your ranks", "parse_rank_text", repr(typed))
    except ValueError:
        carry("ranks", "")
        raise
    short = sum(map(len, source.sets)) <= TYPED_IN_LINK
    carry("ranks", typed if short else "")
    way = "are in the address and in a copied link" if short else "do not travel in a link"
    st.caption(f"These ranks {way}: up to {TYPED_IN_LINK} typed ones do, files never.")
    return source


def _source(
    ident: str, parse: Callable[[], Opened], name: str, function: str, argument: str
) -> Source:
    """Return ranks, and the Python call that reads them; raise a Problem for a single system.

    ``ident`` identifies the content, and ``parse`` parses it. ``function`` and ``argument`` are
    those of the Python call.
    """
    hows: dict[str, dict[str, Any]] = st.session_state.setdefault(_HOW, {})
    options = hows.setdefault(ident, {})
    opened: Opened = once(_OPENED, ident, parse, escaped(f"Reading {name}"))
    sets = read(ident, opened, options).sets
    if len(sets) < 2:
        raise page.Problem(TEXTS["alone"], asking=True)
    averaged = opened.repeated and options.get("runs") != "apart"
    return Source(sets, name, False, expression(function, argument, options), averaged)


# ------------------------------------------------------------------------------------ reading


def read(ident: str, opened: Opened, options: dict[str, Any]) -> Reading:
    """Read ranks with these ``options``; raise a Problem if this fails. The result is cached.

    Also draw a preview of the ranks and, if the data lack the number of candidates n, a field for
    n. What the reader changes in the preview or in the field is stored in ``options``.
    """
    if options.get("ask_n"):
        options["n"] = ask_n(ident)
    chosen = {key: options[key] for key in OPTIONS if options.get(key) is not None}
    try:
        reading: Reading = once(_READINGS, (ident, repr(chosen)), lambda: opened.read(**chosen))
    except ValueError as error:
        if isinstance(error, MissingCandidates) and not options.get("ask_n"):
            options["ask_n"] = True
            st.rerun()
        _preview(ident, opened, options, None)
        ways = error.ways.items() if isinstance(error, ReadError) else ()
        remedies = [(label, partial(options.update, changes)) for label, changes in ways]
        asking = isinstance(error, MissingCandidates)
        raise page.Problem(spell(error), *remedies, asking=asking) from None
    st.caption(escaped(say.numbers(reading)))
    _preview(ident, opened, options, reading)
    return reading


def ask_n(ident: str) -> int | None:
    """Draw a field for n, the number of candidates; return n, or None if the field is empty."""
    label, key = "n, candidates of every instance", f"n_of_{ident}"
    options: dict[str, Any] = {"placeholder": "for example 10000", "persist_state": "session"}
    n: int | None = st.number_input(label, 2, None, None, 1, key=key, help=TEXTS["n"], **options)
    return n


def once(store: str, key: object, make: Callable[[], Any], doing: str = "Reading the ranks") -> Any:
    """Return the result of ``make``, cached in the session under the name ``store``.

    Only the result for the last ``key`` is cached, because uploads can be large.
    """
    made: dict[object, Any] = st.session_state.setdefault(store, {})
    if key not in made:
        with st.spinner(doing, show_time=True):
            result = make()
        made.clear()
        made[key] = result
    return made[key]


# ------------------------------------------------------------------------------------ preview


def _preview(ident: str, opened: Opened, options: dict[str, Any], reading: Reading | None) -> None:
    """Draw a preview of how the ranks were read, in which the reader can change ``options``.

    The preview is open at first if it is doubtful how the ranks should be read.
    """
    doubts = () if reading is None else reading.doubts
    st.session_state[_UNSURE] = bool(doubts)
    # Decide only once whether the preview is open at first, so that the preview does not close
    # while the reader edits the options in it.
    unfolded, key = options.setdefault("unfolded", bool(doubts)), f"understood_{ident}"
    with st.expander("What was understood", unfolded, key=key, icon=":material/fact_check:"):
        for doubt in doubts:
            st.warning(escaped(doubt), icon=":material/help:")
        if reading is not None:
            st.markdown("\n".join(x for file in reading.files for x in file_lines(file)))
        open_ways = {
            "zero_based": options.get("zero_based") or bool(opened.tables),
            "runs": opened.repeated,
            "censored": opened.censored and options.get("censored"),
            "instances": options.get("instances"),
        }
        with st.container(horizontal=True):
            for way, is_open in open_ways.items():
                if is_open:
                    _way(ident, options, way)
        _systems(ident, opened, options)


def file_lines(facts: Facts) -> list[str]:
    """Return Markdown lines on a file: its kind, its used columns and its ignored columns."""
    used = [say.column(*column) for column in facts.columns]
    ignored = [say.column(header) for header in facts.ignored]
    notes = (f"    - {escaped(note)}" for note in facts.notes)
    return [f"- {say.file(facts, used, ignored)}", *notes]


def _way(ident: str, options: dict[str, Any], key: str) -> None:
    """Draw the choice of a value for an option of ``read_rank_sets``: ``options[key]``."""
    (label, titles), widget = WAYS[key], f"{key}_{ident}"
    st.session_state[widget] = titles.get(options.get(key), next(iter(titles.values())))

    def follow() -> None:
        chosen = st.session_state[widget]
        options[key] = next(value for value, title in titles.items() if title == chosen)
        if key == "runs":
            # The option "runs" changes which systems exist, so the choice of systems is dropped.
            options.pop("systems", None)

    st.segmented_control(label, list(titles.values()), key=widget, required=True, on_change=follow)


def _systems(ident: str, opened: Opened, options: dict[str, Any]) -> None:
    """Draw a table in which the reader can rename systems and leave systems out."""
    runs: Any = options.get("runs") or "averaged"
    widget = f"systems_{runs}_{ident}"
    base = f"_{widget}"
    if widget not in st.session_state or base not in st.session_state:
        # Store the first version of the table, because the edits that Streamlit reports are changes
        # of this version.
        names = opened.systems(runs)
        st.session_state[base] = table_of(names, options.get("systems")), list(names)
    table, known = st.session_state[base]

    def follow() -> None:
        options["systems"] = chosen_of(table, st.session_state[widget]["edited_rows"], known)

    column = st.column_config
    st.data_editor(
        table,
        key=widget,
        hide_index=True,
        on_change=follow,
        disabled=[_RANKS],
        width="stretch",
        column_config={
            _USE: column.CheckboxColumn(_USE, width="small", help="Leave out or take in"),
            _NAME: column.TextColumn(_NAME, width="large", help="Change to rename"),
            _RANKS: column.NumberColumn(_RANKS, width="small", format="localized"),
        },
        alt="Systems to use, their names and how many ranks they have",
    )


def table_of(names: Mapping[str, int], systems: Mapping[str, str] | None) -> pd.DataFrame:
    """Return a table with a row per system: whether it is used, its name, its number of ranks.

    ``names`` maps the name of each system to its number of ranks. ``systems`` maps the name of each
    used system to its new name. If ``systems`` is None, all systems are used with their old names.
    """
    used = [systems is None or name in systems for name in names]
    called = [(systems or {}).get(name, name) for name in names]
    return pd.DataFrame({_USE: used, _NAME: called, _RANKS: list(names.values())})


def chosen_of(
    table: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]], names: list[str]
) -> dict[str, str] | None:
    """Return a dict from each used system's name to its new name; None if nothing is changed."""
    used, called = table[_USE].tolist(), table[_NAME].tolist()
    for row, changes in edits.items():
        used[row] = bool(changes.get(_USE, used[row]))
        # If the reader empties the cell of a name, the system keeps its name in the data.
        called[row] = str(changes.get(_NAME, called[row]) or "").strip() or names[row]
    if all(used) and called == names:
        return None
    return {name: new for name, new, use in zip(names, called, used, strict=True) if use}
