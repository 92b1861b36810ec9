"""Tests of the package's ranges and expectations on numbers that other researchers published.

``data/printed_coco_1k_5k.csv``: papers print metrics of 69 image-retrieval systems both for 1,000
images of MS-COCO and for all 5,000. The 1,000 images hold 999 of the 4,999 negatives, drawn without
replacement. The metrics for 1,000 images therefore give a range for the metric on 5,000 images,
which can be compared with the printed metric. The Paper page reads these ranges from
``data/ranges_coco_5k.csv``, which ``tests/dashboard/test_wild.py`` computes.

``data/ranks_ncf.csv``: He et al. (WWW 2017) published two trained recommenders and the sampled
negatives of each user. The metrics on these negatives can be compared with their exact expectation.
Estimates from these negatives can be compared with the metrics on all items.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.comparison.means import expected_mean, mean
from sampledash.comparison.scatter import std_of_mean
from sampledash.estimation.linear_programme import Shape
from sampledash.rank_sets import RankSet
from sampledash.readers.files import EXAMPLES, bundled, example
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.schemes import DEFAULT_SCHEME, Scheme
from sampledash.types import Ints

N, M, CUTOFFS = 5_000, 999, (1, 5, 10)
#: Names of the columns with the lower and the upper end of a range -> what the range assumes on the
#: distribution of true ranks: None, or "non-increasing" (no rank is rarer than a worse rank).
SHAPES: dict[tuple[str, str], Shape | None] = {
    ("low", "high"): None,
    ("low_if_falling", "high_if_falling"): "non-increasing",
}
#: Column of :func:`ranges` with a prediction of the metric on 5,000 images -> its name on the page.
GUESSES = {"estimate": "Estimate", "middle": "Middle of the range", "on_sample": "Number on 1,000"}
NCF, METRICS = "ncf", ("Recall@1", "Recall@10", "NDCG@10", "AUC")


def systems() -> pd.DataFrame:
    """Return the metrics printed for 1,000 and for 5,000 images, in percent; a row per system.

    Two columns are added to those of the bundled file: ``place``, the number of the row, and
    ``system``, the method's name, with a star if the system combines several models.
    """
    table = pd.read_csv(str(bundled() / "printed_coco_1k_5k.csv"), keep_default_na=False)
    starred = table["method"] + np.where(table["ensemble"] == "", "", "*")
    return table.assign(place=range(len(table)), system=starred)


def as_printed(system: Mapping[Hashable, Any]) -> str:
    """Return a system's metrics on 1,000 images as text that users can paste as a printed table.

    ``system`` is a row of :func:`systems`.
    """
    values = [f"{system[f'r{k}_1k']:.1f}" for k in CUTOFFS]
    name = f"{system['method']} {system['note']}".replace(",", "")
    lines = (["system", *(f"R@{k}" for k in CUTOFFS)], [name, *values])
    return "\n".join([f"m = {M}, n = {N}", *(" | ".join(line) for line in lines)])


@cache
def ranges() -> pd.DataFrame:
    """Return ranges and estimates of the metrics on 5,000 images, given those on 1,000 images.

    Returns
    -------
    A row per system and cutoff: ``place``, ``system``, ``note`` as in :func:`systems`; the cutoff
    ``k``; the printed Recall@k ``on_sample`` (1,000 images) and ``on_all`` (5,000); the ends of two
    ranges, without and with an assumption on the distribution of true ranks (:data:`SHAPES`); the
    ``middle`` of the range with this assumption; and the ``estimate`` of
    :func:`sampledash.estimate_from_table`. All metrics are shares (0 to 1).
    """
    return pd.read_csv(str(bundled() / "ranges_coco_5k.csv"), keep_default_na=False)


def inside(cells: pd.DataFrame, ends: tuple[str, str]) -> pd.Series[bool]:
    """Return for each row of the table ``cells`` whether the metric on 5,000 images is in a range.

    ``ends`` names the columns with the lower and the upper end of the range.
    """
    low, high = ends
    return cells["on_all"].between(cells[low], cells[high])


def outside(cells: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the rows of ``cells`` whose printed metric on 5,000 images is outside a range.

    Each row has two more entries: the ``ends`` of this range, and the ``shape`` that the range
    assumes for the distribution of true ranks, or None.
    """
    return [
        {**cell, "ends": [cell[end] for end in ends], "shape": shape}
        for ends, shape in SHAPES.items()
        for cell in cells[~inside(cells, ends)].to_dict("records")
    ]


def summary(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a table of how well ranges and predictions fit the printed metrics on 5,000 images.

    ``cells`` is a table as from :func:`ranges`. The result has a row per cutoff, and the columns

    ``k``, ``cells``, ``pairs``
        The cutoff, the number of systems, and the number of pairs of systems.
    ``inside_low``
        Number of systems whose metric is in the range from ``low`` to ``high``.
    ``decided_low``
        Number of pairs of systems with disjoint ranges.
    ``right_low``
        Number of these pairs whose ranges are in the same order as the metrics.
    ``inside_low_if_falling``, ``decided_low_if_falling``, ``right_low_if_falling``
        The same numbers for the range from ``low_if_falling`` to ``high_if_falling``.
    ``off_estimate``
        Mean absolute error of the column ``estimate`` as a prediction of the metric.
    ``order_estimate``
        Share of pairs of systems whose predictions are in the same order as the metrics.
    ``off_middle``, ``order_middle``, ``off_on_sample``, ``order_on_sample``
        The same numbers for the other predictions (:data:`GUESSES`).
    """
    rows = []
    for k, part in cells.groupby("k"):
        true = _orders(part["on_all"], part["on_all"])
        row: dict[str, Any] = {"k": k, "cells": len(part), "pairs": len(true)}
        for low, high in SHAPES:
            sure = _orders(part[low], part[high])
            row[f"inside_{low}"] = inside(part, (low, high)).sum()
            row[f"decided_{low}"] = np.count_nonzero(sure)
            row[f"right_{low}"] = np.count_nonzero((sure == true) & (sure != 0))
        for name in GUESSES:
            row[f"off_{name}"] = (part[name] - part["on_all"]).abs().mean()
            row[f"order_{name}"] = np.mean(_orders(part[name], part[name]) == true)
        rows.append(row)
    return pd.DataFrame(rows)


def _orders(low: pd.Series[float], high: pd.Series[float]) -> Ints:
    """Return for each pair of ranges 1 if the first lies above the second, -1 if below, else 0.

    ``low`` and ``high`` are the ends of the ranges.
    """
    i, j = np.triu_indices(len(low), 1)
    lows, highs = low.to_numpy(), high.to_numpy()
    return np.asarray(1 * (lows[i] > highs[j]) - (highs[i] < lows[j]))


@cache
def published_samples(scheme: Scheme = DEFAULT_SCHEME) -> tuple[SampledRankSet, ...]:
    """Return the ranks of both recommenders of He et al. among their published negatives.

    The rank sets say that the negatives were drawn by ``scheme``.
    """
    table = pd.read_csv(str(bundled() / EXAMPLES[NCF].file))
    # Some instances have m = 98, because the relevant item itself was among the 99 draws. So m does
    # not depend on the ranks of the negatives: ``adaptive`` is False.
    return tuple(
        SampledRankSet(str(system), x["sampled"], x["n"], x["m"], scheme=scheme, adaptive=False)
        for system, x in table.groupby("system", sort=False)
    )


@memory.once
def expectations() -> pd.DataFrame:
    """Compare the metrics on the published negatives with their exact expectations.

    Returns
    -------
    A row per ``metric`` and ``system``, the largest difference first: the metric on the
    ``published`` negatives; its expectation ``expected`` and standard deviation ``std`` over all
    draws of as many negatives, without replacement; the difference ``off`` in standard deviations;
    and the metric ``on_all`` items.
    """
    rows = []
    for true, samples in zip(example(NCF), published_samples(), strict=True):
        m, seen = samples.m, RankSet(samples.system, samples.sampled_ranks, samples.m + 1)
        values, counts = np.unique(m, return_counts=True)
        shares = counts / len(m)
        of_m = [RankSet(true.system, true.ranks[m == x], true.n[m == x]) for x in values]
        drawn = list(zip(of_m, values.tolist(), strict=True))
        for metric in METRICS:
            expected = float(shares @ [expected_mean(metric, *x) for x in drawn])
            # The mean is a weighted sum over groups of instances with the same m. The groups are
            # independent, so their variances add up.
            std = float(np.linalg.norm(shares * [std_of_mean(metric, *x) for x in drawn]))
            row: dict[str, Any] = {"metric": metric, "system": true.system}
            row |= {"published": mean(metric, seen), "expected": expected, "std": std}
            row["off"] = (row["published"] - expected) / std
            rows.append(row | {"on_all": mean(metric, true)})
    return pd.DataFrame(rows).sort_values("off", key=np.abs, ascending=False, ignore_index=True)
