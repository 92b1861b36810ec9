"""sampledash: explore, check and correct ranking metrics computed on sampled negatives."""

from sampledash.comparison import (
    Flip,
    curve,
    expected_mean,
    flips,
    mean,
    probability_of_order,
    right_from,
    std_of_mean,
    verdict,
)
from sampledash.correction import Correction, Fit, correction, parse_correction
from sampledash.expectation import expected, posterior, variance
from sampledash.metrics import Metric, metric, parse_metric
from sampledash.ranksets import RankSet
from sampledash.readers import example, parse_rank_text, read_rank_sets
from sampledash.sampling import Sampling, parse_sampling
from sampledash.setting import Options
from sampledash.simulation import simulate

__version__ = "0.1.0"

__all__ = [
    "Correction",
    "Fit",
    "Flip",
    "Metric",
    "Options",
    "RankSet",
    "Sampling",
    "correction",
    "curve",
    "example",
    "expected",
    "expected_mean",
    "flips",
    "mean",
    "metric",
    "parse_correction",
    "parse_metric",
    "parse_rank_text",
    "parse_sampling",
    "posterior",
    "probability_of_order",
    "read_rank_sets",
    "right_from",
    "simulate",
    "std_of_mean",
    "variance",
    "verdict",
]
