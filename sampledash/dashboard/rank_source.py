"""Where the rank sets of a page come from: an example, an uploaded file or pasted text.

Streamlit forgets an uploaded file on a page switch, so what was read stays in the session. A file
that cannot be read leaves the last good ranks in place.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sampledash.dashboard import state
from sampledash.explain.text import count
from sampledash.ranksets import RankSet
from sampledash.readers import (
    EXAMPLES,
    DifferentInstances,
    MissingCandidates,
    ZeroBasedRanks,
    assets_folder,
    describe,
    example,
    parse_rank_text,
    read_rank_sets,
)

UPLOAD, PASTE = "Upload a file", "Paste ranks"
SOURCES = {
    EXAMPLES[name].title: name for name in ("movielens-xyz", "paper-abc", "movielens-xyz-ties")
}
DEFAULTS: dict[str, Any] = {"source": next(iter(SOURCES)), "ranks": ""}
LONGEST_NAME = 24
TYPED_IN_LINK = 200  # typed ranks up to this many travel in a link
_SETS, _GOOD, _READING, _TEXT, _BYTES = "_sets", "_good_sets", "_reading", "_typed", "_bytes"
PLACEHOLDER = "n = 10000\nA: 100, 100, 100, 100, 100\nB: 40, 40, 8437, 9266, 4482"


@dataclass(frozen=True)
class Source:
    """Rank sets to look at, and what to call them."""

    sets: tuple[RankSet, ...]
    name: str
    bundled: bool

    @property
    def key(self) -> str:
        """Text that is the same only for the same ranks."""
        return "-".join(ranks.digest for ranks in self.sets)


@dataclass(frozen=True)
class Trouble:
    """Why the ranks cannot be read, and what can be done about it here."""

    sentence: str
    button: str = ""
    remedy: Callable[[], None] | None = None
    asking: bool = False  # nothing is wrong: something is still to be given

    def show(self) -> None:
        """Take the sentence's place."""
        say, icon = (st.info, ":material/info:") if self.asking else (st.error, ":material/error:")
        say(escaped(self.sentence), icon=icon)
        if self.remedy is not None:
            st.button(self.button, on_click=self.remedy, type="primary")


def choose() -> tuple[Source | None, Trouble | None]:
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
    trouble: Trouble | None = None
    source: Source | None = None
    if chosen != PASTE:
        _put_in_address("")
    if chosen in SOURCES:
        source = Source(tuple(example(SOURCES[chosen])), chosen, bundled=True)
        st.caption(EXAMPLES[SOURCES[chosen]].about)
    elif chosen == UPLOAD:
        source, trouble = _uploaded()
    else:
        source, trouble = _pasted()
    if source is not None:
        st.session_state[_GOOD] = source
    return source or st.session_state.get(_GOOD), trouble


def _follow_link() -> None:
    """Take typed ranks from the address, once."""
    if _TEXT not in st.session_state:
        st.session_state[_TEXT] = st.query_params.get("ranks", "")


def _uploaded() -> tuple[Source | None, Trouble | None]:
    file = st.file_uploader(
        "CSV, TSV or Parquet with columns system and rank, or one column per system",
        type=["csv", "tsv", "txt", "parquet"],
        key="ranks_file",
        help=(
            "Optional columns: instance, n_candidates, ties, mass_above. Files stay in this "
            "session and never travel in a link."
        ),
    )
    with st.container(horizontal=True):
        for name in ("long", "wide"):
            path = assets_folder() / "templates" / f"{name}.csv"
            st.download_button(
                f"Template, {name}", path.read_bytes, file_name=f"ranks-{name}.csv",
                mime="text/csv", on_click="ignore", icon=":material/download:", type="tertiary",
            )  # fmt: skip
    if file is not None and st.session_state.get(_BYTES, ("",))[0] != file.file_id:
        st.session_state[_BYTES] = (file.file_id, file.name, file.getvalue())
    held = st.session_state.get(_BYTES)
    if held is None:
        return None, Trouble("Choose a file to see whether its comparison is right.", asking=True)
    ident, name, data = held
    if file is None:
        st.caption(escaped(f"Still using {name}."))
    return _read(ident, name, lambda **how: read_rank_sets(io.BytesIO(data), name=name, **how))


def _pasted() -> tuple[Source | None, Trouble | None]:
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
    trouble: Trouble | None = Trouble(
        "Paste the ranks of at least two systems, as in the example.", asking=True
    )
    if typed.strip():
        source, trouble = _read(
            f"typed-{hash(typed)}", "your ranks", lambda **how: parse_rank_text(typed, **how)
        )
    short = source is not None and sum(map(len, source.sets)) <= TYPED_IN_LINK
    _put_in_address(typed if short else "")
    if source is not None:
        way = "are in the address and in a copied link" if short else "do not travel in a link"
        st.caption(f"These ranks {way}: up to {TYPED_IN_LINK} typed ones do, files never.")
    return source, trouble


def _put_in_address(typed: str) -> None:
    """Typed ranks, where the address and the copied link find them."""
    st.session_state["ranks"] = typed
    if typed:
        st.query_params["ranks"] = typed
    elif "ranks" in st.query_params:
        del st.query_params["ranks"]


def _read(
    ident: str, name: str, read: Callable[..., list[RankSet]]
) -> tuple[Source | None, Trouble | None]:
    """Read once per content and way of reading; ask for what the file does not say."""
    hows: dict[str, dict[str, Any]] = st.session_state.setdefault(_READING, {})
    how = hows.setdefault(ident, {})

    def again(**more: Any) -> Callable[[], None]:
        return lambda: how.update(more)

    if how.get("ask_n"):
        n = st.number_input(
            "n, candidates of every instance", min_value=2, value=how.get("n"), step=1,
            key=f"n_of_{ident}", placeholder="for example 10000",
            help="The data do not say how many candidates a ranking held.",
        )  # fmt: skip
        how["n"] = n
    options = {key: value for key, value in how.items() if key != "ask_n" and value is not None}
    cached: dict[tuple[Any, ...], tuple[RankSet, ...]] = st.session_state.setdefault(_SETS, {})
    key = (ident, *sorted(options.items()))
    try:
        if key not in cached:
            with st.spinner("Reading the ranks", show_time=True):
                sets = tuple(read(**options))
            cached.clear()  # one file at a time: uploads can be large
            cached[key] = sets
        source = Source(cached[key], name, bundled=False)
    except MissingCandidates as error:
        if not how.get("ask_n"):
            how["ask_n"] = True
            st.rerun()
        return None, Trouble(state.spelled(error), asking=True)
    except ZeroBasedRanks as error:
        return None, Trouble(
            state.spelled(error), "The ranks count from 0: add 1", again(zero_based=True)
        )
    except DifferentInstances as error:
        if error.shared:
            many = "instance they share" if error.shared == 1 else "instances they share"
            label = f"Compare the {count(error.shared)} {many}"
            return None, Trouble(state.spelled(error), label, again(instances="shared"))
        return None, Trouble(
            state.spelled(error), "Compare them as they are", again(instances="any")
        )
    except ValueError as error:
        return None, Trouble(state.spelled(error))
    st.caption(escaped(f"Understood: {describe(source.sets)}."))
    if len(source.sets) < 2:
        return None, Trouble("One system alone has no order: add the ranks of a second one.")
    return source, None


def shown(name: str) -> str:
    """A system's name in a sentence: short, and as it is."""
    return escaped(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")


def escaped(text: str) -> str:
    """Text of a user for Markdown: shown as it is, also what looks like an address."""
    text = text.replace("://", ":\u2060//").replace("www.", "www\u2060.")
    for sign in "\\`*_{}[]<>#|~$:":
        text = text.replace(sign, "\\" + sign)
    return text
