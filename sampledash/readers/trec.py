"""Files of TREC style: runs (``qid Q0 docid rank score tag``) and qrels (``qid 0 docid rel``)."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.checks import is_numeral, shown
from sampledash.readers import limits
from sampledash.readers.cells import labels, numbers, whole
from sampledash.readers.columns import role_of
from sampledash.readers.contents import check_utf8
from sampledash.readers.errors import ReadError
from sampledash.readers.fast import SMALL, arrow_table
from sampledash.readers.limits import check_lines, check_rows, check_systems, lines_of
from sampledash.types import Floats, Ints

Kind = Literal["run", "qrels"]
FIELDS: dict[Kind, tuple[str, ...]] = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iteration", "document", "relevance"),
}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_LOOKED_AT = 5


@dataclass(frozen=True, eq=False)
class Run:
    """Documents that systems ranked for queries, one entry each, as in the file.

    Attributes
    ----------
    name
        How messages call the file.
    systems, system
        Tags, and the code of each entry's.
    queries, query, documents, document
        Labels, and the code of each entry's.
    rank
        The rank column, which only serves to notice that it contradicts the scores.
    score
        Scores, finite.
    place
        Entry and field -> its place in the file.
    """

    name: str
    systems: list[str]
    system: Ints
    queries: NDArray[Any]
    query: Ints
    documents: NDArray[Any]
    document: Ints
    rank: Ints
    score: Floats
    place: Callable[[int, str], str]

    def __len__(self) -> int:
        return len(self.rank)


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judgements, one entry each: codes of query and document, and the grade."""

    name: str
    queries: NDArray[Any]
    query: Ints
    documents: NDArray[Any]
    document: Ints
    grade: Ints

    def __len__(self) -> int:
        return len(self.grade)


def trec_kind(data: bytes, name: str) -> Kind | None:
    """Whether text is a run or qrels: by the number of fields and of what most first lines hold.

    Raises
    ------
    ReadError
        If there are too many lines, or one is too long to be looked at.
    """
    check_lines(data, name)
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="replace")
    full = (line.split() for line in stream if not line.isspace())
    lines = list(itertools.islice(full, _LOOKED_AT))
    runs = sum(len(f) == 6 and bool(_INTEGER.fullmatch(f[3])) and is_numeral(f[4]) for f in lines)
    qrels = sum(
        len(f) == 4
        and bool(_INTEGER.fullmatch(f[3]))
        and (f[1] == "Q0" or bool(_INTEGER.fullmatch(f[1])))
        for f in lines
    )
    if 2 * max(runs, qrels) <= len(lines):
        return None
    kind: Kind = "run" if runs > qrels else "qrels"
    # The first line of a table is a header: it has no numbers where these have theirs.
    first = lines[0]
    numeric = [first[i] for i in ((3, 4) if kind == "run" else (1, 3)) if i < len(first)]
    if any(map(role_of, first)) and not all(map(is_numeral, numeric)):
        return None
    fits = len(first) == len(FIELDS[kind]) and any(map(is_numeral, numeric))
    if not fits:
        return None
    check_rows(lines_of(data), name, "lines", limits.MOST_CAREFUL)
    return kind


def read_run(data: bytes, name: str) -> Run:
    """Parse a run.

    Raises
    ------
    ReadError
        Naming the line, if a field lacks or is no number, or a document is ranked twice.
    """
    cells = _cells(data, name, "run")
    where = _places(data, name)
    system, tags = labels(cells["tag"], lambda i: where(i, "tag"), "the tag of the system")
    check_systems(len(tags), name)
    query, queries = labels(cells["query"], lambda i: where(i, "query"), "the query")
    document, documents = _documents(cells["document"], where)
    rank = whole(cells["rank"], lambda i: where(i, "rank"), "a whole number")
    score = numbers(cells["score"], lambda i: where(i, "score"), "a number").astype(np.float64)
    infinite = np.isinf(score)
    if infinite.any():
        i = int(np.argmax(infinite))
        raise ReadError(f"{where(i, 'score')}: {shown(score[i])} is not finite; write a number")
    large = np.abs(score) > np.finfo(np.float32).max
    if large.any():
        i = int(np.argmax(large))
        raise ReadError(
            f"{where(i, 'score')}: {shown(score[i])} is beyond single precision, in which "
            "trec_eval compares scores; scale the scores of the run"
        )
    key = (system * len(queries) + query) * len(documents) + document
    twice = _repeated(key)
    if twice is not None:
        raise ReadError(
            f"{where(twice, 'document')}: document {str(documents[document[twice]])!r} is ranked "
            f"twice for query {str(queries[query[twice]])!r}; remove one line"
        )
    return Run(
        name, [str(tag) for tag in tags], system, queries, query, documents, document, rank,
        score, where,
    )  # fmt: skip


def read_qrels(data: bytes, name: str) -> Qrels:
    """Parse qrels.

    Raises
    ------
    ReadError
        Naming the line, if a field lacks or is no number, or a document is judged twice.
    """
    cells = _cells(data, name, "qrels")
    where = _places(data, name)
    query, queries = labels(cells["query"], lambda i: where(i, "query"), "the query")
    document, documents = _documents(cells["document"], where)
    grade = whole(cells["relevance"], lambda i: where(i, "relevance"), "a whole number")
    twice = _repeated(query * len(documents) + document)
    if twice is not None:
        raise ReadError(
            f"{where(twice, 'document')}: document {str(documents[document[twice]])!r} is judged "
            f"twice for query {str(queries[query[twice]])!r}; remove one line"
        )
    return Qrels(name, queries, query, documents, document, grade)


def _documents(cells: pd.Series[Any], where: Callable[[int, str], str]) -> tuple[Ints, Any]:
    """Documents are text, also those written as numbers: trec_eval orders them as text."""
    code, found = labels(cells, lambda i: where(i, "document"), "the document")
    return code, np.array([str(x) for x in found.tolist()], dtype=object)


def _repeated(key: Ints) -> int | None:
    """Entry that has a key for the second time, the first such in the file."""
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    return int(order[again + 1].min()) if len(again) else None


def _cells(data: bytes, name: str, kind: Kind) -> dict[str, pd.Series[Any]]:
    """Fields of all lines by name; separated by any spaces or tabs, nothing is quoted."""
    check_utf8(data, name)
    fields = FIELDS[kind]
    numeric = {"rank": "whole", "relevance": "whole", "score": "real"}
    first = next(line for line in io.BytesIO(data) if line.strip())
    if len(data) >= SMALL:
        for delimiter in " \t":
            if first.count(delimiter.encode()) != len(fields) - 1:
                continue
            table = arrow_table(
                data,
                delimiter,
                list(fields),
                whole=[f for f in fields if numeric.get(f) == "whole"],
                real=[f for f in fields if numeric.get(f) == "real"],
                few=[f for f in ("query", "tag") if f in fields],
                many=["document"],
                where=lambda field: f"{name}, {field}",
                quoted=False,
            )
            if table is not None:
                return {field: pd.Series(column, copy=False) for field, column in table.items()}
    try:
        frame = pd.read_csv(
            io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig"), sep=r"\s+", header=None,
            names=list(range(len(fields))), dtype=str, keep_default_na=False, na_values=[""],
            quoting=csv.QUOTE_NONE, index_col=False,
        )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise _odd_line(data, name, kind) from error
    if frame.isna().to_numpy().any() or _too_wide(data, len(fields)):
        raise _odd_line(data, name, kind)
    return {field: frame[i] for i, field in enumerate(fields)}


def _too_wide(data: bytes, width: int) -> bool:
    return any(len(line.split()) not in (0, width) for line in io.BytesIO(data))


def _odd_line(data: bytes, name: str, kind: Kind) -> ReadError:
    fields = FIELDS[kind]
    for number, line in enumerate(io.BytesIO(data), start=1):
        found = len(line.split())
        if found not in (0, len(fields)):
            return ReadError(
                f"{name}, line {number}: {found} fields where a {kind} line has {len(fields)} "
                f"({' '.join(fields)}); correct the line"
            )
    return ReadError(f"{name} cannot be split into lines of {' '.join(fields)}; check its fields")


def _places(data: bytes, name: str) -> Callable[[int, str], str]:
    def place(entry: int, field: str) -> str:
        lines = (i for i, line in enumerate(io.BytesIO(data), start=1) if line.strip())
        number = next(itertools.islice(lines, entry, None), entry + 1)
        return f"{name}, line {number}, {field}"

    return place
