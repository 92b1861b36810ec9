r"""Comparison of evaluation designs that cost the same: b scored candidates per instance.

A design is a way to evaluate systems. Three designs spend this budget on D instances with n
candidates each:

* **sample candidates**: rank the relevant items of all D instances among m = b negatives. The mean
  metric, corrected or not, is biased in general, and its standard error comes from the draw of the
  negatives;
* **sample instances**: rank all candidates for D b / (n - 1) instances drawn at random;
* **sample instances, and stop when decided**: for a metric with a cutoff, the exact values can be
  computed from fewer scores (:mod:`sampledash.stopping`), so the budget suffices for more
  instances.

The last two designs have no bias. The mean of the exact metric M_u over N instances u, drawn from D
without replacement, has variance

.. math:: \operatorname{var} = \frac{S^2}{N} \Bigl(1 - \frac{N}{D}\Bigr),
   \qquad S^2 = \frac{1}{D - 1} \sum_u (M_u - \bar M)^2,

which is 0 if the budget suffices for all instances. Systems are evaluated on the same instances:
for the difference of two systems, M_u is their difference on instance u.

Notes
-----
All results are about the mean over the given instances. If the cost of an instance is random, N is
the expected number of instances; the variance then differs only by terms of order 1/N.

The difference of two means over N drawn instances has the sign of the sum X of the differences
:math:`d_u` on these instances. With the power sums :math:`p_k(t) = \sum_u e^{i k t d_u}` over all
D instances, Newton's identities for the elementary symmetric polynomials give the characteristic
function of X by recursion,

.. math:: \varphi_N = \sum_{k=1}^{N} (-1)^{k-1} p_k \varphi_{N-k}\,
   \frac{(N-1) \cdots (N-k+1)}{(D-N+1) \cdots (D-N+k)}, \qquad \varphi_0 = 1.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.comparison.chance import SURE, chance_above, normal_chances, pair_chances
from sampledash.comparison.means import exact_means, step_of
from sampledash.comparison.order import TIED, pair_table, true_pairs
from sampledash.comparison.scatter import moments_of_means
from sampledash.comparison.significance import Interval, best_value, interval_of_sample
from sampledash.comparison.sums import lattice
from sampledash.comparison.user_resampling import instance_values, paired_groups
from sampledash.correction import Correction, as_correction
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, Weighting
from sampledash.rank_sets import RankSet, Ties, first_items, require_ranks, require_several
from sampledash.sampling import pmf
from sampledash.stopping import mean_stopping_cost
from sampledash.types import Complex, Floats, Progress

CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.01")
FULL, STOPPED = "full ranking of fewer instances", "stop when decided"
# ``_surplus_chance`` sums over the number of drawn instances on which two systems differ. It leaves
# out numbers with a smaller probability than this.
_NOTHING = 1e-13
_SUBSETS = 20_000  # all possible samples of instances are enumerated if there are at most this many
# The normal distribution is used if more than this many instances are drawn, and more than this
# many instances are not drawn.
_MOST = 2_500
# If the differences of two systems on single instances have at most this many distinct absolute
# values, ``_chance_of_subsets`` looks for a unit of which all differences are multiples.
_SIZES = 30
# ``_waves_of_subset`` adds the power sums p_k of the module docstring, each times a factor. A power
# sum is left out if its factor times the number of instances is at most this.
_WEIGHTLESS = 1e-17
# Number of frequencies in a block. For values x and frequencies f, exp(i x f) is computed as the
# product of a factor for the block of f and a factor for the position of f in its block.
_STEPS = 64


class Designs(NamedTuple):
    """The two tables of :func:`designs`, which compares evaluations of the same cost."""

    errors: pd.DataFrame
    orders: pd.DataFrame


def designs(
    metric: Metric | str,
    sets: Sequence[RankSet],
    budget: int,
    *,
    corrections: Sequence[Correction | str] = CORRECTIONS,
    proxies: Mapping[str, float | Sequence[float]] | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Designs:
    """Return bias, standard error and chance of the true order for evaluations of equal cost.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    sets
        True ranks, one rank set per system.
    budget
        Number of scored candidates per instance and system. If only some instances are evaluated,
        it is the average over all instances, evaluated or not.
    corrections
        Corrections of the sampled ranks; each is a separate design.
    proxies
        A proxy is a cheap score that gives the order in which candidates are scored. The map holds,
        by the name of the proxy, the mean of :func:`~sampledash.proxy_cost` over the instances: a
        single number, or a number per system.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`; ``correction`` is given by ``corrections``.

    Returns
    -------
    ``errors``: one row per design and system with ``design``, ``system``, ``instances`` (expected
    number evaluated, rounded), ``scores`` (scored candidates, as an average over all instances),
    ``bias``, ``standard_error`` and ``rmse`` (root of the mean squared error). ``orders``: one row
    per design and pair with ``design``, ``better``, ``worse`` and ``probability`` that one
    evaluation shows the true order, NaN where the exact metric ties the pair. Results are NaN if
    the budget does not suffice for one instance.

    Raises
    ------
    ValueError
        If a system cannot be sampled by the scheme, or a parameter is out of its range.

    Notes
    -----
    Negatives are drawn for each system separately. If only some instances are evaluated, they are
    the same for systems that rank the same instances, and as many as the budgets of all systems
    together pay for. A tie does not show the order. If two systems rank the same instances, the
    chance of their order is exact in two cases: their differences on single instances are 0 or of
    one size (one relevant item that hits or misses), or there are at most 20,000 possible samples.
    Otherwise the characteristic function of the exact distribution is inverted, with an error of at
    most 0.001 in 300 random cases of 3 to 14 instances, and on MovieLens. If more than 2,500
    instances are drawn and more than 2,500 left out, the normal distribution with a continuity
    correction is used; its error is at most 0.003, and smaller for more instances. A weighted mean
    is a ratio of two sums; if systems rank different instances, it is linearised. For sampled
    negatives, see :func:`~sampledash.probability_of_order`. Metrics without a cutoff have no rows
    for the design "stop when decided", which scores the candidates of an instance until its metric
    is known.

    Examples
    --------
    >>> from sampledash import example
    >>> result = designs("Recall@10", example("movielens-xyz"), 100, corrections=["uncorrected"])
    >>> result.errors.query("system == 'Y'").round(4)["rmse"].tolist()
    [0.4767, 0.0214, 0.0089]
    """
    require_several(sets)
    if "correction" in options:
        raise TypeError("designs takes corrections=(...), not correction=")
    metric, budget = as_metric(metric), checks.integer("budget", budget, low=1)
    protocol = Protocol.of(options)
    recipes = [as_correction(x) for x in checks.several("corrections", corrections, "correction")]
    exact = exact_means([metric], sets, protocol)[:, 0]
    pairs = true_pairs(exact)
    errors, orders = [], []

    def tell(design: str, chances: list[float], *numbers: Floats) -> None:
        """Add the results of a design (way of evaluation) to both tables.

        ``chances`` has an entry per pair. ``numbers`` are instances, scores, bias and standard
        error, each with an entry per system.
        """
        reached, price, bias, error = numbers
        table = {
            "design": design,
            "system": [ranks.system for ranks in sets],
            "instances": pd.array(np.round(reached).astype(np.int64)),
            "scores": price,
            "bias": bias,
            "standard_error": error,
            "rmse": np.hypot(bias, error),
        }
        errors.append(pd.DataFrame(table))
        if pairs:
            listed = pair_table(sets, pairs, probability=chances)
            listed.insert(0, "design", design)
            orders.append(listed)

    sizes = np.array([ranks.n_instances for ranks in sets])
    for step, recipe in enumerate(recipes):
        corrected = Protocol.of({**options, "correction": recipe})
        m = min(budget, max(x.max_negatives for x in sets)) if corrected.design.distinct else budget
        means, variances = moments = moments_of_means([metric], sets, m, corrected)
        chances = pair_chances([metric], sets, m, [pairs], corrected, moments)[0] if pairs else []
        spent = np.full(len(sets), float(m))
        tell(str(recipe), chances, sizes, spent, means[:, 0] - exact, np.sqrt(variances[:, 0]))
        step_of(progress, step, len(recipes) + 1)(1.0)

    sample = _Sample(metric, sets, protocol)
    firsts = map(first_items, sets)
    prices = {FULL: np.array([np.average(x.negatives, weights=x.count) for x in firsts])}
    if not metric.linear and (metric.k is not None or metric.share is not None):
        prices[STOPPED] = np.array([mean_stopping_cost(metric, ranks).mean for ranks in sets])
        for name, cost in (proxies or {}).items():
            costs = checks.numbers(f"proxies {name!r}", cost)
            if costs.size not in (1, len(sets)) or np.any(costs <= 0):
                needed = f"the mean cost of each of {len(sets)} systems, above 0"
                raise ValueError(f"proxies {name!r} must be {needed}, got {checks.shown(cost)}")
            prices[f"{STOPPED}, {name}"] = np.broadcast_to(costs, len(sets))
    for design, price in prices.items():
        # The same share of instances is evaluated for all systems: the largest that the budgets of
        # all systems together pay for.
        share = min(budget / float(price.mean()), 1.0)
        error = np.array([sample.error(i, share) for i in range(len(sets))])
        chances = [sample.chance(i, j, share) if truth else np.nan for i, j, truth in pairs]
        bias = np.where(np.isnan(error), np.nan, 0.0)
        tell(design, chances, share * sizes, price * share, bias, error)
    step_of(progress, 0, 1)(1.0)
    tables = (errors, orders)
    return Designs(*(pd.concat(x, ignore_index=True) if x else pd.DataFrame() for x in tables))


class _Sample:
    """Exact metrics of all instances of each system.

    The attributes are dictionaries whose keys are the indices of the systems. For each system,
    ``group`` holds a number that is equal for systems with the same instances, ``values`` the exact
    metrics of the instances, ``counts`` how many instances have each of these values, ``weights``
    the weights of the instances (with mean 1), and ``off`` the differences of ``values`` from the
    mean, times ``weights``. Only ``mean`` is an array: it holds the mean of each system.
    """

    def __init__(self, metric: Metric, sets: Sequence[RankSet], protocol: Protocol) -> None:
        self.group, self.values, self.counts, self.off, self.weights = {}, {}, {}, {}, {}
        self.mean = exact_means([metric], sets, protocol)[:, 0]
        for number, members in enumerate(paired_groups(sets, protocol)):
            for i, at in members:
                first = first_items(sets[i])[at]
                weight = protocol.instance_weights(first)
                self.group[i], self.counts[i] = number, first.count
                self.values[i] = instance_values(metric, sets[i], protocol.ties)[at]
                self.weights[i] = weight / np.average(weight, weights=first.count)
                # A weighted mean is a ratio of two sums. In linear approximation, its error is the
                # mean of ``off`` over the drawn instances.
                self.off[i] = (self.values[i] - self.mean[i]) * self.weights[i]

    def _error(self, off: Floats, counts: Floats, share: float) -> float:
        """Return the standard error of a mean if a ``share`` of all instances is drawn.

        It is the root of the variance in the module docstring.
        """
        total = float(counts.sum())
        if share >= 1:
            return 0.0
        if share * total < 1:
            return np.nan
        return float(np.sqrt((counts @ off**2) / (total - 1) * (1 / share - 1) / total))

    def error(self, i: int, share: float) -> float:
        """Return the standard error of system i's mean if a share of its instances is drawn.

        Return NaN if the share is less than one instance.
        """
        return self._error(self.off[i], self.counts[i], share)

    def chance(self, i: int, j: int, share: float) -> float:
        """Return P(mean of i > mean of j) if a ``share`` of the instances is drawn.

        If systems i and j have the same instances, the drawn instances are the same for both.
        """
        difference = float(self.mean[i] - self.mean[j])
        if self.group[i] == self.group[j]:
            error = self._error(self.off[i] - self.off[j], self.counts[i], share)
            gains = [((self.values[i] - self.values[j]) * self.weights[i], self.counts[i])]
        else:
            error = float(np.hypot(self.error(i, share), self.error(j, share)))
            gains = [(difference + self.off[i], self.counts[i]), (-self.off[j], self.counts[j])]
        whole = not any(np.any(counts % 1) for _, counts in gains)
        # ``_chance_of_subsets`` needs whole numbers of instances. The normal distribution suffices
        # if the difference is more than SURE standard errors from 0: its sign is then certain.
        if whole and abs(difference) < SURE * error:
            return _chance_of_subsets(gains, share, difference, error)
        return float(normal_chances(difference, error))


def _chance_of_subsets(
    gains: Sequence[tuple[Floats, Floats]], share: float, difference: float, error: float
) -> float:
    """Return the chance that the difference of two systems is above 0 on drawn instances.

    A ``share`` of the instances is drawn. ``gains`` holds tuples (values, number of instances with
    each value). The difference of the systems is the sum of the means of ``values`` over the drawn
    instances. If both systems have the same instances, the same subset is drawn for both, and the
    only tuple holds their differences on an instance. Otherwise a subset is drawn for each system,
    and each system has a tuple, in which the second system's values have the opposite sign. The
    difference has the expected value ``difference`` and the standard deviation ``error``.
    """
    means, shift, step = [], 0.0, 0.0
    for values, counts in gains:
        values, at = np.unique(np.round(values, 12), return_inverse=True)
        counts, total = np.bincount(at, counts).astype(np.float64), round(float(counts.sum()))
        drawn = round(share * total)
        sizes = np.unique(np.abs(values[values != 0]))
        if len(gains) == 1 and len(sizes) == 1:
            up, down = (float(counts[sign * values > 0].sum()) for sign in (1, -1))
            return _surplus_chance(up, down, total, drawn)
        if len(gains) == 1 and total <= _SUBSETS >= comb(total, drawn):
            chosen = np.array(list(combinations(np.repeat(values, counts.astype(int)), drawn)))
            return float(np.mean(chosen.mean(axis=1) > TIED))
        # ``values`` are differences of two systems on an instance. If all are multiples of one
        # unit, means of 0 (ties) are frequent, and the normal distribution needs a continuity
        # correction. Means over separately drawn instances are rarely tied.
        if len(gains) == 1 and len(sizes) <= _SIZES and (unit := lattice(sizes[:, None])):
            step = unit[0] / 2 / drawn
        values = values / drawn
        if 2 * drawn > total:
            # If more than half of the instances are drawn, it is faster to compute the sum over the
            # other instances and to subtract it from the total.
            values, drawn, shift = -values, total - drawn, shift - float(counts @ values)
        means.append((values, counts, drawn))
    if max(drawn for _, _, drawn in means) > _MOST:
        return float(normal_chances(difference, error, step))

    def transform(frequencies: Floats) -> Complex:
        return np.asarray(np.prod([_waves_of_subset(*x, frequencies) for x in means], axis=0))

    work = 10 * sum(len(values) + drawn for values, _, drawn in means)
    return chance_above(transform, work, difference, error, shift)


def _waves_of_subset(values: Floats, counts: Floats, drawn: int, frequencies: Floats) -> Complex:
    """Return the characteristic function of the sum of the values of ``drawn`` instances.

    ``counts`` is the number of instances with each value. The function is computed by the recursion
    in the module docstring: ``waves[n]`` is φ_n, the characteristic function for n drawn instances,
    and ``power_sums`` are p_1, -p_2, p_3, ....
    """

    def weights(n: int) -> Floats:
        """Return the factors of the power sums p_1, p_2, ... in the recursion for φ_n.

        The recursion is in the module docstring. Negligible factors are left out.
        """
        places = np.arange(1, n + 1)
        factors = np.cumprod(np.r_[1.0, n - places[:-1]] / (total - n + places))
        return factors[factors * total > _WEIGHTLESS]

    total = float(counts.sum())
    # Divide the frequencies into blocks. Compute exp(i value frequency) as the product of a factor
    # for the block of the frequency and a factor for its position in the block.
    first = np.exp(1j * np.multiply.outer(frequencies[::_STEPS], values))
    step = np.exp(1j * np.multiply.outer(values, frequencies[:_STEPS] - frequencies[0]))
    starts, steps, sums = -counts, np.ones(1), []
    for _ in weights(drawn):
        starts, steps = -starts * first, steps * step
        sums.append((starts @ steps).ravel()[: len(frequencies)])
    power_sums = np.array(sums)
    waves: Complex = np.ones((drawn + 1, len(frequencies)), dtype=np.complex128)
    for n in range(1, drawn + 1):
        factors = weights(n)
        before = waves[n - len(factors) : n][::-1]
        waves[n] = np.einsum("k,kf,kf->f", factors, power_sums[: len(factors)], before)
    return np.asarray(waves[-1])


def _surplus_chance(up: float, down: float, total: float, drawn: int) -> float:
    """Return the chance that drawn instances hold more positive than negative differences.

    Of ``total`` instances, ``up`` have a positive and ``down`` a negative difference of the same
    size; ``drawn`` of all instances are drawn without replacement.
    """

    def law(m: int, above: float, below: float) -> Floats:
        return np.asarray(pmf("without-replacement", m, np.array([above]), np.array([below]))[0])

    chance = 0.0
    for t, p in enumerate(law(drawn, up + down, total - up - down).tolist()):
        if t and p > _NOTHING:
            chance += p * float(law(t, up, down)[t // 2 + 1 :].sum())
    return min(chance, 1.0)


class InstanceMean(NamedTuple):
    """Mean metric over all instances, estimated from a sample of the instances."""

    value: float
    interval: Interval
    standard_error: float


def mean_of_sample(
    metric: Metric | str,
    ranks: RankSet,
    instances: float,
    versus: RankSet | None = None,
    *,
    confidence: float = 0.95,
    ties: Ties = "expected",
    weighting: Weighting = "instances",
) -> InstanceMean:
    """Estimate the mean of the metric over all instances from a random sample, with an interval.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    ranks
        True ranks of instances drawn at random, for example those that
        :func:`~sampledash.evaluate` returns with a budget.
    instances
        Total number of instances; infinity for the mean of the population from which they come.
    versus
        Another system on the same instances. The result is then the difference of the means,
        ``ranks`` minus ``versus``.
    confidence
        Level of the interval, strictly between 0 and 1.
    ties, weighting
        As in :func:`~sampledash.mean`.

    Notes
    -----
    For the interval, z^2 artificial instances (z is the normal quantile; z^2 = 3.84 at 95 %) are
    added to the drawn instances, half with the smallest and half with the largest possible value.
    The interval therefore keeps its level if there are few or no hits (Agresti & Coull, The
    American Statistician 1998; for a difference, Agresti & Min, Statistics in Medicine 2005). For a
    difference of systems, half of the added differences are positive and half are negative. Their
    size is that of the observed differences (sum of squares divided by sum of absolute values), or
    the largest possible size if all observed differences are 0. ``standard_error`` is computed from
    the drawn instances alone; it is 0 if their values are equal.

    Examples
    --------
    >>> from sampledash import RankSet
    >>> some = RankSet("X", [1, 30, 4, 200, 17, 2, 55, 90], 1000)
    >>> [round(x, 3) for x in mean_of_sample("Recall@10", some, 100).interval]
    [0.138, 0.687]
    """
    metric, protocol = as_metric(metric), Protocol.of({"ties": ties, "weighting": weighting})
    sets = [ranks] if versus is None else [ranks, versus]
    for rank_set in sets:
        require_ranks(rank_set)
    confidence = checks.confidence(confidence)
    low = ranks.n_instances
    instances = checks.real("instances", instances, low=0, high=np.inf)
    if not instances >= low:
        raise ValueError(f"instances must be at least the {low:g} of the sample, got {instances:g}")
    sample = _Sample(metric, sets, protocol)
    if len(set(sample.group.values())) > 1:
        both = f"systems {ranks.system!r} and {sets[1].system!r}"
        raise ValueError(f"{both} do not rank the same instances: give the same sample of both")
    off, counts = sample.off[0], sample.counts[0]
    value = float(sample.mean[0])
    if versus is not None:
        value, off = value - float(sample.mean[1]), off - sample.off[1]
    spread = float(counts @ off**2) / (low - 1) if low > 1 else np.inf
    error = float(np.sqrt(spread / low * (1 - low / instances))) if low < instances else 0.0
    best, paired = best_value(metric, ranks), versus is not None
    interval = interval_of_sample(value, off, counts, best, paired, confidence, instances)
    return InstanceMean(value, interval, error)
