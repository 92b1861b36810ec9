"""Findings: the table of means, and whether every m was looked at."""

import sampledash as sd
from tests.report.made import WITHOUT, findings, movielens


def test_means_and_rows_by_metric():
    found = movielens(m_max=150)
    assert found.systems == ["X", "Y", "Z"]
    assert found.rows(1)["metric"].tolist() == ["AUC"] * 3
    means = found.means_table()
    assert means.shape == (6, 5)
    values = [array[2, 1] for array in (found.exact, found.expected, found.std)]
    assert means.iloc[5].tolist() == ["AUC", "Z", *values]


def test_whether_every_m_was_evaluated():
    sets = [sd.RankSet(name, ranks, 600) for name, ranks in (("A", [1, 90]), ("B", [9, 10]))]
    cls = {**WITHOUT, "correction": "CLS"}

    def made(options, m_max, values=None):
        table = movielens(metrics=["AP"], m_max=2, systems=2).verdict
        return findings("x", "s", sets, ["AP"], 3, options, m_max, table, m_values=values)

    assert made(WITHOUT, 599).every_m
    assert made(cls, 400).every_m
    assert not made(cls, 500).every_m
    assert not made(cls, 100, [1, 10, 100]).every_m
    assert made(cls, 3, [3, 2, 1]).every_m
    estimate = {**WITHOUT, "correction": "rank estimate"}
    assert made(estimate, 599).every_m
    assert not made(estimate, 599, [1, 599]).every_m
    assert made(WITHOUT, 599, [1, 599]).every_m  # uncorrected keeps every m
