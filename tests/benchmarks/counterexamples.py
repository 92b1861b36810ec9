"""`counterexample` agrees with a search through pairs of small rank sets, for every n up to 40. A
counterexample is two rank sets whose exact and expected sampled means have opposite orders. The
search is exact: probabilities of sampled ranks and values of metrics (NDCG with 60 digits) are
multiplied by common numbers that make them integers."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import lcm

import numpy as np
from numpy.typing import NDArray

import sampledash as sd
from tests.benchmarks.frame import Result, timed
from tests.oracles import UNIFORM, exact_law

Values = list[int]

LARGEST, QUICK = 40, 7
UNIT = lcm(*range(1, LARGEST + 1))  # 1 / rank is a whole multiple of 1 / UNIT for all ranks
DIGITS = 10**60
CUTOFFS = (1, 2, 3, 5, 10, 20, 39)
SHARES = (0.02, 0.1, 0.25, 0.5, 0.9)
METRICS = [sd.metric(name) for name in ("auc", "atop", "ap", "rr", "ndcg")]
METRICS += [sd.metric(name, k=k) for name in ("ap", "rr", "ndcg") for k in CUTOFFS[1:]]
METRICS += [sd.metric(x, k=k) for x in ("recall", "precision", "hit_rate") for k in CUTOFFS]
METRICS += [sd.metric("topk", k=share) for share in SHARES]


@lru_cache
def _discount(place: int) -> int:
    """Return the discount of NDCG at a rank, 1 / log2(place + 1), in units of 10^-60."""
    with localcontext() as context:
        context.prec = 80
        return int(Decimal(2).ln() / Decimal(place + 1).ln() * DIGITS)


def whole_values(metric: sd.Metric, others: int) -> Values:
    """Return the metric for 0..``others`` items above, times a number that makes it an integer."""
    if metric.linear:  # in units of 1 / others, up to a constant, which has no effect on orders
        return list(range(others, -1, -1))
    if metric.share is not None:
        return [int(above / others <= metric.share) for above in range(others + 1)]
    cut = others + 1 if metric.k is None else metric.k
    gains = {"ap": UNIT.__floordiv__, "rr": UNIT.__floordiv__, "ndcg": _discount}
    gain = gains.get(metric.name, lambda place: 1)
    return [gain(above + 1) if above < cut else 0 for above in range(others + 1)]


def whole_law(n: int, m: int, scheme: str, odds: Fraction) -> NDArray[np.object_]:
    """Return P(s sampled items above rank r) times a common denominator, shape (n, m + 1)."""
    rows = [exact_law(n, r, m, scheme, odds) for r in range(1, n + 1)]
    unit = lcm(*(p.denominator for row in rows for p in row))
    return np.array([[int(p * unit) for p in row] for row in rows], dtype=object)


def possible(f: Values, g: Values) -> bool:
    """Return whether a counterexample exists; f and g are the exact and the expected sampled metric
    at each rank. It exists unless f or g is constant or g = a + b f, up to the rounding of NDCG:
    see the proof in sampledash/comparison/counterexample.py."""
    width = f[0] - f[-1], g[0] - g[-1]
    if not all(width):
        return False
    off = [(x - f[-1]) * width[1] - (y - g[-1]) * width[0] for x, y in zip(f, g, strict=True)]
    return max(map(abs, off)) > width[0] * width[1] // 10**40


def smallest(f: Values, g: Values, most: int) -> int | None:
    """Return the fewest instances of a counterexample, or None if it needs more than ``most``. Two
    means are tied if they differ by at most 10^-40 of the largest value of the metric."""
    exact, sampled = (np.array(values, dtype=object) for values in (f, g))
    for size in range(1, most + 1):
        least = [size * (max(values) // 10**40) for values in (f, g)]
        sets = np.array(list(combinations_with_replacement(range(len(f)), size)))
        sums = np.array([exact[sets].sum(axis=1), sampled[sets].sum(axis=1)])
        first, second = sums[:, np.argsort(sums[0], kind="stable")]
        largest = np.maximum.accumulate(second)  # the largest sampled sum of the sets so far
        below = np.searchsorted(first, first - least[0], side="left")
        if np.any((largest[below - 1] - second > least[1])[below > 0]):
            return size
    return None


def check(n, m, scheme, metrics, sizes, odds=Fraction(1), most=2):
    """Yield the faults of `counterexample` for one setting, and count its results in ``sizes``.
    ``sizes[i]`` counts counterexamples with i instances, ``sizes[0]`` metrics without one. It is a
    fault if a search up to ``most`` instances finds a smaller counterexample."""
    law = whole_law(n, m, scheme, odds)
    for metric in metrics:
        f = whole_values(metric, n - 1)
        g = list(law @ np.array(whole_values(metric, m), dtype=object))
        where = f"{metric}, n = {n}, m = {m}, {scheme}"
        pair = sd.counterexample(metric, sd.Sampling(n, m, scheme, float(odds)))
        if pair is None:
            sizes[0] += 1
            if possible(f, g):
                yield f"{where}: none found"
            continue
        first, second = (np.repeat(rs.ranks - 1, rs.counts.astype(int)).tolist() for rs in pair)
        exact, sampled = (sum(v[a] for a in first) - sum(v[a] for a in second) for v in (f, g))
        equal = len(first) == len(second)
        if not equal or exact <= max(f) // 10**40 or sampled >= -(max(g) // 10**40):
            yield f"{where}: no counterexample, {first} {second}"
        if smallest(f, g, min(most, len(first) - 1)) is not None:
            yield f"{where}: {len(first)} instances, where fewer suffice"
        sizes[len(first)] += 1


def every_setting(quick: bool) -> Iterator[Result]:
    """Check all metrics and both uniform schemes for n up to 40 and m < n; count the faults."""
    sizes: Counter[int] = Counter()
    top, metrics = (QUICK, METRICS[::4]) if quick else (LARGEST, METRICS)
    every = [(n, m, scheme) for n in range(2, top + 1) for m in range(1, n) for scheme in UNIFORM]
    seconds, wrong = timed(lambda: [x for at in every for x in check(*at, metrics, sizes)])
    print(*wrong[:20], sep="\n", end="")
    name = f"counterexamples, {len(metrics)} metrics, every n up to {top} and m < n"
    more = sum(count for size, count in sizes.items() if size > 2)
    note = f"{sizes.total():,} settings: {sizes[2]:,} of two instances, {more:,} of up to "
    note += f"{max(sizes):,}, none possible in {sizes[0]:,}"
    yield Result(name, seconds, None, float(len(wrong)), 0, note=note)


BENCHMARKS = (every_setting,)
