"""Flips, the m from which an order is right, and verdicts against evaluation at every m.

Random rank sets with n <= 400 are evaluated a second time from matrices of binomial coefficients:
every rank by every sampled rank, at every m, corrections by their normal equations or by
non-negative least squares on the whole matrix. Nothing of it is shared with the code under test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, groupby
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

import sampledash as sd
from sampledash.types import Floats
from tests.benchmarks.frame import Result, timed
from tests.comparison.made import options_of, rank_set
from tests.oracles import (
    POPULARITY,
    SCHEMES,
    WITHOUT,
    by_definition,
    dense_bias_variance,
    item_scale,
    item_value,
)

Row = tuple[int, tuple[int, ...]]  # n and the ranks of the relevant items

EVERY = "Recall@10 Precision@3 NDCG@10 NDCG AP AUC RR HitRate@5"
METRICS = [(x.name, x.k) for x in map(sd.parse_metric, EVERY.split())]
CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "LS")
TIED = 1e-12
#: Differences so near a tie are left to rounding: the threshold itself, and for vectors from a
#: solver the digits two solvers share.
UNSURE = {"uncorrected": (1e-13, 1e-11), "rank estimate": (1e-13, 1e-11)}
UNSURE_FIT = (1e-13, 1e-8)
QUICK, ALL = 16, 200
LS_MOST = 8  # beyond, the vector explodes: two solvers no longer agree on it


@dataclass(frozen=True)
class Case:
    """Systems to compare: rows of one instance each, per system."""

    systems: list[list[Row]]
    scheme: str
    odds: float = 1.0
    weighting: str = "instances"

    @property
    def options(self) -> dict[str, Any]:
        return options_of(self.scheme, self.odds) | {"weighting": self.weighting}

    @property
    def sets(self) -> list[sd.RankSet]:
        return [
            rank_set([(n, list(ranks), [0] * len(ranks)) for n, ranks in rows], name)
            for name, rows in zip("PQRSTUVW", self.systems, strict=False)
        ]

    @property
    def m_max(self) -> int:
        """Largest m that is looked at: the largest n - 1, fewer where no sample is so large."""
        top = max(n for rows in self.systems for n, _ in rows) - 1
        if self.scheme == WITHOUT:
            sizes = [{n - len(ranks) for n, ranks in rows} for rows in self.systems]
            top = min([max(map(max, sizes)), *(min(s) for s in sizes if len(s) == 1)])
        return top


def random_case(rng: np.random.Generator, n_max: int, most: int, several: bool) -> Case:
    """2-4 systems that rank the same instances; ``most`` is the largest number of them."""
    scheme = str(rng.choice(SCHEMES))
    odds = float(rng.choice([0.5, 2.0, 5.0])) if scheme == POPULARITY else 1.0
    size = int(rng.integers(1, most + 1))
    n = np.full(size, rng.integers(6, n_max + 1))
    if rng.random() < 0.5:  # every instance has its own
        n = rng.integers(max(6, n_max // 4), n_max + 1, size)
    relevant = rng.integers(1, 4, size) if several else np.ones(size, dtype=np.int64)
    systems = []
    for _ in range(int(rng.integers(2, 5))):
        power = float(rng.choice([1.0, 2.0, 4.0]))
        rows = []
        for total, items in zip(n.tolist(), relevant.tolist(), strict=True):
            chance = np.arange(1, total + 1) ** (1 / power - 1)
            ranks = rng.choice(total, items, replace=False, p=chance / chance.sum()) + 1
            rows.append((total, tuple(sorted(ranks.tolist()))))
        systems.append(rows)
    weighting = str(rng.choice(["instances", "relevant-items"]))
    return Case(systems, scheme, odds, weighting)


@cache
def _binomials() -> Floats:
    """C(a, b) for a, b < 460, each rounded once."""
    return np.array([[float(comb(a, b)) for b in range(460)] for a in range(460)])


def law(above: NDArray[np.int64], total: int, m: int, scheme: str, odds: float) -> Floats:
    """Probabilities of 0..m drawn items above, per number of items above: (rows, m + 1)."""
    table = _binomials()
    a, s = np.asarray(above)[:, None], np.arange(m + 1)
    if scheme == WITHOUT:
        rest = np.where(m - s <= total - a, table[total - a, m - s], 0.0)
        return table[a, s] * rest / table[total, m]
    weight = odds if scheme == POPULARITY else 1.0
    share = weight * a / (weight * a + total - a)
    other = (total - a) / (weight * a + total - a)
    return table[m, s] * share**s * other ** (m - s)


def shares(case: Case, system: int) -> Floats:
    """Weight of each instance in the mean."""
    by_items = case.weighting == "relevant-items"
    weight = np.array([len(r) if by_items else 1 for _, r in case.systems[system]])
    return weight / weight.sum()


def expected_means(case: Case, correction: str, m: int) -> Floats:
    """Expected sampled means: (metrics, systems)."""
    result = np.zeros((len(METRICS), len(case.systems)))
    for system, rows in enumerate(case.systems):
        share = shares(case, system)
        for j in range(1, max(len(ranks) for _, ranks in rows) + 1):
            at = [i for i, (_, ranks) in enumerate(rows) if len(ranks) >= j]
            sizes = [rows[i][0] - len(rows[i][1]) for i in at]
            fitted = int(np.floor(np.mean(sizes) + 1.5))
            if case.scheme == WITHOUT:
                fitted = max(fitted, m + 1)
            values = vectors(correction, case.scheme, case.odds, m, j, fitted)
            for i, total in zip(at, sizes, strict=True):
                ranks = rows[i][1]
                above = ranks[j - 1] - j
                if case.scheme == WITHOUT and total < m:
                    each = [item_value(name, k, j, total)(above) for name, k in METRICS]
                else:
                    each = values @ law(np.array([above]), total, m, case.scheme, case.odds)[0]
                scales = [item_scale(name, k, len(ranks)) for name, k in METRICS]
                result[:, system] += share[i] * np.multiply(scales, each)
    return result


@lru_cache(maxsize=4096)
def vectors(correction: str, scheme: str, odds: float, m: int, position: int, n: int) -> Floats:
    """Value of each sampled count above, unscaled: (metrics, m + 1)."""
    if correction == "uncorrected":
        each = [item_value(name, k, position, m) for name, k in METRICS]
        return np.array([[value(s) for s in range(m + 1)] for value in each])
    targets = np.array(
        [[item_value(name, k, position, n - 1)(a) for a in range(n)] for name, k in METRICS]
    )
    if correction == "rank estimate":
        return targets[:, [(n - 1) * s // m for s in range(m + 1)]]
    whole = law(np.arange(n), n - 1, m, scheme, odds)
    if correction == "BV 0.1":
        return np.array([dense_bias_variance(whole, target, 0.1, None) for target in targets])
    matrix, rhs = whole / np.sqrt(n), targets.T / np.sqrt(n)
    if correction == "LS":
        return np.linalg.lstsq(matrix, rhs, rcond=None)[0].T
    columns = np.cumsum(matrix, axis=1)
    steps = np.empty((len(METRICS), m + 1))
    for x, (name, _) in enumerate(METRICS):
        if name == "auc" and scheme != POPULARITY and n > m:
            # Section 4.4.1: the sampled AUC is unbiased, and so the minimum, which is 0. A solver
            # finds it to 1e-6 only: any vector near it fits nearly as well.
            steps[x] = np.append(np.full(m, 1 / m), 0.0)
        else:
            steps[x] = nnls(columns, rhs[:, x], maxiter=60 * (m + 1))[0]
    gradient = (steps @ columns.T - rhs.T) @ columns
    assert gradient.min() >= -1e-9, "not the minimum"
    assert np.abs(gradient * steps).max() <= 1e-9, "not the minimum"
    return np.cumsum(steps[:, ::-1], axis=1)[:, ::-1]


def order(difference: float) -> int:
    """1, -1, or 0 for tied."""
    return 0 if abs(difference) <= TIED else (1 if difference > 0 else -1)


def flips_of(signs: dict[int, int]) -> list[int]:
    """m at which the strict order differs from the last strict order before it."""
    strict = [(m, s) for m, s in sorted(signs.items()) if s != 0]
    runs = [next(group)[0] for _, group in groupby(strict, key=lambda item: item[1])]
    return runs[1:]


def right_from_of(signs: dict[int, int], truth: int) -> int | None:
    """Smallest m from which the order stays the true one."""
    found = None
    for m in sorted(signs, reverse=True):
        if signs[m] != truth:
            return found
        found = m
    return found


def check(case: Case, correction: str, count: Counter[str], number: int = 0) -> list[str]:
    """What differs in flips, right_from and verdicts of one case; ``count`` is added to.

    The verdict tells right_from of all metrics; the function of that name is asked for one.
    """
    sets, wrong = case.sets, []
    top = case.m_max if correction != "LS" else min(case.m_max, LS_MOST)
    means = {m: expected_means(case, correction, m) for m in range(1, top + 1)}
    low, high = UNSURE.get(correction, UNSURE_FIT)
    options = case.options | {"correction": correction}
    m_max, middle = None if correction != "LS" else top, max(1, top // 3)
    every = [sd.metric(name, k=k) for name, k in METRICS]
    judged = sd.verdict(every, sets, middle, (correction,), m_max=m_max, **case.options)
    for x, metric in enumerate(every):
        found = sd.flips(metric, sets, m_max, **options)
        lines = judged[judged.metric == str(metric)].reset_index(drop=True)
        right = {"verdict": lines.right_from}
        if x == number % len(METRICS):
            right["right_from"] = sd.right_from(metric, sets, m_max, **options).m
        exact = [
            shares(case, i) @ [by_definition(*METRICS[x], ranks, n) for n, ranks in rows]
            for i, rows in enumerate(case.systems)
        ]
        for row, (i, j) in enumerate(combinations(range(len(sets)), 2)):
            each = {m: float(v[x, i] - v[x, j]) for m, v in means.items()}
            exactly = float(exact[i] - exact[j])
            if any(low < abs(d) < high for d in (*each.values(), exactly)):
                count["unsure"] += 1
                continue
            signs = {m: order(d) for m, d in each.items()}
            names, truth = (sets[i].system, sets[j].system), order(exactly)
            line, ahead = lines.iloc[row], truth or 1
            state = _state(truth, signs[middle] * ahead, float(line.probability))
            close = max(high, 1e-11) * max(1.0, abs(each[middle]))
            wanted = right_from_of(signs, truth) if truth else None
            checks = [
                ("flips", [f.m for f in found if (f.first, f.second) == names], flips_of(signs)),
                ("better", (line.better, line.worse), names[::ahead]),
                ("state", line.state, state),
                ("exact", abs(line.exact - abs(exactly)) <= 1e-12, True),
                ("sampled", abs(line.sampled - each[middle] * ahead) <= close, True),
            ]
            for what, values in right.items():
                m = values[row]
                checks.append((f"{what} from", None if m is pd.NA else int(m), wanted))
            wrong += [
                f"set {number} {correction} {metric} {'-'.join(names)}: {what} {ours}, not {true}"
                for what, ours, true in checks
                if ours != true
            ]
            count.update(orders=len(signs), flips=len(flips_of(signs)), verdicts=1)
            count["right"] += wanted is not None
    return wrong


def _state(truth: int, sampled: int, probability: float) -> str:
    """What the word has to be; the probability itself is checked against simulated runs."""
    if truth == 0:
        return "tied"
    if sampled > 0 and probability >= 0.95:
        return "right"
    return "wrong" if sampled < 0 and probability <= 0.05 else "undecided"


def cases(quick: bool) -> Iterator[tuple[int, Case, tuple[str, ...]]]:
    """Number, case and the corrections to look at."""
    rng = np.random.default_rng(400)
    for number in range(QUICK if quick else ALL):
        several = number % 4 == 3
        n_max = int(rng.choice([12, 25, 40])) if quick else int(rng.choice([20, 60, 150, 400]))
        most = 6 if quick or n_max > 100 or number % 5 else 60
        case = random_case(rng, n_max, most, several)
        # A fit at every m of a large n takes most of the time: then one of three in turn.
        fitted = CORRECTIONS[2:]
        if quick or n_max > 150:
            fitted = fitted[number % 3 :][:1]
        yield number, case, (*CORRECTIONS[:2], *fitted)


def every_m(quick: bool) -> Iterator[Result]:
    """All random sets; the difference is the number of disagreements."""
    count: Counter[str] = Counter()
    seconds, wrong = timed(
        lambda: [
            line
            for number, case, corrections in cases(quick)
            for correction in corrections
            for line in check(case, correction, count, number)
        ]
    )
    print(*wrong[:20], sep="\n", end="")
    name = f"{QUICK if quick else ALL} random sets at every m"
    note = (
        f"{count['orders']:,} orders, {count['flips']:,} flips, {count['right']:,} right from some "
        f"m, {count['verdicts']:,} verdicts; {count['unsure']:,} pairs too near a tie left out"
    )
    yield Result(name, seconds, None, float(len(wrong)), 0, note=note)


BENCHMARKS = (every_m,)
