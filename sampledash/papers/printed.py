"""Tables 1-4 of Krichene & Rendle (KDD 2020) as printed, and the settings that reproduce them.

A cell is data: where it stands, what is printed there, and from which ranks, with how many
negatives and which correction the same number comes out of the core.

References
----------
Walid Krichene and Steffen Rendle. On Sampled Metrics for Item Recommendation. KDD 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sampledash.sampling import Scheme

_WITH: Scheme = "with-replacement"
_WITHOUT: Scheme = "without-replacement"

#: Table 1: AUC, AP, NDCG, Recall@10, exact.
TABLE_1 = {
    "A": (0.990, 0.010, 0.150, 0.000),
    "B": (0.555, 0.010, 0.122, 0.000),
    "C": (0.843, 0.101, 0.208, 0.200),
}

#: Table 2: the same under 1,000 repetitions of m = 99, mean and standard deviation.
TABLE_2 = {
    "A": ((0.990, 0.004), (0.630, 0.129), (0.724, 0.097), (1.000, 0.000)),
    "B": ((0.555, 0.014), (0.336, 0.073), (0.444, 0.054), (0.400, 0.000)),
    "C": ((0.843, 0.014), (0.325, 0.050), (0.460, 0.039), (0.567, 0.092)),
}

METRICS_12 = ("AUC", "AP", "NDCG", "Recall@10")

#: Columns of Tables 3 and 4 after "Exact".
CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 1", "BV 0.1", "BV 0.01", "BV 0.001")

_TABLE_3 = """
Recall@10 X 7.60 66.19 0.25 17.46 0.32 8.52 0.16 4.71 0.07 6.49 0.25 7.18 0.59 7.32 1.17
Recall@10 Y 8.84 56.51 0.22 17.26 0.28 8.42 0.14 4.60 0.07 6.95 0.21 8.18 0.51 8.54 1.07
Recall@10 Z 9.42 54.20 0.22 18.67 0.32 9.10 0.15 4.97 0.07 7.44 0.24 8.63 0.59 9.08 1.20
NDCG@10 X 3.76 39.21 0.20 17.46 0.32 3.99 0.07 2.16 0.04 3.00 0.12 3.34 0.32 3.41 0.71
NDCG@10 Y 4.59 34.82 0.16 17.26 0.28 3.94 0.06 2.12 0.03 3.24 0.10 3.85 0.28 4.03 0.66
NDCG@10 Z 4.79 35.34 0.16 18.67 0.32 4.27 0.07 2.29 0.04 3.46 0.12 4.05 0.32 4.31 0.74
AP X 3.75 32.55 0.21 18.12 0.31 3.58 0.06 2.44 0.03 3.13 0.09 3.37 0.21 3.42 0.49
AP Y 4.32 30.01 0.20 17.81 0.28 3.54 0.06 2.32 0.03 3.19 0.07 3.62 0.18 3.73 0.45
AP Z 4.44 30.71 0.21 19.20 0.31 3.82 0.06 2.45 0.03 3.38 0.08 3.79 0.21 3.97 0.51
AUC X 89.13 89.12 0.04 89.24 0.04 89.12 0.04 88.36 0.04 89.04 0.04 89.11 0.04 89.12 0.04
AUC Y 85.33 85.33 0.04 85.48 0.04 85.32 0.04 84.63 0.04 85.26 0.04 85.32 0.04 85.32 0.04
AUC Z 74.73 75.04 0.23 75.24 0.20 75.04 0.21 74.51 0.23 75.02 0.20 75.02 0.24 75.02 0.23
"""

#: Table 3, in percent: exact, then (mean, standard deviation) per column; m = 100.
TABLE_3: dict[tuple[str, str], tuple[float, tuple[tuple[float, float], ...]]] = {}
for _row in _TABLE_3.strip().splitlines():
    _metric, _system, *_numbers = _row.split()
    _exact, *_both = map(float, _numbers)
    TABLE_3[_metric, _system] = _exact, tuple(zip(_both[::2], _both[1::2], strict=True))

#: Table 4: of 100 repetitions, how many show the right order; same columns.
TABLE_4: dict[tuple[str, str], tuple[int, ...]] = {
    ("XY", "Recall@10"): (0, 31, 31, 11, 93, 91, 78),
    ("XY", "NDCG@10"): (0, 31, 31, 15, 93, 88, 76),
    ("XY", "AP"): (0, 24, 31, 0, 68, 79, 66),
    ("XY", "AUC"): (100,) * 7,
    ("XZ", "Recall@10"): (0, 100, 100, 100, 100, 95, 86),
    ("XZ", "NDCG@10"): (0, 100, 100, 100, 100, 95, 82),
    ("XZ", "AP"): (0, 100, 100, 61, 99, 92, 81),
    ("XZ", "AUC"): (100,) * 7,
    ("YZ", "Recall@10"): (0, 100, 100, 100, 95, 72, 68),
    ("YZ", "NDCG@10"): (100, 100, 100, 100, 94, 70, 67),
    ("YZ", "AP"): (100, 100, 100, 100, 98, 75, 68),
    ("YZ", "AUC"): (100,) * 7,
}

#: The same systems with the ties of Z kept: they are redrawn in every run, as the paper did.
MOVIELENS = "movielens-xyz-ties"

#: Metrics of Tables 3 and 4.
METRICS_34 = ("Recall@10", "NDCG@10", "AP", "AUC")

#: Steck (KDD 2010), Table 3, models of Netflix: RMSE, ATOP, TOPK at 0 %, 0.2 % and 2 % (in %), from
#: 1,000 sampled others. It takes ratings and trained models: no cell is recomputed.
STECK_TABLE_3 = {
    "integrated model": (0.887, 0.91, 6.7, 15.7, 43.0),
    "AllRank-Regression": (1.106, 0.96, 9.3, 23.3, 64.8),
}


@dataclass(frozen=True)
class Cell:
    """One printed cell and the setting that reproduces it.

    Attributes
    ----------
    table
        1 to 4.
    metric, row, column
        Row is a system (``"X"``) or a pair (``"XY"``); column is ``"exact"`` or the correction,
        as :func:`~sampledash.parse_correction` reads it.
    value, spread
        The number, and the standard deviation beside it if there is one. Table 3 is in percent,
        Table 4 counts runs.
    decimals
        Printed places after the point.
    runs
        Repetitions behind the number; ``None`` for exact values.
    example
        Name of the bundled ranks.
    n
        Candidates: of the toy lists, or those the corrections were fitted to; MovieLens lists
        themselves are as long as each user's own candidates.
    m, scheme, fit_scheme
        Negatives, how they were drawn, and the law the correction was fitted to; ``m`` is ``None``
        for exact values.
    """

    table: int
    metric: str
    row: str
    column: str
    value: float
    spread: float | None
    decimals: int
    runs: int | None
    example: str
    n: int
    m: int | None
    scheme: Scheme
    fit_scheme: Scheme

    @property
    def name(self) -> str:
        """Where it stands, for example ``"Table 3, AP, X, BV 0.1"``."""
        row = " vs ".join(self.row) if self.table == 4 else self.row
        column = "" if self.table < 3 else f", {self.column}"
        return f"Table {self.table}, {self.metric}, {row}{column}"

    @property
    def text(self) -> str:
        """The cell as printed."""
        number = f"{self.value:.{self.decimals}f}"
        return number if self.spread is None else f"{number}±{self.spread:.{self.decimals}f}"

    @property
    def half_unit(self) -> float:
        """How far rounding may have moved a number of this cell."""
        return 0.5 * 10.0**-self.decimals


def cells(table: int | None = None) -> list[Cell]:
    """Every printed cell of Tables 1-4, or of one of them, in the order of print."""
    return [cell for cell in _cells() if table in (None, cell.table)]


def _cells() -> Iterator[Cell]:
    toy = ("paper-abc", 10_000)
    for row, values in TABLE_1.items():
        for metric, value in zip(METRICS_12, values, strict=True):
            yield Cell(1, metric, row, "exact", value, None, 3, None, *toy, None, _WITH, _WITH)
    for row, found in TABLE_2.items():
        for metric, (value, spread) in zip(METRICS_12, found, strict=True):
            yield Cell(
                2, metric, row, "uncorrected", value, spread, 3, 1000, *toy, 99, _WITH, _WITH
            )
    real = (MOVIELENS, 3_541)
    for (metric, row), (exact, sampled) in TABLE_3.items():
        yield Cell(3, metric, row, "exact", exact, None, 2, None, *real, None, _WITHOUT, _WITH)
        for column, (value, spread) in zip(CORRECTIONS, sampled, strict=True):
            yield Cell(3, metric, row, column, value, spread, 2, 100, *real, 100, _WITHOUT, _WITH)
    for (row, metric), right in TABLE_4.items():
        for column, times in zip(CORRECTIONS, right, strict=True):
            yield Cell(4, metric, row, column, times, None, 0, 100, *real, 100, _WITHOUT, _WITH)
