"""Compute true ranks in memory from a table of scores (system, instance, item, score).

:mod:`sampledash.readers.warehouse`, which ranks in a database engine, uses the same messages and
the same rule for relevant items that are tied with each other.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampledash.checks import counted, shown
from sampledash.rank_sets import RankSet
from sampledash.readers.columns import ITEMS, bare, records, refuse_repeated, role_of
from sampledash.readers.tables import delimiter_of
from sampledash.readers.upload_limits import ReadError, check_utf8, kind_of, stem_of
from sampledash.types import Flags, Ints

KEYS = ["system", "instance", "item"]
YES, NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no", "")
_NAMED = 3  # most items that an error about repeated items names
_STEPS = 2**24  # number of possible values of :func:`digest_of`


class LeftOut(NamedTuple):
    """Numbers of instances and relevant items of a system, and how many cannot be ranked."""

    instances: int  # number of instances for which the system scores items
    bare: int  # number of instances without a relevant item that has a score
    full: int  # number of instances where every candidate is relevant
    relevant: int  # number of relevant items
    unscored: int  # number of relevant items without a score


def roles_of(headers: Sequence[str], wanted: Sequence[str], name: str) -> dict[str, str]:
    """Return the header of each role's column; refuse headers that lack a ``wanted`` role."""
    columns: dict[str, str] = {}
    for header in headers:
        role = bare(header)
        if role not in ("score", "relevant"):
            role = "item" if role in ITEMS.split() else role_of(header) or ""
        if role in (*wanted, "system") and role in columns:
            raise ReadError(
                f"{name}: the columns {columns[role]!r} and {header!r} both mean {role}; keep one"
            )
        columns.setdefault(role, header)
    if (lacks := next((role for role in wanted if role not in columns), None)) is not None:
        some = ", ".join(map(repr, headers[:8]))
        way = "give --relevant" if lacks == "relevant" else "rename the one that is it"
        raise ReadError(f"{name} has no column {lacks}: found {some}; add it, or {way}")
    return columns


def refuse_cells(name: str, nan: int, blank: int, odd: int) -> None:
    """Raise an error if there are NaN scores, blank labels or marks other than yes and no."""
    if nan:
        raise ReadError(
            f"{name}: {nan:,} of the scores are NaN; give each item a number, nothing to a "
            "candidate without one, or -inf to what is no candidate"
        )
    if blank:
        raise ReadError(f"{name}: {blank:,} rows lack a system, an instance or an item; name it")
    if odd:
        raise ReadError(f"{name}: relevant is neither 1 nor 0 in {odd:,} rows; write one of them")


def refuse_twice(name: str, again: int, some: Sequence[Mapping[Any, Any]]) -> None:
    """Raise an error that names ``some`` items if ``again`` rows repeat an item of an instance."""
    if again:
        items = (f"item {str(x['item'])!r} of instance {str(x['instance'])!r}" for x in some)
        raise ReadError(
            f"{name}: {counted(again, 'row repeats', 'rows repeat')} an item of an instance, such "
            f"as {'; '.join(items)}; keep one row for each"
        )


def left_out(name: str, facts: Mapping[str, LeftOut]) -> list[str]:
    """Return sentences on what is left out; refuse a system without anything to rank."""
    if not facts:
        raise ReadError(f"{name} holds no candidates: write a row for each, with its score")
    sentences = []
    for system, (instances, without, full, relevant, unscored) in facts.items():
        if full:
            raise ReadError(
                f"{name}: in {counted(full, 'instance')} every item that system {system!r} scores "
                "is relevant, so that there is nothing to rank among: add candidates, or leave "
                "these out"
            )
        if without == instances:
            raise ReadError(
                f"{name}: no item that system {system!r} scores is relevant: mark some by 1, or "
                "compare the labels of both tables"
            )
        if without:
            sentences.append(
                f"{system}: {without:,} of {instances:,} instances have no relevant item with a "
                "score and are left out."
            )
        if unscored:
            sentences.append(
                f"{system}: {unscored:,} of {relevant:,} relevant items have no score and are left "
                "out."
            )
    return sentences


def digest_of(instance: Any, rank: int) -> int:
    """Hash an instance and the rank that items share to 0..2^24 - 1, for use in :func:`placed`."""
    return int(hashlib.md5(f"{instance}|{rank}".encode()).hexdigest()[:6], 16)


def placed(digest: Any, index: Any, block: Any, relevant: Any) -> Any:
    """Return the place, counted from 0, of a relevant item among ``block`` tied items.

    The item is number ``index``, from 0, of ``relevant`` items. These are spread evenly, from a
    first place that the hash ``digest`` decides. Every place is equally likely, so that means are
    unbiased.
    """
    return (digest + index * _STEPS) * block // (relevant * _STEPS)


def pairs_table(data: bytes, name: str) -> pd.DataFrame:
    """Return the distinct pairs of instance and item in a file, such as the relevant pairs."""
    table = _table(data, name, None)
    keys = ["instance", "item"]
    roles = roles_of(list(map(str, table.columns)), keys, name)
    pairs: pd.DataFrame = table[[roles[key] for key in keys]].set_axis(keys, axis=1)
    return pairs.drop_duplicates()


def score_table(data: bytes, name: str, *, marked: bool) -> pd.DataFrame | None:
    """Return the columns of a table of scores, or None if the file is no table of scores.

    If ``marked``, a column ``relevant`` marks relevant items; otherwise, another table lists them.
    """
    wanted = ("score", "relevant") if marked else ("score",)
    if (table := _table(data, name, wanted)) is None:
        return None
    roles = roles_of(list(map(str, table.columns)), ("instance", "item", *wanted), name)
    columns = {role: table[roles[role]] for role in (*KEYS, *wanted) if role in roles}
    for role, column in columns.items():
        kind: Any = column.dtype
        text = role != "score" or pd.api.types.is_string_dtype(kind)
        if getattr(getattr(kind, "pyarrow_dtype", None), "num_fields", 0) or not (
            text or (pd.api.types.is_numeric_dtype(kind) and kind.kind != "b")
        ):
            wants = "numbers" if role == "score" else "text or numbers"
            raise ReadError(f"{name}: column {roles[role]!r} holds {kind}; write {wants}")
    if "system" not in columns:
        columns["system"] = pd.Series(stem_of(name), index=table.index)
    return pd.DataFrame(columns)


def _table(data: bytes, name: str, wanted: Sequence[str] | None) -> Any:
    """Return the parsed table; None for an array, or if no ``wanted`` column can be read."""
    kind = kind_of(data, name)
    if kind == "array":
        return None
    try:
        if kind == "columns":
            table = pd.read_parquet(io.BytesIO(data), dtype_backend="pyarrow")
        else:
            check_utf8(data, name)
            delimiter = delimiter_of(data)
            refuse_repeated(next(records(data, delimiter), (1, []))[1], name)
            options: dict[str, Any] = {"sep": delimiter, "dtype": str}
            table = pd.read_csv(io.BytesIO(data), keep_default_na=False, **options)
    except ReadError:
        raise
    except Exception:
        if wanted is not None:
            return None  # callers try the readers of ranks next, which report the error
        raise ReadError(
            f"{name} cannot be read: it is damaged or cut off; write it again"
        ) from None
    has = {bare(str(header)) for header in table.columns}
    return table if wanted is None or has & {*wanted} else None


def ranks_of_scores(
    table: pd.DataFrame,
    name: str,
    relevant: pd.DataFrame | None = None,
    seen: pd.DataFrame | None = None,
) -> tuple[list[RankSet], list[str]]:
    """Return true ranks of relevant items among scored items, and sentences on what is left out.

    Parameters
    ----------
    table
        Columns ``system``, ``instance``, ``item`` and ``score``, one row per candidate, relevant
        items included. A missing score is never better than another score; a row with score -inf is
        no candidate.
    name
        Name of the table in messages.
    relevant
        Columns ``instance`` and ``item`` of the relevant items. If None, ``table`` has a column
        ``relevant`` (1 or 0).
    seen
        Columns ``instance`` and ``item`` of items that are candidates only if they are relevant.

    Raises
    ------
    ReadError
        If scores are NaN, an item is scored twice, or nothing is relevant.
    """
    score, empty, wrong = _scores(table["score"])
    blank = np.any([table[key].isna() | (table[key].astype(str) == "") for key in KEYS], axis=0)
    odd = np.zeros(len(table), bool)
    if relevant is None:
        marks = table["relevant"].astype("string").fillna("").str.strip().str.lower()
        hit = marks.isin(YES).to_numpy(bool)
        odd = ~(hit | marks.isin(NO).to_numpy(bool))
    else:
        hit = _among(table, relevant)
    nan = np.isnan(score) & ~empty & ~wrong
    if wrong.any():
        raise ReadError(
            f"{name}: {counted(wrong.sum(), 'score is no number', 'scores are no numbers')}, such "
            f"as {shown(table['score'][wrong].iloc[0])}; write them with the digits 0 to 9"
        )
    refuse_cells(name, int(nan.sum()), int(blank.sum()), int(odd.sum()))
    twice = table.duplicated(KEYS).to_numpy()
    refuse_twice(name, int(twice.sum()), table[twice].head(_NAMED).to_dict("records"))
    if relevant is None:
        relevant = table.loc[hit, ["instance", "item"]].drop_duplicates()
        asked = table[hit].groupby("system").size().to_dict()
    else:
        asked = dict.fromkeys(table["system"].unique(), len(relevant))
    keep = score != -np.inf
    if seen is not None:
        keep &= hit | ~_among(table, seen)
    systems = table["system"].unique()
    table, score, empty, hit = table[keep], score[keep], empty[keep], (hit & ~empty)[keep]
    score[empty] = -np.inf  # thus a missing score is never better than another score
    sets, facts = [], {}
    indices, none = table.groupby("system", sort=False).indices, np.array([], np.intp)
    for system in systems:
        rows = indices.get(system, none)
        of_system = table.iloc[rows]
        user, users = pd.factorize(of_system["instance"])
        mine = hit[rows]
        size, wanted = (np.bincount(x, minlength=len(users)) for x in (user, user[mine]))
        bare, full = int(np.sum(wanted == 0)), int(np.sum(wanted == size))
        total = asked.get(system, 0)
        facts[str(system)] = LeftOut(len(users), bare, full, total, total - int(mine.sum()))
        if full or not mine.any():
            continue
        order = np.lexsort((score[rows], user))
        rank, ties, n = _counted(user[order], score[rows][order])
        place = np.flatnonzero(mine[order])
        label, item = (
            users.to_numpy()[user[order][place]],
            of_system["item"].to_numpy()[order][place],
        )
        rank, ties = _apart(label, item.astype(str), rank[place], ties[place])
        sets.append(RankSet(str(system), rank, n[place], instances=label, ties=ties))
    return sets, left_out(name, facts)


def _scores(column: pd.Series[Any]) -> tuple[Any, Flags, Flags]:
    """Return scores as numbers, flags of missing scores, and flags of text that is no number."""
    text = pd.api.types.is_string_dtype(column.dtype)
    empty = (column.str.strip() == "").to_numpy(bool) if text else column.isna().to_numpy(bool)
    wrong = np.zeros(len(empty), bool)
    if text:
        named = column.str.strip().str.lower().isin(["nan", "-nan"]).to_numpy(bool)
        column = pd.to_numeric(column, errors="coerce")
        wrong = column.isna().to_numpy(bool) & ~empty & ~named
    if column.dtype.kind != "f":
        # Use the order of whole numbers, because different ones beyond 2^53 may be equal as floats.
        column = column.rank(method="dense")
    return column.to_numpy(np.float64, na_value=np.nan).copy(), empty, wrong


def _among(table: pd.DataFrame, pairs: pd.DataFrame) -> Flags:
    """Return which rows of ``table`` have an instance and item in ``pairs``, compared as text."""
    both = [frame[["instance", "item"]].astype(str) for frame in (table, pairs)]
    return pd.MultiIndex.from_frame(both[0]).isin(pd.MultiIndex.from_frame(both[1]))


def _counted(user: Ints, score: Any) -> tuple[Ints, Ints, Ints]:
    """Return each row's best rank, number of tied others, and n; rows are sorted by user, score."""
    size = np.arange(len(user))
    fresh = np.r_[True, user[1:] != user[:-1]]
    other = fresh | np.r_[True, score[1:] != score[:-1]]
    begin = np.maximum.accumulate(np.where(other, size, 0))
    ends = np.append(np.flatnonzero(other)[1:], len(user))
    end = ends[np.cumsum(other) - 1]
    last = np.append(np.flatnonzero(fresh)[1:], len(user))[np.cumsum(fresh) - 1]
    start = np.maximum.accumulate(np.where(fresh, size, 0))
    return last - end + 1, end - begin - 1, last - start


def _apart(instance: Any, item: Any, rank: Ints, ties: Ints) -> tuple[Ints, Ints]:
    """Return the ranks and ties after :func:`placed` has broken ties between relevant items."""
    block = pd.DataFrame({"instance": instance, "rank": rank, "item": item}).sort_values("item")
    groups = block.groupby(["instance", "rank"])
    index = groups.cumcount().sort_index().to_numpy()
    many = groups["item"].transform("size").sort_index().to_numpy()
    rank, ties = rank.copy(), ties.copy()
    for i in np.flatnonzero(many > 1):
        digest = digest_of(instance[i], int(rank[i]))
        rank[i] += placed(digest, int(index[i]), int(ties[i]) + 1, int(many[i]))
        ties[i] = 0
    return rank, ties
