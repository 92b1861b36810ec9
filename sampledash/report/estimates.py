"""Write sentences on estimates of exact metrics from sampled ranks, with ``estimates.jinja``."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from sampledash.estimation.bounds import Range, decided
from sampledash.report.escape import short_name
from sampledash.report.numbers import MOST_NAMED, percent
from sampledash.report.sentences import ranking
from sampledash.report.templates import Sentences
from sampledash.sampled_rank_sets import READINGS

say = Sentences(Path(__file__).with_suffix(".jinja"))
# For each verdict on the order of systems in a page's headline: its icon and its colour.
VERDICTS = {
    "decided": (":material/check_circle:", "green"),
    "if falling": (":material/rule:", "orange"),
    "cannot tell": (":material/help:", "gray"),
}
# Why a page shows another estimator than the user has chosen.
Reason = Literal["contradicted", "n", "m", "range", "adaptive"]


def goes_with_rank(systems: Sequence[str], chance: float | None) -> str:
    """Return sentences on systems whose number of negatives m depends on the rank.

    ``chance`` is the p-value of this dependence, or None if the data say that the drawn negatives
    decided m.
    """
    evaluations = None if chance is None else round(1 / max(chance, 1e-6))
    return say.goes_with_rank(systems, evaluations)


def by_reading(values: Mapping[str, Sequence[float]], method: str) -> str:
    """Return a sentence: each system's estimate if m was fixed, and if the drawn items set m."""
    named = [(short_name(name), estimates) for name, estimates in values.items()]
    return say.by_reading(named, READINGS, method)


def unlike(metric: str, n: Mapping[str, int], m: Mapping[str, int]) -> Iterator[str]:
    """Yield a warning for each of n and m (numbers by system) that differs between systems."""
    for symbol, sizes in {"n": n, "m": m}.items():
        low, high = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        if sizes[low] != sizes[high]:
            yield say.unlike(symbol, metric, low, high, sizes)


def told_apart(free: Sequence[Range], falling: Sequence[Range | None]) -> str:
    """Return a key of :data:`VERDICTS`: do the ranges of differences decide the order of each pair?

    ``falling`` assumes that no rank is more frequent than a better rank; ``free`` assumes nothing.
    """
    if decided(free) == len(free):
        return "decided"
    return "if falling" if decided(falling) == len(falling) else "cannot tell"


def sentence(
    metric: str,
    word: str,
    systems: Sequence[str],
    values: Sequence[float],
    method: str,
    range_of_first: tuple[float, float],
) -> str:
    """Return the headline of a page of estimates, in at most 25 words.

    ``word`` is a key of :data:`VERDICTS`; ``values`` are estimates by ``method``, one per system;
    ``range_of_first`` is used for a single system only.
    """
    if len(systems) == 1:
        estimate = say.estimated(method, values[0])
        return f"{alone(metric, systems[0], range_of_first)} {estimate}"
    named, order = len(systems) <= MOST_NAMED, ranking(systems, values)
    return say.sentence(metric, word, order, len(systems), method, named)


def alone(metric: str, system: str, ends: tuple[float, float]) -> str:
    """Return a sentence on the range of the metric of a single system."""
    return say.alone(metric, system, *map(percent, ends))


def span(low: float, high: float) -> str:
    """Write a range of differences in percentage points: ``+1.00 to +2.50 points``."""
    return f"{100 * low:+.2f} to {100 * high:+.2f} points".replace("-", "−")


def best_gamma(table: pd.DataFrame, metric: str) -> str:
    """Return a sentence that compares the γ of smallest error with that in the first row, 1/|D|."""
    return say.best_gamma(metric, table.iloc[int(table["mse"].argmin())], table.iloc[0])


def price_of_gamma(table: pd.DataFrame) -> str:
    """Return a sentence on the correction with smallest γ: largest value, condition number."""
    return say.price_of_gamma(table.iloc[int(table["gamma"].argmin())])
