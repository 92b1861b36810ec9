"""Lesson 11: a test corpus is a sample of a larger corpus."""

from functools import cache, lru_cache
from typing import NamedTuple

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import METRIC, Numbers
from sampledash.analyses.paper.wild import CUTOFFS, M, N, systems
from sampledash.report.numbers import count, percent

SIZES = (1_000, 2_000, 5_000, 20_000, 100_000, 1_000_000)
# Systems in the picture. The printed Recall@10 orders the first two systems differently on 1,000
# images and on 5,000 images.
NAMES = ("VSRN BUTD", "CASC ResNet", "CSE ResNet")


class Allowed(NamedTuple):
    """What numbers printed for a sample say about ``METRIC`` on the corpus: ranges, an estimate.

    The range ``free`` needs no assumption; ``falling`` assumes that no rank is rarer than the next
    worse rank.
    """

    free: sliding.Range
    falling: sliding.Range
    estimate: float


@cache
def printed() -> dict[str, dict[str, float]]:
    """Map each system's name to the metrics that papers print, as shares (0 to 1).

    The metric ``r10_1k`` is Recall@10 on 1,000 images.
    """
    table = systems().assign(name=lambda rows: rows["method"] + " " + rows["note"])
    columns = [f"r{k}_{size}" for size in ("1k", "5k") for k in CUTOFFS]
    rows = (table.set_index("name").loc[list(NAMES), columns] / 100).round(3)
    return {str(name): dict(zip(columns, row, strict=True)) for name, *row in rows.itertuples()}


@lru_cache(maxsize=64)
def allowed(name: str, n: int) -> Allowed:
    """Return what a system's metrics on 1,000 images say about ``METRIC`` on n images.

    The 1,000 images are a sample of the n images.
    """
    observed = {f"R@{k}": printed()[name][f"r{k}_1k"] for k in CUTOFFS}
    if n == M + 1:
        exact = observed["R@10"]
        return Allowed((exact, exact), (exact, exact), exact)
    given = METRIC, observed, n, M, 3
    free, falling = (sd.bounds_from_table(*given, None, x) for x in (None, "non-increasing"))
    return Allowed(free, falling, sd.estimate_from_table(*given).value)


def numbers(variant: str) -> Numbers:
    name = NAMES[0]
    on_sample, on_all = (printed()[name][f"r10_{size}"] for size in ("1k", "5k"))
    whole = allowed(name, N)
    lost = {name: values["r10_1k"] - values["r10_5k"] for name, values in printed().items()}
    most = max(lost, key=lost.__getitem__)
    half = next(n for n in SIZES if allowed(name, n).estimate < 0.5)
    return {
        "name": name.split()[0],
        "tested": M + 1,
        "other": most.split()[0],
        "half": half,
        "before_half": SIZES[SIZES.index(half) - 1],
        "on_sample": on_sample,
        "on_all": on_all,
        "naive": on_sample - on_all,
        "fifth": on_sample * (M + 1) / N,
        "free": sliding.from_to(whole.free),
        "assumed": sliding.from_to(whole.falling),
        "estimate": whole.estimate,
        "lost": lost[most],
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw the metric on 1,000 images; once the answer is ``revealed``, its range on n images."""
    on_sample, on_all = ([printed()[name][f"r10_{x}"] for name in NAMES] for x in ("1k", "5k"))
    shown = [name.split()[0] for name in NAMES]
    if not revealed:
        title = f"<b>{METRIC} on {count(M + 1)} images</b>,<br>as printed"
        return sliding.truths(METRIC, shown, on_sample, 1.0, title, dark)
    steps = {}
    for n in SIZES:
        values = [allowed(name, n) for name in NAMES]
        wide, narrow, estimates = zip(*values, strict=True)
        known = {M + 1: on_sample, N: on_all}.get(n)
        title = (
            f"<b>{shown[0]} on {count(n)}: estimated {percent(values[0].estimate)}</b>"
            f"<br>{sliding.from_to(values[0].free)}; narrow: if ranks fall off"
            f"{', ┃ printed' if known else ''}"
        )
        steps[count(n)] = sliding.ranges(wide, narrow, known or estimates, dark), title
    layout = {"barmode": "overlay", **sliding.rows(METRIC, shown, 1.0, dark)}
    return sliding.sliding([], steps, count(N), prefix="n = ", dark=dark, **layout)
