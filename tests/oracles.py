"""Slow and simple computations of metrics and distributions, to check those of sampledash. Nothing
here imports the code under test."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial, inf, log2, prod

import numpy as np
from scipy.special import gammaln, xlogy

from sampledash.types import Floats

WITH, WITHOUT, POPULARITY = "with-replacement", "without-replacement", "popularity"
UNIFORM = (WITH, WITHOUT)
SCHEMES = (WITH, WITHOUT, POPULARITY)

#: Every kind of metric with some cutoffs; None means no cutoff.
METRICS: list[tuple[str, int | None]] = [
    ("auc", None), ("precision", 1), ("precision", 3), ("recall", 1), ("recall", 3), ("ap", None),
    ("ap", 3), ("ndcg", None), ("ndcg", 3), ("rr", None), ("rr", 2), ("hit_rate", 2),
]  # fmt: skip


def by_definition(name: str, k: int | None, ranks: Sequence[int], n: int) -> float:
    """Return a metric by eq. 2-6 of Krichene & Rendle, or rr or hit_rate of the best rank."""
    relevant = set(ranks)
    size = len(relevant)
    if name == "auc":
        others = [r for r in range(1, n + 1) if r not in relevant]
        return sum(r < other for r in relevant for other in others) / (size * (n - size))
    cut = inf if k is None else k
    hits = sum(r <= cut for r in relevant)
    if name == "precision":
        return hits / cut
    if name == "recall":
        return hits / size
    places = [i for i in range(1, n + 1) if i <= cut]
    if name == "ap":
        inner = sum(sum(r <= i for r in relevant) / i for i in places if i in relevant)
        return inner / min(size, cut)
    if name == "ndcg":
        ideal = sum(1 / log2(i + 1) for i in range(1, int(min(size, cut)) + 1))
        return sum(1 / log2(i + 1) for i in places if i in relevant) / ideal
    first = min(relevant)
    if name == "rr":
        return 1 / first if first <= cut else 0.0
    if name == "hit_rate":
        return float(first <= cut)
    raise AssertionError(name)


def samples(ranks, n, m, scheme, weights=None):
    """Yield the probability of every sample of m irrelevant items, and the sampled ranks.
    ``weights``: sampling weights of the irrelevant items, best ranked first; with replacement
    only."""
    relevant = sorted(ranks)
    others = [r for r in range(1, n + 1) if r not in set(relevant)]

    def positions(sample: Sequence[int]) -> tuple[int, ...]:
        return tuple(j + sum(item < r for item in sample) for j, r in enumerate(relevant, start=1))

    if scheme == WITHOUT:
        chance = Fraction(1, comb(len(others), m))
        for sample in combinations(others, m):
            yield chance, positions(sample)
        return
    weight = dict(zip(others, weights or [1] * len(others), strict=True))
    total = sum(weight.values()) ** m
    for sample in combinations_with_replacement(others, m):
        times = prod(factorial(sample.count(item)) for item in set(sample))
        ways = factorial(m) // times * prod(weight[item] for item in sample)
        yield Fraction(ways, total), positions(sample)


def tied_orders(ranks: Sequence[int], ties: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all combinations of ranks that ties allow relevant items; all are equally likely."""
    yield from product(*(range(r, r + t + 1) for r, t in zip(ranks, ties, strict=True)))


def exact_law(n: int, r: int, m: int, scheme: str, odds: Fraction = Fraction(1)) -> list[Fraction]:
    """Return the distribution of the sampled rank 1..m+1 in exact fractions."""
    if scheme == WITHOUT:
        return [Fraction(comb(r - 1, s) * comb(n - r, m - s), comb(n - 1, m)) for s in range(m + 1)]
    above = odds * (r - 1) if scheme == POPULARITY else Fraction(r - 1)
    q = above / (above + n - r)
    return [comb(m, s) * q**s * (1 - q) ** (m - s) for s in range(m + 1)]


Law = dict[float, float]  # {value: probability}


def law_of_sum(laws: Iterable[Iterable[tuple[float, float]]]) -> Law:
    """Return the distribution of a sum of independent values, given as (value, probability)."""
    total: Law = {0.0: 1.0}
    for law in laws:
        new: Law = {}
        for (a, p), (v, q) in product(total.items(), law):
            key = round(a + float(v), 11)
            new[key] = new.get(key, 0.0) + p * float(q)
        total = new
    return total


def chance_above(first: Law, second: Law) -> float:
    """Return P(a draw of ``first`` > a draw of ``second``); rounding errors count as ties."""
    values, mass = (np.array(list(each)) for each in (first, first.values()))
    others = sorted(second)
    below = np.cumsum([0.0, *(second[v] for v in others)])
    return float(mass @ below[np.searchsorted(others, values - 1e-9)])


def dense_law(n: int, m: int, scheme: str, odds: float = 1.0) -> Floats:
    """Return the distribution of the sampled rank for every true rank 1..n, shape (n, m + 1).
    Binomial probabilities are powers. Hypergeometric probabilities are computed down each column,
    by ratios of neighbouring true ranks from the largest entry on. The column is then scaled to
    its sum, n / (m + 1), since sum_x C(x, s) C(N-x, m-s) = C(N+1, m+1), N = n - 1. The code under
    test uses ratios along the sampled rank instead."""
    total, a = n - 1, np.arange(n, dtype=np.float64)
    if scheme != WITHOUT:
        above, s = a * (odds if scheme == POPULARITY else 1.0), np.arange(m + 1)
        q, p = (some[:, None] / (above + total - a)[:, None] for some in (above, total - a))
        ways = gammaln(m + 1) - gammaln(s + 1) - gammaln(m - s + 1)
        return np.exp(xlogy(s, q) + xlogy(m - s, p) + ways)
    law = np.zeros((n, m + 1))
    for s in range(m + 1):
        x = np.arange(s, total - (m - s), dtype=np.float64)
        up, down = (x + 1) * (total - x - (m - s)), (x + 1 - s) * (total - x)  # p(s|x+1)/p(s|x)
        top = int(np.sum(up >= down))
        law[s : total - (m - s) + 1, s] = np.r_[
            np.cumprod((down / up)[:top][::-1])[::-1], 1.0, np.cumprod((up / down)[top:])
        ]
        law[:, s] *= n / (m + 1) / law[:, s].sum()
    return law


def item_value(name: str, k: int | None, position: int, negatives: int) -> Callable[[int], float]:
    """Return a function from the number of negatives above an item to its part of the metric."""

    def value(a: int) -> float:
        place = a + position
        if name == "auc":
            return (negatives - a) / negatives
        if k is not None and place > k:
            return 0.0
        if name in ("precision", "recall"):
            return 1.0
        if name == "hit_rate":
            return float(position == 1)
        if name == "rr":
            return float(position == 1) / place
        return position / place if name == "ap" else 1 / log2(place + 1)

    return value


def item_scale(name: str, k: int | None, size: int) -> float:
    """Return the factor that makes the sum of ``item_value`` over ``size`` items the metric."""
    cut = inf if k is None else k
    if name in ("auc", "recall"):
        return 1 / size
    if name == "precision":
        return 1 / cut
    if name == "ap":
        return 1 / min(size, cut)
    if name == "ndcg":
        return 1 / sum(1 / log2(i + 1) for i in range(1, int(min(size, cut)) + 1))
    return 1.0


def dense_target(name: str, k: int | None, n: int, position: int = 1) -> Floats:
    """Return ``item_value`` of the ``position``-th relevant item for 0..n-1 negatives above."""
    value = item_value(name, k, position, n - 1)
    return np.array([value(a) for a in range(n)])


def exact_metric(name: str, k: int | None, n: int) -> Floats:
    """Return the metric of one relevant item (eq. 7-13 of Krichene & Rendle) at the ranks 1..n."""
    return dense_target(name, k, n) * item_scale(name, k, 1)


def dense_bias_variance(law: Floats, target: Floats, gamma: float, prior: Floats | None) -> Floats:
    """Return the bias-variance vector of eq. 25 (Krichene & Rendle); ``target``: (n[, metrics])."""
    n = len(target)
    p = np.full(n, 1 / n) if prior is None else np.asarray(prior) / np.sum(prior)
    weighted = law * p[:, None]
    left = (1 - gamma) * law.T @ weighted + gamma * np.diag(weighted.sum(axis=0))
    # The unknowns are scaled, so that the condition number is at most about 1 / gamma.
    d, right = 1 / np.sqrt(np.diag(left)), (weighted.T @ target).T
    return (d * np.linalg.solve(left * d[:, None] * d, (d * right).T).T).T
