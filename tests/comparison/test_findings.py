"""Findings: the table of means, and whether every m was looked at."""

import pytest

from tests.comparison.made import of_ranks
from tests.report.made import WITHOUT, findings, movielens


def test_means_and_rows_by_metric():
    found = movielens(m_max=150)
    assert found.systems == ["X", "Y", "Z"]
    assert found.rows(1)["metric"].tolist() == ["AUC"] * 3
    means = found.means_table()
    assert means.shape == (6, 5)
    values = [array[2, 1] for array in (found.exact, found.expected, found.std)]
    assert means.iloc[5].tolist() == ["AUC", "Z", *values]


@pytest.mark.parametrize(
    ("correction", "m_max", "values", "every"),
    [
        (None, 599, None, True),
        (None, 599, [1, 599], True),  # uncorrected keeps every m
        ("CLS", 400, None, True),
        ("CLS", 500, None, False),
        ("CLS", 100, [1, 10, 100], False),
        ("CLS", 3, [3, 2, 1], True),
        ("rank estimate", 599, None, True),
        ("rank estimate", 599, [1, 599], False),
    ],
)
def test_whether_every_m_was_evaluated(correction, m_max, values, every):
    sets = of_ranks(600, [1, 90], [9, 10])
    table = movielens(metrics=["AP"], m_max=2, systems=2).verdict
    options = {**WITHOUT, "correction": correction}
    found = findings("x", "s", sets, ["AP"], 3, options, m_max, table, m_values=values)
    assert found.every_m is every
