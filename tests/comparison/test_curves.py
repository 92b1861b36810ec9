"""Curves over m against exact laws, one row and one m at a time."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from sampledash.comparison.means import MeansOverM, expected_means
from sampledash.protocol import Protocol
from tests.comparison.made import instances, most, of_ranks, options_of, rank_set
from tests.oracles import METRICS, SCHEMES, WITH, WITHOUT, exact_law


@cache
def law(n: int, r: int, m: int, scheme: str) -> np.ndarray:
    return np.array([float(p) for p in exact_law(n, r, m, scheme)])


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=12)
@given(both=st.tuples(*(instances(4, 3, tied=True, size=30),) * 2), data=st.data())
def test_every_m_at_once_is_each_m_alone(scheme, both, data):
    # Each m alone: see test_enumeration and test_means. Here one law is thinned from m to m.
    options = options_of(scheme, 1.5)
    sets, top = [], 40
    for name, rows in zip("PQ", both, strict=True):
        counts = [c for _, ranks, _ in rows for c in [data.draw(st.integers(1, 3))] * len(ranks)]
        sets.append(rank_set(rows, name, counts=counts))
        top = min(top, most(rows, scheme)) if scheme == WITHOUT else top
    m_values = sorted({1, min(2, top), min(3, top), max(1, top // 2), max(1, top - 1), top})
    metrics, protocol = [sd.metric(name, k=k) for name, k in METRICS], Protocol.of(options)
    alone = np.array([expected_means(metrics, sets, [m], protocol)[0] for m in m_values])
    # What was thinned for some m is used for others, asked for in any order.
    several = MeansOverM(metrics, sets, top, protocol)
    for some in (m_values[::-2], m_values[1::2] * 2, m_values):
        true = alone[[m_values.index(m) for m in some]]
        assert several.at(some) == pytest.approx(true, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
@pytest.mark.parametrize(
    "correction", ["rank estimate", "rank estimate (linear)", "BV 0.1", "CLS", "LS"]
)
def test_corrected_curve_is_the_corrected_mean_at_each_m(scheme: str, correction: str) -> None:
    # The vector of each m, applied to the exact law of each row.
    n, m_values = 40, [1, 2, 5, 12]
    sets = [sd.RankSet("P", [1, 5, 33], n), sd.RankSet("Q", [2, 3, 40], n, ties=[4, 0, 0])]
    options = {"scheme": scheme, "correction": correction}
    for metric in ("Recall@3", "AP", "NDCG@5"):
        ours = sd.curve(metric, sets, m_values, **options)
        for m in m_values:
            fit = sd.parse_correction(correction).fit(metric, sd.Sampling(n, m, scheme))
            of = [float(np.dot(fit.values, law(n, r, m, scheme))) for r in range(1, n + 1)]
            true = np.mean([of[0], of[4], of[32]]), np.mean([np.mean(of[1:6]), of[2], of[39]])
            assert ours.loc[m].to_numpy() == pytest.approx(true, rel=1e-9, abs=1e-11)


def test_frame_and_progress() -> None:
    sets, seen = of_ranks(9, [1, 4], [2, 3]), []
    table = sd.curve("AP", sets, [5, 1, 5, np.int64(3)], progress=seen.append)
    assert table.index.tolist() == [5, 1, 5, 3]
    assert all(type(m) is int for m in table.index.tolist())
    assert table.columns.tolist() == ["P", "Q"]
    assert (table.dtypes == np.float64).all()
    assert table.iloc[0].tolist() == table.iloc[2].tolist()
    assert seen == pytest.approx([1 / 3, 2 / 3, 1])


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
