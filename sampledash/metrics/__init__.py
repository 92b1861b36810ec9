"""Ranking metrics: a table of their kinds, the metric with its cutoff, and their names."""

from sampledash.metrics.metric import Metric, places_within, share_of
from sampledash.metrics.names import as_metric, as_metrics, metric, parse_metric

__all__ = [
    "Metric",
    "as_metric",
    "as_metrics",
    "metric",
    "parse_metric",
    "places_within",
    "share_of",
]
