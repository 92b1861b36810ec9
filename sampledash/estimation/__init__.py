"""From sampled ranks to the exact metric: rank distributions, learned vectors, estimates."""

from sampledash.estimation.bounds import bounds
from sampledash.estimation.choice import gamma_table
from sampledash.estimation.cutoff import full_cutoff, matching_cutoff
from sampledash.estimation.distributed import RankDistribution
from sampledash.estimation.distribution import fitted, fitted_side_by_side, rank_distribution
from sampledash.estimation.estimate import OVERSHOOT, Estimate, estimate, outside
from sampledash.estimation.intervals import Compared, compare, interval
from sampledash.estimation.points import point
from sampledash.estimation.scatter import standard_error
from sampledash.estimation.table import bounds_from_table
from sampledash.estimation.vectors import LearnedFit, fit_learned

__all__ = [
    "OVERSHOOT",
    "Compared",
    "Estimate",
    "LearnedFit",
    "RankDistribution",
    "bounds",
    "bounds_from_table",
    "compare",
    "estimate",
    "fit_learned",
    "fitted",
    "fitted_side_by_side",
    "full_cutoff",
    "gamma_table",
    "interval",
    "matching_cutoff",
    "outside",
    "point",
    "rank_distribution",
    "standard_error",
]
