"""Write sentences on estimates of exact metrics from sampled ranks, with ``estimates.jinja``."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal

from sampledash.estimation.bounds import Range, decided, side
from sampledash.report.escape import short_name
from sampledash.report.numbers import MOST_NAMED, percent
from sampledash.report.templates import Sentences
from sampledash.sampled_rank_sets import READINGS

say = Sentences(Path(__file__).with_suffix(".jinja"), MOST_NAMED=MOST_NAMED)
# Whether the order of systems is decided -> icon and colour beside the main sentence.
VERDICTS = {
    "decided": (":material/check_circle:", "green"),
    "if falling": (":material/rule:", "orange"),
    "cannot tell": (":material/help:", "gray"),
}
# Why a page does not use the estimator that the user has chosen: the data contradict its
# assumption, n differs between systems, m correlates with the rank, an estimate is outside the
# range of its system, or m depended on the drawn negatives (or may have).
Reason = Literal["contradicted", "n", "m", "range", "adaptive"]


def goes_with_rank(systems: Sequence[str], chance: float | None) -> str:
    """Return sentences on systems whose number of negatives m correlates with the rank.

    ``chance`` is the largest p-value, over these systems, of the test that m is independent of the
    rank. It is None if the data themselves state that m depended on the drawn negatives.
    """
    return say.goes_with_rank(systems, None if chance is None else round(1 / max(chance, 1e-6)))


def by_reading(values: Mapping[str, Sequence[float]], method: str) -> str:
    """Return a sentence on systems with two estimates each.

    It is unknown how m, the number of negatives, was set. One estimate is valid if m was set before
    the draw, the other if m depended on the negatives drawn so far. ``method`` is the estimator.
    """
    named = [(short_name(name), estimates) for name, estimates in values.items()]
    return say.by_reading(named, READINGS, method)


def unlike(metric: str, n: Mapping[str, int], m: Mapping[str, int]) -> Iterator[str]:
    """Yield a warning if systems differ in n (candidates), and another for m (sampled negatives).

    ``n`` and ``m`` map the names of the systems to these numbers.
    """
    for symbol, sizes in {"n": n, "m": m}.items():
        low, high = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        if sizes[low] != sizes[high]:
            yield say.unlike(symbol, metric, low, high, sizes)


def told_apart(free: Sequence[Range], falling: Sequence[Range | None]) -> str:
    """Return the key of :data:`VERDICTS` that says whether ranges decide the order of all systems.

    A range contains the difference between the metrics of two systems. It decides their order if it
    excludes 0 or holds only 0. The ranges ``free`` need no assumption. The ranges ``falling``
    assume that no rank is more frequent than a better rank; a range that is not available is None.
    """
    if decided(free) == len(free):
        return "decided"
    return "if falling" if decided(falling) == len(falling) else "cannot tell"


def wins(differences: Sequence[Range], systems: int) -> list[int]:
    """Return, for each system, how many other systems are worse according to ``differences``.

    ``differences`` holds a range of metric(i) - metric(j) for each pair i < j of systems, ordered
    as by ``itertools.combinations``. If a range contains 0, neither system counts as worse.
    """
    pairs = zip(combinations(range(systems), 2), map(side, differences), strict=True)
    better = [pair[sign < 0] for pair, sign in pairs if sign]
    return [better.count(system) for system in range(systems)]


def alone(metric: str, system: str, ends: tuple[float, float], sampled: bool = False) -> str:
    """Return a sentence on the range ``ends`` of a system's metric.

    If it is a 95 % confidence range, computed from ``sampled`` ranks, the sentence says so.
    """
    return say.alone(metric, system, *map(percent, ends), sampled)


def span(low: float, high: float) -> str:
    """Write a range of differences in percentage points: ``+1.00 to +2.50 points``."""
    low, high = (round(100 * end, 2) + 0 for end in (low, high))  # + 0: never -0.00
    return f"{low:+.2f} to {high:+.2f} points".replace("-", "−")
