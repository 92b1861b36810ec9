"""What two papers print, as data: the cells of Krichene & Rendle's Tables 1-4, and statements.

Beside each cell stands what the core computes: expectations, not runs. The mean, the standard
deviation and the chance of the right order follow from the laws of the sampled ranks. The print
holds the scatter of 1,000 or 100 runs, which is what a difference is measured against.

References
----------
Walid Krichene and Steffen Rendle. On Sampled Metrics for Item Recommendation. KDD 2020.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampledash.comparison.chance import pair_chances
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import exact_means, variances_of_means
from sampledash.comparison.order import true_order
from sampledash.metrics import parse_metric
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.sampling import Scheme
from sampledash.types import Progress

Load = Callable[[str], Sequence[RankSet]]

METRICS_12 = ("AUC", "AP", "NDCG", "Recall@10")  # across Tables 1 and 2
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
# A system and its metrics; a metric, a system and its columns, in percent; a pair, a metric and of
# how many runs its columns show the right order. Mean±standard deviation.
_PRINTED = {
    1: """
A 0.990 0.010 0.150 0.000
B 0.555 0.010 0.122 0.000
C 0.843 0.101 0.208 0.200
""",
    2: """
A 0.990±0.004 0.630±0.129 0.724±0.097 1.000±0.000
B 0.555±0.014 0.336±0.073 0.444±0.054 0.400±0.000
C 0.843±0.014 0.325±0.050 0.460±0.039 0.567±0.092
""",
    3: """
Recall@10 X 7.60 66.19±0.25 17.46±0.32 8.52±0.16 4.71±0.07 6.49±0.25 7.18±0.59 7.32±1.17
Recall@10 Y 8.84 56.51±0.22 17.26±0.28 8.42±0.14 4.60±0.07 6.95±0.21 8.18±0.51 8.54±1.07
Recall@10 Z 9.42 54.20±0.22 18.67±0.32 9.10±0.15 4.97±0.07 7.44±0.24 8.63±0.59 9.08±1.20
NDCG@10 X 3.76 39.21±0.20 17.46±0.32 3.99±0.07 2.16±0.04 3.00±0.12 3.34±0.32 3.41±0.71
NDCG@10 Y 4.59 34.82±0.16 17.26±0.28 3.94±0.06 2.12±0.03 3.24±0.10 3.85±0.28 4.03±0.66
NDCG@10 Z 4.79 35.34±0.16 18.67±0.32 4.27±0.07 2.29±0.04 3.46±0.12 4.05±0.32 4.31±0.74
AP X 3.75 32.55±0.21 18.12±0.31 3.58±0.06 2.44±0.03 3.13±0.09 3.37±0.21 3.42±0.49
AP Y 4.32 30.01±0.20 17.81±0.28 3.54±0.06 2.32±0.03 3.19±0.07 3.62±0.18 3.73±0.45
AP Z 4.44 30.71±0.21 19.20±0.31 3.82±0.06 2.45±0.03 3.38±0.08 3.79±0.21 3.97±0.51
AUC X 89.13 89.12±0.04 89.24±0.04 89.12±0.04 88.36±0.04 89.04±0.04 89.11±0.04 89.12±0.04
AUC Y 85.33 85.33±0.04 85.48±0.04 85.32±0.04 84.63±0.04 85.26±0.04 85.32±0.04 85.32±0.04
AUC Z 74.73 75.04±0.23 75.24±0.20 75.04±0.21 74.51±0.23 75.02±0.20 75.02±0.24 75.02±0.23
""",
    4: """
XY Recall@10 0 31 31 11 93 91 78
XY NDCG@10 0 31 31 15 93 88 76
XY AP 0 24 31 0 68 79 66
XY AUC 100 100 100 100 100 100 100
XZ Recall@10 0 100 100 100 100 95 86
XZ NDCG@10 0 100 100 100 100 95 82
XZ AP 0 100 100 61 99 92 81
XZ AUC 100 100 100 100 100 100 100
YZ Recall@10 0 100 100 100 95 72 68
YZ NDCG@10 100 100 100 100 94 70 67
YZ AP 100 100 100 100 98 75 68
YZ AUC 100 100 100 100 100 100 100
""",
}


def cells(table: int) -> pd.DataFrame:
    """The cells of a table in the order of print.

    Named as ``"Table 3, AP, X, BV 0.1"``; the ``row`` is a system ``"X"`` or a pair ``"XY"``, the
    ``column`` ``"exact"`` or a correction. The numbers in the ``text`` are ``printed`` and
    ``printed_std`` (NaN where there is none).
    """
    if table not in _PRINTED:
        raise ValueError(f"table must be 1, 2, 3 or 4, got {table!r}")
    found = []
    columns = {1: ("exact",), 2: CORRECTIONS[:1], 3: ("exact", *CORRECTIONS), 4: CORRECTIONS}[table]
    for line in _PRINTED[table].strip().splitlines():
        names = [name for name in line.split() if name in METRICS_34] or METRICS_12
        texts = [text for text in line.split() if text not in METRICS_34]
        row, heads = texts.pop(0), product(names, columns)
        for (metric, column), text in zip(heads, texts, strict=True):
            who, where = " vs ".join(row) if table == 4 else row, "" if table < 3 else f", {column}"
            found.append((f"Table {table}, {metric}, {who}{where}", metric, row, column, text))
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
    found, text = [], Path(__file__).with_name(f"{paper}.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?=\[)", text.strip()):
        line = Template(re.sub(r"\n +", " ", block)).substitute(values)
        head, _, rest = line.partition(" ours: ")
        name, where, quote = re.split(r"\] |: ", head[1:], maxsplit=2)
        what, _, note = rest.partition(" note: ")
        ours, holds = values[name]
        found.append((where, quote, float(ours), what, bool(holds), note))
    return pd.DataFrame(found, columns=["where", "quote", "ours", "what", "holds", "note"])
