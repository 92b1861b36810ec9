"""From a run and its qrels to true ranks, and what to do about items a truncated run misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.readers.errors import CensoredItems, MissingCandidates, ReadError
from sampledash.readers.limits import check_ranks
from sampledash.readers.rows import Facts, Rows, several
from sampledash.readers.trec import Qrels, Run
from sampledash.types import Ints

Censored = Literal["refuse", "tied", "left-out"]

_SEED = 0  # of the draw that places several missing items of one query: always the same
_RULE = (
    "A document's rank is its place by score, compared in single precision, equal scores by "
    "document id, both descending, as trec_eval and pytrec_eval order them; the rank column is "
    "ignored, and grade 1 or more is relevant."
)


@dataclass(frozen=True, eq=False)
class Judged:
    """Where the relevant items of the qrels stand in a run: arrays (systems, items).

    Attributes
    ----------
    run
        The run.
    items
        Query code of each relevant item, ascending.
    queries
        Labels of the queries.
    rank
        Place of each item; 0 where the run misses it.
    entry
        Entry of the run it was found in; -1 where it is missing.
    depth
        Documents ranked for each query, shape (systems, queries).
    facts
        What was understood.
    """

    run: Run
    items: Ints
    queries: NDArray[Any]
    rank: Ints
    entry: Ints
    depth: Ints
    facts: Facts


def judged(run: Run, qrels: Qrels) -> Judged:
    """Look every relevant item of the qrels up in the run, in the order trec_eval gives it.

    Raises a ReadError if nothing is judged relevant, or no query of the run is judged.
    """
    good = qrels.grade >= 1
    if not good.any():
        raise ReadError(f"{qrels.name} judges no document relevant (1 or more); check its grades")
    # Only queries with relevant items are instances.
    used, query = np.unique(qrels.query[good], return_inverse=True)
    queries, document = qrels.queries[used], qrels.document[good]
    order = np.lexsort((document, query))
    query, document = query[order], document[order]
    key = query * len(qrels.documents) + document
    theirs = _matched(run.queries, queries)[run.query]
    if not (theirs >= 0).any():
        raise ReadError(
            f"{run.name} and {qrels.name} share no query with a relevant document: "
            f"{str(run.queries[0])!r} here, {str(queries[0])!r} there; do they belong together?"
        )
    found = _matched(run.documents, qrels.documents)[run.document]
    place, depth, ties, odd = _places(run)
    wanted = np.where((theirs >= 0) & (found >= 0), theirs * len(qrels.documents) + found, -1)
    at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    hits = np.flatnonzero(key[at] == wanted)
    systems = len(run.systems)
    check_ranks(systems * len(key), f"{run.name} with {qrels.name}")
    rank, entry = np.zeros((systems, len(key)), dtype=np.int64), np.full((systems, len(key)), -1)
    rank[run.system[hits], at[hits]] = place[hits]
    entry[run.system[hits], at[hits]] = hits
    deep = np.zeros((systems, len(queries)), dtype=np.int64)
    inside = theirs >= 0
    deep[run.system[inside], theirs[inside]] = depth[inside]
    facts = Facts(run.name, "a TREC run", tuple(zip(_USED, _MEANS, strict=True)), ("Q0", "rank"))
    facts = facts.noted(_RULE, *_notes(run, qrels, deep, queries, ties))
    if odd:
        facts = facts.doubted(
            f"The rank column of {run.name} contradicts the scores in {several(odd, 'ranking')}: "
            "the scores count, as in trec_eval."
        )
    return Judged(run, query, queries, rank, entry, deep, facts)


_USED = ("query", "document", "score", "tag")
_MEANS = ("instance", "relevant by the qrels or not", "rank, by decreasing score", "system")


def _matched(ours: NDArray[Any], theirs: NDArray[Any]) -> Ints:
    """Index in ``theirs`` of each label of ours, -1 where there is none; compared as text."""
    index = pd.Index([str(x) for x in theirs.tolist()], dtype=object)
    return index.get_indexer(pd.Index([str(x) for x in ours.tolist()], dtype=object)).astype(
        np.int64
    )


def _places(run: Run) -> tuple[Ints, Ints, int, int]:
    """Rank and depth of each entry's list, entries tied in score, lists ranked otherwise."""
    lists = run.system * len(run.queries) + run.query
    score = run.score.astype(np.float32)  # as trec_eval stores it
    order = np.lexsort((-score, lists))
    same = (lists[order][1:] == lists[order][:-1]) & (score[order][1:] == score[order][:-1])
    tied = np.flatnonzero(np.r_[same, False] | np.r_[False, same])
    if len(tied):
        # Only documents in a tie need the order of their names.
        code, inverse = np.unique(run.document[order[tied]], return_inverse=True)
        names = np.argsort(np.argsort(run.documents[code].astype(str)))[inverse]
        among = np.lexsort((-names, -score[order[tied]], lists[order[tied]]))
        order[tied] = order[tied][among]
    sizes = np.bincount(lists)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - starts[lists[order]] + 1
    by_place = run.rank[order]
    falls = (lists[order][1:] == lists[order][:-1]) & (by_place[1:] <= by_place[:-1])
    # Among equal scores the rank column may say anything.
    odd = np.unique(lists[order][1:][falls & ~same])
    return place, sizes[lists], len(tied), len(odd)


def _notes(run: Run, qrels: Qrels, depth: Ints, queries: NDArray[Any], ties: int) -> list[str]:
    notes = []
    if ties:
        notes.append(f"{several(ties, 'document')} tied in score with another of the same query.")
    only = len(run.queries) - int((_matched(run.queries, queries) >= 0).sum())
    if only:
        queries_of = several(only, "query", "queries")
        notes.append(f"{queries_of} of {run.name} without a relevant document, ignored.")
    absent = int((depth == 0).any(axis=0).sum())
    if absent:
        queries_of = several(absent, "query", "queries")
        notes.append(
            f"{queries_of} of {qrels.name} that some system of {run.name} does not rank: "
            "all relevant items are missing there."
        )
    bare = len(qrels.queries) - len(queries)
    if bare:
        queries_of = several(bare, "query", "queries")
        notes.append(f"{queries_of} of {qrels.name} without a relevant document.")
    return notes


def missing(found: list[Judged]) -> CensoredItems | None:
    """The complaint about relevant items that some run misses, None if all are there."""
    censored = sum(int((each.rank == 0).sum()) for each in found)
    if not censored:
        return None
    relevant = sum(each.rank.size for each in found)
    queries = len(found[0].queries)
    lacking = np.zeros(queries, dtype=bool)
    for each in found:
        lacking[each.items[(each.rank == 0).any(axis=0)]] = True
    names = " and ".join(each.run.name for each in found)
    return CensoredItems(
        f"{names}: {censored:,} of {relevant:,} relevant items, in {lacking.sum():,} of "
        f"{queries:,} queries, are missing, so their rank is only known to lie beyond the end of "
        "the run; rank all candidates, read them as tied behind the ranked ones (in Python: "
        'censored="tied") or leave those queries out (in Python: censored="left-out")',
        censored, relevant, int(lacking.sum()), queries,
    )  # fmt: skip


def rows_of_runs(found: list[Judged], *, n: int | None, censored: Censored) -> list[Rows]:
    """True ranks of all runs; missing items are treated the same way in all of them.

    Raises
    ------
    CensoredItems
        If items are missing and ``censored`` is ``"refuse"``.
    MissingCandidates
        If n is not given: no run says it.
    """
    checks.choice("censored", censored, ("refuse", "tied", "left-out"))
    complaint = missing(found)
    if complaint is not None and censored == "refuse":
        raise complaint
    keep = np.ones(len(found[0].items), dtype=bool)
    if complaint is not None and censored == "left-out":
        lacking = np.zeros(len(found[0].queries), dtype=bool)
        for each in found:
            lacking[each.items[(each.rank == 0).any(axis=0)]] = True
        keep = ~lacking[found[0].items]
        if not keep.any():
            raise ReadError(
                f"{found[0].run.name} misses a relevant item in every query: "
                "nothing is left when those are left out; rank all candidates"
            )
    low = max(int(_least(each)[:, np.unique(each.items[keep])].max()) for each in found)
    if n is None:
        said = " and ".join(each.run.name for each in found) + " do" + "es" * (len(found) == 1)
        raise MissingCandidates(
            f"{said} not say n, the number of candidates that were ranked: give n "
            f"(at least {max(low, 2):,}, what the longest list needs)",
            low,
        )
    size = checks.integer("n", n, low=2, high=checks.LARGEST_N)
    return [_rows(each, size, keep, complaint) for each in found]


def _least(each: Judged) -> Ints:
    """Candidates that a list holds for certain: those ranked and the relevant ones it misses."""
    lacking = np.zeros_like(each.depth)
    system, item = np.nonzero(each.rank == 0)
    np.add.at(lacking, (system, each.items[item]), 1)
    return each.depth + lacking


def _rows(each: Judged, n: int, keep: NDArray[np.bool_], complaint: CensoredItems | None) -> Rows:
    run = each.run
    least = _least(each)
    kept_queries = np.unique(each.items[keep])
    short = np.argwhere(least[:, kept_queries] > n)
    if len(short):
        system, query = int(short[0][0]), int(kept_queries[short[0][1]])
        raise ReadError(
            f"{run.name}, query {str(each.queries[query])!r}: {run.systems[system]!r} ranks "
            f"{each.depth[system, query]:,} documents and misses "
            f"{least[system, query] - each.depth[system, query]:,} relevant ones, more than "
            f"n = {n}; give a larger n"
        )
    rank, ties = each.rank[:, keep].copy(), np.zeros_like(each.rank[:, keep])
    items, drawn = each.items[keep], 0
    rng = np.random.default_rng(_SEED)
    for system in range(len(rank)):
        absent = np.flatnonzero(rank[system] == 0)
        for query, first, many in zip(
            *np.unique(items[absent], return_index=True, return_counts=True), strict=True
        ):
            depth = int(each.depth[system, query])
            here = absent[first : first + many]
            if many == 1:
                rank[system, here] = depth + 1
                ties[system, here] = n - depth - 1
            else:
                rank[system, here] = depth + 1 + rng.choice(n - depth, many, replace=False)
                drawn += int(many)
    entry = each.entry[:, keep].ravel()
    width = int(keep.sum())

    def place(row: int, role: object) -> str:
        label = str(each.queries[items[row % width]])
        if entry[row] < 0:
            return f"{run.name}, query {label!r}, a relevant document that is missing"
        return f"{run.place(int(entry[row]), 'document')}, query {label!r}"

    facts = each.facts
    if complaint is not None:
        facts = facts.noted(*_treatment(each, keep, drawn))
    return Rows(
        name=run.name,
        systems=run.systems,
        system=np.repeat(np.arange(len(run.systems)), width),
        labels=each.queries,
        label=np.tile(items, len(run.systems)),
        rank=rank.ravel(),
        n=np.full(rank.size, n),
        ties=ties.ravel() if ties.any() else None,
        mass=None,
        count=None,
        repetition=None,
        place=place,
        facts=facts,
        shifts=False,
    )


def _treatment(each: Judged, keep: NDArray[np.bool_], drawn: int) -> list[str]:
    if not keep.all():
        left = several(len(np.unique(each.items[~keep])), "query", "queries")
        return [f"{left} left out, in which some run misses a relevant item."]
    notes = [
        "A missing item is read as tied with all documents that are not ranked: in random order "
        "behind those that are, redrawn in every run."
    ]
    if drawn:
        notes.append(
            f"{drawn:,} missing items share their query with another one: their places behind the "
            "ranked documents were drawn once, always with the same seed."
        )
    return notes
