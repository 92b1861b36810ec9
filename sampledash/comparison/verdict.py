"""The verdict: whether a sampled evaluation shows the order of two systems by the exact metric.

:class:`Pairs` holds the verdict on every metric and pair at one m, and the expected sampled means
at each evaluated m. Dashboard pages, texts, tables and scripts are made from :class:`Pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.comparison import order
from sampledash.comparison.chance import pair_chances
from sampledash.comparison.means import exact_means, expected_means, step_of
from sampledash.comparison.scatter import moments_of_means
from sampledash.correction import Correction, as_correction
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Floats, Ints, Progress

# States of a pair (:func:`state_of`), from worst to best; tied pairs have no true order.
CODES = ("wrong", "undecided", "right", "tied")
State = Literal["right", "wrong", "undecided", "tied"]
# A pair is right if the chance of its true order is at least CONFIDENT, and wrong if this chance is
# at most 1 - CONFIDENT.
CONFIDENT = 0.95
# If negatives are drawn by popularity without replacement or by strata, evaluating an m takes long.
# Only _FEW values of m are then evaluated, up to the larger of _FAR and the m of the comparison.
_FEW, _FAR = 8, 200


def state_of(truth: int, sampled: int, probability: float) -> State:
    """Return the state of a pair of systems: whether one sampled run shows its true order.

    ``tied``: the exact metric ties the pair. ``right``: the expected sampled order is the true
    order, and the chance that a run shows it is at least 95 %. ``wrong``: the expected sampled
    order is the opposite of the true order, and the chance that a run shows the true order is at
    most 5 %; the other runs may tie. All other pairs are ``undecided``. ``truth`` and ``sampled``
    are the signs of the exact and the expected sampled difference.
    """
    if truth == 0:
        return "tied"
    if sampled > 0 and probability >= CONFIDENT:
        return "right"
    # The term 1e-15 allows for the rounding error of a computed chance, which may make a chance of
    # exactly 5 % slightly larger.
    if sampled < 0 and probability <= 1 - CONFIDENT + 1e-15:
        return "wrong"
    return "undecided"


def verdict_at_m(
    over_m: order.Orders,
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    exact: Floats | None = None,
) -> dict[str, list[Any]]:
    """Return the columns of :func:`verdict` at one m, given the orders at all evaluated m.

    ``exact`` holds the exact means, if they have been computed before. The column ``right_from``
    holds the m from which on the expected order of a pair is right. It holds None if this order is
    not right at the largest m, or if the exact metric ties the pair.
    """
    sampled = over_m.at(m)
    if sampled is None:
        sampled = expected_means(metrics, sets, [m], protocol)[0]
    if exact is None:
        exact = exact_means(metrics, sets, protocol)
    pairs = [order.true_pairs(exact[:, x]) for x in range(len(metrics))]
    chances = pair_chances(metrics, sets, m, pairs, protocol)
    names = np.array([ranks.system for ranks in sets], dtype=object)
    i, j, truth = np.array(pairs).transpose(2, 0, 1)  # three arrays of shape (metrics, pairs)
    x = np.arange(len(metrics))[:, None]
    difference, probability = sampled[i, x] - sampled[j, x], np.array(chances)
    right = np.array([over_m.all_right_from(i[y], j[y], y) for y in range(len(metrics))])
    signs = order.sign(difference).ravel().tolist()
    states = map(state_of, truth.ravel().tolist(), signs, probability.ravel())
    ends = zip(right.ravel().tolist(), ((right > 0) & (truth != 0)).ravel(), strict=True)
    return {
        "metric": [str(metric) for metric in metrics for _ in range(i.shape[1])],
        "correction": [str(protocol.correction)] * i.size,
        "better": names[i.ravel()].tolist(),
        "worse": names[j.ravel()].tolist(),
        "exact": (exact[i, x] - exact[j, x]).ravel().tolist(),
        "sampled": difference.ravel().tolist(),
        "state": list(states),
        "right_from": [m if is_known else None for m, is_known in ends],
        "probability": probability.ravel().tolist(),
    }


def as_frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Return the table of :func:`verdict` from its columns."""
    numbers = {"exact": "float64", "sampled": "float64", "probability": "float64"}
    kinds = dict.fromkeys(columns, "str") | numbers | {"right_from": "Int64"}
    return pd.DataFrame(columns).astype(kinds)


def where_to_look(
    sets: Sequence[RankSet], m: int, protocol: Protocol
) -> tuple[int, list[int] | None]:
    """Return the largest m to evaluate, and the list of all m to evaluate.

    If each m needs its own computation, the list holds a few m. Otherwise it is None, because the
    order is evaluated at every m.
    """
    m_max = max(order.largest_m(sets, None, protocol), min(m, order.M_CAP))
    return m_max, sorted({*ladder(m_max, m, protocol), m}) if protocol.anew else None


def ladder(m_max: int, m: int, protocol: Protocol) -> list[int]:
    """Return a few m to evaluate in addition to ``m``, if each m needs its own computation."""
    if protocol.design.by_class is not None:  # each m takes up to a second for each system
        return order.quick_ladder(min(m_max, max(m, _FAR)), _FEW)
    return order.quick_ladder(m_max)


@dataclass(frozen=True)
class Pairs:
    """Whether a run with m negatives shows the true order of each pair, for every metric.

    A pair is given by its number: its index in ``ends``.
    """

    metrics: tuple[Metric, ...]
    sets: tuple[RankSet, ...]
    m: int
    protocol: Protocol
    orders: order.Orders
    exact: Floats  # mean metrics on all items, without sampling: (systems, metrics)
    columns: dict[str, list[Any]]  # the verdict at m: each column lists all pairs, metric by metric
    source: str  # name of the example or of the file that holds the ranks
    python: str  # Python expression that reads the ranks, after ``import sampledash as sd``

    @classmethod
    def of(
        cls,
        metrics: Sequence[Metric],
        sets: Sequence[RankSet],
        m: int,
        protocol: Protocol,
        progress: Progress | None = None,
    ) -> Pairs:
        """Compute the verdict; raise ValueError for sets that cannot be compared or sampled."""
        order.check_sets(sets)
        for ranks in sets:
            protocol.check(ranks, m)
        m_max, few = where_to_look(sets, m, protocol)
        over_m = order.orders(metrics, sets, m_max, protocol, progress, few)
        exact = exact_means(metrics, sets, protocol)
        columns = verdict_at_m(over_m, metrics, sets, m, protocol, exact)
        return cls(tuple(metrics), tuple(sets), m, protocol, over_m, exact, columns, "", "")

    @cached_property
    def systems(self) -> list[str]:
        """Names of the systems, in the order of ``sets``."""
        return [ranks.system for ranks in self.sets]

    @property
    def m_max(self) -> int:
        """Largest m that was evaluated."""
        return int(self.orders.m_values[-1])

    @property
    def capped(self) -> bool:
        """Whether a larger m is possible than the largest m that was evaluated."""
        return self.m_max < max(ranks.max_negatives for ranks in self.sets)

    @property
    def every_m(self) -> bool:
        """Whether the order was evaluated at every m up to ``m_max``."""
        return len(self.orders.m_values) == self.m_max

    @cached_property
    def ends(self) -> list[tuple[int, int]]:
        """For each pair, the indices of its two systems in ``sets``."""
        return list(combinations(range(len(self.systems)), 2))

    @property
    def pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.ends)

    @cached_property
    def truths(self) -> list[list[tuple[int, int, int]]]:
        """For each metric and pair, a tuple (better, worse, truth); truth is 1, or 0 for a tie."""
        return [order.true_pairs(exact) for exact in self.exact.T]

    def names(self, pair: int) -> tuple[str, str]:
        """Return the names of the two systems of the pair with number ``pair``."""
        first, other = self.ends[pair]
        return self.systems[first], self.systems[other]

    def label(self, pair: int, name: Callable[[str], str] = str) -> str:
        """Return the names of the two systems of a pair as text; ``name`` formats each of them."""
        return ", ".join(map(name, self.names(pair)))

    def _by_metric(self, values: Any) -> NDArray[Any]:
        return np.asarray(values).reshape(len(self.metrics), self.pairs)

    # The shape of the next four properties, ``states`` to ``ahead``, is (metrics, pairs).

    @cached_property
    def states(self) -> Ints:
        """State of each pair, as an index into ``CODES``."""
        return self._by_metric([CODES.index(state) for state in self.columns["state"]])

    @cached_property
    def chances(self) -> Floats:
        """Chance that one run shows the true order, NaN for a tied pair."""
        return self._by_metric(self.columns["probability"])

    @cached_property
    def rights(self) -> Floats:
        """Smallest m from which on a pair's expected order is right; infinite if there is none."""
        late = self.columns["right_from"]
        return self._by_metric([np.inf if m is None else float(m) for m in late])

    @cached_property
    def ahead(self) -> Floats:
        """Expected sampled mean of the better system of each pair, minus that of the worse."""
        return self._by_metric(self.columns["sampled"])

    @cached_property
    def sampled(self) -> Floats:
        """Expected sampled means at m: (systems, metrics)."""
        means = self.orders.at(self.m)
        if means is None:  # this m is above all evaluated m
            means = expected_means(self.metrics, self.sets, [self.m], self.protocol)[0]
        return np.asarray(means)

    @cached_property
    def std(self) -> Floats:
        """Standard deviation of a run's mean metric: (systems, metrics); NaN if not available."""
        return self.std_of(self.sets)

    def std_of(self, sets: Sequence[RankSet]) -> Floats:
        """Return the array :attr:`std` for the given rank sets."""
        try:
            return np.sqrt(moments_of_means(self.metrics, sets, self.m, self.protocol)[1])
        except ValueError:
            # Some schemes have no formula for the variance with several relevant items per
            # instance.
            return np.full((len(sets), len(self.metrics)), np.nan)

    def rows(self, x: int, pairs: Iterable[int]) -> list[dict[str, Any]]:
        """Return the rows of the verdict table for metric number x and the given pair numbers."""
        return [
            {name: column[x * self.pairs + pair] for name, column in self.columns.items()}
            | {"pair": pair}
            for pair in pairs
        ]

    def last_right(self, x: int) -> float:
        """Return the smallest m from which on the expected order of all pairs is right.

        Metric number x determines the order. Return infinity if there is no such m, and 0 if all
        pairs are tied.
        """
        return float(self.rights[x][self.states[x] != CODES.index("tied")].max(initial=0.0))

    def worst_pair(self, x: int) -> int:
        """Return the number of the worst pair by metric number x.

        Pairs are compared by their state, then by the m from which on their expected order is right
        (larger is worse), and then by the chance that a run shows their true order (smaller is
        worse).
        """
        chance = np.nan_to_num(self.chances[x], nan=1.0)
        return int(np.lexsort((chance, -self.rights[x], self.states[x]))[0])

    def worst_pairs(self, most: int) -> list[int]:
        """Return the ``most`` worst pairs over all metrics, worst first.

        Pairs are compared by their worst state, then by the number of metrics with this state, then
        by the m from which on their expected order is right (larger is worse), and then by the
        chance that a run shows their true order (smaller is worse).
        """
        state = self.states.min(axis=0)
        many = (self.states == state).sum(axis=0)
        late = np.where(self.states == state, self.rights, 0.0).max(axis=0)
        low = np.nan_to_num(self.chances, nan=1.0).min(axis=0)
        return [int(pair) for pair in np.lexsort((low, -late, -many, state))[:most]]

    @cached_property
    def verdict(self) -> pd.DataFrame:
        """The verdict on all metrics and pairs as a table, for export."""
        return as_frame(self.columns)

    def means_table(self) -> pd.DataFrame:
        """Return exact mean, expected sampled mean and standard deviation per metric and system."""
        means = {"exact": self.exact, "expected_sampled": self.sampled, "std_of_mean": self.std}
        table = pd.DataFrame(product(map(str, self.metrics), self.systems))
        table.columns = pd.Index(["metric", "system"])
        return table.assign(**{name: values.T.ravel() for name, values in means.items()})


def verdict(
    metrics: Sequence[Metric | str],
    sets: Sequence[RankSet],
    m: int,
    corrections: Sequence[Correction | str] = ("uncorrected",),
    *,
    m_max: int | None = None,
    m_values: Sequence[int] | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Compare the sampled order of every pair of systems with its exact order.

    Parameters
    ----------
    metrics
        Metrics or their texts.
    sets
        At least two rank sets, one per system.
    m
        Sampled negatives per instance.
    corrections
        Corrections or their texts.
    m_max
        Largest m that is evaluated for ``right_from``. If None, it is the default of :func:`flips`.
    m_values
        Values of m at which corrections, and schemes that take long at each m, are evaluated, with
        bisection wherever the order of a pair changes in between; ``right_from`` then refers to
        the evaluated m only. For a quick look, :func:`quick_ladder` returns a few values. If None,
        the values are those of :func:`flips`.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`; ``correction`` is given by ``corrections``.

    Returns
    -------
    DataFrame with one row per metric, correction and pair: ``metric``, ``correction``, ``better``,
    ``worse`` (by the exact metric), ``exact`` and ``sampled`` (difference better - worse),
    ``state`` (see :func:`state_of`), ``right_from`` (the smallest m from which on the expected
    order is always right, ``<NA>`` if it is not right at the largest m, or for a tie) and
    ``probability`` that one run shows the true order.
    """
    order.check_sets(sets)
    if "correction" in options:
        raise TypeError("verdict takes corrections=(...), not correction=")
    chosen = [as_metric(x) for x in checks.several("metrics", metrics, "metric")]
    m = checks.integer("m", m, low=1)
    listed = None if m_values is None else checks.several("m_values", m_values, "m")
    values = listed and [checks.integer("m_values", value, low=1) for value in listed]
    tables = []
    recipes = [as_correction(x) for x in checks.several("corrections", corrections, "correction")]
    for step, recipe in enumerate(recipes):
        protocol = Protocol.of({**options, "correction": recipe})
        report = step_of(progress, step, len(recipes))
        top = order.largest_m(sets, m_max, protocol)
        over_m = order.orders(chosen, sets, top, protocol, report, values)
        tables.append(as_frame(verdict_at_m(over_m, chosen, sets, m, protocol)))
    return pd.concat(tables, ignore_index=True)
