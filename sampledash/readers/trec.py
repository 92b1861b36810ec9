"""Read TREC files: runs (``qid Q0 docid rank score tag``) and qrels (``qid 0 docid rel``).

A run ranks documents for queries, and qrels name the relevant documents. An option says what to do
with relevant documents that a truncated run lacks. Lists of recommendations (user, item, score) and
test items, as frameworks save them, have the same fields under other names.
"""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from sampledash import checks
from sampledash.checks import NUMERAL, counted, is_numeral
from sampledash.rank_sets import draw_shared_ties
from sampledash.readers import columns as parsing
from sampledash.readers import tables
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import ITEMS, ROLES, TIMES, Holds, Layout, Role, bare, labels, whole
from sampledash.readers.frame import Facts, Ranks, by_names, facts_of, parsed_cells
from sampledash.readers.tables import SMALL, arrow_frame
from sampledash.readers.upload_limits import CensoredItems, FileKind, ReadError, check_utf8, stem_of
from sampledash.types import Ints

TrecKind = Literal["run", "qrels"]
Censored = Literal["refuse", "beyond", "tied", "left-out"]
FIELDS: dict[TrecKind, tuple[str, ...]] = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iteration", "document", "relevance"),
}
_ROLES: dict[TrecKind, tuple[str | None, ...]] = {
    "run": ("user", None, "item", None, "score", "system"),
    "qrels": ("user", None, "item", "relevance"),
}
#: How each column of runs, qrels, lists of recommendations and test items is parsed and described.
#: The last argument of ``Role`` gives the names that the column may have in a header.
_COLUMNS = {
    "system": ROLES["system"],
    "user": ROLES["instance"],
    "item": Role(labels, "many", "relevant or not", "the label of the document or item", ITEMS),
    "rank": Role(whole, "whole", "rank in the list", "a whole number", ROLES["rank"].written),
    "score": Role(parsing.numbers, "real", "rank, by decreasing score", "a number",
                  "score rating prediction relevance"),
    "relevance": Role(whole, "whole", "relevant if 1 or more", "a whole number", ""),
}  # fmt: skip
_INTEGER = r"[+-]?[0-9]+"
_LINE: dict[TrecKind, re.Pattern[str]] = {
    "run": re.compile(rf"\S+\s+\S+\s+\S+\s+{_INTEGER}\s+{NUMERAL}\s+\S+"),
    "qrels": re.compile(rf"\S+\s+(?:Q0|{_INTEGER})\s+\S+\s+{_INTEGER}"),
}
_LOOKED_AT = 5
_RULE = (
    "A document's rank is its place by score, compared in single precision, equal scores by "
    "document id, both descending, as trec_eval and pytrec_eval order them; the rank column is "
    "ignored, and grade 1 or more is relevant."
)
_TIED = "An item's rank is its place by score in its user's list; items of equal score are tied."


@dataclass(frozen=True)
class Trec:
    """A parsed TREC run or qrels: a data frame with one row per line of the file.

    The columns of systems, users (queries) and items (documents) are categorical; the other columns
    hold numbers. A list of recommendations is stored as a run, and test items as qrels; ``listed``
    is then true. Items of equal score are tied in a list, but ordered by their ids in a TREC run.
    """

    kind: TrecKind
    frame: pd.DataFrame
    facts: Facts
    listed: bool

    @property
    def name(self) -> str:
        """Name of the file, for error messages."""
        return self.facts.file


def trec_kind(data: bytes, name: str) -> TrecKind | None:
    """Return whether a file is a TREC run or qrels, by its first lines; None for any other file."""
    limits.check_lines(data, name)
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="replace")
    full = (line.strip() for line in stream if not line.isspace())
    lines = list(itertools.islice(full, _LOOKED_AT))
    for kind, pattern in _LINE.items():
        matches = sum(pattern.fullmatch(line) is not None for line in lines)
        # Lines of another table may look like TREC lines, but the first line of such a table is a
        # header, which has no numbers.
        if 2 * matches > len(lines) and any(map(is_numeral, lines[0].split())):
            limits.LINES.check(limits.lines_of(data), name)
            return kind
    return None


def read_trec(data: bytes, name: str, kind: TrecKind) -> Trec:
    """Parse a run or qrels; refuse missing or invalid fields and repeated documents."""
    check_utf8(data, name)
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    called = "a TREC run" if kind == "run" else "qrels"
    text: Any = {"data": data, "headed": False, "quoted": False}
    source = Layout(name, called, FIELDS[kind], _ROLES[kind], **text)
    return _parsed(source, _cells(source), kind, listed=False)


def _parsed(source: Layout, cells: pd.DataFrame, kind: TrecKind, *, listed: bool) -> Trec:
    """Parse the columns of a TREC file or list; refuse invalid cells and repeated items."""
    columns = parsed_cells(source, cells, _COLUMNS)
    if kind == "qrels":
        columns.setdefault("relevance", np.ones(len(cells), np.int64))
    else:
        score = columns["score"] if "score" in columns else -columns["rank"]
        columns["score"] = score.astype(np.float64)
        if not listed:  # trec_eval compares scores in single precision
            largest = np.finfo(np.float32).max
            columns["score"] = columns["score"].clip(-largest, largest).astype(np.float32)
        alone = parsing.categories(np.zeros(len(cells), np.int8), [stem_of(source.name)])
        columns.setdefault("system", alone)
        limits.SYSTEMS.check(len(columns["system"].categories), source.name)
    frame = pd.DataFrame(columns, index=range(len(cells)), copy=False)
    keys = [role for role in ("system", "user", "item") if role in frame]
    if (i := checks.first(frame.duplicated(keys))) is not None:
        item, user = (source.headers[source.roles.index(role)] for role in ("item", "user"))
        place = source.place(int(cells.index[i]), source.find("item"))
        item, user = f"{item} {str(frame['item'][i])!r}", f"{user} {str(frame['user'][i])!r}"
        raise ReadError(f"{place}: {item} occurs twice for {user}; remove one line")
    return Trec(kind, frame, facts_of(source, _COLUMNS), listed)


def _cells(source: Layout) -> pd.DataFrame:
    """Split the lines of a TREC file at spaces and tabs; return a frame with a column per field."""
    data, fields = source.data or b"", source.headers
    pairs = enumerate(source.roles)
    holds = {i: None if role is None else _COLUMNS[role].holds for i, role in pairs}
    for delimiter in " \t" if len(data) >= SMALL else "":
        if (frame := arrow_frame(data, delimiter, holds, quoted=False)) is not None:
            return frame
    lines = []
    for number, line in enumerate(io.BytesIO(data), start=1):
        cells = line.split()
        if len(cells) not in (0, len(fields)):
            wrong = f"{len(cells)} fields; write {' '.join(fields)}"
            raise ReadError(f"{source.name}, line {number}: {wrong}")
        if cells:
            lines.append(b"\t".join(cells))
    text: dict[int, Holds | None] = {i: what and "many" for i, what in holds.items()}
    frame = arrow_frame(b"\n".join(lines), "\t", text, quoted=False)
    assert frame is not None  # each line has all fields, and none of them is blank
    return frame


def rank_relevant(run: Trec, qrels: Trec) -> Ranks:
    """Return the rank of every relevant item in a run (ordered as by trec_eval) or in a list.

    Rows are sorted by system, query and document; the rank is 0 if the run lacks the item. The
    column ``depth`` is the number of documents that the system ranks for the query, and ``lacks``
    is the number of relevant documents of the query that the system does not rank.
    """
    good = qrels.frame[qrels.frame["relevance"] >= 1].sort_values(["user", "item"])
    if not len(good):
        raise ReadError(f"{qrels.name} judges no document relevant (1 or more); check its grades")
    # Only queries with relevant documents are instances.
    query = good["user"].cat.remove_unused_categories()
    queries, systems = query.cat.categories, run.frame["system"].cat.categories
    ordered = _ordered(run.frame, tied=run.listed)
    theirs = _codes_in(queries, ordered["user"])
    inside = theirs >= 0
    if not inside.any():
        labels = f"{str(run.frame['user'][0])!r} here, {str(queries[0])!r} there"
        both = f"{run.name} and {qrels.name} share no query with a relevant document"
        raise ReadError(f"{both}; do they belong together? {labels}")
    limits.RANKS.check(len(systems) * len(good), f"{run.name} with {qrels.name}")
    documents = _codes_in(good["item"].cat.categories, ordered["item"])
    ranked = ordered[["place", "ties", "depth"]].assign(
        tag=ordered["system"].cat.codes, query=theirs, document=documents
    )[inside]
    wanted = pd.DataFrame({"query": query.cat.codes, "document": good["item"].cat.codes})
    wanted = wanted.astype(np.int64)
    items = pd.DataFrame({"tag": range(len(systems))}).merge(wanted, how="cross")
    item, of_list = ["tag", "query", "document"], ["tag", "query"]
    size = len(good["item"].cat.categories)
    pairs, judged = (rows["query"] * size + rows["document"] for rows in (ranked, wanted))
    # To save time, merge only the few documents of the run that are relevant.
    hits = ranked.loc[pairs.isin(judged), [*item, "place", "ties"]]
    items = items.merge(hits, how="left", on=item)
    lists = ranked.loc[ranked["place"] == 1, [*of_list, "depth"]].drop_duplicates()
    items = items.merge(lists, how="left", on=of_list).fillna(0).astype(np.int64)
    absent = items.loc[items["depth"] == 0, "query"].nunique()
    frame = {
        "system": parsing.categories(items["tag"].to_numpy(), systems.astype(str)),
        "instance": pd.Categorical.from_codes(items["query"], queries),
        "rank": items["place"],
        "ties": items["ties"],
        "depth": items["depth"],
        "lacks": items["place"].eq(0).groupby([items["tag"], items["query"]]).transform("sum"),
    }
    facts = _facts(run, qrels, absent, queries)
    return Ranks(Layout(run.name), pd.DataFrame(frame), facts, shifts=False)


def _codes_in(index: pd.Index[Any], labels: pd.Series[Any]) -> Ints:
    """Return the position of each label in ``index``, or -1 if absent; compare labels as text."""
    known = index.astype(str).get_indexer(labels.cat.categories.astype(str))
    return known.astype(np.int64)[labels.cat.codes]


def _ordered(run: pd.DataFrame, *, tied: bool) -> pd.DataFrame:
    """Add the columns ``place`` (rank), ``ties`` and ``depth`` (length of the list) to a run.

    If ``tied``, documents of equal score share the best of their ranks, and ``ties`` is the number
    of other documents with this score. Otherwise, document ids break ties, as in trec_eval.
    """
    if not tied:  # sort by decreasing id: rank("first") ranks equal scores in the order of the rows
        names = pa.array(run["item"].cat.categories.astype(str))
        by_name = np.argsort(compute.array_sort_indices(names))
        run = run.iloc[np.argsort(-by_name[run["item"].cat.codes], kind="stable")]
    scores = run.groupby(["system", "user"], observed=True, sort=False)["score"]
    place = scores.rank("min" if tied else "first", ascending=False)
    ties = scores.rank("max", ascending=False) - place if tied else 0.0
    return run.assign(place=place, ties=ties, depth=scores.transform("size"))


def _facts(run: Trec, qrels: Trec, absent: int, queries: pd.Index[Any]) -> Facts:
    theirs = run.frame["user"].cat.categories.astype(str)
    others = int((queries.astype(str).get_indexer(theirs) < 0).sum())
    sizes = {
        f"{_queries(others)} of {run.name} without a relevant document, ignored.": others,
        f"{_queries(absent)} of {qrels.name} that some system of {run.name} does not rank: all "
        "relevant items are missing there.": absent,
    }
    notes = [note for note, size in sizes.items() if size]
    return replace(run.facts, notes=(_TIED if run.listed else _RULE, *notes))


def _queries(size: int) -> str:
    return counted(size, "query", "queries")


def missing(runs: list[Ranks]) -> CensoredItems | None:
    """Return the error for runs that lack relevant items; None if no run lacks a relevant item."""
    censored = sum(int((run.frame["rank"] == 0).sum()) for run in runs)
    if not censored:
        return None
    relevant, lacking = sum(len(run.frame) for run in runs), _lacking(runs)
    names = " and ".join(run.name for run in runs)
    ways = {
        "Known to be beyond the end": {"censored": "beyond"},
        "Tied behind the ranked items": {"censored": "tied"},
    }
    if not lacking.all():
        ways["Leave those queries out"] = {"censored": "left-out"}
    return CensoredItems(
        f"{names}: {censored:,} of {relevant:,} relevant items, in {lacking.sum():,} of "
        f"{len(lacking):,} queries, are missing, so their rank is only known to lie beyond the end "
        "of the run; rank all candidates, take no more than that",
        checks.Remedy("censored", "beyond"),
        ", read them as tied behind the ranked ones",
        checks.Remedy("censored", "tied"),
        " or leave those queries out",
        checks.Remedy("censored", "left-out"),
        censored=censored,
        ways=ways,
    )


def _lacking(runs: list[Ranks]) -> NDArray[np.bool_]:
    """Return, for each query, whether some run lacks a relevant item."""
    missed = ((run.frame["rank"] == 0).groupby(run.frame["instance"]) for run in runs)
    return np.asarray(np.any([x.any() for x in missed], axis=0))


def ranks_of_runs(runs: list[Ranks], *, n: int | None, censored: Censored) -> list[Ranks]:
    """Return the runs after treating the relevant items that a run lacks, as ``censored`` says.

    ``"refuse"``: raise an error. ``"beyond"``: mark their ranks as unknown. ``"tied"``: tie all
    items that the run lacks. ``"left-out"``: leave the queries of these items out.
    """
    if censored == "refuse" and (complaint := missing(runs)) is not None:
        raise complaint
    left_out = _lacking(runs) & (censored == "left-out")
    if left_out.all():
        raise ReadError(f"{runs[0].name} lacks a relevant item in every query; rank all candidates")
    frames = [run.frame[~left_out[run.frame["instance"].cat.codes]] for run in runs]
    low = max(int((items["depth"] + items["lacks"]).max()) for items in frames)
    if n is None:
        names = " and ".join(run.name for run in runs)
        missed = f"n, the number of candidates, is missing: give n (at least {max(low, 2):,})"
        raise limits.MissingCandidates(f"{names}: {missed}")
    n = checks.integer("n", n, low=2, high=checks.LARGEST_N)
    left = int(left_out.sum())
    note = f"{_queries(left)} left out, in which some run misses a relevant item."
    result = []
    for run, items in zip(runs, frames, strict=True):
        frame = _placed(run.name, items.reset_index(drop=True), n, censored == "beyond")
        result.append(replace(run, frame=frame).noted(*[note] * (left > 0)))
    return result


def _placed(name: str, items: pd.DataFrame, n: int, beyond: bool) -> pd.DataFrame:
    """Return ranks of all relevant ``items``; those that the run lacks come after its last item.

    If ``beyond``, the ranks of these items are marked as unknown.
    """
    rank, tied, depth, lacks = (items[x].to_numpy() for x in ("rank", "ties", "depth", "lacks"))
    if (i := checks.first(depth + lacks > n)) is not None:
        row = items.iloc[i]
        raise ReadError(
            f"{name}, query {str(row['instance'])!r}: {row['system']!r} ranks {depth[i]:,} "
            f"documents and misses {lacks[i]:,} relevant ones, more than n = {n}; give a larger n"
        )
    missed = rank == 0
    ranks = np.where(missed, depth + 1, rank)
    ties = np.where(missed, 0 if beyond else n - depth - 1, tied)
    lists = items.groupby(["system", "instance"], sort=False, observed=True).ngroup().to_numpy()
    drawn = ~missed | (not beyond)
    codes = lists.astype(np.int64)[drawn]
    ranks[drawn], ties[drawn] = draw_shared_ties(codes, ranks[drawn], ties[drawn])
    frame = items[["system", "instance"]].assign(rank=ranks, n_candidates=n)
    if ties.any():
        frame["ties"] = ties
    if beyond:
        frame["beyond"] = missed
    return frame


# ------------------------------------------- lists of recommendations, as frameworks save them

# Roles of columns that occur only in tables of ranks, not in lists of recommendations.
_OF_RANKS = {"n_candidates", "ties", "mass_above", "count", "negatives"}

#: What a file holds: test items, lists of recommendations, or "list or ranks" if its header fits
#: both. A file "list or ranks" is read as lists if test items are given too, otherwise as ranks.
ListKind = Literal["items", "list", "list or ranks"]


def list_kind(data: bytes, kind: FileKind) -> ListKind | None:
    """Return whether a file holds lists of recommendations or test items, judged by its header.

    Return None if it holds neither.
    """
    headers = tables.headers_of(data, kind)
    roles, names = [parsing.role_of(header.strip()) for header in headers], list(map(bare, headers))
    if "instance" not in roles or not set(names) & set(ITEMS.split()) or _OF_RANKS & set(roles):
        return None
    if "rank" in roles:
        return "list or ranks"
    scored = next((name for name in _COLUMNS["score"].names if name in names), None)
    # A file with ratings and times holds test items of a data set. A file with ratings but no times
    # holds lists of recommendations: RePlay and WarpRec write scores in a column "rating".
    if scored is None or (scored == "rating" and set(names) & set(TIMES.split())):
        return "items"
    return "list"


def read_list(data: bytes, name: str, kind: FileKind, content: Literal["items", "list"]) -> Trec:
    """Parse a list of recommendations or test items; refuse invalid cells and repeated items."""
    wanted = ["user", "item"]
    if content == "list":
        scored = {*_COLUMNS["score"].names} & {*map(bare, tables.headers_of(data, kind))}
        # If the list has scores, its ranks are ignored, because items are ordered by score.
        wanted += ["system", "score" if scored else "rank"]
    roles = {role: _COLUMNS[role] for role in wanted}
    source, cells = tables.read_table(data, name, kind, partial(by_names, roles=roles))
    # Leave out rows with the score -inf, which marks items that are no candidates.
    if (i := source.find("score")) is not None:
        written = cells[i]
        text = not pd.api.types.is_numeric_dtype(written.dtype)
        masked = written.astype(str).str.strip().eq("-inf") if text else written.eq(-np.inf)
        cells = cells[~masked.to_numpy(dtype=bool)]
        if not len(cells):
            raise ReadError(f"{name} scores nothing: every score is -inf")
    called = "a list of recommendations" if content == "list" else "test items"
    stored: TrecKind = "run" if content == "list" else "qrels"
    return _parsed(replace(source, kind=called), cells, stored, listed=True)
