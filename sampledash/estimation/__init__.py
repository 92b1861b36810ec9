"""From sampled ranks to the exact metric: rank distributions, learned vectors, estimates."""

from sampledash.estimation.bounds import bounds, bounds_from_table
from sampledash.estimation.cutoff_mapping import full_cutoff, matching_cutoff
from sampledash.estimation.estimate import (
    OVERSHOOT,
    Estimate,
    compare,
    estimate,
    interval,
    outside,
    point,
)
from sampledash.estimation.rank_distribution import (
    fitted,
    fitted_side_by_side,
    rank_distribution,
)
from sampledash.estimation.vectors import fit_learned, gamma_table

__all__ = [
    "OVERSHOOT",
    "Estimate",
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
]
