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
    once: bool = True, history: bool = False, pool: float = 1.0,
) -> Made:  # fmt: skip
    """Draw arguments of ``sd.audit``: lists by popularity**alpha from the lowest ids (``pool``),
    without the relevant item and, unless ``history``, without what the instance has taken."""
    rng = np.random.default_rng([seed, lists, n, m])
    likely = rng.permutation(np.arange(1, n + 1) ** -0.9 * rng.lognormal(0, 0.5, n))
    user = np.repeat(np.arange(4 * lists), rng.integers(3, 30, 4 * lists))
    pairs = np.unique(np.stack([user, rng.choice(n, len(user), p=likely / likely.sum())]), axis=1)
    mine = pairs[:, pairs[0] < lists]
    relevant = rng.integers(0, n, lists)
    popularity = np.bincount(pairs[1], minlength=n)
    weights = np.tile(np.where(popularity > 0, popularity, not alpha) ** float(alpha), (lists, 1))
    weights[:, int(pool * n) :] = 0
    weights[np.arange(lists), relevant] = 0
    if not history:
        weights[mine[0], mine[1]] = 0
    if once:  # the first m of exponential clocks
        clocks = rng.exponential(size=weights.shape) / np.maximum(weights, 1e-300)
        drawn = np.argpartition(clocks, m, axis=1)[:, :m]
    else:
        drawn = np.array([rng.choice(n, m, p=row / row.sum()) for row in weights])
    places = rng.integers(1, m + 2, lists)
    return {"negatives": list(drawn), "positives": relevant, "interactions": pairs.T} | {
        "places": places
    }


def _put(data: Made, first: int, items: Callable[[int], Any]) -> None:
    """Put an item into each twentieth list, from the list ``first``."""
    for row in range(first, len(data["negatives"]), 20):
        data["negatives"][row] = np.append(data["negatives"][row][1:], items(row))


def _seen(data: Made) -> None:
    users, items = data["interactions"].T
    _put(data, 1, lambda row: items[np.searchsorted(users, row)])


def _shorten(data: Made) -> None:
    data["negatives"][::9] = [part[3:] for part in data["negatives"][::9]]


def _share(data: Made) -> None:
    data["negatives"][1:60] = [data["negatives"][0]] * 59


#: Faults by the name of their finding, as functions that change what :func:`made` returns.
FAULTS: dict[str, Callable[[Made], None]] = {
    "lists that are shared": _share,
    "lists of different length": _shorten,
    "items of the history": _seen,
    "duplicates in a list": lambda data: _put(data, 2, lambda row: data["negatives"][row][1]),
    "relevant item among its negatives": lambda x: _put(x, 3, lambda row: x["positives"][row]),
    "relevant item always at one place": lambda x: x.update(places=np.ones(len(x["places"]), int)),
}
#: Draws that are not uniform, by the name of their finding, as options of :func:`made`.
DRAWS: dict[str, list[dict[str, float]]] = {
    "not drawn uniformly": [{"alpha": 0.5}, {"alpha": 1}],
    "pool smaller than the catalogue": [{"pool": 0.8}, {"pool": 0.8, "alpha": 0.75}],
}


def found(data: Made) -> set[str]:
    return set(sd.audit(**data).findings["finding"])


def missed(seeds: range) -> Iterator[tuple[str, int]]:
    """Yield each fault and in how many seeds the audit does not find it, alone and together."""
    for name, change in FAULTS.items():
        misses = 0
        for seed in seeds:
            data = made(seed)
            change(data)
            misses += name not in found(data)
        yield name, misses
    for name, ways in DRAWS.items():
        for way in ways:
            yield f"{name} {way}", sum(name not in found(made(seed, **way)) for seed in seeds)
    misses = 0
    for seed in seeds:
        data = made(seed, pool=0.8, alpha=0.75)
        for change in FAULTS.values():
            change(data)
        misses += found(data) != {*FAULTS, *DRAWS}
    yield "all together", misses


def faults(quick: bool) -> Iterator[Result]:
    """Find each fault, alone and together, in 99 % of the seeds."""
    for name, misses in missed(range(3 if quick else SEEDS)):
        yield Result(f"missed in {SEEDS} seeds: {name}", 0, None, misses, SEEDS // 100)


def alarms(quick: bool) -> Iterator[Result]:
    """Raise a false alarm in at most 1 % of clean uniform lists."""
    grid = product((200,) if quick else (200, 6040), (300, 3706), (20, 99), (False, True))
    for lists, n, m, history in grid:
        right = {"items of the history"} if history else set()
        seeds = range(2 if quick else SEEDS)
        wrong = [found(made(seed, lists, n, m, history=history)) - right for seed in seeds]
        note = " ".join(f"{x}" for x in wrong if x)
        name = f"false alarms in {SEEDS} seeds: {lists} x {m} of {n}, history {history}"
        yield Result(name, 0, None, sum(map(bool, wrong)), SEEDS // 100, note=note)


def covered(seed: int, **way: Any) -> bool:
    low, high = sd.audit(**made(seed, **way)).alpha_interval
    return bool(low <= way["alpha"] <= high)


def coverage(quick: bool) -> Iterator[Result]:
    """Cover α in 95 % of the seeds, up to 4 standard errors."""
    seeds, sizes = (range(3), 1) if quick else (range(SEEDS), 3)
    for (n, m), alpha, once in product(
        ((300, 20), (1000, 99), (3706, 99))[:sizes], (0, 0.5, 0.75, 1), (True, False)
    ):
        run = partial(covered, n=n, m=m, alpha=alpha, once=once)
        share = np.mean([run(seed) for seed in seeds])
        name = f"coverage of α = {alpha}, {m} of {n}, {'once' if once else 'again'}: {share:.3f}"
        yield Result(name, 0, None, abs(share - 0.95), 1 if quick else 0.05)


def speed(quick: bool) -> Iterator[Result]:
    """Audit 6,040 lists of 99 of 3,706 items in 3 s."""
    data = made(1, 200 if quick else 6040, 3706, 99)
    ours, _ = timed(partial(sd.audit, **data), 3)
    yield Result(f"audit of {len(data['negatives']):,} lists of 99", ours, None, None, 0, within=3)


BENCHMARKS = (faults, alarms, coverage, speed)
