"""Mean metrics at many m at once, against each m alone; orders of systems, against plain loops."""

from itertools import combinations, count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from sampledash.comparison import order
from sampledash.comparison.means import MeansOverM, expected_means
from sampledash.protocol import Protocol
from tests.comparison.made import instances, most, of_ranks, options_of, rank_set
from tests.oracles import METRICS, SCHEMES, WITH, WITHOUT, exact_law


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=12)
@given(both=st.tuples(*(instances(4, 3, tied=True, size=30),) * 2), data=st.data())
def test_every_m_at_once_is_each_m_alone(scheme, both, data):
    # ``MeansOverM`` derives distributions from those at a larger m; ``alone`` computes each anew.
    options = options_of(scheme, 1.5)
    sets, top = [], 40
    for name, rows in zip("PQ", both, strict=True):
        counts = [c for _, ranks, _ in rows for c in [data.draw(st.integers(1, 3))] * len(ranks)]
        sets.append(rank_set(rows, name, counts=counts))
        top = min(top, most(rows, scheme)) if scheme == WITHOUT else top
    m_values = sorted({1, min(2, top), min(3, top), max(1, top // 2), max(1, top - 1), top})
    metrics, protocol = [sd.metric(name, k=k) for name, k in METRICS], Protocol.of(options)
    alone = np.array([expected_means(metrics, sets, [m], protocol)[0] for m in m_values])
    # ``several`` reuses derived distributions in later calls, which may have any m in any order.
    several = MeansOverM(metrics, sets, top, protocol)
    for some in (m_values[::-2], m_values[1::2] * 2, m_values):
        true = alone[[m_values.index(m) for m in some]]
        assert several.at(some) == pytest.approx(true, rel=1e-12, abs=1e-14)


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
    # Means at m = 1, derived from m = 20,000, are accurate even where probabilities are 1e-300.
    rs = [sd.RankSet("P", [1, 2, 10**6], 10**6), sd.RankSet("Q", [3, 500_000, 999_999], 10**6)]
    for scheme in (WITH, WITHOUT):
        ours = sd.curve("AP", rs, [1, 50, 20_000], scheme=scheme)
        for m in (1, 50):
            for x in rs:
                laws = [exact_law(10**6, int(r), m, scheme) for r in x.ranks]
                true = np.mean([sum(float(p) / t for t, p in enumerate(q, start=1)) for q in laws])
                assert ours.loc[m, x.system] == pytest.approx(true, rel=1e-12)


def test_the_largest_m() -> None:
    for sizes, m_max, drawn, distinct in (
        (([10, 10], [10, 10]), None, 9, 9),
        (([10, 30], [10, 30]), None, 29, 29),
        (([10, 30], [40, 20]), None, 39, 39),
        (([10, 30], [10, 10]), None, 29, 9),  # system 1 has only 9 distinct negatives to draw
        (([10, 30], [20, 20], [10, 40]), 5, 5, 5),
        (([10, 30], [20, 20], [10, 40]), 50, 50, 19),
        (([20_000], [3]), None, 19_999, 2),
        (([20_001], [20_001]), None, 20_000, 20_000),
        (([30_000], [30_000]), None, 20_000, 20_000),
        (([30_000], [30_000]), 29_000, 29_000, 29_000),
        (([30_000], [30_000]), 40_000, 40_000, 29_999),
    ):
        sets = [sd.RankSet(str(i), [1] * len(n), n) for i, n in enumerate(sizes)]
        for scheme, top in ((WITH, drawn), (WITHOUT, distinct)):
            assert order.largest_m(sets, m_max, Protocol.of({"scheme": scheme})) == top


def test_relevant_items_are_no_negatives() -> None:
    sets = [sd.RankSet("P", [1, 2], 9, instances=["u", "u"]), sd.RankSet("Q", [1, 2], 9)]
    for scheme, top in ((WITH, 8), (WITHOUT, 7)):
        assert order.largest_m(sets, None, Protocol.of({"scheme": scheme})) == top


def ahead(x: float, y: float) -> int:
    return 0 if abs(x - y) <= 1e-12 else 1 if x > y else -1


@pytest.mark.parametrize("seed", range(8))
def test_orders_of_pairs_by_a_loop_over_m(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "_BLOCK", 15)  # two pairs of systems per block
    rng = np.random.default_rng(seed)
    m_values = np.cumsum(rng.integers(1, 4, 7))
    means = rng.choice([0, 1e-12, 2.5e-12, 0.5][seed % 2 :], (7, 4, 2))
    orders, pairs = order.Orders(m_values, means), list(combinations(range(4), 2))
    for m in range(m_values[-1] + 3):
        at, there = orders.at(m), m_values.tolist().index(m) if m in m_values else None
        assert at is None if there is None else np.array_equal(at, means[there])
    for x in range(2):
        right = []
        for i, j in pairs:
            signs = [ahead(*row) for row in means[:, [i, j], x].tolist()]
            assert orders.signs(i, j, x).tolist() == signs
            flips, last = [], 0
            for m, now in zip(m_values.tolist(), signs, strict=True):
                flips += [m] * (now * last < 0)
                last = now or last
            assert orders.flips(i, j, x) == flips
            wrong = [i for i, now in enumerate(signs) if now < 1]
            first = wrong[-1] + 1 if wrong else 0
            right.append(m_values[first] if first < 7 else 0)
            assert orders.right_from(i, j, x) == (right[-1] or None)
        assert orders.all_right_from(*np.transpose(pairs), x).tolist() == right
        exact = means[0, :, x].tolist()
        true = {(i, j): ahead(exact[i], exact[j]) for i, j in pairs}
        ordered = [(j, i, 1) if t < 0 else (i, j, t) for (i, j), t in true.items()]
        assert order.true_pairs(means[0, :, x]) == ordered


@pytest.mark.parametrize("top", [1, 39, 40, 41, 60, 300, 999, 1000, 1001, 10**6])
def test_the_values_of_a_quick_look(top: int) -> None:
    last = min(top, 1000)
    ladders = (sorted({round(last ** (i / (size - 1))) for i in range(size)}) for size in count(40))
    expected = next(x for x in ladders if len(x) >= 40) if last > 40 else [*range(1, last + 1)]
    assert order.quick_ladder(top) == expected
    assert len(expected) == min(top, 40)


#: Functions of m that return the mean metrics of Q and R; that of P is 0.5, that of S is 2.
CHANGES = {
    "once": lambda m: (m >= 777, 1),
    "at the ends": lambda m: (m >= 404, m <= 990),
    "to a tie": lambda m: (0.5 + 0.5 * (m > 650), m > 410),
    "never": lambda m: (0, 1),
    "early": lambda m: (m > 399, m > 2),
    "of R and P alone": lambda m: (-1, m > 500),
    "of R and S alone": lambda m: (0, 1 + 2 * (m > 500)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("correction", "m_max", "m_values"),
    [("BV 1", 1000, None), ("BV 1", 400, None), ("BV 1", 402, None), ("BV 1", 5000, None),
     ("BV 1", 1000, [900, 3, 700, 700, 1000]), ("rank estimate", 1000, None),
     ("rank estimate", 1000, [900, 3, 700]), (None, 1000, [5, 9])],
)  # fmt: skip
def test_every_m_that_can_matter(correction, m_max, m_values, change, monkeypatch) -> None:
    if correction and m_values:
        begin = sorted(set(m_values))
    elif correction == "BV 1" and m_max > 400:
        begin = [*range(1, 400), *(round(400 * (m_max / 400) ** (i / 64)) for i in range(65))]
    else:
        begin = [*range(1, m_max + 1)]

    def means(m: int) -> list[list[float]]:
        q, r = change(m)
        return [[0.5, 0], [q, 0], [r, 0], [2, 0]]

    class Means:
        def __init__(self, metrics: Any, sets: Any, top: int, protocol: Any) -> None:
            assert top == begin[-1]

        def at(self, wanted: list[int], progress: Any = lambda share: None) -> np.ndarray:
            progress(0.5)
            progress(1.0)
            return np.array([means(m) for m in wanted], dtype=float)

    monkeypatch.setattr(order, "MeansOverM", Means)
    seen: list[float] = []
    sets, protocol = of_ranks(9000, [1], [2], [3], [4]), Protocol.of({"correction": correction})
    metrics = [sd.parse_metric(x) for x in ("AP", "AUC")]
    orders = order.orders(metrics, sets, m_max, protocol, seen.append, m_values)

    def sides(m: int) -> list[int]:
        return [ahead(x, y) for (x, _), (y, _) in combinations(means(m), 2)]

    expected, rounds = set(begin), 0
    gaps = [(a, b) for a, b in zip(sorted(expected), sorted(expected)[1:], strict=False)]
    widest = max(b - a for a, b in gaps)
    while gaps := [(a, b) for a, b in gaps if b - a > 1 and sides(a) != sides(b)]:
        rounds += 1
        expected |= {(a + b) // 2 for a, b in gaps}
        gaps = [x for a, b in gaps for x in ((a, (a + b) // 2), ((a + b) // 2, b))]
    assert orders.m_values.tolist() == sorted(expected)
    assert orders.means.tolist() == [means(m) for m in sorted(expected)]
    half, most = (0.5, widest.bit_length() - 1) if widest > 1 else (1.0, 1)
    later = [min(half + (1 - half) * (i + 1) / most, 1.0) for i in range(rounds)]
    assert seen == pytest.approx([half / 2, half, *later, 1.0], abs=1e-15)
