"""sampledash: explore, check and correct ranking metrics computed on sampled negatives."""

from sampledash.comparison import (
    Flip,
    Interval,
    counterexample,
    curve,
    expected_mean,
    flips,
    instances_needed,
    mean,
    negatives_needed,
    probability_if_redrawn,
    probability_if_shared,
    probability_of_order,
    right_from,
    significance,
    std_of_mean,
    verdict,
)
from sampledash.correction import Correction, Fit, correction, parse_correction
from sampledash.expectation import expected, posterior, variance
from sampledash.metrics import Metric, metric, parse_metric
from sampledash.ranksets import RankSet
from sampledash.readers import example, parse_rank_text, read_rank_sets, read_sampled_ranks
from sampledash.sampledranks import SampledRankSet
from sampledash.sampling import Sampling, parse_sampling
from sampledash.setting import Options
from sampledash.simulation import simulate

__version__ = "0.1.0"

__all__ = [
    "Correction",
    "Fit",
    "Flip",
    "Interval",
    "Metric",
    "Options",
    "RankSet",
    "SampledRankSet",
    "Sampling",
    "correction",
    "counterexample",
    "curve",
    "example",
    "expected",
    "expected_mean",
    "flips",
    "instances_needed",
    "mean",
    "metric",
    "negatives_needed",
    "parse_correction",
    "parse_metric",
    "parse_rank_text",
    "parse_sampling",
    "posterior",
    "probability_if_redrawn",
    "probability_if_shared",
    "probability_of_order",
    "read_rank_sets",
    "read_sampled_ranks",
    "right_from",
    "significance",
    "simulate",
    "std_of_mean",
    "variance",
    "verdict",
]
