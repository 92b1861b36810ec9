"""What stopping when decided will cost, from the sampled ranks of a pilot run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from sampledash import checks
from sampledash.estimation.bounds import confidence_range, require_sampled
from sampledash.metrics import Metric, as_metric
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.stopping import stopping_cost
from sampledash.types import Floats


@dataclass(frozen=True)
class _Cost(Metric):
    """Share of the candidates that is looked at: it falls with the rank, as metrics do."""

    def of_above(self, above: ArrayLike, negatives: ArrayLike, position: int = 1) -> Floats:
        """Between the ranks too, as sums over them need."""
        a, total = np.asarray(above, dtype=np.float64), np.asarray(negatives, dtype=np.float64)
        k = float(self.k or 0)
        return np.where(a < k, 1.0, k * (total + 1) / (a + 1) / total)


def stopping_range(
    metric: Metric | str,
    pilot: SampledRankSet,
    instances: float | None = None,
    *,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Range of the mean number of candidates looked at until an instance is decided.

    Parameters
    ----------
    metric
        A metric with a cutoff k, or its text: only k matters.
    pilot
        Sampled ranks of a pilot run, one relevant item per instance.
    instances
        How many instances there are in all, of which those of the pilot are a random sample;
        ``None``: the pilot was run on all of them; infinity: on some of any number.
    confidence
        Level of the range, strictly between 0 and 1.

    Returns
    -------
    Smallest and largest mean per instance, in random order: times the instances it is the cost of
    the exact metric, of at most n - 1 for each.

    Raises
    ------
    ValueError
        If the metric has no cutoff, or what :func:`~sampledash.bounds` refuses.

    Notes
    -----
    The cost falls with the rank as a metric does, and so has the bounds of one: sampled ranks leave
    open who is just within k and who just beyond. That the other instances may differ from those of
    the pilot adds the normal error of a sample of values between k and n - 1 with this mean, which
    is at its largest if no other value occurs; either error is allowed half of the risk.

    Examples
    --------
    >>> import numpy as np
    >>> from sampledash import example, sample_ranks
    >>> y = example("movielens-xyz")[1]
    >>> low, high = stopping_range("Recall@10", sample_ranks(y, 100, np.random.default_rng(1)))
    >>> round(low), round(high)  # 680 in truth
    (558, 827)
    """
    metric = as_metric(metric)
    require_sampled("pilot", pilot)
    if metric.k is None:
        raise ValueError(f"{metric} has no cutoff k: give one that has, such as Recall@10")
    n = pilot.outcomes.n
    whole = pilot.n_instances if instances is None else instances
    if not whole >= pilot.n_instances:
        raise ValueError(
            f"instances must be at least the {pilot.n_instances:g} of the pilot, got {whole:g}"
        )
    confidence = checks.real("confidence", confidence, low=0, high=1, above=True)
    some = whole > pilot.n_instances
    level = (1 + confidence) / 2 if some else confidence
    found = confidence_range(_Cost("recall", metric.k), pilot, None, None, level)
    if not some:
        return float(found[0] * (n - 1)), float(found[1] * (n - 1))
    # var <= (mean - least)(most - mean) for values between least and most.
    least, most = (float(stopping_cost(metric, r, n).mean) / (n - 1) for r in (n, 1))
    share = pilot.design_effect / pilot.n_instances * (1 - pilot.n_instances / whole)
    z = float(ndtri((1 + level) / 2))
    low, high = (
        mean + sign * z * np.sqrt(max((mean - least) * (most - mean), 0.0) * share)
        for mean, sign in zip(found, (-1, 1), strict=True)
    )
    return float(max(low, least) * (n - 1)), float(min(high, most) * (n - 1))
