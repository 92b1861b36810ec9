"""Where the rank sets of a page come from: an example, uploaded files or pasted text.

Streamlit forgets an uploaded file on a page switch, so what was read stays in the session. A file
that cannot be read leaves the last good ranks in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from sampledash.comparison.means import expected_mean, mean
from sampledash.dashboard import state
from sampledash.dashboard.cache import digests
from sampledash.dashboard.page import Problem
from sampledash.dashboard.ranks import reading as rank_reading
from sampledash.dashboard.ranks.held import held, nothing_held
from sampledash.dashboard.words import escaped, system_name
from sampledash.ranksets import RankSet
from sampledash.readers import (
    EXAMPLES,
    Reading,
    assets_folder,
    example,
    open_text,
)
from sampledash.report.numbers import count, percent

__all__ = [
    "DEFAULTS",
    "PASTE",
    "SOURCES",
    "UPLOAD",
    "Problem",
    "Source",
    "choose",
    "escaped",
    "load_text",
    "system_name",
]  # fmt: skip

UPLOAD, PASTE = "Upload a file", "Paste ranks"
SOURCES = {
    EXAMPLES[name].title: name for name in ("movielens-xyz", "paper-abc", "movielens-xyz-ties")
}
DEFAULTS: dict[str, Any] = {"source": next(iter(SOURCES)), "ranks": ""}
OFFERED: state.Offered = {"source": ((*SOURCES, UPLOAD, PASTE), DEFAULTS["source"])}
TYPED_IN_LINK = 200  # typed ranks up to this many travel in a link
_GOOD, _TEXT, _FILES = "_good_sets", "_typed", "_files"
PLACEHOLDER = "n = 10000\nA: 100, 100, 100, 100, 100\nB: 40, 40, 8437, 9266, 4482"
# File in the templates folder -> what it is for.
TEMPLATES = {
    "long.csv": "Long: one row per relevant item",
    "wide.csv": "Wide: one column per system",
    "counts.csv": "Counts: a row stands for many instances",
    "run.txt": "TREC run: drop it together with its qrels",
    "qrels.txt": "TREC qrels",
}


@dataclass(frozen=True)
class Source:
    """Rank sets to look at, what to call them, and how a script reads them.

    Attributes
    ----------
    sets
        The rank sets.
    name
        What to call them.
    bundled
        Whether they come with the package, so that computations may be shared by all users.
    python
        The expression that reads them in a script: ``sd.read_rank_sets("ranks.csv", n=3706)``.
    averaged
        Whether several rankings of one instance, such as seeds, are instances of their own here.
    """

    sets: tuple[RankSet, ...]
    name: str
    bundled: bool
    python: str = ""
    averaged: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """The same only for the same ranks."""
        return digests(self.sets)


def choose() -> tuple[Source | None, Problem | None]:
    """Draw the choice of ranks; return what to show, and what is wrong with what was asked for.

    The source is the last good one while something is wrong, None while there never was one.
    """
    _follow_link()
    chosen = st.segmented_control(
        "Ranks of",
        [*SOURCES, UPLOAD, PASTE],
        default=DEFAULTS["source"],
        required=True,
        key="source",
        bind="query-params",
        help="True ranks of recommenders: the rank of each relevant item among all candidates.",
    )
    trouble: Problem | None = None
    source: Source | None = None
    if chosen != PASTE:
        _put_in_address("")
    if chosen in SOURCES:
        name = SOURCES[chosen]
        python = rank_reading.expression("example", f'"{name}"', {})
        source = Source(tuple(example(name)), chosen, True, python)
        st.caption(EXAMPLES[name].about)
    elif chosen == UPLOAD:
        source, trouble = _uploaded()
    else:
        source, trouble = _pasted()
    if source is not None:
        st.session_state[_GOOD] = source
    return source or st.session_state.get(_GOOD), trouble


def load_text(text: str) -> None:
    """Put typed ranks into the page, in place of what was chosen (a callback)."""
    st.session_state.update({"source": PASTE, "pasted": text, _TEXT: text})


def _follow_link() -> None:
    """Take typed ranks from the address, once."""
    if _TEXT not in st.session_state:
        st.session_state[_TEXT] = st.query_params.get("ranks", "")


def _uploaded() -> tuple[Source | None, Problem | None]:
    files = st.file_uploader(
        "Ranks as CSV, TSV, Parquet or .npy, or TREC runs with their qrels; also packed as .gz",
        accept_multiple_files=True,
        key="ranks_file",
        help=(
            "Columns system and rank, or one column per system. Optional: instance, n_candidates, "
            "ties, count, seed, mass_above. Systems of several files are compared with one "
            "another. Files stay in this session and never travel in a link."
        ),
    )
    with st.popover("Templates", icon=":material/download:", type="tertiary"):
        for name, about in TEMPLATES.items():
            path = assets_folder() / "templates" / name
            st.download_button(
                about, path.read_bytes, file_name=f"ranks-{name}" if name.endswith("csv") else name,
                mime="text/plain", on_click="ignore", icon=":material/download:", type="tertiary",
                key=f"template_{name}",
            )  # fmt: skip
    last = held(files, _FILES)
    if last is None:
        return None, nothing_held(
            "ranks_file", "Choose a file to see whether its comparison is right."
        )
    reading, trouble = rank_reading.read(last.ident, last.parse)
    argument = repr(last.names[0]) if len(last.names) == 1 else repr(last.names)
    how = rank_reading.options(last.ident)
    python = rank_reading.expression("read_rank_sets", argument, how)
    return _compared(reading, last.called, python, trouble, rank_reading.averaged(last.ident))


def _pasted() -> tuple[Source | None, Problem | None]:
    typed = st.text_area(
        "Ranks, one system a line",
        value=st.session_state[_TEXT],
        key="pasted",
        height=120,
        placeholder=PLACEHOLDER,
        help="'A: 100, 100; B: 40 …', or a table with a header. n may be given as 'n = 10000'.",
    )
    st.session_state[_TEXT] = typed
    source: Source | None = None
    trouble: Problem | None = Problem(
        "Paste the ranks of at least two systems, as in the example.", asking=True
    )
    if typed.strip():
        ident = f"typed-{hash(typed)}"
        reading, trouble = rank_reading.read(ident, lambda: open_text(typed))
        how = rank_reading.options(ident)
        python = rank_reading.expression("parse_rank_text", _quoted(typed), how)
        source, trouble = _compared(
            reading, "your ranks", python, trouble, rank_reading.averaged(ident)
        )
    short = source is not None and sum(map(len, source.sets)) <= TYPED_IN_LINK
    _put_in_address(typed if short else "")
    if source is not None:
        way = "are in the address and in a copied link" if short else "do not travel in a link"
        st.caption(f"These ranks {way}: up to {TYPED_IN_LINK} typed ones do, files never.")
    return source, trouble


def _compared(
    reading: Reading | None, name: str, python: str, trouble: Problem | None, averaged: bool
) -> tuple[Source | None, Problem | None]:
    """A source, if there is something to compare."""
    if reading is None:
        return None, trouble
    if len(reading.sets) < 2:
        return None, Problem(_alone(reading.sets[0]), asking=True)
    return Source(reading.sets, name, False, python, averaged), None


def _alone(ranks: RankSet) -> str:
    """What can be said of one system."""
    said = "One system alone has no order: add the ranks of a second one, here or in another file."
    try:
        settings = state.current()
        metric = settings.metrics[0]
        exact = mean(metric, ranks)
        sampled = expected_mean(metric, ranks, settings.m, scheme=settings.scheme,
                                odds=settings.sampling().odds)  # fmt: skip
    except (ValueError, IndexError):
        return said
    return (
        f"{said} Its {metric} is {percent(exact)}; on {count(settings.m)} sampled negatives "
        f"{percent(sampled)} would be expected."
    )


def _quoted(text: str) -> str:
    """Typed text in a script: over several lines if nothing in it forbids that."""
    plain = text.replace("\r\n", "\n")
    simple = '"' not in plain and "\\" not in plain and plain.replace("\n", "").isprintable()
    return f'"""{plain}"""' if simple else repr(text)


def _put_in_address(typed: str) -> None:
    """Typed ranks, where the address and the copied link find them."""
    st.session_state["ranks"] = typed
    state.put_in_address("ranks", typed)
