"""``verdict``, ``flips`` and ``right_from`` against results by hand and curves at every m. Here are
a few cases; ``python -m tests.benchmarks`` runs 200 random sets, n up to 400."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.comparison.order import quick_ladder
from sampledash.comparison.verdict import Pairs, state_of
from sampledash.protocol import Protocol
from tests.benchmarks.every_m import cases, check, flips_of, order
from tests.comparison.made import of_ranks
from tests.oracles import POPULARITY, WITH, WITHOUT

COLUMNS = "metric correction better worse exact sampled state right_from probability"


@pytest.mark.parametrize(
    "options", [{"scheme": WITHOUT}, {"scheme": POPULARITY, "odds": 3.0}, {"ties": "pessimistic"}]
)
def test_rows_repeat_the_single_functions(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    sets = [
        sd.RankSet(name, rng.integers(1, 50, 40), n, ties=rng.integers(0, 9, 40))
        for name, n in zip("PQR", (60, 60, 240), strict=True)
    ]
    seen: list[float] = []
    recipes, reading = ("uncorrected", "BV 0.1"), {"ties": options.get("ties", "expected")}
    table = sd.verdict(["AP", "Recall@5"], sets, 12, recipes, progress=seen.append, **options)
    assert seen == sorted(seen)
    assert 0 < min(seen) <= max(seen) <= 1
    for row in table.itertuples():
        both = [next(rs for rs in sets if rs.system == name) for name in (row.better, row.worse)]
        given = {**options, "correction": row.correction}
        exact = [sd.mean(row.metric, rs, **reading) for rs in both]
        sampled = [sd.expected_mean(row.metric, rs, 12, **given) for rs in both]
        assert row.exact == pytest.approx(exact[0] - exact[1], abs=1e-13)
        assert row.sampled == pytest.approx(sampled[0] - sampled[1], abs=1e-12)
        right = sd.right_from(row.metric, both, **given).m
        assert right.equals(pd.Series([row.right_from], dtype="Int64"))
        chance = sd.probability_of_order(row.metric, both, 12, **given).probability[0]
        # Chances by characteristic functions have errors of 1e-8, which depend on the other pairs.
        assert row.probability == pytest.approx(chance, abs=1e-7)


@pytest.mark.parametrize(
    ("truth", "sampled", "chance", "state"),
    [(0, 1, 0.99, "tied"), (1, 0, 0.0, "undecided"), (1, 1, 0.95, "right"),
     (1, 1, 0.9499, "undecided"), (1, -1, 0.05, "wrong"), (1, -1, 0.0501, "undecided"),
     (1, -1, 0.99, "undecided"), (1, 0, 1.0, "undecided"), (0, -1, 0.0, "tied"),
     (1, 1, 0.0003, "undecided")],  # the chance is this low if nearly all runs tie
)  # fmt: skip
def test_states(truth, sampled, chance, state) -> None:
    assert state_of(truth, sampled, chance) == state


def test_equal_systems_are_tied() -> None:
    sets = of_ranks(12, [3, 7], [7, 3])
    table = sd.verdict(["AP", "AUC", "NDCG@5"], sets, 5)
    assert table.state.tolist() == ["tied"] * 3
    assert table.exact.tolist() == [0, 0, 0]
    assert sd.flips("AP", sets) == []
    chance = sd.probability_of_order("AP", sets, 3).probability
    for column in (table.right_from, table.probability, sd.right_from("AP", sets).m, chance):
        assert column.isna().all()
    # A tie in sampling is undecided: in a sampled list of three candidates, Recall@4 is 1.
    table = sd.verdict(["Recall@4"], of_ranks(12, [3], [7]), 2)
    assert table.state.tolist() == ["undecided"]
    assert abs(table.sampled[0]) <= 1e-12


@pytest.mark.parametrize("correction", ["uncorrected", "BV 0.1"])
def test_more_negatives_than_candidates_are_looked_at(correction: str) -> None:
    # With replacement, m may exceed the largest n - 1: the means must be those of m = 40.
    sets, options = of_ranks(12, [9, 1], [4, 4]), {"scheme": WITH, "correction": correction}
    metric = sd.parse_metric("AP")
    found = Pairs.of([metric], sets, 40, Protocol.of(options))
    means = [sd.expected_mean(metric, ranks, 40, **options) for ranks in sets]
    assert found.sampled[:, 0].tolist() == pytest.approx(means, abs=1e-13)
    assert found.columns["sampled"][0] == pytest.approx(means[0] - means[1], abs=1e-13)
    assert found.m_max == 40


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        (lambda sets: sd.right_from("AP", sets), "m"),
        (lambda sets: sd.negatives_needed("AP", sets), "m"),
        (lambda sets: sd.instances_needed("AP", sets, 3), "instances"),
        (lambda sets: sd.probability_of_order("AP", sets, 3), "probability"),
        (lambda sets: sd.probability_if_redrawn("AP", sets, 3), "probability"),
        (lambda sets: sd.probability_if_shared("AP", sets, 3), "low high"),
        (lambda sets: sd.verdict(["AP"], sets, 3), COLUMNS.partition("worse ")[2]),
        (lambda sets: sd.significance("AP", sets, np.random.default_rng(1), resamples=100),
         "difference interval p p_holm paired"),
    ],
)  # fmt: skip
def test_frames(call, columns) -> None:
    table = call(of_ranks(12, [9, 1], [4, 4], [5, 2]))
    first = ["better", "worse"] if "state" not in columns else COLUMNS.split()[:4]
    assert table.columns.tolist() == [*first, *columns.split()]
    assert isinstance(table.index, pd.RangeIndex)
    for name, column in table.items():
        if name in ("m", "instances", "right_from"):
            assert column.dtype == "Int64"
        elif name in ("metric", "correction", "better", "worse", "state"):
            assert {type(x) for x in column.tolist()} == {str}
        elif name != "interval":
            assert column.dtype == (bool if name == "paired" else np.float64)
    assert call(of_ranks(12, [9, 1], [4, 4], [5, 2])).equals(table)


def test_systems_with_different_n_and_more_negatives_than_candidates() -> None:
    for n, m_max, scheme in [((12, 30), 11, WITHOUT), ((12, 12), 40, WITH), ((12, 30), 50, WITH)]:
        sets = [sd.RankSet("P", [9, 1], n[0]), sd.RankSet("Q", [4, 4], n[1])]
        curve = sd.curve("AP", sets, range(1, m_max + 1), scheme=scheme)
        signs = {m: order(a - b) for m, (a, b) in zip(curve.index, curve.to_numpy(), strict=True)}
        found = sd.flips("AP", sets, m_max, scheme=scheme)
        assert [f.m for f in found] == flips_of(signs)
        assert {(type(f.m), type(f.first)) for f in found} <= {(int, str)}
        if scheme == WITHOUT:  # once all negatives are drawn, the order is final
            assert sd.flips("AP", sets, 500, scheme=scheme) == sd.flips("AP", sets, scheme=scheme)


SMALL = list(cases(quick=True))


@pytest.mark.parametrize(("number", "case", "corrections"), SMALL, ids=lambda x: str(x)[:2])
def test_nothing_is_missed_or_invented(number, case, corrections):
    count: Counter[str] = Counter()
    for correction in corrections:
        assert check(case, correction, count, number) == []
    assert count["orders"] > 0


@pytest.mark.parametrize("seed", range(10, 18))
def test_pairs_tell_what_the_table_does(seed: int) -> None:
    """``worst_pairs`` sorts by worst state, how many metrics have it, ``right_from``, chance."""
    rng = np.random.default_rng(seed)
    n, m = (60, 30)[seed % 2], (5, 12)[seed % 4 == 3]
    sets = of_ranks(n, *rng.integers(1, n, (4, 12)))
    sets += [sd.RankSet("T", sets[seed % 4].ranks[::-1], n)]  # tied with one of the other systems
    metrics = ("AP", "Recall@3", "Recall@10", "NDCG@5")
    scheme, recipe = (WITH, WITHOUT)[seed // 2 % 2], ("uncorrected", "BV 0.1")[seed // 4 % 2]
    options = {"scheme": scheme, "correction": recipe}
    seen: list[float] = []
    parsed = [sd.parse_metric(text) for text in metrics]
    pairs = Pairs.of(parsed, sets, m, Protocol.of(options), seen.append)
    assert seen[-1] == 1
    few = sorted({*quick_ladder(n - 1), m})
    values = None if recipe == "uncorrected" else few
    table = sd.verdict(metrics, sets, m, (recipe,), m_values=values, scheme=scheme)
    pd.testing.assert_frame_equal(pairs.verdict, table)
    assert (pairs.m_max, pairs.pairs, pairs.capped) == (n - 1, 10, False)
    assert pairs.every_m == (recipe == "uncorrected" or n == 30)
    assert values is None or {*few} <= {*pairs.orders.m_values.tolist()}
    worst, every = {}, []
    for pair in range(10):
        column = []
        for x in range(4):
            row = table.iloc[10 * x + pair]
            state = ("wrong", "undecided", "right", "tied").index(row.state)
            right = np.inf if pd.isna(row.right_from) else row.right_from
            column.append((state, -right, np.nan_to_num(row.probability, nan=1.0)))
            worst.setdefault(x, []).append((*column[-1], pair))
        state = min(column)[0]
        late = [right for code, right, _ in column if code == state]
        every.append((state, -len(late), min(late), min(low for *_, low in column), pair))
    assert pairs.worst_pairs(7) == [pair for *_, pair in sorted(every)][:7]
    assert pairs.worst_pairs(99) == [pair for *_, pair in sorted(every)]
    for x, mine in worst.items():
        assert pairs.worst_pair(x) == min(mine)[-1]
        late = [right for code, right, *_ in mine if code < 3]
        assert pairs.last_right(x) == -min(late, default=0)
    means = [
        [text, rs.system, sd.mean(text, rs), *(f(text, rs, m, **options) for f in
         (sd.expected_mean, sd.std_of_mean))]
        for text in metrics for rs in sets
    ]  # fmt: skip
    columns = ["metric", "system", "exact", "expected_sampled", "std_of_mean"]
    pd.testing.assert_frame_equal(pairs.means_table(), pd.DataFrame(means, columns=columns))


def test_pairs_that_are_all_tied_and_scatter_that_is_not_known() -> None:
    sets = of_ranks(1201, *[[1, 9, 4]] * 2, instances=list("aab"), ties=[2, 0, 1])
    popular = Protocol.of({"scheme": POPULARITY, "odds": 2.0})
    pairs = Pairs.of([sd.parse_metric("AP")], sets, 3, popular)
    assert pairs.last_right(0) == 0
    assert pairs.std.shape == (2, 1)
    assert np.isnan(pairs.std).all()
    assert (pairs.m_max, pairs.capped) == (1200, False)
    for n, most in ((900, 899), (1300, 1000)):
        other = [sets[0], sd.RankSet("Q", [3], n)]
        fitted = Pairs.of([sd.parse_metric("AP")], other, 3, Protocol.of({"correction": "BV 1"}))
        assert (fitted.m_max, fitted.capped) == (most, True)


def test_means_beyond_the_largest_m_of_the_curves_are_those_of_m() -> None:
    sets = [sd.RankSet(name, ranks, 200_000) for name, ranks in (("A", [9, 70]), ("B", [3, 900]))]
    pairs = Pairs.of([sd.parse_metric("AP")], sets, 50_000, Protocol.of({"scheme": WITHOUT}))
    assert pairs.m_max == 20_000
    means = [sd.expected_mean("AP", x, 50_000, scheme=WITHOUT) for x in sets]
    assert pairs.sampled[:, 0].tolist() == pytest.approx(means, rel=1e-12)
