"""Where sampled ranks come from: one run on the bundled ranks, uploaded files or pasted text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.dashboard import cache, state
from sampledash.dashboard.estimate import words
from sampledash.dashboard.page import Problem
from sampledash.dashboard.uploads import carry, nothing_uploaded, pasted, uploaded
from sampledash.dashboard.words import LONGEST_NAME, adaptive, escaped
from sampledash.ranksets import RankSet
from sampledash.readers import (
    MissingCandidates,
    MissingNegatives,
    NoRankColumn,
    Opened,
    ZeroBasedRanks,
    assets_folder,
    example,
    lacks,
    open_text,
    sampled_sets,
)
from sampledash.report.numbers import count, shortened
from sampledash.sampledranks import SampledRankSet
from sampledash.simulation import sample_ranks

EXAMPLE, UPLOAD, PASTE = "MovieLens 1M: one run", "Upload a file", "Paste sampled ranks"
SOURCES = (EXAMPLE, UPLOAD, PASTE)
DATA = "movielens-xyz"
DEFAULTS: dict[str, Any] = {"sampled_source": EXAMPLE, "draw_seed": 1, "m_set": False}
MOST_M = 2_000
PLACEHOLDER = (
    "m = 100, n = 3706\nsystem,sampled_rank,count\nA,1,310\nA,2,120\nA,7,41\nB,1,290\nB,9,30"
)
MOST_SYSTEMS = 8  # shown at a time: every pair of them is compared
_FILES, _SHIFT = "_sampled_files", "_sampled_from_0"
_SHOWN = "_sampled_shown"
_IN_LINK, MOST_IN_LINK = "sampled", 1_000


@dataclass(frozen=True)
class Given:
    """What was given, before n, m and the scheme are known.

    Attributes
    ----------
    name
        What to call it.
    ident
        Text that is the same only for the same content.
    opened
        Parsed files; None for the bundled run.
    n_known, m_known
        Whether the data say n and m themselves.
    about
        Where the bundled run is described, once the sidebar has told m.
    """

    name: str
    ident: str
    opened: Opened | None
    n_known: bool = True
    m_known: bool = False
    about: DeltaGenerator | None = None


@dataclass(frozen=True)
class Sampled:
    """Sampled ranks to estimate from.

    Attributes
    ----------
    sets
        One per system.
    name, bundled
        What to call them; whether results may serve other sessions.
    true
        The true ranks behind them, where they are known.
    of
        Key of all systems, where these are some of them.
    """

    sets: tuple[SampledRankSet, ...]
    name: str
    bundled: bool
    true: tuple[RankSet, ...] = ()
    of: str = ""

    @property
    def key(self) -> str:
        """Text that is the same only for the same sampled ranks."""
        return "-".join(one.digest for one in self.sets)

    @property
    def whole(self) -> str:
        """The key of all systems that were given."""
        return self.of or self.key


def choose() -> tuple[Given | None, Problem | None]:
    """Draw the choice; return what was given, or what is still to be given."""
    chosen = st.segmented_control(
        "Sampled ranks of", list(SOURCES), default=DEFAULTS["sampled_source"], required=True,
        key="sampled_source", bind="query-params",
        help="The rank of each relevant item among itself and its sampled negatives, 1 to m + 1.",
    )  # fmt: skip
    if chosen != PASTE:
        carry(_IN_LINK, "")
    try:
        if chosen == UPLOAD:
            return _uploaded()
        if chosen == PASTE:
            return _pasted()
    except NoRankColumn as error:
        return None, Problem(state.spelled(ValueError(error.sampled)))
    except ValueError as error:
        return None, Problem(state.spelled(error))
    left, right = st.columns([1, 5], vertical_alignment="bottom")
    left.number_input(
        "Seed", min_value=0, value=DEFAULTS["draw_seed"], step=1, key="draw_seed",
        bind="query-params", help="Another seed draws other negatives.",
    )  # fmt: skip
    return Given(EXAMPLE, f"{DATA}|{_seed()}", None, about=right), None


def _seed() -> int:
    return int(state.value("draw_seed", DEFAULTS))


@st.cache_resource(max_entries=1, show_spinner=False)
def true_ranks() -> tuple[RankSet, ...]:
    """The bundled ranks."""
    return tuple(example(DATA))


def _uploaded() -> tuple[Given | None, Problem | None]:
    files = st.file_uploader(
        "Sampled ranks as CSV, TSV, Parquet or .npy; also packed as .gz",
        accept_multiple_files=True, key="sampled_file",
        help=(
            "Columns system and sampled_rank, or one column per system. Optional: instance, "
            "n_candidates, m, count, seed, adaptive (yes or no). Files stay in this session "
            "and never travel in a link."
        ),
    )  # fmt: skip
    path = assets_folder() / "templates" / "sampled.csv"
    st.download_button(
        "Template", path.read_bytes, file_name="sampled-ranks.csv", mime="text/csv",
        on_click="ignore", icon=":material/download:", type="tertiary", key="template_sampled",
    )  # fmt: skip
    if (last := uploaded(files, _FILES)) is None:
        return None, nothing_uploaded("sampled_file", "Choose a file of sampled ranks.")
    return _given(last.called, last.ident, last.parse), None


def _pasted() -> tuple[Given | None, Problem | None]:
    typed = pasted(
        "Sampled ranks: a table with a header, or one system a line",
        key="sampled_typed",
        address=_IN_LINK,
        height=140,
        placeholder=PLACEHOLDER,
        help="'A: 1, 1, 7', or a table as in a file; 'm = 100, n = 3706' may stand on a line.",
    )
    carry(_IN_LINK, typed if len(typed) <= MOST_IN_LINK else "")
    if len(typed) > MOST_IN_LINK:
        st.caption(f"Up to {count(MOST_IN_LINK)} characters travel in a link; these do not.")
    if not typed.strip():
        return None, Problem("Paste sampled ranks, as in the example.", asking=True)
    return _given("your sampled ranks", f"typed-{hash(typed)}", lambda: open_text(typed)), None


def _given(name: str, ident: str, parse: Callable[[], Opened]) -> Given:
    opened: Opened = cache.cached(("opened", ident), parse, shared=False, large=True)
    without_n, without_m = lacks(opened)
    return Given(name, ident, opened, not without_n, not without_m)


def made(given: Given) -> Sampled:
    """The sampled ranks, with the n, m and scheme of the sidebar where the data say none.

    Raises
    ------
    ValueError
        As :func:`sampledash.readers.sampled_sets`.
    """
    settings = state.current()
    if given.about is not None:
        given.about.caption(words.about_example(len(true_ranks()[0]), settings.m, _seed()))
    n = None if given.n_known else settings.n
    m = None if given.m_known else settings.m
    if m is not None:
        _require_few(m)
    if given.opened is None:
        return _run(settings.m, settings.scheme)
    opened, shift = given.opened, st.session_state.get(_SHIFT) == given.ident
    sets: tuple[SampledRankSet, ...] = cache.cached(
        ("sampled", given.ident, n, m, settings.scheme, shift),
        lambda: tuple(
            sampled_sets(opened, n=n, m=m, scheme=settings.scheme, zero_based=shift)
        ),
        shared=False,
    )  # fmt: skip
    _require_few(max(one.draws[-1].m for one in sets))
    return Sampled(sets, given.name, bundled=False)


def _require_few(m: int) -> None:
    if m > MOST_M:
        raise ValueError(
            f"m = {m} is more than this page estimates from: take m <= {MOST_M}, "
            "or call sampledash.estimate from Python"
        )


def shown(source: Sampled, given: Given) -> Sampled:
    """Draw what was read, and a choice of systems where there are many; return the chosen."""
    total = len(source.sets)
    if not source.bundled:
        names = [shortened(one.system, LONGEST_NAME) for one in source.sets]
        st.caption(escaped(words.understood(names, sum(map(len, source.sets)))))
    source = _as_said(source)
    if total <= MOST_SYSTEMS:
        return source
    kept: dict[str, list[int]] = st.session_state.setdefault(_SHOWN, {})
    before = [place for place in kept.get(given.ident, range(MOST_SYSTEMS)) if place < total]
    chosen = st.multiselect(
        f"Systems shown, up to {MOST_SYSTEMS} of {count(total)}", range(total), default=before,
        format_func=lambda place: source.sets[place].system, max_selections=MOST_SYSTEMS,
        key=f"shown_{given.ident}_{total}", help="Every pair of them is compared.",
    )  # fmt: skip
    st.session_state[_SHOWN] = {given.ident: chosen}
    return replace(
        source, sets=tuple(source.sets[place] for place in sorted(chosen)), of=source.key
    )


def _as_said(source: Sampled) -> Sampled:
    """Say where what was drawn decided m, and let the reader know better."""
    found = [one for one in source.sets if one.is_adaptive]
    if not found:
        return source
    names = [shortened(one.system, LONGEST_NAME) for one in found]
    chances = [one.chance_if_set for one in found if one.adaptive is None]
    set_before = st.session_state.get("m_set", DEFAULTS["m_set"])
    if not set_before:
        st.info(escaped(adaptive(names, max(chances, default=None))),
                icon=":material/info:")  # fmt: skip
    if not st.checkbox(
        "m was set beforehand", key="m_set", bind="query-params",
        help="Then m may differ between instances, but not by what was drawn for them, and all "
        "estimators apply.",
    ):  # fmt: skip
        return source
    return replace(source, sets=tuple(replace(one, adaptive=False) for one in source.sets))


def _run(m: int, scheme: Any) -> Sampled:
    """One run on the bundled ranks."""

    def draw() -> tuple[SampledRankSet, ...]:
        rng = np.random.default_rng(_seed())
        return tuple(sample_ranks(ranks, m, rng, fit_scheme=scheme) for ranks in true_ranks())

    sets = cache.cached(("run", DATA, m, scheme, _seed()), draw, shared=True)
    return Sampled(sets, EXAMPLE, True, true_ranks())


def in_link() -> dict[str, str]:
    """The pasted ranks with their default, where a link carries them."""
    return {_IN_LINK: ""} if _IN_LINK in st.query_params else {}


def trouble(error: ValueError, given: Given) -> Problem:
    """Why there is nothing to estimate from, with a way out where there is one."""
    said = state.spelled(error)
    if isinstance(error, ZeroBasedRanks):
        return Problem(
            said, "The ranks count from 0: add 1",
            lambda: st.session_state.update({_SHIFT: given.ident}),
        )  # fmt: skip
    return Problem(said, asking=isinstance(error, MissingCandidates | MissingNegatives))
