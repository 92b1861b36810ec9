"""What distinguishes one metric from another, as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sampledash.types import Floats

MetricName = Literal["auc", "precision", "recall", "ap", "ndcg", "rr", "hit_rate", "topk", "atop"]


@dataclass(frozen=True)
class Kind:
    """What distinguishes one metric from another."""

    label: str
    cutoff: Literal["never", "optional", "always", "share"]
    aliases: tuple[str, ...]
    tex: str  # value of one relevant item at rank r, before the cutoff
    about: str
    gain: Callable[[Floats, int], Floats]  # value at a position, of the j-th relevant item
    scale: Callable[[int, float], float]  # factor for |R| relevant items and cutoff k
    first_only: bool = False


def _ideal_dcg(relevant: int, k: float) -> float:
    return float(np.sum(1 / np.log2(np.arange(2, min(relevant, k) + 2))))


KINDS: dict[str, Kind] = {
    "auc": Kind(
        "AUC", "never", ("auroc", "rocauc"), r"\frac{n-r}{n-1}",
        "chance that the relevant item is ranked above a random irrelevant one",
        lambda position, j: position, lambda relevant, k: 1 / relevant,
    ),
    "precision": Kind(
        "Precision", "always", ("p", "prec"), r"\frac{1}{k}",
        "share of the first k places that hold relevant items",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1 / k,
    ),
    "recall": Kind(
        "Recall", "always", ("r", "rec"), "1",
        "share of the relevant items found in the first k places",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1 / relevant,
    ),
    "ap": Kind(
        "AP", "optional", ("map", "averageprecision", "meanaverageprecision"), r"\frac{1}{r}",
        "average precision: rank 1 is worth twice rank 2",
        lambda position, j: j / position, lambda relevant, k: 1 / min(relevant, k),
    ),
    "ndcg": Kind(
        "NDCG", "optional", ("normalizeddiscountedcumulativegain",), r"\frac{1}{\log_2(r+1)}",
        "discounted gain: rank 1 is worth 1.58 times rank 2",
        lambda position, j: 1 / np.log2(position + 1),
        lambda relevant, k: 1 / _ideal_dcg(relevant, k),
    ),
    "rr": Kind(
        "RR", "optional", ("mrr", "reciprocalrank", "meanreciprocalrank"), r"\frac{1}{r}",
        "one over the rank of the first relevant item",
        lambda position, j: 1 / position, lambda relevant, k: 1.0, first_only=True,
    ),
    "hit_rate": Kind(
        "HitRate", "always", ("hr", "hit", "hits", "hitratio"), "1",
        "whether the first k places hold a relevant item",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1.0, first_only=True,
    ),
    "topk": Kind(
        "TOPK", "share", (), "1",
        "share of the relevant items found in the first part of the list",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1 / relevant,
    ),
    "atop": Kind(
        "ATOP", "never", (), r"\frac{n-r}{n-1}",
        "area under the TOPK curve: AUC, where an instance has one relevant item",
        lambda position, j: position, lambda relevant, k: 1 / relevant,
    ),
}  # fmt: skip
