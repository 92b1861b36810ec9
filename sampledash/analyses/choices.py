"""Metrics, sampling schemes and slider steps that the pages offer, and their labels in menus."""

from __future__ import annotations

from sampledash import schemes
from sampledash.metrics import KINDS, Metric, metric, share_of
from sampledash.rows import Live


def _chips() -> dict[str, tuple[str, bool]]:
    names = {chip: name for name, kind in KINDS.items() for chip in kind.chips}
    ordered = sorted(names, key=lambda chip: not chip.endswith("@k"))
    share = {name for name, kind in KINDS.items() if kind.cutoff == "share"}
    return {chip: (names[chip], chip.endswith("@k") or names[chip] in share) for chip in ordered}


#: Menu label of a metric ("chip") -> metric name, and whether the metric uses the pages' cutoff k.
#: Labels that end in "@k" come first.
CHIPS = Live(_chips)
METRIC = "Recall@k"  # default metric of pages that show a single metric
# Label of a sampling scheme on the pages and in links -> name of the scheme in the package.
SCHEMES = Live(lambda: {schemes.SCHEMES[name].label: name for name in schemes.usual_first()})

# Values at which the sliders stop: mostly 1, 2 and 5 times powers of ten.
_DECADES = [f * 10**e for e in range(1, 9) for f in (1, 2, 5)]
LADDERS: dict[str, tuple[float, ...]] = {
    "n": (*_DECADES, 10**9),
    "m": (1, 2, 5, 10, 20, 50, 99, 100, 200, 500, 1000, 2000, 5000, 10_000),
    "budget": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "gamma": (*(round(f * 10**-e, 9) for e in range(0, 6) for f in (1, 0.5, 0.2)), 1e-6, 0.0),
    "rank": (1, 2, 3, *_DECADES[:-1], 5, 10**9),
}
LADDERS = {key: tuple(sorted(set(steps), reverse=key == "gamma")) for key, steps in LADDERS.items()}


def chip_metric(chip: str, k: int, n: int) -> Metric:
    """Return the metric with this label; for TOPK, k is converted to a share of n candidates."""
    name, truncated = CHIPS[chip]
    if KINDS[name].cutoff == "share":
        return metric(name, k=share_of(k, n))
    return metric(name, k=k if truncated else None)
