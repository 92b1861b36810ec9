"""Comparing systems: means, curves over m, flips, chances and the verdict."""

from sampledash.comparison.chance import probability_of_order
from sampledash.comparison.curves import curve
from sampledash.comparison.flips import Flip, flips, right_from
from sampledash.comparison.means import expected_mean, mean, std_of_mean
from sampledash.comparison.verdict import verdict

__all__ = [
    "Flip",
    "curve",
    "expected_mean",
    "flips",
    "mean",
    "probability_of_order",
    "right_from",
    "std_of_mean",
    "verdict",
]
