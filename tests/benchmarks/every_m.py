"""`flips`, `right_from` and `verdict` agree with the curves of random rank sets at every m. The
sets have n <= 400. The curves of expected sampled metrics themselves have separate tests."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pandas as pd

import sampledash as sd
from tests.benchmarks.frame import Result, timed
from tests.comparison.made import options_of, rank_set
from tests.oracles import POPULARITY, SCHEMES, WITHOUT

Row = tuple[int, tuple[int, ...]]  # n, ranks of the relevant items

CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "LS")
EVERY = "Recall@10 Precision@3 NDCG@10 NDCG AP AUC RR HitRate@5"
METRICS = [sd.parse_metric(text) for text in EVERY.split()]
TIED, UNSURE = 1e-12, (1e-13, 1e-11)  # differences of means within UNSURE are not checked
QUICK, ALL = 16, 200


@dataclass(frozen=True)
class Case:
    """Systems to compare, each a list of instances, and how negatives are sampled."""

    systems: list[list[Row]]
    scheme: str
    odds: float = 1.0
    weighting: str = "instances"

    @property
    def options(self) -> dict[str, Any]:
        return options_of(self.scheme, self.odds) | {"weighting": self.weighting}

    @property
    def sets(self) -> list[sd.RankSet]:
        systems = ([(n, [*ranks], [0] * len(ranks)) for n, ranks in rows] for rows in self.systems)
        return [rank_set(rows, name) for name, rows in zip("PQRSTUVW", systems, strict=False)]

    @property
    def m_max(self) -> int:
        top = max(n for rows in self.systems for n, _ in rows) - 1
        if self.scheme == WITHOUT:
            sizes = [{n - len(ranks) for n, ranks in rows} for rows in self.systems]
            top = min([max(map(max, sizes)), *(min(s) for s in sizes if len(s) == 1)])
        return top


def random_case(rng: np.random.Generator, n_max: int, most: int, several: bool) -> Case:
    """Return a random case with 2-4 systems that rank the same 1..``most`` instances."""
    scheme = str(rng.choice(SCHEMES))
    odds = float(rng.choice([0.5, 2.0, 5.0])) if scheme == POPULARITY else 1.0
    size = int(rng.integers(1, most + 1))
    n = np.full(size, rng.integers(6, n_max + 1))
    if rng.random() < 0.5:  # n differs between instances
        n = rng.integers(max(6, n_max // 4), n_max + 1, size)
    relevant = rng.integers(1, 4, size) if several else np.ones(size, dtype=np.int64)

    def drawn(power: float, total: int, items: int) -> Row:
        chance = np.arange(1, total + 1) ** (1 / power - 1)
        ranks = rng.choice(total, items, replace=False, p=chance / chance.sum()) + 1
        return total, tuple(sorted(ranks.tolist()))

    powers = (float(rng.choice([1.0, 2.0, 4.0])) for _ in range(int(rng.integers(2, 5))))
    each = list(zip(n.tolist(), relevant.tolist(), strict=True))
    systems = [[drawn(power, *row) for row in each] for power in powers]
    return Case(systems, scheme, odds, str(rng.choice(["instances", "relevant-items"])))


def order(difference: float) -> int:
    return 0 if abs(difference) <= TIED else (1 if difference > 0 else -1)


def flips_of(signs: dict[int, int]) -> list[int]:
    strict = [(m, s) for m, s in sorted(signs.items()) if s != 0]
    runs = [next(group)[0] for _, group in groupby(strict, key=lambda item: item[1])]
    return runs[1:]


def check(case: Case, correction: str, count: Counter[str], number: int = 0) -> list[str]:
    """Return where `flips`, `right_from` and `verdict` differ from the curves; update ``count``."""
    sets, wrong = case.sets, []
    top = case.m_max if correction != "LS" else min(case.m_max, 8)  # LS: rounding errors at large m
    options = case.options | {"correction": correction}
    m_max, middle = None if correction != "LS" else top, max(1, top // 3)
    judged = sd.verdict(METRICS, sets, middle, (correction,), m_max=m_max, **case.options)
    for x, metric in enumerate(METRICS):
        curve = sd.curve(metric, sets, range(1, top + 1), **options)
        means = [sd.mean(metric, one, weighting=case.weighting) for one in sets]
        flips: dict[tuple[str, str], list[int]] = defaultdict(list)
        for flip in sd.flips(metric, sets, m_max, **options):
            flips[flip.first, flip.second].append(flip.m)
        lines = judged[judged.metric == str(metric)]
        right = {"verdict": lines.right_from.tolist()}
        if x == number % len(METRICS):
            right["right_from"] = sd.right_from(metric, sets, m_max, **options).m.tolist()
        for row, (i, j) in enumerate(combinations(range(len(sets)), 2)):
            names, exactly = (sets[i].system, sets[j].system), means[i] - means[j]
            each = (curve[names[0]] - curve[names[1]]).to_dict()
            if any(UNSURE[0] < abs(d) < UNSURE[1] for d in (*each.values(), exactly)):
                count["unsure"] += 1
                continue
            signs, truth = {m: order(d) for m, d in each.items()}, order(exactly)
            line, ahead = lines.iloc[row], truth or 1
            last = max((m for m, sign in signs.items() if sign != truth), default=0)
            wanted = min((m for m in signs if m > last and truth), default=None)
            # tests/benchmarks/chances.py checks the probability itself.
            sure = {1: line.probability >= 0.95, -1: line.probability <= 0.05}
            side = signs[middle] * ahead
            state = {1: "right", -1: "wrong"}[side] if sure.get(side) else "undecided"
            checks = [
                ("flips", flips[names], flips_of(signs)),
                ("better", (line.better, line.worse), names[::ahead]),
                ("state", line.state, state if truth else "tied"),
                ("exact", abs(line.exact - abs(exactly)) <= 1e-12, True),
                ("sampled", abs(line.sampled - each[middle] * ahead) <= 1e-11, True),
            ]
            for what, values in right.items():
                ours = None if pd.isna(values[row]) else values[row]
                checks.append((f"{what} from", ours, wanted))
            where = f"set {number} {correction} {metric} {'-'.join(names)}"
            off = (f"{what} {ours}, not {true}" for what, ours, true in checks if ours != true)
            wrong += [f"{where}: {what}" for what in off]
            count.update(orders=len(signs), flips=len(flips_of(signs)), verdicts=1)
            count["right"] += wanted is not None
    return wrong


def cases(quick: bool) -> Iterator[tuple[int, Case, tuple[str, ...]]]:
    rng = np.random.default_rng(400)
    for number in range(QUICK if quick else ALL):
        n_max = int(rng.choice([12, 25, 40])) if quick else int(rng.choice([20, 60, 150, 400]))
        most = 6 if quick or n_max > 100 or number % 5 else 60
        case = random_case(rng, n_max, most, number % 4 == 3)
        # Fits at every m are slow for large n: then only one of CLS, BV and LS is checked.
        one = slice(number % 3, number % 3 + 1) if quick or n_max > 150 else slice(None)
        yield number, case, (*CORRECTIONS[:2], *CORRECTIONS[2:][one])


def every_m(quick: bool) -> Iterator[Result]:
    count: Counter[str] = Counter()
    every = [(case, x, count, number) for number, case, some in cases(quick) for x in some]
    seconds, wrong = timed(lambda: [line for asked in every for line in check(*asked)])
    print(*wrong[:20], sep="\n", end="")
    name = f"{QUICK if quick else ALL} random sets at every m"
    note = "{orders:,} orders, {flips:,} flips, {right:,} right from some m, {verdicts:,} verdicts"
    note = f"{note}; {{unsure:,}} pairs too near a tie left out".format_map(count)
    yield Result(name, seconds, None, float(len(wrong)), 0, note=note)


BENCHMARKS = (every_m,)
