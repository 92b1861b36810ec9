"""Audits of made lists of negatives: faults found, false alarms, coverage of α, and speed."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import sampledash as sd
from tests.benchmarks.frame import Result, timed

Made = dict[str, Any]
SEEDS = 300


def made(
    seed: int, lists: int = 200, n: int = 300, m: int = 20, *, alpha: float = 0.0,
    once: bool = True, history: bool = False, pool: float = 1.0, even: int = 0,
) -> Made:  # fmt: skip
    """Draw arguments of ``sd.audit``: lists by popularity**alpha from the lowest ids (``pool``),
    without the relevant item and, unless ``history``, without what the instance has taken. The
    first ``even`` negatives of a list without replacement are drawn uniformly."""
    rng = np.random.default_rng([seed, lists, n, m])
    likely = rng.permutation(np.arange(1, n + 1) ** -0.9 * rng.lognormal(0, 0.5, n))
    user = np.repeat(np.arange(4 * lists), rng.integers(3, 30, 4 * lists))
    pairs = np.unique(np.stack([user, rng.choice(n, len(user), p=likely / likely.sum())]), axis=1)
    mine, relevant = pairs[:, pairs[0] < lists], rng.integers(0, n, lists)
    popularity = np.bincount(pairs[1], minlength=n)
    weights = np.tile(np.where(popularity > 0, popularity, not alpha) ** float(alpha), (lists, 1))
    weights[:, int(pool * n) :] = weights[np.arange(lists), relevant] = 0
    if not history:
        weights[mine[0], mine[1]] = 0
    if once:  # the items whose exponential clocks ring first
        clocks = rng.exponential(size=weights.shape) / np.maximum(weights, 1e-300)
        if even:
            race = np.where(weights > 0, rng.exponential(size=weights.shape), np.inf)
            np.put_along_axis(clocks, np.argpartition(race, even, axis=1)[:, :even], 0.0, axis=1)
        drawn = np.argpartition(clocks, m, axis=1)[:, :m]
    else:
        drawn = np.array([rng.choice(n, m, p=row / row.sum()) for row in weights])
    places = rng.integers(1, m + 2, lists)
    return dict(negatives=[*drawn], positives=relevant, interactions=pairs.T, places=places)


def _put(first: int, item: Callable[[Made, int], Any]) -> Callable[[Made], None]:
    """Return a function that puts an item into each twentieth list, from the list ``first``."""

    def change(data: Made) -> None:
        for row in range(first, len(data["negatives"]), 20):
            data["negatives"][row] = np.append(data["negatives"][row][1:], item(data, row))

    return change


#: Faults by the name of their finding, as functions that change what :func:`made` returns.
FAULTS: dict[str, Callable[[Made], None]] = {
    "lists that are shared": lambda x: x.update(
        negatives=x["negatives"][:1] * 59 + x["negatives"][59:]
    ),
    "lists of different length": lambda x: x.update(
        negatives=[part[3 * (row % 9 == 0) :] for row, part in enumerate(x["negatives"])],
        places=np.maximum(x["places"] - 3, 1),
    ),
    "items of the history": _put(
        1, lambda x, row: x["interactions"][x["interactions"][:, 0] == row, 1][0]
    ),
    "duplicates in a list": _put(2, lambda x, row: x["negatives"][row][1]),
    "relevant item among its negatives": _put(3, lambda x, row: x["positives"][row]),
    "instance given again": lambda x: x.update(
        negatives=[*x["negatives"][:-1], x["negatives"][0]],
        positives=np.append(x["positives"][:-1], x["positives"][0]),
        instances=np.append(np.arange(len(x["positives"]) - 1), 0),
    ),
    "relevant item always at one place": lambda x: x.update(places=np.ones(len(x["places"]), int)),
}
#: Draws that are not uniform: the names of their findings, and options of :func:`made`.
DRAWS: list[tuple[set[str], dict[str, float]]] = [
    ({"not drawn uniformly"}, {"alpha": 0.5}),
    ({"not drawn uniformly"}, {"alpha": 1}),
    ({"pool smaller than the catalogue"}, {"pool": 0.8}),
    ({"pool smaller than the catalogue", "not drawn uniformly"}, {"pool": 0.8, "alpha": 0.75}),
    ({"not drawn uniformly"}, {"alpha": 1, "even": 10}),
]


def missed(*faults: str, seeds: int, way: int | None = None) -> int:
    """Return in how many seeds an audit does not find all these faults in draws of this way.

    It also has to find that there is no scheme for draws of which a part is uniform.
    """
    names, options = (set[str](), dict[str, Any]()) if way is None else DRAWS[way]
    misses = 0
    for seed in range(seeds):
        data = made(seed, **options)
        for fault in faults:
            FAULTS[fault](data)
        result = sd.audit(**data)
        found = {*faults, *names} <= set(result.findings["finding"])
        misses += not found or (result.scheme is None) != ("even" in options)
    return misses


def find(quick: bool) -> Iterator[Result]:
    """Find each fault in 99 % of the seeds, alone and together."""
    seeds = 5 if quick else SEEDS
    cases = [((fault,), None) for fault in FAULTS] + [((), way) for way in range(len(DRAWS))]
    for faults, way in (*cases, (tuple(FAULTS), 3), (tuple(FAULTS), 4)):
        options = "" if way is None else DRAWS[way][1]
        name = f"missed in {seeds} seeds: {', '.join(faults)[:40]} {options}"
        yield Result(name, 0, None, missed(*faults, seeds=seeds, way=way), seeds // 100)


def alarms(quick: bool) -> Iterator[Result]:
    """Raise a false alarm in at most 1 % of clean lists, uniform or by a power of popularity."""
    seeds, sizes = (3, (200,)) if quick else (SEEDS, (200, 6040))
    powers = (0.75,) if quick else (0.5, 0.75, 1)
    cases = [*product(sizes, (0,), (True,), (False, True), (300, 3706), (20, 99))]
    cases += product((200,), powers, (True, False), (False,), (300, 3706), (20, 99))
    for lists, alpha, once, history, n, m in cases:
        right = {"items of the history"} if history else set[str]()
        right |= {"not drawn uniformly"} if alpha else set()
        right |= set() if once else {"duplicates in a list"}
        wrong = 0
        for seed in range(seeds):
            result = sd.audit(**made(seed, lists, n, m, alpha=alpha, once=once, history=history))
            wrong += set(result.findings["finding"]) != right or result.scheme is None
        way = f"{lists} x {m} of {n}, α = {alpha}, without replacement {once}, history {history}"
        yield Result(f"false alarms in {seeds} seeds: {way}", 0, None, wrong, seeds // 100)


def coverage(quick: bool) -> Iterator[Result]:
    """Cover α in 95 % of the seeds, up to 4 standard errors."""
    seeds, sizes = (12, ((300, 20),)) if quick else (SEEDS, ((300, 20), (1000, 99), (3706, 99)))
    for (n, m), alpha, once in product(sizes, (0, 0.5, 0.75, 1), (True, False)):
        data = (made(seed, n=n, m=m, alpha=alpha, once=once) for seed in range(seeds))
        ends = np.array([sd.audit(**x).alpha_interval for x in data]).T
        share = np.mean((ends[0] <= alpha) & (alpha <= ends[1]))
        name = f"coverage {share:.3f} of α = {alpha}, {m} of {n}, without replacement: {once}"
        yield Result(name, 0, None, abs(share - 0.95), 4 * (0.95 * 0.05 / seeds) ** 0.5)


def speed(quick: bool) -> Iterator[Result]:
    """Audit 6,040 lists of 99 of 3,706 items in 3 s."""
    ours, _ = timed(partial(sd.audit, **made(1, 200 if quick else 6040, 3706, 99)), 3)
    yield Result("audit of 6,040 lists of 99", ours, None, None, 0, within=3)


BENCHMARKS = (find, alarms, coverage, speed)
