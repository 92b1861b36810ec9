"""Comparing systems: means, flips, chances, significance, plans and the verdict."""

from sampledash.comparison.chance import probability_of_order
from sampledash.comparison.counterexample import counterexample
from sampledash.comparison.means import curve, expected_mean, mean, std_of_mean
from sampledash.comparison.order import Flip, flips, right_from
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import Interval, significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.comparison.verdict import verdict

__all__ = [
    "Flip",
    "Interval",
    "counterexample",
    "curve",
    "expected_mean",
    "flips",
    "instances_needed",
    "mean",
    "negatives_needed",
    "probability_if_redrawn",
    "probability_if_shared",
    "probability_of_order",
    "right_from",
    "significance",
    "std_of_mean",
    "verdict",
]
