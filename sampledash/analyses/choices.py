"""Options of the metrics and schemes, with the labels used on the pages and in links."""

from __future__ import annotations

from sampledash import schemes
from sampledash.metrics import KINDS, Metric, metric, share_of
from sampledash.rows import Live


def _chips() -> dict[str, tuple[str, bool]]:
    names = {chip: name for name, kind in KINDS.items() for chip in kind.chips}
    ordered = sorted(names, key=lambda chip: not chip.endswith("@k"))
    share = {name for name, kind in KINDS.items() if kind.cutoff == "share"}
    return {chip: (names[chip], chip.endswith("@k") or names[chip] in share) for chip in ordered}


#: Chip -> metric name, and whether the shared cutoff k applies. Chips "...@k" come first.
CHIPS = Live(_chips)
METRIC = "Recall@k"  # default metric of a page that shows a single metric
# Label of a scheme on the pages and in links -> its name in the package.
SCHEMES = Live(lambda: {schemes.SCHEMES[name].label: name for name in schemes.usual_first()})


def chip_metric(chip: str, k: int, n: int) -> Metric:
    """Return the metric of a chip; the cutoff of TOPK is k as a share of the n candidates."""
    name, truncated = CHIPS[chip]
    if KINDS[name].cutoff == "share":
        return metric(name, k=share_of(k, n))
    return metric(name, k=k if truncated else None)
