"""The Paper page shows printed cells beside ours, and statements of the text."""

from functools import cache, partial

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses.paper.words import MADE
from sampledash.dashboard.paper import PAPERS
from sampledash.papers.krichene import match
from sampledash.papers.steck import theorem
from tests.dashboard.driver import Page

page = cache(partial(Page, "paper"))  # cached, since tests only read it


def table(at, index="Column"):
    return at.table[0].value.replace("\u00a0", " ", regex=True).set_index(index)


def test_headline_and_tables_show_printed_cells_beside_ours_and_why_they_differ():
    at, matched = page(), [x for t in (1, 2, 3, 4) for x in match(t, sd.example)["matched"]]
    assert len(matched) == 204
    assert f"{sum(matched)} of 204 printed cells match" in at.headline
    shown = table(page(item="Table 3"))
    assert shown.loc["exact", "Y"] == "8.84 → 8.84 ✓"  # Table 3, Recall@10 of Y
    y = sd.example("movielens-xyz")[1]
    options = {"scheme": "without-replacement", "fit_scheme": "with-replacement"}
    mean = 100 * sd.expected_mean("Recall@10", y, 100, **options)
    std = 100 * sd.std_of_mean("Recall@10", y, 100, **options)
    assert shown.loc["uncorrected", "Y"] == f"56.51±0.22 → {mean:.2f}±{std:.2f} ✓"
    assert shown.loc["exact", "X"] == "**7.60 → 7.58 ≠**"  # ours is another training run of X
    at = page(item="Table 3", cell_metric="AUC")
    assert table(at).loc["rank estimate", "Y"].startswith("**85.48±0.04 → 85.34±")
    assert "AUC, Y, rank estimate (85.48±0.04, ours 85.34)" in at.said
    assert "(n − 1)/(m + 1)" in at.said
    shown = table(page(item="Table 4"))
    # Table 4: Recall@10 orders X and Y right in 0 of 100 runs, and in 93 with BV 0.1.
    assert shown.loc["uncorrected", "X, Y"].startswith("0 → 0")
    assert shown.loc["BV 0.1", "X, Y"].startswith("93 → ")
    at = page(item="Figure 5")
    row = at.table[0].value.set_index("Statement").filter(like="2310 items", axis=0).iloc[0]
    # Section 6.1: "2310 items are in the top 100"; our X is another training run.
    assert row["Ours"].startswith("2,298")
    assert "does not hold" in row["Verdict"]


@pytest.mark.parametrize("item", PAPERS)
def test_every_item_unfolds_and_can_be_taken_away(item):
    at = page(item=item)
    assert len(at.table) == 1
    assert len(at.table[0].value) >= 2
    assert bool(at.pictures) == (item.startswith("Figure") or item == "Steck 2010")


def test_stecks_table_2_beside_ours_and_his_theorem_until_its_assumption_is_violated():
    at = page(item="Steck, Table 2")
    shown = table(at, "Training")
    sets = {ranks.system: ranks for ranks in sd.example("movielens-steck")}
    # Steck's Table 2 prints test ATOP of AllRank-Regression; ours uses the middle of tied ranks.
    ranks = sets["AllRank-Regression"]
    ours = np.mean(1 - (ranks.ranks + ranks.ties / 2 - 1) / 3882)
    assert shown.loc["AllRank-Regression"].iloc[1] == f"0.933 → {ours:.3f} ✓"
    assert shown.loc["bestseller list 3"].iloc[1].startswith("0.880 → ")
    assert "9 of 9 cells match" in at.said
    (code,) = at.codes
    assert 'EXPERIMENTS["steck"]' in code
    # Of ranks 1 + i + i², i = 0..19, 7 of 20 are in the top 5 % of 1,000; ATOP is 1 - 133/999.
    for times, says in ((1, "The theorem holds"), (9, "Unbiased only if")):
        at = page(item="Steck 2010", times=times)
        told = next(m.value for m in at.markdown if says in m.value)
        assert "instead of 35.00 %" in told
        assert f"instead of {100 * (1 - 133 / 999):.2f} %" in told
        topk, atop = theorem(times, np.random.default_rng(2010))["observed"]
        assert f"TOPK@0.05 reads {100 * topk:.2f} %" in told
        assert f"ATOP reads {100 * atop:.2f} %" in told


@pytest.mark.parametrize("item", MADE)
def test_the_code_shown_runs(item, tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    user, item_ = np.nonzero(rng.random((20, 15)) < 0.7)
    pairs = enumerate(zip(user + 1, item_ + 1, strict=True), 10**9)
    rows = [f"{u}::{i}::{rng.integers(4, 6)}::{at}\n" for at, (u, i) in pairs]
    (tmp_path / "ratings.dat").write_text("".join(rows))
    movies = [f"{i + 1}::Movie {i} (2000)::Comedy|Drama\n" for i in range(18)]
    (tmp_path / "movies.dat").write_text("".join(movies))
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(MADE[item][2], names)
    assert names["sets"][0].system in capsys.readouterr().out
    assert (names["sets"][0].n.max() == 18) == item.startswith("Steck")
