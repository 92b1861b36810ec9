r"""What an evaluation tells for its price: every design at one budget of scores per instance.

Three ways to spend b scores per instance on D instances with n candidates each:

* **sample candidates**: rank the relevant items of all D instances among m = b negatives. Read off
  as it is, or by a correction, the mean is biased, and its standard error is that of the draw;
* **sample instances**: rank all candidates for D b / (n - 1) instances drawn at random;
* **sample instances, and stop when decided**: for a metric with a cutoff the same exact values cost
  less (:mod:`sampledash.stopping`), so that more instances are reached.

The last two are without bias. N instances drawn from D without replacement scatter by

.. math:: \operatorname{var} = \frac{S^2}{N} \Bigl(1 - \frac{N}{D}\Bigr),
   \qquad S^2 = \frac{1}{D - 1} \sum_u (M_u - \bar M)^2,

nothing where the budget lasts for all. Systems are evaluated on the same instances, so that the
difference of two scatters by the differences of their values.

Notes
-----
All of it is about the mean over the given instances. Where the budget decides how many instances
are reached, N is its expected number; the scatter is then the same but for terms in 1/N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.comparison.chance import normal_chances, pair_chances
from sampledash.comparison.means import exact_means, step_of
from sampledash.comparison.order import TIED, pair_table, true_pairs
from sampledash.comparison.scatter import moments_of_means
from sampledash.comparison.significance import Interval, interval_of_mean
from sampledash.comparison.user_resampling import instance_values, paired_groups
from sampledash.correction import Correction, as_correction
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, Weighting
from sampledash.rank_sets import RankSet, Ties, first_items, require_ranks, require_several
from sampledash.sampling import pmf
from sampledash.stopping import mean_stopping_cost
from sampledash.types import Floats, Progress

CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.01")
FULL, STOPPED = "full ranking of fewer instances", "stop when decided"
_NOTHING = 1e-13  # a chance that adds nothing


class Designs(NamedTuple):
    """What each design makes of one budget: two tables."""

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
    """Bias, scatter and chance of the true order of every design that costs the same.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        True ranks, one rank set per system.
    budget
        Scores of candidates per instance and system: as many sampled negatives, or as many on
        average where fewer instances are evaluated.
    corrections
        What is applied to sampled ranks, each a design of its own.
    proxies
        Names of other orders in which candidates may be looked at, with the mean cost in each, of
        all systems or one by one: the mean of :func:`~sampledash.proxy_cost` over the instances.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`; ``correction`` is given by ``corrections``.

    Returns
    -------
    ``errors``: one row per design and system with ``design``, ``system``, ``instances`` reached
    (expected, rounded), ``scores`` (spent per instance of all), ``bias``, ``standard_error`` and
    ``rmse``, the root of the mean squared error. ``orders``: one row per design and pair with
    ``design``, ``better``, ``worse`` and ``probability`` that one evaluation shows the true order,
    NaN where the exact metric ties it. NaN too where the budget does not last for one instance.

    Raises
    ------
    ValueError
        If a system cannot be sampled so, or a parameter is out of its range.

    Notes
    -----
    Negatives are drawn for each system on its own. Where fewer instances are evaluated all systems
    see the same ones, as many as the budget of all together lasts for. The chance of an order is
    exact for metrics whose items hit or miss, with one relevant item each and equal weights, else
    by the normal law; for sampled negatives see :func:`~sampledash.probability_of_order`. Metrics
    that nothing decides, without a cutoff, have no row of stopping.

    Examples
    --------
    >>> from sampledash import example
    >>> found = designs("Recall@10", example("movielens-xyz"), 100, corrections=["uncorrected"])
    >>> found.errors.query("system == 'Y'").round(4)["rmse"].tolist()
    [0.4767, 0.0214, 0.0089]
    """
    require_several(sets)
    if "correction" in options:
        raise TypeError("designs takes corrections=(...), not correction=")
    metric, budget = as_metric(metric), checks.integer("budget", budget, low=1)
    protocol = Protocol.of(options)
    recipes = [as_correction(x) for x in checks.several("corrections", corrections, "correction")]
    exact = exact_means([metric], sets, protocol)[:, 0]
    pairs = true_pairs(exact) if len(sets) > 1 else []
    errors, orders = [], []

    def tell(
        design: str,
        reached: Floats,
        price: Floats,
        bias: Floats,
        error: Floats,
        chance: list[float],
    ) -> None:
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
            found = pair_table(sets, pairs, probability=chance)
            found.insert(0, "design", design)
            orders.append(found)

    sizes = np.array([ranks.n_instances for ranks in sets])
    for step, recipe in enumerate(recipes):
        one = Protocol.of({**options, "correction": recipe})
        m = min(budget, max(x.max_negatives for x in sets)) if one.without else budget
        means, variances = moments = moments_of_means([metric], sets, m, one)
        chances = pair_chances([metric], sets, m, [pairs], one, moments)[0] if pairs else []
        spent = np.full(len(sets), float(m))
        tell(str(recipe), sizes, spent, means[:, 0] - exact, np.sqrt(variances[:, 0]), chances)
        step_of(progress, step, len(recipes) + 1)(1.0)

    sample = _Sample(metric, sets, protocol)
    firsts = map(first_items, sets)
    prices = {FULL: np.array([np.average(x.negatives, weights=x.count) for x in firsts])}
    if not metric.linear and (metric.k is not None or metric.share is not None):
        prices[STOPPED] = np.array([mean_stopping_cost(metric, ranks).mean for ranks in sets])
        for name, cost in (proxies or {}).items():
            each = checks.numbers(f"proxies {name!r}", cost)
            if each.size not in (1, len(sets)) or np.any(each <= 0):
                raise ValueError(
                    f"proxies {name!r} must be the mean cost of each of {len(sets)} systems, above "
                    f"0, got {checks.shown(cost)}"
                )
            prices[f"{STOPPED}, {name}"] = np.broadcast_to(each, len(sets))
    for design, price in prices.items():
        # One instance costs what all systems cost together: the same instances for all.
        share = min(budget / float(price.mean()), 1.0)
        error = np.array([sample.error(i, share) for i in range(len(sets))])
        chances = [sample.chance(i, j, share) if truth else np.nan for i, j, truth in pairs]
        bias = np.where(np.isnan(error), np.nan, 0.0)
        tell(design, share * sizes, price * share, bias, error, chances)
    step_of(progress, 0, 1)(1.0)
    join = [
        pd.concat(each, ignore_index=True) if each else pd.DataFrame() for each in (errors, orders)
    ]
    return Designs(*join)


class _Sample:
    """Values of the instances, of which a share is drawn: those of paired systems in one order."""

    def __init__(self, metric: Metric, sets: Sequence[RankSet], protocol: Protocol) -> None:
        self.group, self.values, self.counts, self.off = {}, {}, {}, {}
        self.mean = exact_means([metric], sets, protocol)[:, 0]
        self.hits = metric.on_lattice
        for number, members in enumerate(paired_groups(sets, protocol)):
            for i, at in members:
                first = first_items(sets[i])[at]
                weight, count = protocol.instance_weights(first), first.count
                value = instance_values(metric, sets[i], protocol.ties)[at]
                # A mean of unequal weights is a ratio: to first order a mean of these deviations.
                off = (value - self.mean[i]) * weight / np.average(weight, weights=count)
                self.group[i], self.values[i], self.counts[i], self.off[i] = (
                    number,
                    value,
                    count,
                    off,
                )
                self.hits &= bool(np.ptp(weight) == 0 and np.all(count == np.floor(count)))
        sizes = np.unique(np.concatenate([each[each > 0] for each in self.values.values()]))
        self.hits &= len(sizes) <= 1

    def _error(self, off: Floats, counts: Floats, share: float) -> float:
        total = float(counts.sum())
        if share >= 1:
            return 0.0
        if share * total < 1:
            return np.nan
        return float(np.sqrt((counts @ off**2) / (total - 1) * (1 / share - 1) / total))

    def error(self, i: int, share: float) -> float:
        """Standard error of the mean over a share of the instances, NaN where that is none."""
        return self._error(self.off[i], self.counts[i], share)

    def chance(self, i: int, j: int, share: float) -> float:
        """P(mean of i > mean of j) over the same instances, or where they do not pair up others."""
        if self.group[i] != self.group[j]:
            error = np.hypot(self.error(i, share), self.error(j, share))
        else:
            error = self._error(self.off[i] - self.off[j], self.counts[i], share)
            if self.hits and error > 0:
                more = self.values[i] - self.values[j]
                total, counts = float(self.counts[i].sum()), self.counts[i]
                up, down = (float(counts[sign * more > 0].sum()) for sign in (1, -1))
                return _surplus_chance(up, down, total, round(share * total))
        return float(normal_chances(self.mean[i] - self.mean[j], error))


def _surplus_chance(up: float, down: float, total: float, drawn: int) -> float:
    """P(more of ``up`` than of ``down`` items) among some drawn from all without replacement."""

    def law(m: int, above: float, below: float) -> Floats:
        return np.asarray(pmf("without-replacement", m, np.array([above]), np.array([below]))[0])

    chance = 0.0
    for t, p in enumerate(law(drawn, up + down, total - up - down).tolist()):
        if t and p > _NOTHING:
            chance += p * float(law(t, up, down)[t // 2 + 1 :].sum())
    return min(chance, 1.0)


class InstanceMean(NamedTuple):
    """Mean over all instances, as some of them tell."""

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
    """Mean of the metric over all instances from those of a random sample, with an interval.

    Parameters
    ----------
    metric
        A metric or its text.
    ranks
        True ranks of instances drawn at random, such as an :func:`~sampledash.evaluate` with a
        budget returns.
    instances
        How many instances there are in all; infinity for those that might have been drawn.
    versus
        Another system on the same instances: the result is about the difference of the means,
        ``ranks`` minus ``versus``.
    confidence
        Level of the interval, strictly between 0 and 1.
    ties, weighting
        As in :func:`~sampledash.mean`.

    Notes
    -----
    The interval adds z^2 instances (3.84 at 95 %), half with the least and half with the largest
    value, to those drawn, so that it is honest where few or none of them were a hit: after Agresti
    & Coull, The American Statistician 1998, and for a difference Agresti & Min, Statistics in
    Medicine 2005. The differences added have the size of those seen, sum of squares by sum, and
    the largest one possible where none was. ``standard_error`` is that of the sample as it is, 0
    where all its values are the same.

    Examples
    --------
    >>> from sampledash import RankSet
    >>> some = RankSet("X", [1, 30, 4, 200, 17, 2, 55, 90], 1000)
    >>> [round(x, 3) for x in mean_of_sample("Recall@10", some, 100).interval]
    [0.138, 0.687]
    """
    metric, protocol = as_metric(metric), Protocol.of({"ties": ties, "weighting": weighting})
    sets = [ranks] if versus is None else [ranks, versus]
    for each in sets:
        require_ranks(each)
    confidence = checks.real("confidence", confidence, low=0, above=True)
    if confidence >= 1:
        raise ValueError(f"confidence must be below 1, got {confidence:g}")
    low = ranks.n_instances
    if not instances >= low:
        raise ValueError(f"instances must be at least the {low:g} of the sample, got {instances:g}")
    sample = _Sample(metric, sets, protocol)
    if len(set(sample.group.values())) > 1:
        raise ValueError(
            f"systems {ranks.system!r} and {sets[1].system!r} do not rank the same instances: "
            "a difference needs the same sample"
        )
    off, counts = sample.off[0], sample.counts[0]
    rows = first_items(ranks)
    best = max(
        metric.of_set(np.arange(1, size + 1), size + int(rows.negatives.max()))
        for size in {int(rows.relevant.min()), int(rows.relevant.max())}
    )
    value, ends = float(sample.mean[0]), (0.0, best)
    bounds = np.array(ends)
    if versus is not None:
        value, off = value - float(sample.mean[1]), off - sample.off[1]
        sizes = np.abs(off + value)
        seen = float(counts @ sizes**2 / (counts @ sizes)) if np.any(sizes > TIED) else best
        ends, bounds = (-seen, seen), np.array([-best, best])
    spread = float(counts @ off**2) / (low - 1) if low > 1 else np.inf
    error = float(np.sqrt(spread / low * (1 - low / instances))) if low < instances else 0.0
    interval = interval_of_mean(value, off, counts, ends, confidence, instances)
    # Those drawn are known: the others alone may differ from them, by what the metric allows.
    bounds = value + (1 - low / instances) * (bounds - value)
    return InstanceMean(value, Interval(*np.clip(interval, *bounds).tolist()), error)
