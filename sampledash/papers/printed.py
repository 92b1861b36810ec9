"""What two papers print, as data: the cells of Krichene & Rendle's Tables 1-4, and statements.

Beside each cell stands what the core computes: expectations, not runs. The mean, the standard
deviation and the chance of the right order follow from the laws of the sampled ranks. The print
holds the scatter of 1,000 or 100 runs, which is what a difference is measured against.

References
----------
Walid Krichene and Steffen Rendle. On Sampled Metrics for Item Recommendation. KDD 2020.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampledash.comparison.chance import pair_chances
from sampledash.comparison.means import exact_means, expected_means, variances_of_means
from sampledash.comparison.order import true_order
from sampledash.metrics import parse_metric
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.sampling import Scheme
from sampledash.types import Progress

Load = Callable[[str], Sequence[RankSet]]

_HERE = Path(__file__).parent
METRICS_34 = ("Recall@10", "NDCG@10", "AP", "AUC")
#: Columns of Tables 3 and 4, in Table 3 after "exact": texts of corrections.
CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 1", "BV 0.1", "BV 0.01", "BV 0.001")
#: X, Y and Z with the ties of Z kept: they are redrawn in every run, as the paper did.
MOVIELENS = "movielens-xyz-ties"


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


class Setting(NamedTuple):
    """What reproduces a table, and how it is printed.

    ``scheme`` drew the ``m`` negatives of each of the ``runs``; corrections were fitted to sampling
    with replacement, at the mean n of the ranks in ``example``.
    """

    example: str
    scheme: Scheme
    m: int
    runs: int
    decimals: int


SETTINGS = {
    1: Setting("paper-abc", "with-replacement", 99, 1000, 3),
    2: Setting("paper-abc", "with-replacement", 99, 1000, 3),
    3: Setting(MOVIELENS, "without-replacement", 100, 100, 2),
    4: Setting(MOVIELENS, "without-replacement", 100, 100, 0),
}


def cells(table: int) -> pd.DataFrame:
    """The cells of a table in the order of print.

    Named as ``"Table 3, AP, X, BV 0.1"``; the ``row`` is a system ``"X"`` or a pair ``"XY"``, the
    ``column`` ``"exact"`` or a correction. The numbers in the ``text`` are ``printed`` and
    ``printed_std`` (NaN where there is none).
    """
    if table not in SETTINGS:
        raise ValueError(f"table must be 1, 2, 3 or 4, got {table!r}")
    found = []
    for line in csv.DictReader((_HERE / "krichene.csv").read_text(encoding="utf-8").splitlines()):
        number, metric, row = (line.pop(name) for name in ("table", "metric", "row"))
        for column, text in line.items():
            if number == str(table) and text:
                where = "" if table < 3 else f", {column}"
                cell = f"Table {table}, {metric}, {' vs '.join(row)}{where}"
                found.append((cell, metric, row, column, text))
    frame = pd.DataFrame(found, columns=["cell", "metric", "row", "column", "text"])
    numbers = frame["text"].str.split("±", expand=True).reindex(columns=[0, 1])
    return frame.assign(printed=pd.to_numeric(numbers[0]), printed_std=numbers[1].astype(float))


def match(table: int, load: Load, progress: Progress | None = None) -> pd.DataFrame:
    """Compute every cell of a table exactly and hold it against the print.

    ``load`` gives the bundled rank sets by name: :func:`sampledash.example`. To :func:`cells` come
    ``ours`` and ``our_std`` (exact standard deviation of one run) in the units of the cell;
    ``difference`` from the printed number and the largest one ``allowed``: rounding and two
    standard errors of the print, of the mean over its runs, of a count of right runs or, for an
    exact mean, of one random order of the ties; whether every number of the cell is ``matched``;
    and, where not, the ``reason``.
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


#: Of each statement our number and whether it holds, and what else the text names.
Values = Mapping[str, Any]


def statements(paper: str, values: Values) -> pd.DataFrame:
    """Put our numbers, by name, to the statements of a paper.

    The text beside this module holds ``[name] where: quote``, then what our number is after
    ``ours:``, then perhaps ``note:``, under which reading the statement holds or why it does not;
    wrapped lines are indented, and ``$x`` stands for the number x.
    """
    found, text = [], (_HERE / f"{paper}.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?=\[)", text.strip()):
        line = Template(re.sub(r"\n +", " ", block)).substitute(values)
        head, _, rest = line.partition(" ours: ")
        name, where, quote = re.split(r"\] |: ", head[1:], maxsplit=2)
        what, _, note = rest.partition(" note: ")
        ours, holds = values[name]
        found.append((where, quote, float(ours), what, bool(holds), note))
    return pd.DataFrame(found, columns=["where", "quote", "ours", "what", "holds", "note"])
