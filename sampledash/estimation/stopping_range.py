"""Confidence range of the mean number of candidates to score until a metric is known exactly."""

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
    """Expected number of negatives to score until k of them outrank the relevant item.

    If fewer than k outrank it, all negatives are scored. k is the cutoff of the metric. Like a
    metric, this number is larger for better ranks. :func:`confidence_range` can therefore bound its
    mean.
    """

    def of_above(self, above: ArrayLike, negatives: ArrayLike, position: int = 1) -> Floats:
        """Return the mean number of negatives to score, if ``above`` outrank the relevant item."""
        a, total = np.asarray(above, dtype=np.float64), np.asarray(negatives, dtype=np.float64)
        k = float(self.k or 0)
        return np.where(a < k, total, k * (total + 1) / (a + 1))


def stopping_range(
    metric: Metric | str,
    pilot: SampledRankSet,
    instances: float | None = None,
    *,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Range of the mean number of candidates that are scored until an instance is decided.

    An instance is decided when k candidates are known to be above its relevant item, or when all
    candidates have been scored. In the first case, the metric of the instance is 0.

    Parameters
    ----------
    metric
        A metric with a cutoff k, or its text: only k matters.
    pilot
        Sampled ranks of a pilot run, one relevant item per instance.
    instances
        Number of all instances, from which those of the pilot run were chosen at random; may be
        infinite. If None, the pilot was run on all instances.
    confidence
        Confidence level of the range, strictly between 0 and 1.

    Returns
    -------
    Lower and upper limit of the mean number of candidates scored per instance. Candidates are
    scored in random order, at most n - 1 per instance. The mean times the number of instances is
    the cost of the exact metric.

    Raises
    ------
    ValueError
        If the metric has no cutoff, or for sampled ranks that :func:`~sampledash.bounds` refuses.

    Notes
    -----
    The expected number decreases with the rank, as a metric does, so it is bounded like a metric.
    The bounds are wide because sampled ranks do not show whether a true rank is just within k or
    just beyond k. If there are instances outside the pilot, the range also allows for the choice of
    the pilot's instances, by Wilson's interval with the largest variance that numbers in k..n - 1
    with the same mean can have. The choice of the instances and the draw of the negatives each get
    half of the error probability.

    Examples
    --------
    >>> import numpy as np
    >>> from sampledash import example, sample_ranks
    >>> y = example("movielens-xyz")[1]
    >>> low, high = stopping_range("Recall@10", sample_ranks(y, 100, np.random.default_rng(1)))
    >>> round(low), round(high)  # the true mean is 680
    (517, 855)
    """
    metric = as_metric(metric)
    require_sampled("pilot", pilot)
    if metric.k is None:
        raise ValueError(f"{metric} has no cutoff k: give one that has, such as Recall@10")
    given = pilot.n_instances if instances is None else instances
    whole = checks.real("instances", given, low=0, high=np.inf)
    if not whole >= pilot.n_instances:
        drawn = f"the {pilot.n_instances:g} of the pilot"
        raise ValueError(f"instances must be at least {drawn}, got {whole:g}")
    confidence = checks.confidence(confidence)
    some = whole > pilot.n_instances
    level = (1 + confidence) / 2 if some else confidence
    means = confidence_range(_Cost("recall", metric.k), pilot, None, None, level)
    if not some:
        return means
    fewest, largest = int(pilot.n.min()), int(pilot.n.max())
    least = min(float(stopping_cost(metric, n, n).mean) for n in (fewest, largest))
    most = float(stopping_cost(metric, 1, largest).mean)
    share = pilot.design_effect / pilot.n_instances * (1 - pilot.n_instances / whole)
    # Values in ``least``..``most`` with a given mean have the largest variance if each value is
    # ``least`` or ``most``. So take Wilson's interval for the share of values equal to ``most``.
    shares = np.clip((np.array(means) - least) / max(most - least, 1e-300), 0, 1)
    much = share * float(ndtri((1 + level) / 2)) ** 2
    reach = np.sqrt(much * shares * (1 - shares) + much**2 / 4)
    low, high = (shares + much / 2 + np.array([-1, 1]) * reach) / (1 + much)
    return least + float(low) * (most - least), least + float(high) * (most - least)
