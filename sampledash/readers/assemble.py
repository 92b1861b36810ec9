"""From entries to rank sets: names, n, ranges and repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.ranksets import RankSet
from sampledash.readers.align import Index, Instances, aligned
from sampledash.readers.choose import Systems, chosen, with_distinct_names
from sampledash.readers.errors import MissingCandidates, ReadError, ZeroBasedRanks
from sampledash.readers.rows import Facts, Rows
from sampledash.types import Ints


def assembled(
    parts: Sequence[Rows],
    *,
    n: int | None,
    zero_based: bool,
    instances: Instances,
    systems: Systems | None,
) -> tuple[list[RankSet], list[Facts]]:
    """Check all entries and make one rank set per system, in order of appearance.

    The facts of each part come back with what was decided here.
    """
    checks.choice("instances", instances, ("same", "shared", "any"))
    parts = _one_labelling(chosen(with_distinct_names(parts), systems))
    parts = [_ranked(part, zero_based, len(parts) > 1) for part in parts]
    parts = _sized(parts, n)
    for part in parts:
        _check_range(part, zero_based)
        _check_repeats(part, zero_based)
    rows = _joined(parts)
    groups = aligned(rows, rows.groups(), instances)
    sets = [_rank_set(rows, i, index) for i, index in enumerate(groups)]
    return sets, [part.facts for part in parts]


def _one_labelling(parts: Sequence[Rows]) -> list[Rows]:
    """Give the instances of all files one numbering, by their labels."""
    if len(parts) == 1 or not all(part.labelled for part in parts):
        return list(parts)
    labels = [part.labels for part in parts if part.labels is not None]
    if any(array.dtype.kind not in "iu" for array in labels):
        labels = [np.array([str(x) for x in array.tolist()], dtype=object) for array in labels]
    codes, distinct = pd.factorize(np.concatenate(labels))
    ends = np.cumsum([len(array) for array in labels])[:-1]
    return [
        replace(part, labels=np.asarray(distinct), label=code.astype(np.int64)[part.label])
        for part, code in zip(parts, np.split(codes, ends), strict=True)
    ]


def _ranked(rows: Rows, zero_based: bool, several: bool) -> Rows:
    """Ranks from 1."""
    if not rows.shifts:
        return rows
    lowest = int(np.argmin(rows.rank))
    value = int(rows.rank[lowest])
    if value < 0:
        raise ReadError(
            f"{rows.place(lowest, 'rank')}: rank {value} is below {0 if zero_based else 1}; "
            "correct it or remove the row"
        )
    if zero_based:
        facts = rows.facts.noted("Ranks were counted from 0: 1 was added to each.")
        if value > 0:
            facts = facts.doubted(
                f"No rank of {rows.name} is 0, though ranks are said to count from 0."
            )
        return replace(rows, rank=rows.rank + 1, facts=facts)
    if value == 0:
        raise ZeroBasedRanks(
            f"{rows.place(lowest, 'rank')}: rank 0, and no rank is negative, so the ranks "
            "seem to count from 0: add 1 to each (in Python: zero_based=True)"
        )
    return rows


def _sized(parts: Sequence[Rows], n: int | None) -> list[Rows]:
    """Every entry with its n: from its file, as given, or from the other files."""
    for part in parts:
        if part.n is not None:
            part.check(part.n, "n_candidates", "n", low=2, high=checks.LARGEST_N)
    lacking = [part for part in parts if part.n is None]
    if not lacking:
        return list(parts)
    if n is not None:
        size = checks.integer("n", n, low=2, high=checks.LARGEST_N)
        return [
            part if part.n is not None else replace(part, n=np.broadcast_to(size, len(part)))
            for part in parts
        ]
    known = [part for part in parts if part.n is not None]
    found = {part.name: _n_of_others(part, known) for part in lacking}
    without = [part for part in lacking if found[part.name] is None]
    if without:
        largest = max(int(part.rank.max()) for part in without)
        raise MissingCandidates(
            f"{without[0].name} does not say n, the number of candidates that were ranked: "
            f"{without[0].how_to_give_n}, or give n (at least {max(largest, 2):,}, the largest "
            "rank)",
            largest,
        )
    names = " and ".join(part.name for part in known)
    return [
        part
        if part.n is not None
        else replace(
            part,
            n=found[part.name],
            facts=part.facts.noted(f"n is taken from {names}: {part.name} does not say it."),
        )
        for part in parts
    ]


def _n_of_others(part: Rows, known: Sequence[Rows]) -> Ints | None:
    """The n that other files give the same instances, or the one n that they all have."""
    if not known:
        return None
    n = np.concatenate([other.n for other in known if other.n is not None])
    if n.min() == n.max():
        return np.broadcast_to(n[0], len(part))
    if part.label is None or part.labels is None or any(other.label is None for other in known):
        return None
    label = np.concatenate([other.label for other in known if other.label is not None])
    size = np.zeros(len(part.labels), dtype=np.int64)
    size[label] = n
    if np.any(size[label] != n) or np.any(size[part.label] == 0):
        return None
    return np.asarray(size[part.label])


def _check_range(rows: Rows, zero_based: bool) -> None:
    assert rows.n is not None
    over = rows.rank > rows.n
    if over.any():
        i = int(np.argmax(over))
        counted = " counting from 0" if rows.shifts and zero_based else ""
        own = any(meaning == "n" for _, meaning in rows.facts.columns)
        remedy = "correct the rank or the n of this row" if own else "give a larger n"
        raise ReadError(
            f"{rows.place(i, 'rank')}: rank {_given(rows, i, zero_based)}{counted} is beyond the "
            f"last of n = {rows.n[i]} candidates; {remedy}"
        )
    if rows.ties is not None:
        bad = (rows.ties < 0) | (rows.rank + rows.ties > rows.n)
        if bad.any():
            i = int(np.argmax(bad))
            raise ReadError(
                f"{rows.place(i, 'ties')}: rank {_given(rows, i, zero_based)} with {rows.ties[i]} "
                f"others tied does not fit n = {rows.n[i]}; the rank is the best of the tied ones, "
                "and ties counts the others"
            )
    if rows.mass is not None:
        bad = ~((rows.mass >= 0) & (rows.mass <= 1))
        if bad.any():
            i = int(np.argmax(bad))
            raise ReadError(
                f"{rows.place(i, 'mass_above')}: {rows.mass[i]:g} is no share; "
                "write a number in 0..1"
            )


def _given(rows: Rows, i: int, zero_based: bool) -> int:
    return int(rows.rank[i]) - (rows.shifts and zero_based)


def _check_repeats(rows: Rows, zero_based: bool) -> None:
    if rows.label is None or rows.labels is None:
        return
    for name, index in zip(rows.systems, rows.groups(), strict=True):
        label = rows.label[index]
        if np.bincount(label).max() == 1:
            continue
        order = np.lexsort((rows.rank[index], label))
        key, value = label[order], rows.rank[index][order]
        same = (key[1:] == key[:-1]) & (value[1:] == value[:-1])
        if same.any():
            i = int(np.argmax(same))
            first, again = sorted(index[order[i : i + 2]].tolist())
            earlier = rows.place(first, "rank").removeprefix(f"{rows.name}, ").split(", column ")[0]
            raise ReadError(
                f"{rows.place(again, 'rank')}: system {name!r}, instance "
                f"{str(rows.labels[key[i]])!r} has rank {_given(rows, again, zero_based)} twice, "
                f"first in {earlier}; relevant items have distinct ranks: remove one row"
            )


def _joined(parts: Sequence[Rows]) -> Rows:
    """All files as one; entries keep their order, absent ties are 0 and absent counts 1."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.systems) for part in parts)])

    def column(name: str, absent: float) -> Any:
        values = [getattr(part, name) for part in parts]
        if all(v is None for v in values):
            return None
        sizes = map(len, parts)
        full = [
            np.full(size, absent) if v is None else v for size, v in zip(sizes, values, strict=True)
        ]
        return np.concatenate(full)

    labelled = all(part.labelled for part in parts)
    return replace(
        parts[0],
        name=" and ".join(part.name for part in parts),
        systems=[name for part in parts for name in part.systems],
        system=np.concatenate([p.system + s for p, s in zip(parts, starts[:-1], strict=True)]),
        labels=parts[0].labels if labelled else None,
        label=column("label", 0) if labelled else None,
        rank=column("rank", 0),
        n=column("n", 0),
        ties=column("ties", 0),
        mass=column("mass", np.nan),
        count=column("count", 1),
    )


def _rank_set(rows: Rows, system: int, index: Index) -> RankSet:
    first, last = int(index[0]), int(index[-1]) + 1
    here = slice(first, last) if last - first == len(index) else index  # a copy less

    def part(values: Any) -> Any:
        if values is None:
            return None
        return values[0] if values.strides == (0,) else values[here]

    n, mass = part(rows.n), part(rows.mass)
    if mass is not None and np.isnan(mass).any():
        mass = None  # from a file that does not weigh
    if rows.label is None or rows.labels is None:
        # The rows of a histogram are nobody's: they get no labels by which they could pair up.
        instances = None if rows.count is not None else np.arange(1, len(index) + 1)
    else:
        instances = rows.labels[rows.label[here]]
    try:
        return RankSet(
            rows.systems[system],
            rows.rank[here],
            n,
            instances=instances,
            ties=part(rows.ties),
            mass_above=mass,
            counts=part(rows.count),
        )
    except ValueError as error:
        raise ReadError(f"{rows.name}: {error}") from None
