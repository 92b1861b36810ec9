"""Published numbers that nobody here made, and whether ranges and expectations hold for them.

``data/printed_coco_1k_5k.csv``: 69 image-retrieval systems are printed on 1,000 images of MS-COCO
and on all 5,000. The 1,000 images hold 999 of the 4,999 negatives, drawn without replacement, so
what is printed for them gives a range for what is printed for all. This module, run as a script,
computes the ranges from this file into ``data/ranges_coco_5k.csv``, which the page reads.

``data/ranks_ncf.csv``: two recommenders of He et al. (WWW 2017) were published with their weights
and with the negatives of each user. So what these negatives show has an exact expectation, and what
they tell about all items can be compared with the metrics on all items.
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
from sampledash.estimation.bounds import bounds_from_table
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.table_estimates import estimate_from_table
from sampledash.rank_sets import RankSet
from sampledash.readers.files import EXAMPLES, bundled, example
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.schemes import DEFAULT_SCHEME, Scheme
from sampledash.types import Ints

N, M, CUTOFFS = 5_000, 999, (1, 5, 10)
RANGES = "ranges_coco_5k.csv"
#: Columns of the lower and the upper end of a range -> the shape that the range assumes.
SHAPES: dict[tuple[str, str], Shape | None] = {
    ("low", "high"): None,
    ("low_if_falling", "high_if_falling"): "non-increasing",
}
#: Columns with a guess of the number on 5,000 images -> name of the guess.
GUESSES = {"estimate": "Estimate", "middle": "Middle of the range", "on_sample": "Number on 1,000"}
NCF, METRICS = "ncf", ("Recall@1", "Recall@10", "NDCG@10", "AUC")


def systems() -> pd.DataFrame:
    """Return the systems printed on 1,000 and on 5,000 images, in percent, as in the shipped file.

    Two columns are added: ``place``, the number of the row, and ``system``, the method with a star
    if several models were combined.
    """
    table = pd.read_csv(str(bundled() / "printed_coco_1k_5k.csv"), keep_default_na=False)
    starred = table["method"] + np.where(table["ensemble"] == "", "", "*")
    return table.assign(place=range(len(table)), system=starred)


def as_printed(system: Mapping[Hashable, Any]) -> str:
    """Return what a row of :func:`systems` says of 1,000 images, as a table to paste."""
    values = [f"{system[f'r{k}_1k']:.1f}" for k in CUTOFFS]
    name = f"{system['method']} {system['note']}".replace(",", "")
    lines = (["system", *(f"R@{k}" for k in CUTOFFS)], [name, *values])
    return "\n".join([f"m = {M}, n = {N}", *(" | ".join(line) for line in lines)])


@cache
def ranges() -> pd.DataFrame:
    """Return :func:`compute_ranges` of all systems, from the shipped file."""
    return pd.read_csv(str(bundled() / RANGES), keep_default_na=False)


def compute_ranges(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what the numbers on 1,000 images allow for each number on 5,000.

    ``rows`` are rows of :func:`systems`.

    Returns
    -------
    A row per system and cutoff: ``place``, ``system`` and ``note`` as in ``rows``; ``k``; the
    printed numbers ``on_sample`` (1,000 images) and ``on_all`` (5,000), and the ends of both ranges
    (:data:`SHAPES`), all in 0..1; ``middle``, that of the range with the shape; and
    ``estimate``, by :func:`sampledash.estimate_from_table`.
    """
    cells = []
    for row in rows.to_dict("records"):
        printed = {f"R@{k}": round(row[f"r{k}_1k"] / 100, 3) for k in CUTOFFS}
        for k, (metric, value) in zip(CUTOFFS, printed.items(), strict=True):
            ends = {"estimate": estimate_from_table(metric, printed, N, M, 3).value}
            for names, shape in SHAPES.items():
                span = bounds_from_table(metric, printed, N, M, 3, None, shape)
                ends |= dict(zip(names, span, strict=True))
            known = {name: row[name] for name in ("place", "system", "note")} | {"k": k}
            on_all = round(row[f"r{k}_5k"] / 100, 3)
            cells.append({**known, "on_sample": value, "on_all": on_all, **ends})
    table = pd.DataFrame(cells)
    return table.assign(middle=table[["low_if_falling", "high_if_falling"]].mean(axis=1))


def inside(cells: pd.DataFrame, ends: tuple[str, str]) -> pd.Series[bool]:
    """Return whether each number printed for 5,000 images is in its range."""
    low, high = ends
    return cells["on_all"].between(cells[low], cells[high])


def outside(cells: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the cells whose number on 5,000 images is outside a range, with the range's ``ends``.

    ``shape`` is the shape that the range assumes, or None.
    """
    return [
        {**cell, "ends": [cell[end] for end in ends], "shape": shape}
        for ends, shape in SHAPES.items()
        for cell in cells[~inside(cells, ends)].to_dict("records")
    ]


def summary(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how well ranges and guesses foretell the numbers on 5,000 images, a row per cutoff.

    ``cells`` are those of :func:`ranges`. The columns are the cutoff ``k``; the number of
    ``cells``, and of ``pairs`` of systems; for each range, by the name of its lower end, how many
    cells are ``inside_``, how many pairs it has ``decided_`` (their ranges are disjoint) and how
    many of these are printed in that order, ``right_``; and for each guess the mean error ``off_``,
    and ``order_``, the share of pairs that the guess and the print put in the same order.
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
    """Return for each pair of ranges 1 or -1, if the first or the second lies above, or else 0."""
    i, j = np.triu_indices(len(low), 1)
    lows, highs = low.to_numpy(), high.to_numpy()
    return np.asarray(1 * (lows[i] > highs[j]) - (highs[i] < lows[j]))


@cache
def published_samples(scheme: Scheme = DEFAULT_SCHEME) -> tuple[SampledRankSet, ...]:
    """Return the ranks of both models among the published negatives, read as drawn by a scheme."""
    table = pd.read_csv(str(bundled() / EXAMPLES[NCF].file))
    # m is 98 where an item was drawn as its own negative. This does not depend on its rank.
    return tuple(
        SampledRankSet(str(system), x["sampled"], x["n"], x["m"], scheme=scheme, adaptive=False)
        for system, x in table.groupby("system", sort=False)
    )


@memory.once
def expectations() -> pd.DataFrame:
    """Return what the published negatives show beside its exact expectation.

    Returns
    -------
    A row per metric and system, the largest difference first: ``metric``, ``system``; the value
    with the ``published`` negatives; its ``expected`` value and standard deviation ``std`` over all
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
            # Instances are independent, so variances add up.
            std = float(np.linalg.norm(shares * [std_of_mean(metric, *x) for x in drawn]))
            row: dict[str, Any] = {"metric": metric, "system": true.system}
            row |= {"published": mean(metric, seen), "expected": expected, "std": std}
            row["off"] = (row["published"] - expected) / std
            rows.append(row | {"on_all": mean(metric, true)})
    return pd.DataFrame(rows).sort_values("off", key=np.abs, ascending=False, ignore_index=True)


if __name__ == "__main__":
    compute_ranges(systems()).to_csv(str(bundled() / RANGES), index=False, lineterminator="\n")
