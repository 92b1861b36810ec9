"""Explore in words: what sampling does to a metric at one rank, and why."""

from __future__ import annotations

from sampledash.metrics import Metric
from sampledash.report.numbers import count, decimal, percent, tex_count, tex_number, tex_percent
from sampledash.sampling import Sampling

SAME = 1e-9  # closer is rounding

_SCHEME_NAME = {
    "with-replacement": "with replacement",
    "without-replacement": "without replacement",
    "popularity": "by popularity",
}


def drawn(sampling: Sampling) -> str:
    """How the negatives are drawn, as the start of a sentence.

    Examples
    --------
    >>> drawn(Sampling(10_000, 100, "without-replacement"))
    'With 100 of 9,999 negatives'
    """
    m, pool = count(sampling.m), count(sampling.n - 1)
    if sampling.scheme == "without-replacement":
        return f"With {m} of {pool} negatives"
    return f"With {m} negatives drawn {_SCHEME_NAME[sampling.scheme]} from {pool}"


def sentence(metric: Metric, rank: int, sampling: Sampling, exact: float, mean: float) -> str:
    """The page in at most 25 words."""
    start = f"{drawn(sampling)}, rank {count(rank)} scores {metric} {_is(mean)}"
    if abs(exact - mean) < SAME:
        return f"{start} in expectation, the same as on all items."
    return f"{start} in expectation; on all items {percent(exact)}."


def _is(value: float) -> str:
    """``= 63.66 %``, or ``< 0.01 %`` for what would print as zero and is not."""
    shown = percent(value)
    return shown if shown.startswith("<") else f"= {shown}"


def looks_like(metric: Metric, rank: int, sampling: Sampling) -> str:
    """What happens to the rank: how many of the items above are drawn."""
    above = rank - 1
    if above == 0:
        return "Nothing is ranked above rank 1, so every sample shows it at rank 1."
    share = float(sampling.share_above(rank))
    items = f"{count(above)} items above" if above > 1 else "1 item above"
    if share * sampling.m >= above - 1e-9:
        return f"The sample holds every one of the {items}: nothing is lost."
    start = (
        f"Of the {items}, on average {decimal(sampling.m * share)} enter the sample, so true rank "
        f"{count(rank)} looks like rank {decimal(1 + sampling.m * share)}."
    )
    if metric.linear or metric.share is not None:
        kept = "the same" if sampling.scheme != "popularity" else "another"
        return f"{start} As a share of the list that is {kept}, and {metric} looks at the share."
    return f"{start} The metric is then taken at a rank that is too good."


def formula(metric: Metric, rank: int, sampling: Sampling, exact: float, mean: float) -> list[str]:
    """The steps from the true rank to the expected sampled metric, as TeX with the numbers."""
    n, m = sampling.n, sampling.m
    above, below = (float(x) for x in sampling.weights(rank))
    share = float(sampling.share_above(rank))
    name = _tex_name(metric)
    if sampling.scheme == "popularity":
        p = (
            r"q = \frac{\omega\,(r-1)}{\omega\,(r-1) + n - r} = "
            rf"\frac{{{tex_number(above, 6)}}}{{{tex_number(above + below, 6)}}}"
        )
    else:
        p = rf"p = \frac{{r-1}}{{n-1}} = \frac{{{tex_count(rank - 1)}}}{{{tex_count(n - 1)}}}"
    if sampling.scheme == "without-replacement":
        law = (
            r"\tilde r - 1 \sim \mathrm{Hypergeometric}"
            rf"({tex_count(n - 1)},\, {tex_count(rank - 1)},\, {tex_count(m)})"
        )
    else:
        law = rf"\tilde r - 1 \sim \mathrm{{Binomial}}({tex_count(m)},\, {tex_number(share)})"
    return [
        rf"{p} = {tex_number(share)}",
        rf"{law},\qquad E[\tilde r] = 1 + {tex_count(m)} \cdot {tex_number(share)} = "
        rf"{tex_number(1 + m * share)}",
        _expectation(metric, name, sampling, rank) + rf" = {tex_percent(mean)}",
        rf"{name}(r) = {metric.tex},\qquad {name}({tex_count(rank)}) = {tex_percent(exact)}",
    ]


def source(metric: Metric) -> str:
    """Where the formulas come from."""
    steck = "Steck, Training and Testing of Recommender Systems, KDD 2010, eq. 1-5; "
    rendle = "Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eq. 7-19."
    return (steck if metric.of_others else "") + rendle


def _tex_name(metric: Metric) -> str:
    label = rf"\mathrm{{{metric.label}}}"
    cutoff = metric.k if metric.share is None else f"{metric.share:g}"
    return label if cutoff is None else rf"{label}_{{{cutoff}}}"


def _expectation(metric: Metric, name: str, sampling: Sampling, rank: int) -> str:
    """The expectation in the form the paper gives it (eq. 16-19)."""
    start = rf"E[{name}(\tilde r)] = "
    uniform = sampling.scheme != "popularity"
    if metric.linear and uniform:
        return start + r"\frac{n - r}{n - 1}"
    if metric.share is not None:
        share = rf"P\left(\tfrac{{\tilde r - 1}}{{m}} \le {metric.share:g}\right)"
        return start + rf"{share} = P(\tilde r \le {tex_count(metric.cut(sampling.m) or 1)})"
    if metric.on_lattice:
        factor = rf"\tfrac{{1}}{{{metric.k}}}\, " if metric.name == "precision" else ""
        return start + rf"{factor}P(\tilde r \le {metric.k})"
    if (
        metric.name in ("ap", "rr")
        and metric.k is None
        and sampling.scheme == "with-replacement"
        and rank > 1
    ):
        return start + r"\frac{1 - (1-p)^{m+1}}{p\,(m+1)}"
    return start + rf"\sum_{{i=1}}^{{{tex_count(sampling.m + 1)}}} P(\tilde r = i)\, {name}(i)"


def one_draw(metric: Metric, above: int, sampling: Sampling) -> str:
    """One sample, counted: negatives above, sampled rank, value."""
    m, seen = sampling.m, above + 1
    value = float(metric.of_above(above, m)) * metric.scale(1)
    if above == 0:
        start = f"None of the {count(m)} drawn negatives is ranked above the item"
    elif m == 1:
        start = "The one drawn negative is ranked above the item"
    else:
        verb = "is" if above == 1 else "are"
        start = f"{count(above)} of the {count(m)} drawn negatives {verb} ranked above the item"
    return f"{start}: **sampled rank {count(seen)}**, {metric} {_is(value)}."


def many_draws(metric: Metric, mean_drawn: float, expected: float, draws: int) -> str:
    """How far the average of the draws is from the expectation."""
    return (
        f"Over {count(draws)} draws {metric} averages {percent(mean_drawn)}; "
        f"its expectation is {percent(expected)}."
    )


def law(metric: Metric, rank: int, sampling: Sampling, p: list[float]) -> str:
    """What the law of the sampled rank says about the metric."""
    k = metric.cut(sampling.m) or 1
    chance = min(1.0, sum(p[:k]))
    place = "at the top" if k == 1 else f"among the first {count(k)}"
    return (
        f"True rank {count(rank)} of {count(sampling.n)} appears {place} of "
        f"{count(sampling.m + 1)} with probability {percent(chance)}."
    )


def turned_round(seen: int, low: int, high: int) -> str:
    """What one sampled rank says about the true one: a 90 % interval."""
    return (
        f"Sampled rank {count(seen)} says: the true rank lies in {count(low)} to {count(high)} "
        "with 90 % probability, if every rank is equally likely beforehand."
    )


def family(metric: Metric, rank: int, values: dict[int, float], exact: float) -> str:
    """How the expected value at one rank moves with m."""
    steps = ", ".join(f"{percent(v)} with m = {count(m)}" for m, v in values.items())
    return f"{metric} of rank {count(rank)}: {steps}; on all items {percent(exact)}."


def picture(metric: Metric, rank: int, sampling: Sampling, exact: float, mean: float) -> str:
    """The big picture for a screen reader."""
    return (
        f"{metric} against the true rank of the relevant item, n = {count(sampling.n)}: exact and "
        f"expected with m = {count(sampling.m)} sampled negatives. At rank {count(rank)} exact "
        f"{percent(exact)}, sampled {percent(mean)}."
    )
