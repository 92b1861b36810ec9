"""The public API: each name is imported, when it is first used, from the module given here."""

from sampledash.auditing.audit import Audit, audit
from sampledash.comparison.chance import probability_of_order
from sampledash.comparison.counterexample import counterexample
from sampledash.comparison.designs import Designs, InstanceMean, designs, mean_of_sample
from sampledash.comparison.means import curve, expected_mean, mean, mean_range
from sampledash.comparison.one_list import OneList, one_list
from sampledash.comparison.order import Flip, flips, right_from
from sampledash.comparison.overlap import Overlap
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.scatter import std_of_mean
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import Interval, significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.comparison.verdict import verdict
from sampledash.correction import Correction, Fit, correction, parse_correction
from sampledash.estimation.bounds import bounds, bounds_from_table
from sampledash.estimation.estimate import Estimate, compare, estimate, full_cutoff, matching_cutoff
from sampledash.estimation.rank_distribution import rank_distribution
from sampledash.estimation.stopping_range import stopping_range
from sampledash.estimation.table_estimates import TableEstimate, estimate_from_table
from sampledash.estimation.vectors import fit_learned, gamma_table
from sampledash.evaluator import Decided, Evaluation, evaluate, rank_until_decided
from sampledash.expectation import expected, posterior, variance
from sampledash.lab.interactions import Interactions, synthetic
from sampledash.lab.models import finish
from sampledash.lab.overlaps import overlaps
from sampledash.lab.ranking import rank, ranks_from_scores
from sampledash.lab.reading import read_interactions
from sampledash.lab.recommenders import Recommender, parse_recommender, recommender
from sampledash.lab.splits import Split, parse_split, split
from sampledash.metrics import Metric, metric, parse_metric
from sampledash.protocol import Options
from sampledash.rank_sets import RankSet
from sampledash.readers.files import example, read_rank_sets, read_sampled_ranks
from sampledash.readers.pasted import parse_rank_text
from sampledash.report.tables import read_vector_json, vector_json
from sampledash.sampled_rank_sets import SampledRankSet, as_sample
from sampledash.sampling import Sampling, parse_sampling
from sampledash.scores import from_scores
from sampledash.simulation import sample_ranks, simulate
from sampledash.spectral import eigenvalues, resolution, retained
from sampledash.stopping import Cost, deciding_cutoff, mean_stopping_cost, proxy_cost, stopping_cost

__version__: str

__all__ = [
    "Audit",
    "Correction",
    "Cost",
    "Decided",
    "Designs",
    "Estimate",
    "Evaluation",
    "Fit",
    "Flip",
    "InstanceMean",
    "Interactions",
    "Interval",
    "Metric",
    "OneList",
    "Options",
    "Overlap",
    "RankSet",
    "Recommender",
    "SampledRankSet",
    "Sampling",
    "Split",
    "TableEstimate",
    "as_sample",
    "audit",
    "bounds",
    "bounds_from_table",
    "compare",
    "correction",
    "counterexample",
    "curve",
    "deciding_cutoff",
    "designs",
    "eigenvalues",
    "estimate",
    "estimate_from_table",
    "evaluate",
    "example",
    "expected",
    "expected_mean",
    "finish",
    "fit_learned",
    "flips",
    "from_scores",
    "full_cutoff",
    "gamma_table",
    "instances_needed",
    "matching_cutoff",
    "mean",
    "mean_of_sample",
    "mean_range",
    "mean_stopping_cost",
    "metric",
    "negatives_needed",
    "one_list",
    "overlaps",
    "parse_correction",
    "parse_metric",
    "parse_rank_text",
    "parse_recommender",
    "parse_sampling",
    "parse_split",
    "posterior",
    "probability_if_redrawn",
    "probability_if_shared",
    "probability_of_order",
    "proxy_cost",
    "rank",
    "rank_distribution",
    "rank_until_decided",
    "ranks_from_scores",
    "read_interactions",
    "read_rank_sets",
    "read_sampled_ranks",
    "read_vector_json",
    "recommender",
    "resolution",
    "retained",
    "right_from",
    "sample_ranks",
    "significance",
    "simulate",
    "split",
    "std_of_mean",
    "stopping_cost",
    "stopping_range",
    "synthetic",
    "variance",
    "vector_json",
    "verdict",
]
