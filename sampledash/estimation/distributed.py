"""An estimated distribution of the true rank: means of metrics, probabilities of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampledash.estimation import nodes
from sampledash.estimation.nodes import Support
from sampledash.metrics import Metric, as_metric
from sampledash.quadrature import panels
from sampledash.types import Floats

MOST_RANKS = 10**7  # that a probability is written out for


@dataclass(frozen=True, eq=False)
class RankDistribution:
    """Estimated probabilities of the true ranks, held at few nodes where n is large.

    Attributes
    ----------
    support
        The nodes.
    mass
        Probability of the ranks each node stands for, read-only: shape (nodes,), or (runs, nodes)
        for one distribution per run. Sums to 1.
    """

    support: Support
    mass: Floats

    def at(self, metric: Metric) -> tuple[Floats, Floats, Floats]:
        """Nodes that resolve the metric's cutoff: their items above, ranks and mass.

        A panel that the cutoff divides is summed in two parts, interpolated.
        """
        s = self.support
        cut = min(metric.cut(s.n - 1) or s.n, s.n)
        panel = int(np.searchsorted(s.ends, cut, side="left"))
        first, end = int(s.first[panel]), int(s.ends[panel])
        if cut == end:
            return s.above, s.ranks, self.mass
        here = slice(s.starts[panel], s.starts[panel + 1])
        density = self.mass[..., here] / s.ranks[here]
        parts = [panels([first], [cut])[:2], panels([cut], [end])[:2]]
        inside = [nodes.interpolated(s, panel, density, above) * w for above, w in parts]
        before, after = slice(None, here.start), slice(here.stop, None)
        above = [s.above[before], *(a for a, _ in parts), s.above[after]]
        ranks = [s.ranks[before], *(w for _, w in parts), s.ranks[after]]
        mass = [self.mass[..., before], *inside, self.mass[..., after]]
        return np.concatenate(above), np.concatenate(ranks), np.concatenate(mass, axis=-1)

    def expected(self, metric: Metric | str) -> Floats:
        """Mean of the exact metric over the distribution: a number, or one per run."""
        metric = as_metric(metric)
        above, _, mass = self.at(metric)
        values = metric.of_above(above, self.support.n - 1) * metric.scale(1)
        # The mass sums to 1 but for rounding.
        worst, best = metric([self.support.n, 1], self.support.n).tolist()
        return np.asarray(np.clip(mass @ values, worst, best))

    def probabilities(self) -> Floats:
        """Probability of each rank 1..n: shape (n,), for one distribution.

        Raises
        ------
        ValueError
            If n is above 10,000,000.
        """
        s = self.support
        require_writable(s.n)
        density = self.mass / s.ranks
        result = np.empty(s.n)
        for panel, (first, end) in enumerate(zip(s.first.tolist(), s.ends.tolist(), strict=True)):
            here = density[s.starts[panel] : s.starts[panel + 1]]
            if len(here) == end - first:
                result[first:end] = here
            else:
                above = np.arange(first, end, dtype=np.float64)
                result[first:end] = nodes.interpolated(s, panel, here, above)
        return np.asarray(result / result.sum())


def require_writable(n: int) -> None:
    """Refuse a list of all ranks that would not fit into memory with ease."""
    if n > MOST_RANKS:
        raise ValueError(
            f"n = {n} is too large to write out a probability for every rank: the limit is "
            f"{MOST_RANKS}; estimate the metric instead, which works at any n"
        )
