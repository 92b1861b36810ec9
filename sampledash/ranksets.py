"""True ranks of one recommender: an immutable value, reduced once to counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.counts import RankCounts, Ties, codes_of, unique_rows
from sampledash.identity import ByDigest, digest_of
from sampledash.types import Floats, Ints


@dataclass(frozen=True, eq=False, init=False)
class RankSet(ByDigest):
    """True ranks of one recommender over the instances of an evaluation.

    Parameters
    ----------
    system
        Name of the recommender.
    ranks
        Rank of each relevant item among its candidates, integers from 1; with ties the best one.
    n
        Candidates, relevant items included, at most 10^12: one number, or one per row (the same
        within an instance).
    instances
        Label of the user or query of each row. Rows with one label are its relevant items; without
        labels every row is an instance of its own.
    ties
        Irrelevant items tied with the relevant one: their order is random, and ``ranks`` is the
        best that can happen.
    mass_above
        Share of the sampling weight that lies above the item, in 0..1; used by the popularity
        scheme.
    counts
        How many instances a row stands for, positive; the same within an instance.

    Raises
    ------
    ValueError
        Naming the system, the column and the first offending value.

    Notes
    -----
    Arrays are copied and read-only. Equality and hash go by ``digest`` (SHA-256 of the contents).
    """

    system: str
    ranks: Ints
    n: Ints
    instances: NDArray[Any]
    ties: Ints
    mass_above: Floats | None
    counts: Floats
    _order: tuple[Ints | slice, Ints, Ints]

    def __init__(
        self,
        system: str,
        ranks: ArrayLike,
        n: ArrayLike,
        *,
        instances: ArrayLike | None = None,
        ties: ArrayLike | None = None,
        mass_above: ArrayLike | None = None,
        counts: ArrayLike | None = None,
    ) -> None:
        where = f"of system {str(system)!r}"
        rows = checks.array_of(f"ranks {where}", ranks).size
        if rows == 0:
            raise ValueError(f"ranks {where} is empty: give at least one rank")

        def column(name: str, values: ArrayLike, check: Callable[..., NDArray[Any]]) -> Any:
            """Checked values; one for all rows takes the place of one."""
            array = checks.array_of(f"{name} {where}", values)
            if array.ndim:
                each = f"one value for each of the {rows} ranks"
                checks.length(f"{name} {where}", array, rows, each)
            return np.broadcast_to(check(f"{name} {where}", values), rows)

        size = column("n", n, checks.candidates)
        rank = column("ranks", ranks, lambda _, values: checks.ranks(f"rank {where}", values, size))
        tied = column("ties", 0 if ties is None else ties, partial(checks.integers, low=0))
        if np.any(rank + tied > size):
            i = int(np.argmax(rank + tied > size))
            raise ValueError(
                f"ties {where}: rank {rank[i]} with {tied[i]} others tied reaches beyond "
                f"n = {size[i]}; `ranks` is the best rank of the tied block"
            )
        numbering = np.arange(rows) if instances is None else instances
        labels = column("instances", numbering, checks.labels)
        count = column("counts", 1.0 if counts is None else counts, checks.numbers)
        if np.any(count <= 0):
            raise ValueError(f"counts {where} must be above 0, got {count[count <= 0][0]:g}")
        checks.total(f"counts {where}", count)
        mass = None
        if mass_above is not None:
            mass = column("mass_above", mass_above, checks.numbers)
            if np.any((mass < 0) | (mass > 1)):
                bad = mass[(mass < 0) | (mass > 1)][0]
                raise ValueError(f"mass_above {where} must be a share in 0..1, got {bad:g}")
        self._hold(str(system), rank, size, labels, tied, mass, count)
        object.__setattr__(self, "_order", self._sorted_rows(instances is not None))

    def _sorted_rows(self, labelled: bool) -> tuple[Ints | slice, Ints, Ints]:
        """Rows by instance and rank, with the position and number of relevant items of each."""
        rows = len(self.ranks)
        ones = np.broadcast_to(1, rows)
        if not labelled:
            return slice(None), ones, ones
        codes, distinct = codes_of(self.instances)
        if distinct == rows:
            return slice(None), ones, ones
        order = np.lexsort((self.ranks, codes))
        code = codes[order]
        starts = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
        sizes = np.diff(np.r_[starts, rows])
        position = np.arange(rows) - np.repeat(starts, sizes) + 1
        relevant = np.repeat(sizes, sizes)
        self._check_instances(order, code, relevant)
        return order, position, relevant

    def _check_instances(self, order: Ints, code: Ints, relevant: Ints) -> None:
        """Rows of one instance must describe one list."""
        same = code[1:] == code[:-1]
        rank, tied, n = self.ranks[order], self.ties[order], self.n[order]
        count, mass = (
            self.counts[order],
            None if self.mass_above is None else self.mass_above[order],
        )
        block = "has two relevant items in one block of ties (rank {rank}): break that tie"
        twice = "holds rank {rank} twice: relevant items have distinct ranks; remove the repeat"
        faults = [
            (same & (rank[1:] == rank[:-1]), twice),
            (same & (rank[1:] <= rank[:-1] + tied[:-1]), block),
            (same & (n[1:] != n[:-1]), "has two values of n, {n} and {other}: give one"),
            (same & (count[1:] != count[:-1]), "has different counts in its rows: give one"),
            (relevant >= n, "has as many relevant items as candidates, n = {n}"),
        ]
        if mass is not None:
            falls = "has a mass_above that falls as the rank grows (rank {rank})"
            faults.append((same & (mass[1:] < mass[:-1]), falls))
        for bad, sentence in faults:
            if np.any(bad):
                i = int(np.argmax(bad))
                told = sentence.format(rank=rank[i], n=n[i], other=n[min(i + 1, len(n) - 1)])
                name = str(self.instances[order[i]])
                raise ValueError(f"instance {name!r} of system {self.system!r} {told}")

    def __len__(self) -> int:
        return len(self.ranks)

    def __repr__(self) -> str:
        low, high = int(self.n.min()), int(self.n.max())
        n = f"{low}" if low == high else f"{low}..{high}"
        return f"RankSet({self.system!r}, {self.n_instances:g} instances, n = {n})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the contents, as hexadecimal text: the key of every cache."""
        columns = (self.ranks, self.n, self.ties, self.counts, self.mass_above)
        return digest_of(f"{self.system!r} {len(self)}", columns, self.instances)

    @property
    def n_instances(self) -> float:
        """Number of instances |D|, counts included."""
        return self.atoms().instances

    @property
    def max_relevant(self) -> int:
        """Largest number of relevant items of an instance."""
        return int(self.atoms().relevant.max())

    @property
    def has_ties(self) -> bool:
        """Whether some relevant item is tied with an irrelevant one."""
        return bool(np.any(self.ties > 0))

    @property
    def max_negatives(self) -> int:
        """Largest number of irrelevant candidates of an instance, n - |R|."""
        return int(self.atoms().negatives.max())

    def atoms(self, ties: Ties = "expected") -> RankCounts:
        """Reduce to counts over (n, rank, ties, position, |R|).

        Parameters
        ----------
        ties
            ``"expected"`` keeps the tied blocks, ``"optimistic"`` puts the relevant item first,
            ``"pessimistic"`` last.
        """
        checks.choice("ties", ties, ("expected", "optimistic", "pessimistic"))
        return _atoms(self, ties if self.has_ties else "expected")

    def rows(self, ties: Ties = "expected") -> RankCounts:
        """Every relevant item for itself, sorted by instance and position."""
        order, position, relevant = self._order
        above, negatives = self.ranks[order] - position, self.n[order] - relevant
        tied, mass = self.ties[order], None if self.mass_above is None else self.mass_above[order]
        if ties != "expected":
            above, tied = above + tied * (ties == "pessimistic"), np.zeros_like(tied)
        return RankCounts(above, negatives, tied, position, relevant, mass, self.counts[order])


@lru_cache(maxsize=64)
def _atoms(ranks: RankSet, ties: Ties) -> RankCounts:
    rows = ranks.rows(ties)
    first, inverse = unique_rows(rows.columns)
    return replace(rows[first], count=np.bincount(inverse, rows.count).astype(np.float64))


def require_ranks(value: object) -> None:
    """Refuse anything but a rank set."""
    if not isinstance(value, RankSet):
        raise ValueError(
            f"ranks must be a RankSet, got {checks.shown(value)}: make one with "
            "sampledash.RankSet(system, ranks, n)"
        )


def require_several(value: object) -> None:
    """Refuse a single rank set where a list of them is meant, what is none, and equal names."""
    if isinstance(value, RankSet):
        raise ValueError(f"sets must be a list of rank sets, got the one of {value.system!r}")
    names: set[str] = set()
    for each in checks.several("sets", value, "rank set"):
        require_ranks(each)
        name = each.system
        if name in names:
            raise ValueError(f"system {name!r} occurs twice: give each rank set its own name")
        names.add(name)
