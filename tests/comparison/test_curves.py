"""Curves over m against exact laws, one row and one m at a time."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from tests.comparison.made import of_ranks, options_of
from tests.oracles import (
    METRICS,
    POPULARITY,
    SCHEMES,
    WITH,
    WITHOUT,
    exact_law,
    item_scale,
    item_value,
)

Row = tuple[int, int, int, int, int]  # label, rank, ties, n, count


@cache
def law(n: int, r: int, m: int, scheme: str, odds: Fraction) -> np.ndarray:
    return np.array([float(p) for p in exact_law(n, r, m, scheme, odds)])


def direct(rows: list[Row], name: str, k: int | None, m: int, scheme: str, odds: Fraction) -> float:
    """Expected mean from the law of each row: own n, ties spelled out, several relevant items."""
    total = weight = 0.0
    for label in {row[0] for row in rows}:
        members = sorted(row[1:] for row in rows if row[0] == label)
        size = len(members)
        for j, (r, ties, n, count) in enumerate(members, start=1):
            negatives = n - size
            drawn = min(m, negatives) if scheme == WITHOUT else m
            value = item_value(name, k, j, drawn)
            values = np.array([value(a) for a in range(drawn + 1)])
            p = np.mean(
                [law(negatives + 1, r - j + 1 + t, drawn, scheme, odds) for t in range(ties + 1)],
                axis=0,
            )
            total += count * float(p @ values) * item_scale(name, k, size)
        weight += members[0][3]
    return total / weight


@st.composite
def systems(draw: st.DrawFn) -> list[Row]:
    rows: list[Row] = []
    for label in range(draw(st.integers(1, 4))):
        n = draw(st.integers(2, 30))
        ranks = sorted(draw(st.sets(st.integers(1, n), min_size=1, max_size=min(3, n - 1))))
        count = draw(st.integers(1, 3))
        for r, following in zip(ranks, [*ranks[1:], n + 1], strict=True):
            rows.append((label, r, draw(st.integers(0, following - r - 1)), n, count))
    return rows


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25)
@given(data=st.data())
def test_every_m_equals_the_laws_row_by_row(scheme: str, data: st.DataObject) -> None:
    first, second = data.draw(systems()), data.draw(systems())
    odds = Fraction(3, 2) if scheme == POPULARITY else Fraction(1)
    options, sets = options_of(scheme, float(odds)), []
    for system, rows in (("P", first), ("Q", second)):
        labels, ranks, ties, n, counts = zip(*rows, strict=True)
        more = {"instances": labels, "ties": ties, "counts": counts}
        sets.append(sd.RankSet(system, ranks, n, **more))
    top = 40
    if scheme == WITHOUT:  # with one number of negatives for all, more is an error
        for rows in (first, second):
            left = {n - sum(x[0] == label for x in rows) for label, _, _, n, _ in rows}
            if len(left) == 1:
                top = min(top, *left)
    m_values = sorted({1, min(2, top), min(3, top), max(1, top // 2), max(1, top - 1), top})
    for name, k in METRICS:
        ours = sd.curve(sd.metric(name, k=k), sets, m_values, **options)
        for rows, system in ((first, "P"), (second, "Q")):
            true = [direct(rows, name, k, m, scheme, odds) for m in m_values]
            assert ours[system].to_numpy() == pytest.approx(true, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
@pytest.mark.parametrize(
    "correction", ["rank estimate", "rank estimate (linear)", "BV 0.1", "CLS", "LS"]
)
def test_corrected_curve_is_the_corrected_mean_at_each_m(scheme: str, correction: str) -> None:
    # The vector of each m, applied to the exact law of each row.
    n = 40
    sets = [sd.RankSet("P", [1, 5, 33], n), sd.RankSet("Q", [2, 3, 40], n, ties=[4, 0, 0])]
    m_values = [1, 2, 5, 12]
    options = {"scheme": scheme, "correction": correction}
    for metric in ("Recall@3", "AP", "NDCG@5"):
        ours = sd.curve(metric, sets, m_values, **options)
        for m in m_values:
            fit = sd.parse_correction(correction).fit(metric, sd.Sampling(n, m, scheme))
            one = Fraction(1)
            p = [np.mean([fit.values @ law(n, r, m, scheme, one) for r in (1, 5, 33)])]
            tied = np.mean([fit.values @ law(n, r, m, scheme, one) for r in range(2, 7)])
            p.append(np.mean([tied, *(fit.values @ law(n, r, m, scheme, one) for r in (3, 40))]))
            assert ours.loc[m].to_numpy() == pytest.approx(p, rel=1e-9, abs=1e-11)
        for i, rs in enumerate(sets):
            again = [sd.expected_mean(metric, rs, m, **options) for m in m_values]
            assert ours.iloc[:, i].to_numpy() == pytest.approx(again, rel=1e-10, abs=1e-12)


def test_complete_sample_is_exact(xyz: list[sd.RankSet]) -> None:
    top = max(rs.max_negatives for rs in xyz)
    for metric in ("AUC", "Recall@10", "NDCG", "AP"):
        ours = sd.curve(metric, xyz, [top, 10**5], scheme=WITHOUT)
        for rs in xyz:
            assert ours[rs.system].to_numpy() == pytest.approx(
                np.mean(sd.parse_metric(metric)(rs.ranks, rs.n)), rel=1e-12
            )


def test_frame_and_progress() -> None:
    sets, seen = of_ranks(9, [1, 4], [2, 3]), []
    table = sd.curve("AP", sets, [5, 1, 5, np.int64(3)], progress=seen.append)
    assert table.index.tolist() == [5, 1, 5, 3]
    assert all(type(m) is int for m in table.index.tolist())
    assert table.columns.tolist() == ["P", "Q"]
    assert (table.dtypes == np.float64).all()
    assert table.iloc[0].tolist() == table.iloc[2].tolist()
    assert 0 < seen[0] <= seen[-1] == pytest.approx(1.0)
    assert seen == sorted(seen)


def test_tails_do_not_underflow_into_wrong_means() -> None:
    # Thinning from m = 20,000 down to 1 loses nothing, even for a rank whose law ends at 1e-300.
    rs = [sd.RankSet("P", [1, 2, 10**6], 10**6), sd.RankSet("Q", [3, 500_000, 999_999], 10**6)]
    for scheme in (WITH, WITHOUT):
        ours = sd.curve("AP", rs, [1, 50, 20_000], scheme=scheme)
        for m in (1, 50):
            for x in rs:
                laws = [exact_law(10**6, int(r), m, scheme) for r in x.ranks]
                true = np.mean([sum(float(p) / t for t, p in enumerate(q, start=1)) for q in laws])
                assert ours.loc[m, x.system] == pytest.approx(true, rel=1e-12)
