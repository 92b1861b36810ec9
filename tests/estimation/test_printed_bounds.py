"""Bounds from printed tables: the targets of X, Y and Z, programmes over all ranks, complaints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampledash.comparison import expected_mean
from sampledash.estimation import bounds_from_table
from tests.estimation.cases import extremes, shaped
from tests.oracles import METRICS, UNIFORM, dense_law, dense_target, item_scale, item_value

N, M = 3541, 100
NAMES = ("HR@1", "HR@5", "HR@10", "NDCG@10")
GOOD = {"HR@1": 0.1746, "HR@5": 0.4892, "HR@10": 0.6622, "NDCG@10": 0.3921}  # of X


@pytest.fixture(scope="module")
def tables(xyz) -> dict[str, dict[str, float]]:
    scheme = "without-replacement"
    return {
        one.system: {name: round(expected_mean(name, one, M, scheme=scheme), 4) for name in NAMES}
        for one in xyz
    }


@pytest.mark.parametrize(
    ("system", "shape", "low", "high"),
    [
        ("X", None, 0.0, 0.183),
        ("X", "non-increasing", 0.064, 0.098),
        ("Y", "non-increasing", 0.073, 0.116),
        ("Z", "non-increasing", 0.076, 0.121),
    ],
)
def test_what_their_printed_values_say(tables, system, shape, low, high) -> None:
    # Found with a dense programme elsewhere, to 0.3 points.
    found = bounds_from_table("Recall@10", tables[system], N, M, 4, shape=shape)
    assert found == pytest.approx((low, high), abs=0.003)


@given(st.integers(0, 10**6))
def test_small_tables_against_all_ranks(seed) -> None:
    rng = np.random.default_rng(seed)
    n, scheme = int(rng.integers(5, 70)), UNIFORM[rng.integers(2)]
    m = int(rng.integers(1, min(n, 12)))
    shape = (None, "non-increasing")[rng.integers(2)]
    (name, k), *shown = [METRICS[i] for i in rng.permutation(len(METRICS))[:4]]
    law, mass = dense_law(n, m, scheme), rng.dirichlet(np.full(n, 0.2))
    if shape is not None:
        mass = np.sort(mass)[::-1]
    rows = []
    for one, cut in shown:
        value = item_value(one, cut, 1, m)
        rows.append(law @ [value(a) * item_scale(one, cut, 1) for a in range(m + 1)])
    every = np.stack(rows, axis=1)
    values = np.round(mass @ every, 2)
    exact = shaped(dense_target(name, k, n) * item_scale(name, k, 1), shape)
    expected = extremes(shaped(every, shape), values - 0.005, values + 0.005, exact)
    assert expected is not None
    labels = [f"{one}@{cut}" if cut else one for one, cut in shown]
    printed = dict(zip(labels, values.tolist(), strict=True))
    metric = f"{name}@{k}" if k else name
    found = bounds_from_table(metric, printed, n, m, 2, shape=shape, scheme=scheme)
    assert found == pytest.approx(expected, abs=1e-6)


def test_one_printed_value_may_have_other_decimals(tables) -> None:
    decimals = {"HR@1": 4, "HR@5": 4, "HR@10": 2, "NDCG@10": 4}
    rough = tables["Y"] | {"HR@10": round(tables["Y"]["HR@10"], 2)}
    low, high = bounds_from_table("Recall@10", rough, N, M, decimals, shape="non-increasing")
    fine = bounds_from_table("Recall@10", tables["Y"], N, M, 4, shape="non-increasing")
    assert low <= fine[0] + 1e-9
    assert high >= fine[1] - 1e-9


def test_differences_within_one_table(tables) -> None:
    x, y = (bounds_from_table("AP", tables[name], N, M, 4) for name in "XY")
    found = bounds_from_table("AP", tables["X"], N, M, 4, versus=tables["Y"])
    assert found == pytest.approx((x[0] - y[1], x[1] - y[0]), abs=1e-12)


def test_with_instances_a_shape_is_about_their_metric() -> None:
    """A mean over 200 drawn from equal ranks: half of them have nobody in the first ten."""
    n, size, seen, held = 3706, 200, 0, 0
    rng = np.random.default_rng(31)
    for _ in range(60):
        ranks = rng.integers(1, n + 1, size)
        t = 1 + rng.binomial(99, (ranks - 1) / (n - 1))
        printed = {"HR@10": round(float(np.mean(t <= 10)), 4), "HR@50": round(np.mean(t <= 50), 4)}
        try:
            low, high = bounds_from_table(
                "Recall@10", printed, n, 99, 4, shape="non-increasing", instances=size
            )
        except ValueError:  # more than two standard errors off
            continue
        seen += 1
        held += low <= np.mean(ranks <= 10) <= high
    assert seen >= 50
    assert held / seen >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / seen)


def test_printed_auc_is_the_exact_one() -> None:
    low, high = bounds_from_table("AUC", {"AUC": 0.85, "HR@10": 0.5}, N, M, 2)
    assert (low, high) == pytest.approx((0.845, 0.855), abs=1e-8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # HR@10 holds whatever HR@5 holds, and NDCG@10 is below HR@10.
        ({"HR@5": 0.9}, r"observed 'HR@5' is 0.9000, but with n = 3541 and m = 100 the other"),
        ({"HR@10": 0.3}, r"observed 'HR@10' is 0.3000, but .* leave it 0\.\d+ to 0\.\d+: check"),
        ({"NDCG@10": 0.7}, r"observed 'NDCG@10' is 0.7000, but .* leave it 0\.\d+ to 0\.\d+"),
        ({"HR@1": 17.46}, r"'HR@1' is 17.46, .*: if the table prints percent, give 0.1746"),
        ({"HR@1": -0.1}, r"observed 'HR@1' is -0.1, but a metric lies in 0..1"),
        ({"HR@1": 170}, r"observed 'HR@1' is 170, but a metric lies in 0..1"),
        ({"HR@1": 0.17462}, r"observed 'HR@1' is 0.17462, which has more than decimals = 4"),
        ({"HR@1": "x"}, r"observed 'HR@1' must be a number, got 'x'"),
        ({"HR@1": float("nan")}, r"observed 'HR@1' must be"),
        ({"HR": 0.1}, r"HitRate needs a cutoff"),
        ({"Hits of mine": 0.1}, r"unknown metric 'Hits of mine'"),
        ({"HR@101": 0.5}, r"observed 'HR@101' is 0.5000, but .* leave it 1.0000 to 1.0000"),
    ],
)
def test_tables_that_no_ranks_can_produce(change, words) -> None:
    with pytest.raises(ValueError, match=words):
        bounds_from_table("Recall@10", GOOD | change, N, M, 4)


def test_a_shape_that_the_table_contradicts() -> None:
    printed = {"HR@5": 0.5, "HR@10": 0.5001}
    assert bounds_from_table("AUC", printed, N, M, 4)[0] > 0
    with pytest.raises(ValueError, match=r"shape 'non-increasing' contradicts observed 'HR@"):
        bounds_from_table("AUC", printed, N, M, 4, shape="non-increasing")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n": 1, "m": 1}, "n must be at least 2"),
        ({"m": 0}, "m must be at least 1"),
        (
            {"n": 50, "m": 60, "scheme": "without-replacement"},
            "m = 60 is too large without replacement",
        ),
        ({"scheme": "popularity"}, "scheme must be one of"),
        ({"shape": "flat"}, "shape must be one of"),
        ({"versus": {}}, "versus must hold printed values"),
        ({"versus": GOOD | {"HR@10": 0.3}}, r"versus 'HR@10' is 0\.3000"),
        ({"observed": {}}, "observed must hold printed values"),
        ({"decimals": -1}, "decimals of 'HR@1' must be"),
        ({"decimals": {"HR@1": 4, "HR@5": 4, "HR@10": 4}}, "decimals has no entry for 'NDCG@10'"),
        (
            {"observed": {"HR@1": 0.3, "HR@5": 0.2, "HR@10": 0.5, "NDCG@10": 0.6}},
            r"nearest to it without 'HR@\d+' = .* and '",
        ),
    ],
)
def test_wrong_settings(wrong, words) -> None:
    good = {"metric": "Recall@10", "observed": GOOD, "n": N, "m": M, "decimals": 4}
    with pytest.raises(ValueError, match=words):
        bounds_from_table(**good | wrong)
