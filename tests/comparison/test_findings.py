"""Findings: what is missing is computed, what is given must fit."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison.findings import findings
from tests.report.made import WITHOUT, movielens


def test_what_is_missing_is_computed():
    found = movielens(m_max=150)
    sets = sd.example("movielens-xyz")
    for i, ranks in enumerate(sets):
        for x, metric in enumerate(("Recall@10", "AUC")):
            assert found.exact[i, x] == pytest.approx(sd.mean(metric, ranks), abs=1e-15)
            expected = sd.expected_mean(metric, ranks, 100, **WITHOUT)
            assert found.expected[i, x] == pytest.approx(expected, abs=1e-14)
            std = sd.std_of_mean(metric, ranks, 100, **WITHOUT)
            assert found.std[i, x] == pytest.approx(std, rel=1e-12)
    table = sd.verdict(["Recall@10", "AUC"], sets, 100, m_max=150, **WITHOUT)
    assert found.verdict.equals(table)
    assert found.systems == ["X", "Y", "Z"]
    assert found.rows(1)["metric"].tolist() == ["AUC"] * 3
    means = found.means_table()
    assert means.shape == (6, 5)
    values = [array[2, 1] for array in (found.exact, found.expected, found.std)]
    assert means.iloc[5].tolist() == ["AUC", "Z", *values]


def test_what_is_given_is_taken():
    found = movielens(m_max=120)
    again = findings(
        "x", "sets", found.sets, found.metrics, 100, WITHOUT, 120, found.verdict,
        exact=found.exact, expected=found.expected + 1, std=found.std, m_values=[1, 5],
    )  # fmt: skip
    np.testing.assert_array_equal(again.expected, found.expected + 1)
    assert again.m_values == (1, 5)
    with pytest.raises(ValueError, match="read-only"):
        again.exact[0, 0] = 1


def test_default_m_max_is_the_largest_looked_at():
    sets = [sd.RankSet(name, [1, 5], 50) for name in "AB"]
    assert findings("x", "s", sets, ["AP"], 3, WITHOUT).m_max == 49


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


def test_what_does_not_fit_is_refused():
    found = movielens(metrics=["AP"], m_max=100)
    ask = ("x", "s", found.sets)
    with pytest.raises(ValueError, match="verdict has 2 rows: 3 systems and 1 metrics need 3"):
        findings(*ask, ["AP"], 100, WITHOUT, 100, found.verdict.head(2))
    with pytest.raises(ValueError, match=r"exact has shape \(2, 1\)"):
        findings(*ask, ["AP"], 100, WITHOUT, 100, found.verdict, exact=found.exact[:2])
    with pytest.raises(ValueError, match="metrics is empty"):
        findings(*ask, [], 100, WITHOUT)
    with pytest.raises(ValueError, match="at least two systems"):
        findings("x", "s", found.sets[:1], ["AP"], 100, WITHOUT)


def test_no_scatter_is_nan_and_the_rest_holds():
    # The scatter of several tied relevant items in one instance is not available.
    sets = [
        sd.RankSet(name, ranks, 30, instances=[0, 0, 1], ties=[2, 0, 0])
        for name, ranks in (("A", [1, 9, 4]), ("B", [2, 12, 1]))
    ]
    try:
        sd.std_of_mean("AP", sets[0], 5, **WITHOUT)
    except ValueError:
        found = findings("x", "s", sets, ["AP"], 5, WITHOUT)
        assert np.isnan(found.std).all()
        assert np.isfinite(found.expected).all()
