"""Checks of tables of scores, and sentences on instances and items that are left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from sampledash.checks import counted
from sampledash.readers.columns import ITEMS, bare, role_of
from sampledash.readers.upload_limits import ReadError


def roles_of(headers: Sequence[str], wanted: Sequence[str], name: str) -> dict[str, str]:
    """Map roles, such as "score", to headers of columns; refuse if a ``wanted`` role is missing."""
    columns: dict[str, str] = {}
    for header in headers:
        role = bare(header)
        if role not in ("score", "relevant"):
            role = "item" if role in ITEMS.split() else role_of(header) or ""
        if role in (*wanted, "system") and role in columns:
            both = f"{columns[role]!r} and {header!r}"
            raise ReadError(f"{name}: the columns {both} both mean {role}; keep one")
        columns.setdefault(role, header)
    if (lacks := next((role for role in wanted if role not in columns), None)) is not None:
        some = ", ".join(map(repr, headers[:8]))
        way = "give --relevant" if lacks == "relevant" else "rename the one that is it"
        raise ReadError(f"{name} has no column {lacks}: found {some}; add it, or {way}")
    return columns


_REFUSED = {
    "nan": "of the scores are NaN; give each item a number, nothing, or -inf if it is no candidate",
    "blank": "rows lack a system, an instance or an item; name it",
    "odd": "rows are marked relevant by neither 1 nor 0; write one of them",
}


def refuse_cells(name: str, sizes: Mapping[str, int]) -> None:
    """Raise an error if there are NaN scores, blank labels or invalid marks of relevant items.

    ``sizes`` maps each kind of fault (a key of _REFUSED) to the number of rows that have it. A mark
    is invalid if it is neither 1 nor 0, in any spelling that is accepted.
    """
    for kind, sentence in _REFUSED.items():
        if sizes.get(kind):
            raise ReadError(f"{name}: {sizes[kind]:,} {sentence}")


def refuse_twice(name: str, again: int, some: Sequence[Mapping[Any, Any]]) -> None:
    """Raise the error that ``again`` rows repeat an item; its message names the items ``some``."""
    items = (f"item {str(x['item'])!r} of instance {str(x['instance'])!r}" for x in some)
    rows = counted(again, "row repeats", "rows repeat")
    raise ReadError(f"{name}: {rows} an item, such as {'; '.join(items)}; keep one row for each")


def left_out(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return sentences on instances and items that are left out; refuse a system without any rank.

    A row holds the name of one ``system`` and five counts: all instances (``size``); instances in
    which no relevant item has a score (``bare``); instances in which every candidate is relevant
    (``full``); all relevant items (``asked``); and relevant items with a score (``items``).
    """
    if not rows:
        raise ReadError(f"{name} holds no candidates: write a row for each, with its score")
    sentences = []
    for row in rows:
        system, instances, without, full = (row[x] for x in ("system", "size", "bare", "full"))
        relevant, unscored = row["asked"], row["asked"] - row["items"]
        if full:
            every = f"every item that system {system!r} scores is relevant"
            advice = "add candidates, or leave these out"
            raise ReadError(f"{name}: in {counted(full, 'instance')} {every}: {advice}")
        if without == instances:
            none = f"system {system!r} scores no relevant item"
            advice = "give each a score; two tables must use the same labels"
            raise ReadError(f"{name}: {none}: {advice}")
        missing = {
            f"{without:,} of {instances:,} instances have no relevant item with a score": without,
            f"{unscored:,} of {relevant:,} relevant items have no score": unscored,
        }
        for what in filter(missing.get, missing):
            sentences.append(f"{system}: {what} and are left out.")
    return sentences
