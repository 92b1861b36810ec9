"""Metrics, sampling schemes and slider steps that the pages offer, and their labels in menus."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal

from sampledash import schemes
from sampledash.grids import MOST
from sampledash.metrics import KINDS, Metric, metric, share_of
from sampledash.report.numbers import count, gamma
from sampledash.rows import Live


def _chips() -> dict[str, tuple[str, bool]]:
    names = {chip: name for name, kind in KINDS.items() for chip in kind.chips}
    ordered = sorted(names, key=lambda chip: not chip.endswith("@k"))
    share = {name for name, kind in KINDS.items() if kind.cutoff == "share"}
    return {chip: (names[chip], chip.endswith("@k") or names[chip] in share) for chip in ordered}


#: Menu label of a metric ("chip") -> metric name, and whether the metric uses the cutoff k that the
#: user sets.
CHIPS = Live(_chips)
#: Menu entries: where the candidates of a test come from.
CANDIDATES = ("Sampled negatives", "A sample of a larger corpus")
METRIC = "Recall@k"  # default metric of pages that show a single metric


#: A way to draw by popularity that only old links to the Explore page can choose: all items above
#: the relevant item have one sampling weight, all items below have another. Without such a link,
#: the page draws by popularity from simulated items, each with its own weight.
ODDS = "odds"
#: Label of a sampling scheme on the pages and in links -> name of the scheme in the package.
SCHEMES = Live(
    lambda: {**{schemes.SCHEMES[x].label: x for x in schemes.usual_first()}, ODDS: "popularity"}
)
#: Argument of :func:`schemes.possible` on pages with simulated items, which have no rank sets.
CATALOGUE = (SimpleNamespace(classes=True, mass_above=None, strata=None),)


def offered(sets: Sequence[object] = ()) -> dict[str, schemes.Scheme]:
    """Return the sampling schemes that these rank sets allow: a map from menu labels to names."""
    return {schemes.SCHEMES[name].label: name for name in schemes.possible(sets)}


@dataclass(frozen=True)
class Number:
    """A number that the user sets by a slider from ``low`` to ``high``, logarithmic by default.

    A logarithmic scale has no 0. If ``low`` is 0, the scale begins at ``least``, and this end of
    the slider means 0.
    """

    label: str
    low: float
    high: float
    #: How the number is written: "count" as a whole number, the others as decimals. "even" also
    #: makes the scale linear.
    kind: Literal["count", "gamma", "even"] = "count"
    least: float = 1

    def write(self, value: float) -> str:
        """Return a value of this number as text."""
        return count(value) if self.kind == "count" else gamma(value)


#: Numbers that the user sets by sliders. The keys are also the parameters in links to pages.
NUMBERS: dict[str, Number] = {
    "m": Number("m, negatives", 1, MOST),
    "n": Number("n, candidates", 2, 10**9),
    "k": Number("k, cutoff", 1, 10**9),
    "rank": Number("r, true rank", 1, 10**9),
    "gamma": Number("γ", 0, 1, "gamma", 1e-6),
    "odds": Number("ω, odds", 0.01, 100, "gamma"),
    "zipf": Number("s, Zipf", 0, 2, "even"),
    "bestsellers": Number("b, bestsellers", 0, 1, "even"),
    "budget": Number("Scores per instance", 1, 1000),
}


def stops(low: float, high: float, steps: Sequence[float] = (1, 1.5, 2, 3, 5, 7)) -> list[int]:
    """Return the stops of a slider: both ends, and integers ``step * 10**e`` with e = 0, 1, ...

    Examples
    --------
    >>> stops(1, 150, (1, 2, 5))
    [1, 2, 5, 10, 20, 50, 100, 150]
    """
    powers = range(len(str(int(high))))
    inner = {round(step * 10**e) for e in powers for step in steps if step * 10**e % 1 == 0}
    return sorted({int(low), int(high), *(x for x in inner if low < x < high)})


def chip_metric(chip: str, k: int, n: int) -> Metric:
    """Return the metric with the menu label ``chip``, with the cutoff ``k`` if it has a cutoff.

    The metric TOPK has a share of the list of ``n`` items as its cutoff: about k / n.
    """
    name, truncated = CHIPS[chip]
    if KINDS[name].cutoff == "share":
        return metric(name, k=share_of(k, n))
    return metric(name, k=k if truncated else None)
