"""Classes in files, commands and pages; strata against enumeration and simulated draws."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.command_line import main
from sampledash.report.tables import as_csv, ranks_table
from sampledash.strata import allot, law
from tests.dashboard.driver import Page
from tests.readers.reading import read, refused

STRATA = {"scheme": "strata"}


def test_a_distribution_is_that_of_all_samples():
    rng, cases = np.random.default_rng(0), 0
    while cases < 40:
        total = rng.integers(0, 6, rng.integers(1, 4))
        above, drawn = rng.integers(0, total + 1), rng.integers(0, total + 2)
        tied = rng.integers(0, total - above + 1)
        m = int(np.minimum(drawn, total).sum())
        if m == 0 or total.sum() > 11:
            continue
        cases += 1
        each = [
            list(combinations([0] * a + [1] * t + [2] * (n - a - t), min(number, n)))
            for a, t, n, number in zip(above, tied, total, drawn, strict=True)
        ]
        expected = np.zeros(m + 1)
        for samples in product(*each):
            items = [item for sample in samples for item in sample]
            high, ties = items.count(0), items.count(1)
            expected[high : high + ties + 1] += 1 / (ties + 1)
        expected /= np.prod([len(samples) for samples in each])
        numbers = np.where(drawn >= total, np.inf, drawn)
        for last in (drawn, numbers):
            row = np.array([[above, tied, total, last]], dtype=float)
            np.testing.assert_allclose(law(row, m)[0], expected, atol=1e-12)


def test_a_million_simulated_samples():
    above, tied, total, drawn = [3, 40], [5, 60], [20, 900], [20, 30]
    rng, runs = np.random.default_rng(1), 10**6
    below = np.array(total) - above - tied
    sampled = [
        rng.multivariate_hypergeometric(x, number, runs)
        for x, number in zip(zip(above, tied, below, strict=True), drawn, strict=True)
    ]
    high, ties, _ = sum(sampled).T
    counts = np.bincount(high + rng.integers(0, ties + 1), minlength=51)
    p = law(np.array([[above, tied, total, drawn]], dtype=float), 50)[0]
    assert np.all(np.abs(counts / runs - p) <= 4 * np.sqrt(p * (1 - p) / runs) + 1e-6)


@pytest.mark.parametrize(
    ("sizes", "drawn", "m", "expected"),
    [
        ([100, 900], [50, 50], 100, [50, 50]),  # the numbers add up to m
        ([20, 900], [50, 50], 100, [20, 80]),  # 20 items of the user's history: as TGB fills up
        ([100, 900], [50, 50], 51, [26, 25]),  # 25.5 each: the largest remainder, first of equals
        ([20, 60, 900], [10, 20, 40], 200, [20, 60, 120]),  # in proportion, at most the size
        ([250, 900], [np.inf, 0], 100, [100, 0]),  # pooled negatives first, the others last
        ([250, 900], [np.inf, 0], 300, [250, 50]),
    ],
)
def test_m_is_shared_out(sizes, drawn, m, expected):
    assert allot(np.array([sizes], float), np.array([drawn], float), m)[0].tolist() == expected


def test_strata_from_labels():
    scores = np.array([[5.0, 9, 8, 1, 2, 3, 4, 5], [1.0, 2, 3, 4, 5, 6, 7, 8]])
    pooled = np.arange(8) < [[4], [6]]  # the first 4 or 6 items were judged; item 0 is relevant
    given = {"strata": (pooled, {True: np.inf, False: [2, 1]}), "system": "A"}
    ranks = sd.ranks_from_scores(scores, [0, 0], **given)
    expected = [[[0, 2], [1, 0], [4, 3], [2, np.inf]], [[2, 5], [0, 0], [2, 5], [1, np.inf]]]
    assert ranks.strata.tolist() == expected
    # Of instance 1, items 1 and 2 are always above: Recall@2 is 0; of instance 2, items 1 to 5.
    assert sd.expected_mean("Recall@2", ranks, 5, **STRATA) == 0
    # With 5 of 7 negatives, 2 of items 4 to 7 are drawn in instance 1, of which 7 is tied: the
    # probability of rank 3 is 1/2 + 1/2 · 1/2. In instance 2, all 5 drawn are above.
    mean = sd.expected_mean("Recall@3", ranks, 5, **STRATA)
    assert mean == pytest.approx((1 / 2 + 1 / 2 * 1 / 2) / 2, abs=1e-14)
    for strata, words in (
        ((pooled, 3), "strata must be a pair: a label for each of 8 items, or for each user and"),
        ((pooled[:, :3], {}), "strata must be a pair: a label for each of 8 items"),
        ((pooled, {True: 3}), "strata gives None as drawn from False: give a number"),
        ((pooled, {True: 3, False: [1]}), "strata gives [1] as drawn from False: give a number"),
        ((pooled, {True: 3.5, False: 1}), "strata of system 'scores' hold 3.5: give whole numbers"),
        ((pooled, {True: -3, False: 1}), "the last part of row 0 holds -3: give numbers of"),
    ):
        refused(lambda x=strata: sd.ranks_from_scores(scores, [0, 0], strata=x), words, ValueError)
    words, plain = "has no strata, which scheme 'strata' needs: rank from", ranks.without_classes
    refused(lambda: sd.expected_mean("AP", plain, 5, **STRATA), words, ValueError)


def some_sets():
    """Return two rank sets of 30 instances with classes and strata, from scores of 60 items."""
    rng, items = np.random.default_rng(0), np.arange(60)
    scores, relevant = rng.random((2, 30, 60)).round(1), rng.integers(0, 60, 30)
    given = {"weights": 1 + items**1.5, "strata": (items < 9, {True: np.inf, False: 20})}
    scores[1] += items / 60
    pairs = zip("AB", scores, strict=True)
    return [sd.ranks_from_scores(x, relevant, **given, system=name) for name, x in pairs]


def test_files_hold_classes_and_strata(tmp_path):
    sets = some_sets()
    table = ranks_table(sets)
    table.to_parquet(path := tmp_path / "r.parquet")
    for again in (read(as_csv(table)), sd.read_rank_sets(path)):
        assert [x.digest for x in again] == [x.digest for x in sets]
    assert ranks_table([sets[0], sets[1].without_classes]).columns.tolist()[-1] == "n_candidates"
    start, end = "system,rank,n_candidates,strata\nA,3,9,", '\nA,1,9,"[0,0,8,[2]]"\n'
    for cell in ("", "x", "5", '"[[2],[0],[8]]"', '"[[2],0,[8],[2,""a""]]"', '"[0,[[0]],[8],[2]]"'):
        words = "ranks.csv, line 2, column 'strata': … the lists [[above],[tied],[all],[last]]"
        refused(lambda x=cell: read(start + x + end), words)
    refused(lambda: read(f'{start}"[[1],0,[8],[2]]"{end}'), "of row 0 add up to 1, but its rank")
    for impossible in ("[[3,-1],0,[4,4],[2,2]]", "[[2,0],0,[1,7],[1,1]]"):
        words = "strata … row 0: give above + tied <= in all"
        refused(lambda x=impossible: read(f'{start}"{x}"{end}'), words)
    ranks = read(f'{start}"[[1,1],0,[4,4],[2,Infinity]]"{end}')[0]  # other rows get empty strata
    assert ranks.strata[1].tolist() == [[0, 0], [0, 0], [8, 0], [2, 0]]


def test_ranks_of_scores_get_classes_by_popularity(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng, users, items = np.random.default_rng(1), np.arange(12), np.arange(30)
    scores, relevant = rng.integers(0, 12, (12, 30)) / 2, rng.integers(0, 30, 12)
    seen = rng.random((12, 30)) < 0.4 * items / 30
    seen[users, relevant] = False
    user, item = np.indices(scores.shape).reshape(2, -1)
    table = {"instance": user + 1, "item": item, "score": scores.ravel()}
    table |= {"system": "S", "relevant": (item == relevant[user]).astype(int)}
    pd.DataFrame(table).sample(frac=1, random_state=2).to_csv("s.csv", index=False)
    pd.DataFrame(table)[seen.ravel()][["instance", "item"]].to_csv("t.csv", index=False)
    how = ["rank", "s.csv", "--negatives", "popularity^0.75"]
    assert main([*how, "--seen", "t.csv", "-o", "r.csv"]) == 0
    weights = seen.sum(axis=0) ** 0.75
    expected = sd.ranks_from_scores(scores, relevant, seen, weights=weights, system="S")
    (ranks,) = sd.read_rank_sets("r.csv")
    order = np.argsort(ranks.instances)
    np.testing.assert_array_equal(ranks.classes[order], expected.classes)
    column = 1 + item % 7
    pd.DataFrame(table | {"Weight": column}).to_csv("w.csv", index=False)
    assert main(["rank", "w.csv", "--negatives", "weight^0.5", "-o", "r.csv"]) == 0
    expected = sd.ranks_from_scores(scores, relevant, weights=column[:30] ** 0.5, system="S")
    (ranks,) = sd.read_rank_sets("r.csv")
    np.testing.assert_array_equal(ranks.classes[np.argsort(ranks.instances)], expected.classes)
    pd.DataFrame(table | {"weight": column + user}).to_csv("w.csv", index=False)
    for file, words in (
        ("w.csv", "has the weights 1 and 12; write one"),
        ("s.csv", "has no column weight"),
    ):
        assert main(["rank", file, "--negatives", "weight"]) == 2
        assert words in capsys.readouterr().err
    pd.DataFrame(table | {"weight": ["some", *column[1:]]}).to_csv("w.csv", index=False)
    for call, words in (
        (how, "popularity is counted in --seen; give --seen"),
        (["rank", "w.csv", *how[2:-1], "weight"], "has a weight that is no number; write a number"),
        ([*how[:-1], "foo"], "or the weight of each item, got 'foo'"),
    ):
        assert main(call) == 2
        assert words in capsys.readouterr().err


def test_another_number_of_negatives_than_the_strata_give_is_told(tmp_path, capsys):
    # Each instance draws all of its 8 or 9 negatives below 9, and 20 others.
    (file := tmp_path / "r.csv").write_bytes(as_csv(ranks_table(some_sets())).encode())
    several = "The ranks are for 28 to 29 negatives from the strata, but here each instance gets 30"
    unused = "The ranks hold strata, which this way of drawing negatives does not use."
    for scheme, words in (("strata", several), ("without-replacement", unused)):
        main(["check", str(file), "--metric", "Recall@5", "--m", "30", "--scheme", scheme])
        assert words in capsys.readouterr().out


@pytest.mark.parametrize("scheme", ["popularity-without-replacement", "strata"])
def test_the_page_offers_and_computes_schemes_by_class(scheme):
    sets, label = some_sets(), sd.schemes.SCHEMES[scheme].label
    asked = {"scheme": label, "m": "20", "k": "5", "metrics": ["Recall@k"]}
    at = Page("consistency", **asked, answers="What to do instead")
    assert f"has no {sd.schemes.SCHEMES[scheme].needs}, which scheme '{scheme}'" in at.complaint
    at.upload("r.csv", file := as_csv(ranks_table(sets)).encode())
    row = sd.verdict(["Recall@5"], sets, 20, scheme=scheme, m_values=[20]).iloc[0]
    assert f" {row.state}]" in at.headline
    assert "Looked at 8 values of m up to 59" in at.captions
    assert "uncorrected" in at.table[-1].value["Design"].tolist()
    assert not at.notes
    at.put("m", 21)
    assert "With 21 negatives" in at.headline
    # A copied link opens without the file. Until the file is read, the scheme stays chosen.
    at = Page("consistency", **asked, source="Upload a file").upload("r.csv", file)
    assert f" {row.state}]" in at.headline
    assert at.session_state["scheme"] == label
    other = Page("correct" if scheme.startswith("pop") else "explore", scheme=label)
    assert "unknown scheme" in other.notes
    assert label not in other.segmented_control(key="scheme").options
