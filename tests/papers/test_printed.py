"""The printed cells against a second transcription, row by row as the papers print them."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.papers.printed import CORRECTIONS, METRICS_34, SETTINGS, cells

# Krichene & Rendle 2020, Table 1 and 2: AUC, AP, NDCG, Recall@10.
ROWS_1 = """
A 0.990 0.010 0.150 0.000
B 0.555 0.010 0.122 0.000
C 0.843 0.101 0.208 0.200
"""
ROWS_2 = """
A 0.990±0.004 0.630±0.129 0.724±0.097 1.000±0.000
B 0.555±0.014 0.336±0.073 0.444±0.054 0.400±0.000
C 0.843±0.014 0.325±0.050 0.460±0.039 0.567±0.092
"""
# Table 3: Exact | uncorrected | Rank Estimate | CLS | BV 1 | BV 0.1 | BV 0.01 | BV 0.001.
ROWS_3 = """
X 7.60 66.19±0.25 17.46±0.32 8.52±0.16 4.71±0.07 6.49±0.25 7.18±0.59 7.32±1.17
Y 8.84 56.51±0.22 17.26±0.28 8.42±0.14 4.60±0.07 6.95±0.21 8.18±0.51 8.54±1.07
Z 9.42 54.20±0.22 18.67±0.32 9.10±0.15 4.97±0.07 7.44±0.24 8.63±0.59 9.08±1.20
X 3.76 39.21±0.20 17.46±0.32 3.99±0.07 2.16±0.04 3.00±0.12 3.34±0.32 3.41±0.71
Y 4.59 34.82±0.16 17.26±0.28 3.94±0.06 2.12±0.03 3.24±0.10 3.85±0.28 4.03±0.66
Z 4.79 35.34±0.16 18.67±0.32 4.27±0.07 2.29±0.04 3.46±0.12 4.05±0.32 4.31±0.74
X 3.75 32.55±0.21 18.12±0.31 3.58±0.06 2.44±0.03 3.13±0.09 3.37±0.21 3.42±0.49
Y 4.32 30.01±0.20 17.81±0.28 3.54±0.06 2.32±0.03 3.19±0.07 3.62±0.18 3.73±0.45
Z 4.44 30.71±0.21 19.20±0.31 3.82±0.06 2.45±0.03 3.38±0.08 3.79±0.21 3.97±0.51
X 89.13 89.12±0.04 89.24±0.04 89.12±0.04 88.36±0.04 89.04±0.04 89.11±0.04 89.12±0.04
Y 85.33 85.33±0.04 85.48±0.04 85.32±0.04 84.63±0.04 85.26±0.04 85.32±0.04 85.32±0.04
Z 74.73 75.04±0.23 75.24±0.20 75.04±0.21 74.51±0.23 75.02±0.20 75.02±0.24 75.02±0.23
"""
# Table 4: uncorrected | Rank Estimate | CLS | BV 1 | BV 0.1 | BV 0.01 | BV 0.001.
ROWS_4 = """
Recall@10 0 31 31 11 93 91 78
NDCG@10 0 31 31 15 93 88 76
AP 0 24 31 0 68 79 66
AUC 100 100 100 100 100 100 100
Recall@10 0 100 100 100 100 95 86
NDCG@10 0 100 100 100 100 95 82
AP 0 100 100 61 99 92 81
AUC 100 100 100 100 100 100 100
Recall@10 0 100 100 100 95 72 68
NDCG@10 100 100 100 100 94 70 67
AP 100 100 100 100 98 75 68
AUC 100 100 100 100 100 100 100
"""


@pytest.mark.parametrize(("table", "printed"), [(1, ROWS_1), (2, ROWS_2), (3, ROWS_3), (4, ROWS_4)])
def test_cells_are_the_print(table: int, printed: str) -> None:
    expected = []  # metric, row, column and text
    for i, (first, *texts) in enumerate(line.split() for line in printed.strip().split("\n")):
        if table < 3:
            column = "exact" if table == 1 else "uncorrected"
            named = [(metric, first, column) for metric in ("AUC", "AP", "NDCG", "Recall@10")]
        elif table == 3:  # three systems of each metric
            named = [(METRICS_34[i // 3], first, column) for column in ("exact", *CORRECTIONS)]
        else:  # four metrics of each pair
            named = [(first, ("XY", "XZ", "YZ")[i // 4], column) for column in CORRECTIONS]
        expected += [(*name, text) for name, text in zip(named, texts, strict=True)]
    found = cells(table)[["metric", "row", "column", "text"]]
    assert list(found.itertuples(index=False, name=None)) == expected


def test_every_cell_has_a_name_and_a_setting() -> None:
    found = {table: cells(table) for table in (1, 2, 3, 4)}
    assert len({name for each in found.values() for name in each["cell"]}) == 204
    assert found[4]["cell"][4] == "Table 4, Recall@10, X vs Y, BV 0.1"
    assert found[2]["cell"][0] == "Table 2, AUC, A"
    for table, each in found.items():
        systems = {ranks.system for ranks in sd.example(SETTINGS[table].example)}
        assert set("".join(each["row"])) <= systems
        assert all(str(sd.parse_metric(metric)) == metric for metric in each["metric"])
    assert all(str(sd.parse_correction(column)) == column for column in CORRECTIONS)


def test_settings_quote_the_paper() -> None:
    # Section 4.2: m = 99, n = 10,000, repeated 1000 times; section 6: m = 100, 100 times.
    assert [(SETTINGS[t].m, SETTINGS[t].runs) for t in (2, 3, 4)] == [(99, 1000)] + [(100, 100)] * 2
    assert {int(n) for ranks in sd.example(SETTINGS[2].example) for n in ranks.n} == {10_000}
    for ranks in sd.example(SETTINGS[3].example):  # corrections at one n: the mean of all
        assert round(float(np.mean(ranks.n))) == 3541
