"""Rank sets for the tests of comparisons, and all possible samples of negatives of small sets."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import METRICS, POPULARITY, WITHOUT, by_definition, samples, tied_orders

#: One instance: n, the ranks of its relevant items, and how many irrelevant items tie with each.
Instance = tuple[int, list[int], list[int]]
#: The possible samples of one instance: (probability, (sampled ranks, length of the sampled list)).
Drawn = list[tuple[float, tuple[Sequence[int], int]]]
READINGS = {"optimistic": slice(1), "pessimistic": slice(-1, None), "expected": slice(None)}


def skewed(rng, n, size, powers, **more):
    """Return rank sets P, Q, ... of ranks ceil(n u^power), u uniform; larger powers rank better."""
    sizes = np.broadcast_to(size, len(powers))
    return [
        sd.RankSet(x, np.ceil(n * rng.random(s) ** p).astype(int), n, **more)
        for x, s, p in zip("PQRS", sizes, powers, strict=False)
    ]


def of_ranks(n: Any, *ranks: Any, **more: Any) -> list[sd.RankSet]:
    return [sd.RankSet(x, r, n, **more) for x, r in zip("PQRS", ranks, strict=False)]


def options_of(scheme: str, odds: float = 2.0) -> dict[str, Any]:
    return {"scheme": scheme, "odds": odds} if scheme == POPULARITY else {"scheme": scheme}


@st.composite
def instances(draw: st.DrawFn, most: int = 3, relevant: int = 4, tied: bool = False, size: int = 9):
    """Draw instances; if ``tied``, relevant items may tie with the irrelevant items below them."""
    rows: list[Instance] = []
    for _ in range(draw(st.integers(1, most))):
        n = draw(st.integers(2, size))
        items = draw(st.integers(1, min(n - 1, relevant)))
        ranks = sorted(draw(st.permutations(range(1, n + 1)))[:items])
        room = (np.diff([*ranks, n + 1]) - 1).tolist()
        rows.append((n, ranks, [draw(st.integers(0, x if tied else 0)) for x in room]))
    return rows


def rank_set(rows: list[Instance], system: str = "S", **options: Any) -> sd.RankSet:
    n, ranks, ties, labels = zip(
        *((n, r, t, u) for u, (n, *each) in enumerate(rows) for r, t in zip(*each, strict=True)),
        strict=True,
    )
    return sd.RankSet(system, ranks, n, instances=labels, ties=ties, **options)


def most(rows: list[Instance], scheme: str) -> int:
    """Return the largest m for which the tests enumerate all samples."""
    negatives = [n - len(ranks) for n, ranks, _ in rows]
    if scheme != WITHOUT:
        return 4
    return negatives[0] if len(set(negatives)) == 1 else max(negatives)


def orders(row: Instance, reading: str = "expected") -> list[tuple[int, ...]]:
    """Return the rank tuples that ties allow: all (equally likely), or only the best or worst."""
    return list(tied_orders(row[1], row[2]))[READINGS[reading]]


def each_metric() -> Iterator[tuple[sd.Metric, Callable[[Sequence[int], int], float]]]:
    """Yield every metric, and a function of (ranks, n) that computes it by its definition."""
    for name, k in METRICS:
        yield sd.metric(name, k=k), lambda *what, name=name, k=k: by_definition(name, k, *what)


def odds_of(odds: Fraction) -> Callable[[int, Sequence[int]], tuple[Fraction, ...]]:
    """Return a function of (n, ranks) that returns the probability of drawing each negative. The
    odds of a draw above a relevant item are ``odds`` times those of a uniform draw."""

    def weights(n: int, order: Sequence[int]) -> tuple[Fraction, ...]:
        total = n - len(order)
        edges = [0, *(r - j for j, r in enumerate(order, start=1)), total]
        shares = [odds * a / (odds * a + total - a) for a in edges]
        each = zip(pairwise(edges), pairwise(shares), strict=True)
        return tuple((q - p) / (b - a) for (a, b), (p, q) in each for _ in range(b - a))

    return weights


def drawn(row, m, scheme, reading="expected", weights=None):
    """Return all samples (``Drawn``) of an instance; if m is too large, all negatives are drawn."""
    n, every = row[0], orders(row, reading)
    if scheme == WITHOUT and n - len(row[1]) < m:
        return [(1 / len(every), (order, n)) for order in every]
    found: Counter[tuple[int, ...]] = Counter()
    for order in every:
        found.update(_positions(order, n, m, scheme, weights and weights(n, order)))
    return [(float(p) / len(every), (s, m + len(s))) for s, p in found.items()]


@cache
def _positions(order, n, m, scheme, weights):
    found: Counter[tuple[int, ...]] = Counter()
    for p, s in samples(order, n, m, scheme, weights):
        found[s] += p
    return found


def shares(rows: list[Instance], weighting: str) -> list[float]:
    each = [len(ranks) if weighting == "relevant-items" else 1 for _, ranks, _ in rows]
    return [x / sum(each) for x in each]


@dataclass(frozen=True)
class Users:
    """Rank sets P, Q, ... of the same users; each set lists the users in an order of its own."""

    sets: list[sd.RankSet]
    rows: list[list[Instance]]  # (systems, users); the users are in the same order for every system
    counts: np.ndarray

    def values(self, name: str, k: int | None, reading: str = "expected") -> np.ndarray:
        """Return the metric of every system and user by definition, shape (systems, users)."""
        return np.array([
            [np.mean([by_definition(name, k, x, row[0]) for x in orders(row, reading)])
             for row in rows]
            for rows in self.rows
        ])  # fmt: skip

    def weights(self, weighting: str) -> np.ndarray:
        return np.array(shares(self.rows[0], weighting)) * len(self.counts)


def users(rng, size, systems=3, relevant=3, most=2, apart=False, room=True) -> Users:
    """Return users with random n, ranks, ties and counts; ``apart``: no two systems share users."""
    n, items = rng.integers(8, 15, size).tolist(), rng.integers(1, relevant + 1, size).tolist()
    counts, sets, every = rng.integers(1, most + 1, size), [], []
    for x in "PQRS"[:systems]:
        every.append([])
        for total, number in zip(n, items, strict=True):
            ranks = np.sort(rng.choice(total, number, replace=False)) + 1
            free = np.diff([*ranks, total + 1]) - 1
            ties = rng.integers(0, free + 1) if room else 0 * free
            every[-1].append((total, ranks.tolist(), ties.tolist()))
        order = np.repeat(at := rng.permutation(size), np.array(items)[at])
        mine = rank_set([every[-1][u] for u in at], x)
        labels = [f"{x if apart else 'user'} {u}" for u in order]
        more = {"instances": labels, "ties": mine.ties, "counts": counts[order]}
        sets.append(sd.RankSet(x, mine.ranks, mine.n, **more))
    return Users(sets, every, counts)


def case(seed: int, size: int, **more: Any) -> tuple[tuple, dict[str, str], Users, Any, Any]:
    """Return a metric, options, users, their metric by definition, and user weights of mean 1."""
    name, k = METRICS[seed % len(METRICS)]
    ties, weighting = list(READINGS)[seed % 3], ("instances", "relevant-items")[seed // 2 % 2]
    some = users(np.random.default_rng(seed), size, **more)
    weights = some.weights(weighting)
    values, options = some.values(name, k, ties), {"ties": ties, "weighting": weighting}
    return (name, k), options, some, values, weights / np.average(weights, weights=some.counts)
