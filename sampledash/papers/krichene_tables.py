"""Tables 1-4 of Krichene & Rendle (KDD 2020) beside what the core computes for them.

Ours are expectations, not runs: the mean, the standard deviation and the chance of the right order
follow from the laws of the sampled ranks. The print holds the scatter of 1,000 or 100 runs, which
is what a difference is measured against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sampledash.comparison.chance import pair_chances
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import exact_means, variances_of_means
from sampledash.comparison.order import true_order
from sampledash.metrics import parse_metric
from sampledash.papers.printed import SETTINGS, cells
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Progress

Load = Callable[[str], Sequence[RankSet]]

#: A number counts as matched up to this many standard errors, and the print's rounding.
ERRORS = 2.0

RERUN = (
    "X is another training run: the paper's, stopped early with an unknown seed, cannot be had "
    "exactly"
)
RANK_ESTIMATE = (
    "the paper's number comes out with ranks scaled by (n − 1)/(m + 1) instead of eq. 20's "
    "(n − 1)/m"
)
TIES_OF_Z = (
    "2,623 users of Z have ties, which the paper redrew: its numbers come out, to 2.5 standard "
    "errors, if a tied item is never put last among the sampled items it ties with"
)
SCALED_AND_TIED = f"{RANK_ESTIMATE}; and {TIES_OF_Z}"


def match(table: int, load: Load, progress: Progress | None = None) -> pd.DataFrame:
    """Compute every cell of a table exactly and hold it against the print.

    ``load`` gives the bundled rank sets by name, :func:`sampledash.example`; ``progress`` is called
    with the share of the work that is done, in 0..1.

    Returns
    -------
    The frame of :func:`~sampledash.papers.cells` with the columns ``ours`` and ``our_std`` (exact
    standard deviation of one run) in the units of the cell; ``difference`` from the printed number
    and the largest one ``allowed``: rounding and two standard errors of the print, of the mean over
    its runs, of a count of right runs or, for an exact mean, of one random order of the ties;
    whether every number of the cell is ``matched``; and, where not, the ``reason``.
    """
    found, setting = cells(table), SETTINGS[table]
    sets, m, runs = load(setting.example), setting.m, setting.runs
    systems, names = [ranks.system for ranks in sets], found["metric"].unique().tolist()
    metrics, scale = [parse_metric(name) for name in names], 100.0 if table == 3 else 1.0
    half = 0.5 * 10.0**-setting.decimals  # how far rounding may have moved a number
    columns, parts = found.groupby("column", sort=False), []
    for done, (column, cell) in enumerate(columns, start=1):
        options: Options = {"scheme": setting.scheme, "fit_scheme": "with-replacement"}
        if column != "exact":
            options["correction"] = str(column)
        protocol, std = Protocol.of(options), np.full(len(cell), np.nan)
        if table == 4:
            pairs = [true_order(metric, sets, protocol) for metric in metrics]
            means = expected_means(metrics, sets, [m], protocol)[0]
            chance = np.ravel(pair_chances(metrics, sets, m, pairs, means, protocol), order="F")
            ours, error = runs * chance, np.sqrt(runs * chance * (1 - chance))
        else:
            at = [systems.index(x) for x in cell["row"]], [names.index(x) for x in cell["metric"]]
            if column == "exact":
                # Beyond all negatives only the order of the ties is left to chance.
                beyond, error = max(ranks.max_negatives for ranks in sets) + 1, np.zeros(len(cell))
                if any(ranks.has_ties for ranks in sets):
                    error = np.sqrt(variances_of_means(metrics, sets, beyond, protocol))[at]
                ours, error = scale * exact_means(metrics, sets, protocol)[at], scale * error
            else:
                ours = scale * expected_means(metrics, sets, [m], protocol)[0][at]
                std = scale * np.sqrt(variances_of_means(metrics, sets, m, protocol))[at]
                error = cell["printed_std"].to_numpy() / np.sqrt(runs)
        difference, allowed = ours - cell["printed"], half + ERRORS * error + 1e-9
        # A standard deviation from so many runs of a nearly normal mean has an error of its own.
        spread = half + ERRORS * std / np.sqrt(2 * (runs - 1))
        matched = (difference.abs() <= allowed) & ~((std - cell["printed_std"]).abs() > spread)
        held = {"difference": difference, "allowed": allowed, "matched": matched}
        parts.append(cell.assign(ours=ours, our_std=std, **held))
        if progress is not None:
            progress(done / len(columns))
    found = pd.concat(parts).reindex(found.index)
    left = np.where(found["matched"], "", [_reason(table, cell) for cell in found.itertuples()])
    return found.assign(reason=left)


def _reason(table: int, cell: Any) -> str:
    """Why a cell may not match."""
    if table == 3 and cell.column == "exact" and cell.row == "X":
        return RERUN
    if table == 3 and cell.metric == "AUC":
        if cell.column != "rank estimate":
            return TIES_OF_Z if cell.row == "Z" else RANK_ESTIMATE
        return SCALED_AND_TIED if cell.row == "Z" else RANK_ESTIMATE
    return ""
