"""Lists of recommendations as frameworks save them (user, item, score), and the test items.

They become a run and its judgements: what a TREC run says, with other names.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from pyarrow import parquet

from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import (
    Holds,
    Source,
    bare,
    categories,
    first,
    labels,
    numbers,
    records,
    role_of,
)
from sampledash.readers.contents import Kind, check_utf8, stem_of
from sampledash.readers.errors import ReadError
from sampledash.readers.frame import Facts
from sampledash.readers.tables import check_width, delimiter_of, parquet_table, rows_of_text
from sampledash.readers.trec import Trec

#: What a column of items is called; compared as :func:`~sampledash.readers.columns.bare`.
ITEMS = (
    "item itemid iid movieid movie productid product parentasin asin trackid track songid song "
    "artistid artist bookid book isbn businessid newsid articleid docid sku"
)
TIMES = "timestamp time ts unixtimestamp unixreviewtime datetime date"
_SCORES = ["score", "rating", "prediction", "relevance"]
_OF_RANKS = {"n_candidates", "ties", "mass_above", "count", "negatives"}  # no list has these

#: Test items; a list; or what may also be a file of ranks, and is a list where test items are.
ListKind = Literal["items", "list", "list or ranks"]


def list_kind(data: bytes, kind: Kind) -> ListKind | None:
    """Whether a file is a list or test items, by its header."""
    if kind == "array":
        return None
    if kind == "parquet":
        try:
            headers = parquet.read_schema(io.BytesIO(data)).names
        except Exception:  # pyarrow raises many kinds; the reader of tables tells what is wrong
            return None
    else:
        try:
            headers = next(records(data, delimiter_of(data)), (1, []))[1]
        except UnicodeDecodeError:
            return None
    roles, names = [role_of(header.strip()) for header in headers], list(map(bare, headers))
    if "instance" not in roles or not set(names) & set(ITEMS.split()) or _OF_RANKS & set(roles):
        return None
    if "rank" in roles:
        return "list or ranks"
    scored = next((name for name in _SCORES if name in names), None)
    # Test items of a data set have their rating and time; lists of RePlay and WarpRec a rating.
    if scored is None or (scored == "rating" and set(names) & set(TIMES.split())):
        return "items"
    return "list"


def read_list(data: bytes, name: str, kind: Kind, own: Literal["items", "list"]) -> Trec:
    """Parse a list or test items; a cell that lacks or is none, and what repeats, are refused."""
    source_of = partial(_source_of, own=own)
    if kind == "parquet":
        source, cells = parquet_table(data, name, source_of, ("system", "user", "item"))
    else:
        check_utf8(data, name)
        limits.check_lines(data, name)
        delimiter = delimiter_of(data)
        rest = records(data, delimiter)
        line, headers = next(rest)
        source = source_of(name, "", headers, data=data, delimiter=delimiter)
        if (second := next(rest, None)) is None:
            raise ReadError(f"{name} has a header line but no rows: add at least one")
        check_width(source, second)
        cells = rows_of_text(source, _HOLDS, ("system", "user", "item"), second, rest, skip=line)
    if (i := source.find("score")) is not None:  # how frameworks mark what is no candidate
        written = cells[i]
        text = not pd.api.types.is_numeric_dtype(written.dtype)
        masked = written.astype(str).str.strip().eq("-inf") if text else written.eq(-np.inf)
        cells = cells[~masked.to_numpy(dtype=bool)]
        if not len(cells):
            raise ReadError(f"{name} scores nothing: every score is -inf")
    found = {}
    for role, (field, read, what) in _READ.items():
        if (i := source.find(role)) is not None:
            found[field] = read(cells[i], partial(source.place, column=i), what)
    size = len(cells)
    if own == "items":
        found["relevance"] = np.ones(size, np.int64)
    else:
        if "score" not in found:
            found["score"] = -found["rank"].astype(np.float64)
        found.setdefault("tag", categories(np.zeros(size, np.int8), [stem_of(name)]))
        limits.SYSTEMS.check(len(found["tag"].categories), name)
    frame = pd.DataFrame(found, index=range(size), copy=False)
    keys = [field for field in ("tag", "query", "document") if field in frame]
    if (i := first(frame.duplicated(keys))) is not None:
        where = source.place(int(cells.index[i]), source.find("item"))
        raise ReadError(
            f"{where}: item {str(frame['document'][i])!r} stands twice for user "
            f"{str(frame['query'][i])!r}; remove one row"
        )
    pairs = list(zip(source.headers, source.roles, strict=True))
    facts = Facts(
        name,
        "a list of recommendations" if own == "list" else "test items",
        tuple((header, role) for header, role in pairs if role is not None),
        tuple(header for header, role in pairs if role is None and header),
    )
    return Trec(name, "run" if own == "list" else "qrels", frame, facts)


_HOLDS: dict[str, Holds] = {
    "system": "few", "user": "many", "item": "many", "score": "real", "rank": "whole"
}  # fmt: skip
_READ: dict[str, tuple[str, Callable[..., Any], str]] = {
    "system": ("tag", labels, "the name of the system"),
    "user": ("query", labels, "the label of the user"),
    "item": ("document", labels, "the label of the item"),
    "rank": ("rank", numbers, "a whole number from 1"),
    "score": ("score", numbers, "a number"),
}


def _source_of(
    name: str, kind: str, headers: Sequence[str], *, own: Literal["items", "list"], **text: Any
) -> Source:
    """Roles of the columns, each once: the first that is called so."""
    headers, roles = [header.strip() for header in headers], []
    score = next((x for x in _SCORES if x in map(bare, headers)), None)
    for header in headers:
        role = {"instance": "user", "system": "system", "rank": "rank"}.get(role_of(header) or "")
        if bare(header) in ITEMS.split():
            role = "item"
        elif bare(header) == score:
            role = "score"
        wanted = ("user", "item") if own == "items" else ("system", "user", "item", "score", "rank")
        roles.append(role if role in wanted and role not in roles else None)
    if "score" in roles and "rank" in roles:  # the score decides
        roles[roles.index("rank")] = None
    return Source(name, kind, tuple(headers), tuple(roles), **text)
