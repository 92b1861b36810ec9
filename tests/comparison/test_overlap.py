"""The chance with shared negatives of a known overlap, and one list, by enumeration and by runs."""

import json
import re
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest

import sampledash as sd
from sampledash.command_line import main
from sampledash.report.tables import as_csv, ranks_table
from tests.benchmarks.shared import Scores, off, overlapping
from tests.oracles import UNIFORM, WITH

SIGNS = np.greater, np.equal
# Item 1 is relevant; under the first system it is tied with two items.
TABLES = np.array([[[9, 7, 7, 5, 3, 7, 1, 8]], [[2, 7, 1, 8, 9, 6, 5, 4]]])


@pytest.mark.parametrize("seed", range(12))
def test_chances_against_runs_and_within_the_bounds(seed: int) -> None:
    away, outside = off(Scores.of(17 * seed + 2, most=60), 4_000)
    assert away <= 4
    assert outside <= 1e-9


@pytest.mark.parametrize("metric", ["Recall@3", "NDCG@3", "RR", "AUC"])
@pytest.mark.parametrize("scheme", UNIFORM)
def test_a_single_instance_by_enumeration(metric: str, scheme: str) -> None:
    sets = [sd.ranks_from_scores(x, [1], system=y) for x, y in zip(TABLES, "AB", strict=True)]
    known, m = sd.overlaps(sets, TABLES, [1]), 3
    row = sd.probability_if_shared(metric, sets, m, scheme=scheme, overlaps=known).iloc[0]
    rest, value = [0, *range(2, 8)], sd.parse_metric(metric)
    samples = np.array([*(product(rest, repeat=m) if scheme == WITH else combinations(rest, m))])

    def above(scores: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
        before = [i for i in order[: order.index(1)] if scores[i] == scores[1]]
        return np.isin(samples, [*np.flatnonzero(scores > scores[1]), *before]).sum(axis=1)

    both = [[above(x, order) for order in permutations((1, 2, 5))] for x in TABLES[:, 0]]
    pairs = product(*(both if row.better == "A" else both[::-1]))
    ahead = [np.mean(value(x + 1, m + 1) > value(y + 1, m + 1) + 1e-12) for x, y in pairs]
    assert row.low == row.high == pytest.approx(np.mean(ahead), abs=1e-6)


@pytest.mark.parametrize("metric", ["AUC", "RR", "Recall@2"])
def test_few_candidates_with_ties_under_both_systems_by_enumeration(metric: str) -> None:
    rng, value = np.random.default_rng(5), sd.parse_metric(metric)
    for _ in range(15):
        n = int(rng.integers(4, 7))
        m, tables = int(rng.integers(2, n)), rng.integers(0, 3, (2, 1, n)).astype(float)
        sets = [sd.ranks_from_scores(x, [0], system=y) for x, y in zip(tables, "AB", strict=True)]
        row = sd.probability_if_shared(
            metric, sets, m, overlaps=sd.overlaps(sets, tables, [0])
        ).iloc[0]
        if np.isnan(row.low):
            continue  # the two systems are equally good
        chances = []
        for some in combinations(range(1, n), m):
            ranks = []
            for scores in tables[:, 0] if row.better == "A" else tables[::-1, 0]:
                above, tied = (np.sum(sign(scores[[*some]], scores[0])) for sign in SIGNS)
                ranks.append(1 + np.arange(above, above + tied + 1))
            ahead = np.subtract.outer(*(value(x, m + 1) for x in ranks)) > 1e-12
            chances.append(ahead.mean())
        assert row.low == row.high == pytest.approx(np.mean(chances), abs=1e-3)


def test_one_list_by_enumeration_and_by_draws() -> None:
    ranks = sd.RankSet("X", [1, 4, 4, 9, 12], 13, ties=[0, 2, 0, 0, 1])
    law = sd.one_list("Recall@2", ranks, 5)
    hits = []
    for some in combinations(range(12), 5):  # negatives 4 and 5 are tied with an item, and 12
        above = np.searchsorted(some, ranks.ranks - 1)
        tied = np.searchsorted(some, ranks.ranks - 1 + ranks.ties) - above
        hits.append(np.mean(np.clip((2 - above) / (tied + 1), 0, 1)))
    values, times = np.unique(np.round(hits, 12), return_counts=True)
    assert law.values == pytest.approx(values, abs=1e-12)
    assert law.probabilities == pytest.approx(times / len(hits), abs=1e-12)
    assert (law.mean, law.std) == pytest.approx((np.mean(hits), np.std(hits)), abs=1e-12)
    alike = sd.one_list("Hits@1", sd.RankSet("P", [1], 4, ties=[3]), 2)
    assert (alike.mean, alike.std) == pytest.approx((1 / 3, 0), abs=1e-12)
    partly = sd.one_list("Hits@3", sd.RankSet("P", [4], 9, ties=[5]), 6)
    assert partly.values == pytest.approx([0, 1 / 5, 1 / 3], abs=1e-12)
    assert partly.probabilities == pytest.approx([10 / 28, 15 / 28, 3 / 28], abs=1e-12)
    ends = np.quantile(hits, [0.025, 0.975], method="inverted_cdf")
    assert law.interval() == pytest.approx(tuple(ends), abs=1e-12)
    rng = np.random.default_rng(1)
    sets = [
        sd.RankSet(x, rng.integers(1, high, 200), 2_000) for x, high in (("A", 900), ("B", 950))
    ]
    first, second = (sd.one_list("Hits@10", x, 100) for x in sets)
    every = np.array(
        [np.sort(rng.choice(1_999, 100, replace=False))[9] + 1 for _ in range(100_000)]
    )
    runs = [np.mean(x.ranks <= every[:, None], axis=1) for x in sets]
    for law, run in zip((first, second), runs, strict=True):
        share = np.array([np.mean(run <= v + 1e-12) for v in law.values])
        chance = np.cumsum(law.probabilities)
        assert np.all(
            np.abs(share - chance) <= 4 * np.sqrt(chance * (1.00001 - chance) / 1e5) + 1e-4
        )
    own, low, high = first.ahead_of(second)
    assert abs(np.mean(runs[0] > runs[1][rng.permutation(100_000)] + 1e-12) - own) < 4 * 0.5 / 316
    assert low <= np.mean(runs[0] > runs[1] + 1e-12) + 0.007
    assert high >= np.mean(runs[0] > runs[1] + 1e-12) - 0.007


def test_overlaps_that_say_nothing_are_refused() -> None:
    sets = [sd.ranks_from_scores(x, [1], system=y) for x, y in zip(TABLES, "AB", strict=True)]
    known = sd.overlaps(sets, TABLES, [1])
    with pytest.raises(ValueError, match="duplicates collapsed, overlaps say nothing: take"):
        sd.probability_if_shared("AP", sets, 3, scheme="collapsed", overlaps=known)
    others = [sd.RankSet("A", [1], 8), sd.RankSet("B", [5], 8)]
    for given, sentence in (
        (others, "does not fit"),
        (others[:1] + sets[:0] + [sd.RankSet("C", [2], 8)], "'B'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            sd.probability_if_shared("AP", given, 3, overlaps=known)
    for call, sentence in (
        (("NDCG", sets[0], 3), "needs Recall@k"), (("Recall@4", sets[0], 3), "with k <= 3"),
        (("Recall@1", sd.RankSet("S", [1, 2], [8, 9]), 3), "the same n"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            sd.one_list(*call)


@pytest.mark.parametrize("instances", [100, 400, 1_500])
def test_a_clear_order_is_shown_whatever_the_number_of_instances(instances: int) -> None:
    rng, items, m, runs = np.random.default_rng(instances), 60, 10, 200
    first = rng.random((instances, items))
    second = first + 0.3 * rng.random((instances, items))
    first[:, 0], second[:, 0] = 0.9, 0.72
    relevant, scores = np.zeros(instances, int), (first, second)
    sets = [
        sd.ranks_from_scores(x, relevant, system=name) for x, name in zip(scores, "AB", strict=True)
    ]
    overlaps = sd.overlaps(sets, scores, relevant)
    shown = 0
    for _ in range(runs):
        drawn = 1 + rng.random((instances, items - 1)).argpartition(m, axis=1)[:, :m]
        above = [np.mean(np.take_along_axis(x, drawn, 1) > x[:, :1]) for x in scores]
        shown += above[0] < above[1]  # a higher AUC has fewer negatives above
    row = sd.probability_if_shared("AUC", sets, m, overlaps=overlaps).iloc[0]
    assert (row.better, shown) == ("A", runs)
    assert row.low == row.high == pytest.approx(1, abs=4 / runs)


@pytest.mark.parametrize("metric", ["NDCG@5", "AUC"])
def test_overlaps_of_rank_sets_are_those_of_scores_also_in_files(
    metric: str, tmp_path: Path
) -> None:
    tables, relevant, sets = overlapping(3)
    given = sd.overlaps(sets, tables, relevant)
    for overlap in given:
        first = next(x for x in sets if x.system == overlap.systems[0])
        assert np.array_equal(overlap.cells[:, :2, :2], first.overlaps[overlap.systems[1]])
    (path := tmp_path / "ranks.csv").write_text(as_csv(ranks_table(sets)))
    again = sd.read_rank_sets(path)
    assert again == sets
    plain = [x.with_overlaps({}) for x in sets]
    assert again != plain
    expected = sd.probability_if_shared(metric, plain, 9, overlaps=given)
    assert sd.probability_if_shared(metric, again, 9).equals(expected)
    assert not sd.probability_if_shared(metric, plain, 9).equals(expected)
    # Pairs are known in either order of the systems, and left out where ranks do not decide.
    turned = sd.probability_if_shared(metric, again[::-1], 9).set_index(["better", "worse"])
    order = list(zip(expected["better"], expected["worse"], strict=True))
    ends = expected[["low", "high"]].to_numpy()
    assert turned.loc[order].to_numpy() == pytest.approx(ends, abs=1e-9)


def test_overlaps_that_contradict_ranks_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several = {"instances": ["u", "u"]}
    for more, given, fault in (
        ({}, [1, 3], r"does not fit rank 3, with 2 items above and 0 tied"),
        ({}, [1, -1], "does not fit rank 3"),
        ({}, [1], "a whole number for each rank"),
        ({}, [0.5, 1], "a whole number for each rank"),
        (several, [0, 1], "several relevant items"),
    ):
        with pytest.raises(ValueError, match=f"overlaps of system 'A', 'B': .*{fault}"):
            sd.RankSet("A", [2, 3], 9, overlaps={"B": given}, **more)
    sets = [sd.RankSet("A", [2, 3], 9, overlaps={"B": [1, 2]}), sd.RankSet("B", [1, 4], 9)]
    with pytest.raises(ValueError, match="overlap of systems 'A' and 'B' does not fit their ranks"):
        sd.probability_if_shared("RR", sets, 3)
    header, path = "system,instance,rank,n_candidates,overlaps\n", tmp_path / "ranks.csv"
    path.write_text(f'{header}A,u,5,9,"{{""B"":4}}"\nB,u,2,9,{{}}\n')
    assert main(["check", str(path), "--metric", "RR", "--m", "3"]) in (0, 1)
    assert "No chance with shared negatives: the overlap of" in capsys.readouterr().out
    path.write_text(f'{header}A,u,5,9,"{{""gamma"":4}}"\nB,u,2,9,{{}}\n')
    assert main(["check", str(path), "--metric", "RR", "--m", "3"]) in (0, 1)
    assert "The overlaps name gamma, which is no system here" in capsys.readouterr().out
    for cell, fault in (
        ("", "column 'overlaps': the cell is blank"), ("3", "'3' is not understood"),
        ('"{""B"":[3,0]}"', "is not understood; write the items above it in both systems"),
        ('"{""C"":0}"', "some rows name 'B' and others do not"),
    ):  # fmt: skip
        path.write_text(f'{header}A,u,2,9,"{{""B"":1}}"\nA,v,2,9,{cell}\n')
        with pytest.raises(ValueError, match=fault):
            sd.read_rank_sets(path)


def test_check_computes_only_the_worst_pair_of_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, relevant, sets = overlapping(5, "PQRS")
    (path := tmp_path / "ranks.csv").write_text(as_csv(ranks_table(sets)))
    assert main(["check", str(path), "--metric", "Recall@5", "--m", "9", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    (row,) = answer["shared"]
    two = [next(x for x in sets if x.system == row[side]) for side in ("better", "worse")]
    both = [tables["PQRS".index(x.system)] for x in two]
    given = sd.overlaps([x.with_overlaps({}) for x in two], both, relevant)
    expected = sd.probability_if_shared("Recall@5", two, 9, overlaps=given).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    order = {"right": 3, "undecided": 2, "wrong": 1, "tied": 4}
    worst = min(order[pair["state"]] for pair in answer["pairs"])
    names = {row["better"], row["worse"]}
    state = next(x["state"] for x in answer["pairs"] if {x["better"], x["worse"]} == names)
    assert order[state] == worst


def test_a_report_has_the_chances_that_check_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = overlapping(5, "PQ")[2]
    (path := tmp_path / "ranks.csv").write_text(as_csv(ranks_table(sets)))
    call = [str(path), "--metric", "Recall@5", "--m", "9"]
    main(["check", *call, "--json"])
    (row,) = json.loads(capsys.readouterr().out)["shared"]
    assert 0.01 < row["low"] == row["high"] < 0.99
    page = tmp_path / "report.html"
    assert main(["report", *call, "-o", str(page)]) == 0
    table = page.read_text("utf-8").split("Chance of the true order with shared negatives", 1)[1]
    cells = re.findall("<td[^>]*>(.*?)</td>", table.split("</table>")[0])
    assert cells[:3] == ["Recall@5", row["better"], row["worse"]]
    assert float(cells[3]) == pytest.approx(100 * row["low"], abs=5e-3)  # in percent
    assert main(["check", str(page)]) == 0  # the report holds its overlaps too
