"""The audit of lists of negatives, against made lists and enumeration."""

import itertools
import json
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

import sampledash as sd
from sampledash.auditing.audit import effects
from sampledash.auditing.tenths import expected_counts, tenths
from sampledash.auditing.weights import Draws, fit
from sampledash.command_line import main
from sampledash.readers.files import bundled
from tests.benchmarks import audits
from tests.dashboard.driver import Page


@pytest.mark.parametrize("benchmark", [audits.alarms, audits.coverage], ids=lambda b: b.__name__)
def test_clean_lists_raise_no_alarm_and_the_interval_covers_alpha(benchmark):
    assert [str(result) for result in benchmark(quick=True) if not result.exact] == []


@pytest.mark.parametrize("faults", [(), *((x,) for x in audits.FAULTS), tuple(audits.FAULTS)])
def test_faults_are_found_alone_and_together(faults):
    ways = [None] if len(faults) == 1 else [*range(len(audits.DRAWS))]
    seeds = 8 // len(ways)
    assert not any(audits.missed(*faults, seeds=seeds, way=way) for way in ways)


def test_alpha_is_the_maximum_of_the_likelihood_of_all_orders_of_drawing():
    rng, popularity = np.random.default_rng(3), np.array([1.0, 2, 5, 9, 20, 50])
    lists = [rng.choice(6, 3, replace=False, p=popularity / popularity.sum()) for _ in range(40)]

    def surprise(alpha):
        w, total = popularity**alpha, 0.0
        for drawn in lists:
            orders = itertools.permutations(w[drawn])
            ways = (np.prod([x / (w.sum() - sum(o[:i])) for i, x in enumerate(o)]) for o in orders)
            total -= np.log(sum(ways))
        return total

    draws = Draws(40, np.repeat(np.arange(40), 3), np.ravel(lists), csr_array((40, 6)))
    fitted, best = fit(draws, popularity, once=True), minimize_scalar(surprise, (0, 1)).x
    assert fitted.alpha == pytest.approx(best, abs=1e-3 * fitted.error)
    bend = (surprise(best + 1e-3) - 2 * surprise(best) + surprise(best - 1e-3)) / 1e-6
    assert fitted.error == pytest.approx(bend**-0.5, rel=1e-3)


def enumerated(w, m):
    """Return the probabilities of all lists of m items that are drawn one by one by weights w."""
    chances = {frozenset(): 1.0}
    for _ in range(m):
        longer = {}
        for drawn, chance in chances.items():
            rest = set(range(len(w))) - drawn
            for item in rest:
                key = drawn | {item}
                longer[key] = longer.get(key, 0) + chance * w[item] / sum(w[x] for x in rest)
        chances = longer
    held = np.array([[item in drawn for item in range(len(w))] for drawn in chances])
    return np.array([*chances.values()]), held * 1.0


def held(w, m, items):
    """Return the probabilities that a list holds these items, as integrals over exponential clocks:
    an item rings at t, and fewer than m of the others have rung before."""
    log = np.arange(-14, 6, 0.01) - np.log(w.sum() / m)
    rung, found = -np.expm1(-w[:, None] * np.exp(log)), []
    for item in items:
        fewer = np.eye(1, m).T * np.ones(len(log))
        for p in np.delete(rung, item, axis=0):
            fewer = fewer * (1 - p) + p * np.vstack([0 * p, fewer[:-1]])
        rate = w[item] * np.exp(log)
        found.append((rate * np.exp(-rate) * fewer.sum(axis=0)).sum() * 0.01)
    return np.array(found)


def counts_of_one_list(w, m, bins):
    draws = Draws(1, np.zeros(m, int), np.arange(m), csr_array((1, len(w))))
    return expected_counts(draws, w, bins, once=True)


@pytest.mark.parametrize("m", [1, 3, 6, 9])
def test_expected_counts_and_covariance_are_those_of_enumerated_lists(m):
    w = np.sort(np.random.default_rng(m).lognormal(0, 0.7, 12))
    chances, lists = enumerated(w, m)
    exact = chances @ lists
    expected, _ = counts_of_one_list(w, m, [*np.arange(12)[:, None]])
    assert expected.sum() == pytest.approx(m, rel=1e-12)
    assert held(w, m, range(12)) == pytest.approx(exact, abs=1e-5)
    assert expected == pytest.approx(exact, abs=0.01)
    bins = np.split(np.arange(12), 3)
    _, covariance = counts_of_one_list(w, m, bins)
    counts = np.array([lists[:, part].sum(axis=1) for part in bins])
    wanted = np.cov(counts, aweights=chances, ddof=0)
    assert covariance == pytest.approx(wanted, abs=0.06 * np.abs(wanted).max())


@pytest.mark.parametrize(("m", "alpha"), [(5, 1), (20, 0.75), (20, 1), (99, 0.75), (99, 1)])
def test_expected_counts_are_the_integrals_over_exponential_clocks(m, alpha):
    w = np.sort(np.random.default_rng(7).lognormal(3, 1.2, 300)) ** alpha
    items = [0, 100, 200, 270, 290, 299]
    expected, _ = counts_of_one_list(w, m, [*np.arange(300)[:, None]])
    assert expected[items] == pytest.approx(held(w, m, items), rel=1e-3, abs=1e-5)


def test_equal_weights_give_the_hypergeometric_law_and_a_full_list_holds_everything():
    bins, n, m = np.split(np.arange(50), [5, 20]), 50, 20
    expected, covariance = counts_of_one_list(np.full(n, 3.0), m, bins)
    shares = np.array([0.1, 0.3, 0.6])
    assert expected == pytest.approx(m * shares, rel=1e-12)
    wanted = m * (n - m) / (n - 1) * (np.diag(shares) - np.outer(shares, shares))
    assert covariance == pytest.approx(wanted, rel=1e-11)
    expected, covariance = counts_of_one_list(np.arange(1.0, n + 1), n, bins)
    assert expected == pytest.approx([5, 15, 30], rel=1e-6)
    assert not covariance.any()


def test_a_draw_from_a_tenth_that_hardly_any_is_expected_from_is_no_alarm():
    w = np.append(5e-5, np.ones(9))  # 0.01 draws of the first item are expected
    item = np.append(0, np.arange(1999) % 9 + 1)
    draws = Draws(2000, np.arange(2000), item, csr_array((2000, 10)))
    table, (chance,) = tenths(draws, np.arange(1.0, 11), once=False, models={"model": w})
    assert table["drawn"][0] == 1
    assert table["model"][0] == pytest.approx(2000 * 5e-5 / w.sum())
    assert chance > 0.9


@pytest.mark.parametrize("way", ["in each list", "in half of the lists", "middle"])
def test_lists_that_no_power_of_popularity_gives_are_told_from_those_that_one_gives(way):
    data = audits.made(1, 1000, alpha=1, even=10 * (way == "in each list"))
    if way == "in half of the lists":
        data["negatives"][::2] = audits.made(1, 1000)["negatives"][::2]
    if way == "middle":  # items in the middle are left out of a list where 20 others are drawn
        data = audits.made(1, 1000, m=40)
        rank = np.bincount(data["interactions"][:, 1], minlength=300).argsort().argsort()
        for row, part in enumerate(data["negatives"]):
            middle = abs(rank[part] - 153) < 90
            data["negatives"][row] = part[np.argsort(middle, kind="stable")[:20]]
    result = sd.audit(**data | {"places": None})
    assert result.fit_p < 1e-9
    assert result.scheme is None
    assert result.uneven
    table = result.deciles
    odd = table.loc[((table["drawn"] - table["fitted"]) / table["fitted_std"]).abs().idxmax()]
    low, high, size, drawn = odd[table.columns[:4]].astype(int)
    nearest = "0 (uniform)" if way == "middle" else f"{result.alpha:.2f}"
    assert result.sentence == (
        "1,000 lists of 20 negatives, drawn unevenly without replacement, the history left out. "
        f"No power of popularity fits: the nearest, {nearest}, would draw {odd['fitted']:,.0f} "
        f"negatives (standard deviation {odd['fitted_std']:.0f}) from the {size} items of "
        f"popularity {low} to {high}; the lists have {drawn:,}."
    )
    if way == "middle":
        assert not result.fitted.popular
        assert result.fit_p == result.uniform_p
        assert table["fitted"].equals(table["uniform"])
    (row,) = result.effect("AUC", [sd.RankSet("A", [1, 5, 9], n=300)]).to_dict("records")
    assert np.isnan(row["found"])
    told = effects(result, "AUC", pd.DataFrame([row]), "without-replacement")
    assert told.endswith("No scheme draws as unevenly as these were drawn.")


@pytest.mark.parametrize(("lists", "n", "m", "alpha"), [(1500, 100, 1, 1), (1000, 3706, 5, 0.5)])
def test_short_lists_are_neither_shared_nor_of_a_pool_and_tell_alpha(lists, n, m, alpha):
    result = sd.audit(**audits.made(4, lists, n, m, alpha=alpha) | {"places": None})
    assert result.findings["finding"].tolist() == ["not drawn uniformly"]
    assert abs(result.alpha - alpha) < 3 * result.fitted.error < 0.2
    assert result.groups == [[row] for row in range(lists)]


def test_duplicates_that_were_removed_show_in_the_lengths():
    # RecBole draws 100 of 3,706 with replacement; a list then has 98.7 items on average.
    data = audits.made(1, n=3706, m=100, once=False)
    data["negatives"] = [np.unique(part) for part in data["negatives"]]
    result = sd.audit(**data | {"places": None})
    assert result.findings["finding"].tolist() == ["lists of different length"]


def test_lists_without_interactions_and_one_list_for_all_are_told():
    result = sd.audit(["a", "b", "c"], ["a", "x"])
    names = ["relevant item among its negatives", "lists that are shared"]
    assert result.findings["finding"].tolist() == names
    assert np.isnan([result.alpha, result.uniform_p, *result.alpha_interval]).all()


def test_what_is_special_in_some_lists_is_not_said_of_the_draws():
    data = audits.made(3)
    clean = sd.audit(**data)
    assert clean.alpha_interval[0] < 0 < clean.alpha_interval[1]
    # The relevant item is in every list: this does not make draws look popular.
    some = dict(enumerate(data["negatives"]))
    data["negatives"] = [np.append(some[i][1:], item) for i, item in enumerate(data["positives"])]
    result = sd.audit(**data)
    assert not {*result.findings["finding"]} & {"not drawn uniformly", "lists that are shared"}
    low, high = result.alpha_interval
    assert low < 0 < high
    # A list that is longer lost no duplicates.
    data["negatives"] = [np.append(some[0], 299), *[*some.values()][1:]]
    told = sd.audit(**data).sentence
    assert "1 of 200 lists has another length than most: the longest has 21 negatives." in told
    # One list for all has nobody's history left out.
    told = sd.audit(some[0], data["positives"], data["interactions"]).sentence
    assert told.startswith("200 lists of 20 negatives (1 different list), drawn")
    assert "history" not in told
    assert "leave them out" not in told


def test_negatives_of_the_history_are_counted_beside_uniform_draws():
    rng = np.random.default_rng(4)
    history = np.array([rng.choice(300, 10, replace=False) for _ in range(200)])
    lists = [np.append(row[:5], rng.choice(300, 5, replace=False)) for row in history]
    pairs = np.stack([np.repeat(np.arange(200), 10), history.ravel()], axis=1)
    result = sd.audit(lists, None, pairs)
    told = result.findings.set_index("finding")["detail"]["items of the history"]
    count = sum(np.isin(x, row).sum() for x, row in zip(lists, history, strict=True))
    # 200 lists with 10 of 300 items; of an item, the history is 1/30: 66.7 of 2,000 negatives.
    assert (
        f": {count:,} negatives in all, where uniform draws from all items would give 67." in told
    )


def test_an_audit_of_few_lists_does_not_say_that_draws_are_uniform():
    data = audits.made(1, lists=2)
    told = sd.audit(**data).sentence
    assert told.startswith("2 lists of 20 negatives, drawn perhaps uniformly")
    assert "drawn uniformly" in sd.audit(**audits.made(1)).sentence
    # Of a single interaction, no weight is left: this raises no warning.
    few = sd.audit([[1, 2], [3, 4]], [1, 2], [("0", "1")])
    assert few.sentence.startswith("2 lists of 2 negatives, drawn perhaps uniformly")


def test_the_ends_of_a_pool_are_told_only_where_all_between_are_drawn():
    data = audits.made(5, m=40, pool=0.8)
    assert sd.audit(**data).pool.ends == (0, 239)
    # Draw from 200 of the items 1 to 298, which lie apart.
    items = np.sort(np.random.default_rng(1).choice(np.arange(1, 299), 200, replace=False))
    data["negatives"] = [items[np.unique(part % 200)] for part in data["negatives"]]
    assert sd.audit(**data | {"places": None}).pool.ends is None


def test_what_could_not_be_checked_is_told_where_nothing_is_wrong(tmp_path, capsys):
    (file := tmp_path / "test.negative").write_text("(0,8)\t1\t2\n(1,9)\t3\t4\n")
    assert main(["audit", str(file)]) == 0
    told = capsys.readouterr().out
    assert "interactions would tell with which weights, and whether items of the history" in told
    assert "Nothing is wrong in what can be checked without interactions." in told
    lists, train = [[1, 2], [3, 4]], [(0, 3), (1, 1)]
    told = sd.audit(lists, None).sentence
    assert told.endswith("checked without interactions and the relevant items.")
    assert sd.audit(lists, [8, 9], train).sentence.endswith("Nothing is wrong with them.")


def test_the_effect_is_what_scores_show_with_such_lists():
    rng, size, users = np.random.default_rng(5), 400, 3000
    weight = np.arange(1, size + 1) ** -0.8
    train = np.array([rng.choice(size, 12, p=weight / weight.sum()) for _ in range(users)])
    popularity = np.bincount(train.ravel(), minlength=size)
    scores = rng.normal(size=(users, size)) + 0.5 * np.log(popularity + 1)
    relevant = rng.choice(size, users, p=weight / weight.sum())
    clocks = rng.exponential(size=scores.shape) / np.maximum(popularity**0.75, 1e-300)
    clocks[np.arange(users), relevant] = np.inf
    lists = np.argsort(clocks, axis=1)[:, :50]
    pairs = np.column_stack([np.repeat(np.arange(users), 12), train.ravel()])
    result = sd.audit(lists, relevant, pairs)
    ranks = sd.ranks_from_scores(scores, relevant, weights=popularity)
    (row,) = result.effect("Recall@5", [ranks]).to_dict("records")
    above = np.take_along_axis(scores, lists, 1) > scores[np.arange(users), relevant][:, None]
    hits = above.sum(axis=1) < 5
    assert abs(row["found"] - hits.mean()) < 4 * hits.std() / users**0.5
    assert row["claimed"] > row["found"] + 0.08
    assert row["claimed"] == sd.expected_mean("Recall@5", ranks, 50)
    assert row["exact"] == sd.mean("Recall@5", ranks)
    again = np.random.default_rng(1).choice(size, (users, 50), p=popularity / popularity.sum())
    for each in (result, sd.audit(again, None, pairs)):
        with pytest.raises(ValueError, match="has no classes"):
            each.effect("Recall@5", [ranks.without_classes])
    with pytest.raises(ValueError, match="scheme must be one of"):
        result.effect("Recall@5", [ranks], "uniform")


def test_command_page_and_python_say_the_same_of_the_files_of_ncf(tmp_path, capsys, monkeypatch):
    data = audits.made(4)
    ends = zip(data["positives"], data["negatives"], strict=True)
    lines = ["\t".join([f"({row},{end})", *map(str, part)]) for row, (end, part) in enumerate(ends)]
    texts = "\n".join(lines), "\n".join(f"{u}\t{i}\t5\t9" for u, i in data["interactions"])
    paths = [tmp_path / "ml.test.negative", tmp_path / "ml.train.rating"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8-sig")
    assert main(["audit", str(paths[0]), "--train", str(paths[1]), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    result = sd.audit(**data | {"places": None})
    assert told["sentences"] == [result.sentence]
    for name in ("alpha", "uniform_p", "fit_p"):
        assert told[name] == getattr(result, name)
    assert told["deciles"] == result.deciles.to_dict("records")
    ranks = bundled() / "paper_abc.csv"
    given = ["audit", str(paths[0]), "--ranks", str(ranks), "--metric", "AUC", "--json"]
    assert main(given) == 0
    (row, *_) = json.loads(capsys.readouterr().out)["effect"]
    exact = sd.mean("AUC", sd.example("paper-abc")[0])
    assert row == {"metric": "AUC", "system": "A"} | dict.fromkeys(
        ("exact", "claimed", "found"), pytest.approx(exact)
    )
    for half in (given[:2] + given[4:], given[:4]):
        assert main(half) == 2
        assert "a --metric is computed from true --ranks: give both" in capsys.readouterr().err
    at = Page("correct", what="Negatives")
    assert "is simulated" in at.captions
    assert "25 of 500 lists hold their own relevant item" in at.headline
    at.pick("lists_source", "Upload a file")
    doing = []
    monkeypatch.setattr(st, "spinner", lambda text, **_: doing.append(text) or nullcontext())
    at.file_uploader(key="lists_file").upload(paths[0].name, texts[0].encode())
    at.file_uploader(key="train_file").upload(paths[1].name, texts[1].encode())
    assert result.sentence.replace("^", "") in at.run().headline.replace("\u00a0", " ")
    assert doing[-1] == "Auditing ml.test.negative"
    at.file_uploader(key="effect_file").upload("abc.csv", ranks.read_bytes())
    assert "Expected Recall@10 if drawn uniformly without replacement, and" in at.run().said
    assert "A 100.00 % and 100.00 % (0.00 % on all items)" in at.said
    rows = [f"{user},{item},{int(not item)}" for user in range(9) for item in range(5)]
    text = "\n".join(["instance,item,relevant", *rows])
    at.file_uploader(key="lists_file").upload("lists.csv", text.encode())
    assert "comes first in 9 of 9 lists" in str(at.run().table[-1].value)
