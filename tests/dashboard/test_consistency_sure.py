"""How sure, repeat it, flips, why, for your paper: the numbers are the core's, and the paper's."""

import io
from html import unescape
from itertools import product

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.analyses.consistency import words
from sampledash.analyses.consistency.result import SEED, Focus, Question, compute
from sampledash.analyses.source import Source
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.papers.krichene import cells
from sampledash.report.numbers import in_runs, percent
from tests.dashboard.driver import Page, array

ABC = "Three toy recommenders"
OPTIONS = {"scheme": "without-replacement"}


def page(**query):
    at = Page("consistency", **query)
    assert not at.error
    return at


def table(at, index=0):
    return at.table[index].value


def plain(cell):
    return cell.removeprefix("\\")


def row_of(frame, first, second):
    both = {first, second}
    return next(row for _, row in frame.iterrows() if {row["better"], row["worse"]} == both)


def test_one_run_shows_the_chance_and_its_bounds(monkeypatch):
    at = page(metrics=["NDCG"])
    sets = sd.example("movielens-xyz")
    chances = sd.probability_of_order("NDCG", sets, 100, **OPTIONS)
    bounds = probability_if_shared("NDCG", sets, 100, **OPTIONS)
    assert "if shared" not in table(at)  # bounds wait to be asked for
    at.press("bounds")
    shown = table(at).set_index("Pair")
    for first, second in (("X", "Y"), ("X", "Z"), ("Y", "Z")):
        row, bound = row_of(chances, first, second), row_of(bounds, first, second)
        name = f"{first}, {second}"
        assert plain(shown.loc[name, "NDCG"]) == in_runs(row["probability"])
        ends = dict.fromkeys((in_runs(bound["low"]), in_runs(bound["high"])))
        assert plain(shown.loc[name, "if shared"]) == " to ".join(ends)
    taken = pd.read_csv(io.StringIO(at.exports(monkeypatch)["CSV"]))
    both = taken.merge(chances.merge(bounds, on=["better", "worse"]), on=["better", "worse"])
    for column in ("probability", "low", "high"):
        np.testing.assert_allclose(both[f"{column}_x"], both[f"{column}_y"], atol=1e-12)
    assert "if shared" in table(at.put("m", 200))  # once asked for, they follow m
    at.selectbox(key="scheme").set_value("popularity").run()
    assert "if shared" not in table(at)  # not all else


def test_over_instances_says_whether_there_is_anything_to_order():
    at = page(metrics=["Recall@k"], answers="How sure", sure_view="Over instances")
    sets = sd.example("movielens-xyz")
    core = significance("Recall@10", sets, np.random.default_rng(SEED))
    again = probability_if_redrawn("Recall@10", sets, 100, **OPTIONS)
    shown = table(at).set_index("Pair")
    row, redrawn = row_of(core, "Y", "Z"), row_of(again, "Y", "Z")
    # Table 3, Recall: Y 8.84, Z 9.42.
    (low, high), cells = row["interval"], shown.loc["Z − Y"]
    assert cells["Difference, points"] == "0.58"
    assert cells["95 % interval"].replace("−", "-") == f"{100 * low:.2f} to {100 * high:.2f}"
    assert cells["p, Holm"] == f"{row['p_holm']:.4f}"
    assert plain(cells["Redrawn"]) == in_runs(redrawn["probability"])
    assert "There is something to order" in at.said  # X and Y, the marked pair


@pytest.mark.parametrize("size", [2, 3, 7])
def test_the_order_that_other_instances_turn_round_most_easily_is_named(size):
    rng = np.random.default_rng(size)
    sets = [sd.RankSet(f"S{i}", 1 + (rng.random(80) ** (1 + i) * 300).astype(int), 900)
            for i in range(size)]  # fmt: skip
    source, metric = Source(tuple(sets), "made", False), sd.parse_metric("Recall@10")
    result = compute(Question(source, (metric,), 20, {"scheme": "without-replacement"}))
    focus = Focus(result, 0, result.worst_pair(0))
    said = words.weakest_order(focus, focus.tests()).replace("\u00a0", " ")
    tests = significance(metric, focus.sets, np.random.default_rng(SEED))
    assert len(focus.sets) == min(size, 5)
    assert said.startswith(f"5 of {size} systems") == (size > 5)
    weak = int((tests["p_holm"] > 0.05).sum())
    assert (f"may turn round {weak} of {len(tests)} pairs." in said) == (0 < weak < len(tests))
    assert ("Nothing to order" in said) == (weak > 0)
    ahead = [f"{row.better} is ahead of {row.worse} by" in said for row in tests.itertuples()]
    assert tests["p_holm"][ahead].tolist() == [tests["p_holm"].max()]


def test_seeds_that_are_averaged_are_not_taken_for_other_users():
    every = product((1, 2), range(30), (1, 2))
    rows = [f"S{s},{u},{seed},{1 + (u * 7 + seed + s) % 400},500" for s, u, seed in every]
    data = "\n".join(["system,user,seed,rank,n", *rows]).encode()
    at = page(answers="How sure", sure_view="Over instances")
    beware = "Repetitions of an instance count here as instances of their own"
    assert beware not in at.captions
    assert beware in at.upload("seeds.csv", data).captions


def test_plan_names_negatives_and_instances():
    at = page(source=ABC, metrics=["Recall@k"], answers="How sure", sure_view="Plan")
    sets = sd.example("paper-abc")
    needed = negatives_needed("Recall@10", sets, 0.95, **OPTIONS)
    other = instances_needed("Recall@10", sets, 100, 0.95, **OPTIONS)
    shown = table(at).set_index("Pair")
    for pair in ("C > A", "C > B"):
        m = row_of(needed, *pair.split(" > "))["m"]
        assert shown.loc[pair, "Negatives for 95 %"] == f"{m:,}"
    # Table 2: 1.000 for A against 0.567 for C, the wrong way round: no number of instances helps.
    assert shown.loc["C > A", "Instances at m = 100"] == "not reachable"
    size = row_of(other, "C", "B")["instances"]
    assert shown.loc["C > B", "Instances at m = 100"] == f"{size:,}"
    # Table 1: A and B have the same Recall, 0.
    assert shown.loc["A = B", "Negatives for 95 %"] == "not reachable"
    at.pick("wanted", "80 %")
    less = row_of(negatives_needed("Recall@10", sets, 0.8, **OPTIONS), "C", "A")["m"]
    assert table(at).set_index("Pair").loc["C > A", "Negatives for 80 %"] == f"{less:,}"
    assert less < row_of(needed, "C", "A")["m"]


def test_repeating_it_gives_table_3_and_the_exact_law():
    at = page(metrics=["Recall@k"], answers="Repeat it", repeats="100")
    at.press("repeat_start")
    shown = table(at).set_index("System")
    for system in "YZ":  # X is a rerun
        cells_of = shown.loc[system, ["100 runs", "Exact law"]].str.removesuffix(" %")
        (mean, std), (exact, scatter) = (map(float, x.split(" ± ")) for x in cells_of)
        assert abs(mean - exact) < 4 * scatter / 10 + 0.01
        assert abs(std / scatter - 1) < 4 / np.sqrt(198) + 0.03
        if system == "Y":  # the paper redrew Z's ties in every run
            (printed,) = cells(3).query("text == '56.51±0.22'").itertuples()
            error = np.hypot(scatter, printed.printed_std) / 10
            assert abs(mean - printed.printed) < 4 * error
    assert "of 100 runs show" in at.said
    before = table(at)
    # The runs stay until the question changes.
    assert table(at.put("seed", 2)).equals(before)
    assert "of 100 runs show" not in at.put("m", 99).said


def test_flips_of_every_correction():
    at = page(metrics=["Recall@k"], answers="Numbers", numbers_view="Flips")
    shown = table(at).set_index("Pair")
    # Figure 2 and section 6.2: X and Y change at 11 and 970.
    assert shown.loc["X, Y", "Order changes at m"] == "11 · 970"
    found = sd.flips("Recall@10", sd.example("movielens-xyz"), **OPTIONS)
    assert [f.m for f in found if {f.first, f.second} == {"X", "Z"}] == [433]
    assert shown.loc["X, Z", "Right from m"] == "433"
    at.press("flips_every")
    shown = table(at).set_index(["Correction", "Pair"])["Right from m"]
    for name, first in (("CLS", 111), ("rank estimate", 111), ("BV 0.1", 52)):
        sets, how = sd.example("movielens-xyz"), OPTIONS | {"correction": name}
        core = sd.right_from("Recall@10", sets, 150, **how)
        assert shown[name, "X, Y"] == f"{row_of(core, 'X', 'Y')['m']:,}" == str(first)


def test_why_shows_the_smallest_counterexample_or_why_there_is_none():
    at = page(source=ABC, metrics=["AUC"], why="true")
    assert "No two sets of ranks flip under AUC" in at.said
    at = page(source=ABC, metrics=["AP"], why="true")
    shown = table(at).set_index("System")
    shown = shown[["On all items", "Expected, m = 100"]].map(lambda x: float(x.strip("< %")))
    exact, sampled = shown.to_numpy().T
    assert (exact[0] - exact[1]) * (sampled[0] - sampled[1]) < 0
    at.press("load_counterexample")
    assert at.segmented_control(key="source").value == "Paste ranks"
    assert "on all items" in at.headline
    assert "wrong" in at.headline or "undecided" in at.headline


def test_an_own_file_becomes_a_sentence_a_table_and_a_script_that_reads_it():
    ranks = pd.DataFrame({"A": [3, 40, 7, 800], "B": [5, 20, 300, 60], "n": 900})
    at = page(metrics=["AP"]).upload("mine.csv", ranks.to_csv(index=False).encode())
    at.press("paper")
    paragraph, latex, bibtex, script = [code.value for code in at.code][-4:]
    for name in "AB":  # AP of one item is 1 / rank: by hand
        exact = (1 / ranks[name]).mean()
        assert percent(exact) in paragraph
        assert f"{100 * exact:.2f}" in latex
    assert "100 negatives" in paragraph
    assert "\\cite" in latex
    assert "krichene2020sampled" in bibtex
    assert "sd.read_rank_sets('mine.csv')" in script


def test_a_tie_has_no_order_and_no_half_instance_is_drawn():
    ranks = "n = 10000\nA: 100, 100\nB: 40, 8437\n"
    at = page(source="Paste ranks", ranks=ranks, metrics=["Recall@k"], m="99", answers="Repeat it")
    at.press("repeat_start")
    assert table(at, 1)["True order"].tolist() == ["A = B"]
    rows = "A,1,3,90,1.5\nA,2,40,80,2\nB,1,1,90,1.5\nB,2,12,80,2"
    ranks = f"system,instance,rank,n_candidates,count\n{rows}"
    at = page(source="Paste ranks", ranks=ranks, m=20, answers="Repeat it")
    at.press("repeat_start")
    assert "must be whole numbers to simulate" in " ".join(x.value for x in at.info)


def test_the_curve_of_the_plan_crosses_where_the_sentence_says():
    at = page(metrics=["Recall@k"], sure_view="Plan")
    shown = table(at).set_index("Pair")["Negatives for 95 %"]
    sets, how = sd.example("movielens-xyz"), {"scheme": "without-replacement"}
    (fig,) = [fig for fig in at.specs if fig["layout"]["uirevision"].startswith("chance-")]
    crossed = 0
    for line in fig["data"]:
        m, y = (array(line[part]).astype(float) for part in "xy")
        m, y = m[~np.isnan(y)], y[~np.isnan(y)]
        here = int(shown[unescape(line["name"])].replace(",", ""))
        crossed += here > 1
        # From its last value below the line it rises to the next m: no slope hides the crossing.
        assert (m[y < 95].max(), m[y >= 95].min()) == (here - 1, here)
        for x in (here - 1, here):
            row = sd.probability_of_order("Recall@10", sets, x, **how)
            better, worse = unescape(line["name"]).split(" > ")
            exact = row_of(row, better, worse)["probability"]
            assert y[m == x].item() == pytest.approx(100 * exact, abs=1e-9)
    assert crossed == 3
