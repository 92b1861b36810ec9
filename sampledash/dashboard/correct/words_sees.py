"""What a sample can see, in words."""

from __future__ import annotations

from sampledash.report.numbers import count, gamma
from sampledash.sampling import Sampling

COMPONENTS = (
    "Components: the discrete Chebyshev polynomials over the true rank, from a straight line "
    "(degree 1) to ever finer waves. A sharp cutoff at the top needs high degrees. Kept: what is "
    "left of a component in the expected corrected metric, ranks weighing the same."
)


def resolved(sampling: Sampling, weight: float, degree: int, width: float) -> str:
    """What a correction keeps.

    Parameters
    ----------
    sampling, weight
        How negatives are drawn, and γ.
    degree
        Largest degree of which at least half is kept.
    width
        Ranks up to the first zero of that component.
    """
    start = f"With {count(sampling.m)} negatives and γ = {gamma(weight)}"
    if degree == 0:
        return f"{start} not even a straight line over the {count(sampling.n)} ranks is half kept."
    return (
        f"{start} components up to degree {count(degree)} are at least half kept: the finest "
        f"detail at the top is about {count(round(width))} of {count(sampling.n)} ranks wide."
    )


def reading(metric: str, k: int, sampling: Sampling, linear: float, uniform: float) -> str:
    """How an uncorrected cutoff reads on all items (Li et al., KDD 2020).

    Parameters
    ----------
    metric, k, sampling
        A metric with its cutoff on a sample.
    linear, uniform
        Cutoffs on all items: of the linear mapping, and where all ranks are equally likely.
    """
    name = metric.split("@")[0]
    return (
        f"Read uncorrected, {metric} on {count(sampling.m)} negatives behaves like {name}@"
        f"{count(linear)} to {name}@{count(round(uniform))} on all {count(sampling.n)} items, not "
        f"like {name}@{count(k)}: linear mapping, and the one for equally likely ranks."
    )
