"""The Consistency page shows the verdicts of the library and of Krichene & Rendle."""

import contextlib
import io
import re
from functools import partial
from html import unescape
from itertools import product

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.analyses.consistency import words
from sampledash.analyses.consistency.report import anew
from sampledash.analyses.consistency.result import SEED, Focus, Question, compute
from sampledash.analyses.source import Source
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.report.numbers import in_runs, percent, points
from sampledash.report.recheck import recheck
from tests.dashboard.driver import Page, array, worst_states

ABC = "Three toy recommenders"
HOW = {"scheme": "without-replacement"}


page = partial(Page, "consistency")


def test_first_screen_says_the_order_of_movielens_is_wrong_at_100_and_right_from_970():
    at = page()
    # Krichene & Rendle, Section 6.2: samples give X > Y > Z, all items give Z > Y > X.
    said = "Recall@10 ranks X > Y > Z; on all items Z > Y > X. Right from m = 970."
    assert at.headline.endswith(f"With 100 negatives {said}")
    assert "wrong" in at.headline
    table = sd.right_from("Recall@10", sd.example("movielens-xyz"), **HOW)
    assert at.numbers["All right from m"] == f"{table['m'].max():,}" == "970"
    assert (at.numbers["Pairs in true order"], at.numbers["Instances"]) == ("0 of 3", "6,040")
    assert at.others == "Also wrong: NDCG and AP."
    # A run that is stopped sends its value to no browser: each run sends the value again.
    for _ in range(2):
        (marked,) = (x for x in at.selectbox if x.label == "Marked pair")
        assert (marked.proto.set_value, marked.proto.raw_value) == (True, "X, Y")
        at.run()
    at = page(metrics=["Recall@k"], m="969")
    assert "ranks Z > X > Y; on all items Z > Y > X" in at.headline
    # From m = 970 on the expected order is right; single runs may still differ.
    assert "Recall@10 rightly ranks Z > Y > X" in at.put("m", 970).headline
    assert at.others == ""


def test_the_sentence_stays_with_its_metric():
    at = page()
    # Recall@10 has the true order from m = 970 on, NDCG only from 1,988 on (Y and X).
    for m in (1, 1_000):
        at.put("m", m)
        assert f"{m:,} negative{'s' * (m > 1)} Recall@10" in at.headline
        assert at.segmented_control(key="shown").value == "Recall@10"
        judged = sd.verdict(["Recall@10"], sd.example("movielens-xyz"), m, m_values=[m], **HOW)
        assert f" {worst_states(judged)['Recall@10']}]" in at.headline
    at.pick("shown", "AP")
    assert "AP ranks" in at.headline
    assert "AP" not in at.others
    assert at.put("m", 100).segmented_control(key="shown").value == "AP"
    assert at.link["shown"] == ["AP"]
    # A new cutoff keeps the metric; Reset shows the first metric, even if a link chose another.
    at.pills(key="metrics").set_value(["Recall@k", "NDCG@k"]).run()
    assert "NDCG@7 ranks" in at.pick("shown", "NDCG@10").put("k", 7).headline
    at = page(shown="AP", correction="rank estimate")
    assert "With 100 negatives AP (rank estimate)" in at.headline
    assert "With 100 negatives Recall@10" in at.click("Reset").headline
    # If the shown metric is removed or unknown, the headline is about the first metric.
    assert "With 100 negatives Recall@10" in page(shown="Gini").headline
    at.pills(key="metrics").set_value(["Recall@k", "NDCG"]).run()
    assert "With 100 negatives Recall@10" in at.headline
    assert "shown" not in at.link


def test_numbers_are_those_of_table_3_and_several_metrics_and_cutoffs_share_the_page():
    at = page(metrics=["Recall@k", "NDCG@k"], answers="Numbers", shown="Recall@10")
    shown, y = at.table[0].value, sd.example("movielens-xyz")[1]
    row = shown[(shown["Metric"] == "Recall@10") & (shown["System"] == "Y")].iloc[0]
    assert row["Exact"] == "8.84 %" == percent(sd.mean("Recall@10", y))
    mean, std = (f("Recall@10", y, 100, **HOW) for f in (sd.expected_mean, sd.std_of_mean))
    assert row["Sampled, m = 100"] == f"{100 * mean:.2f} ± {100 * std:.2f} %"
    assert abs(100 * mean - 56.51) < 3 * 0.22 / 10  # Table 3: a mean over 100 runs
    assert len(shown) <= 8
    at = page(metrics=["Recall@k", "AUC"], also_k=["1", "50"])
    titles = at.segmented_control(key="shown").options
    assert titles == ["Recall@1", "Recall@10", "Recall@50", "AUC"]
    for metric, right_from in (("AUC", "1"), ("Recall@1", "1,877")):
        at.pick("shown", metric)
        # AUC has the true order at every m (Table 4 of the paper), Recall@1 only from m = 1,877.
        assert at.numbers["All right from m"] == right_from
        assert f"With 100 negatives {metric} ranks" in at.headline
        assert f"Right from m = {right_from}." in at.headline


@pytest.mark.parametrize(("choice", "gamma"), [("rank estimate", None), ("CLS", None), ("BV", 0.1)])
def test_corrections_give_the_chances_of_the_core(choice, gamma):
    at = page(metrics=["Recall@k"], correction=choice)
    name = choice if gamma is None else f"BV {gamma:g}"
    assert f"(BV {gamma})" in at.headline or f"({name})" in at.headline
    assert any(field.key == "gamma" for field in at.number_input) == (gamma is not None)
    shown, sets = at.table[0].value.set_index("Pair")["Recall@10"], sd.example("movielens-xyz")
    core = sd.probability_of_order("Recall@10", sets, 100, correction=name, **HOW)
    for pair in ("X, Y", "X, Z", "Y, Z"):
        assert shown[pair] == percent(row_of(core, *pair.split(", "))["probability"])
    assert ("40 values of m up to 1,000" in at.captions) == (choice != "rank estimate")
    if choice == "BV":
        assert "(BV 0.1) rightly ranks Z > Y > X; one run shows" in at.headline
        assert percent(core["probability"].min()) in at.headline
    if choice == "CLS":  # m beyond the largest value for CLS is refused
        assert "m = 2,500" in at.put("m", 2_500).complaint
        assert "CLS" in at.complaint


# Recall@10 of A is 1/2 for user u and 1 for v; the mean is 3/4, weighted by relevant items 2/3.
SEVERAL = b"system,user,rank,n\nA,u,1,900\nA,u,90,900\nA,v,2,900\n"
SEVERAL += b"B,u,100,900\nB,u,90,900\nB,v,200,900\n"


def test_ties_and_weights_are_offered_and_sampling_weights_read_where_there_is_a_choice():
    def offered(at):
        return {c.key for c in at.segmented_control} & {"ties", "weighting"}

    assert offered(page(metrics=["AUC"])) == set()
    at = page(source="MovieLens 1M with ties", metrics=["AUC"], answers="Numbers")
    assert offered(at) == {"ties"}
    # Exact AUC of Z in %: expected over ties 74.80, optimistic 94.44, pessimistic 55.16.
    for reading, exact in (("expected", 74.80), ("optimistic", 94.44), ("pessimistic", 55.16)):
        at.pick("ties", reading)
        means = at.table[0].value.set_index("System")["Exact"]
        assert means["Z"] == f"{exact:.2f} %"
    at = page(metrics=["Recall@k"], answers="Numbers").upload("several.csv", SEVERAL)
    assert offered(at) == {"weighting"}
    for choice, exact in (("instances", "75.00 %"), ("relevant items", "66.67 %")):
        at.pick("weighting", choice)
        assert at.table[0].value.set_index("System")["Exact"]["A"] == exact
    rows = b"A,u,2,20,0.5\nA,v,9,20,0.9\nB,u,4,20,0.6\nB,v,5,20,0.7"
    file = b"system,user,rank,n,mass_above\n" + rows
    at = page(metrics=["AUC"], m="5", answers="Numbers").upload("weights.csv", file)

    def sampled(at):
        cells = at.table[0].value.set_index("System")["Sampled, m = 5"]
        return [float(cells[name].split(" ")[0]) for name in "AB"]

    sets = sd.read_rank_sets(io.BytesIO(file), name="weights.csv")
    assert "(mass_above) are left out: only the popularity scheme reads them." in at.captions
    drawn = [100 * sd.expected_mean("AUC", each.without_mass(), 5) for each in sets]
    assert sampled(at) == pytest.approx(drawn, abs=0.005)
    at.segmented_control(key="scheme").set_value("popularity").run()
    assert "mass_above" not in at.captions
    drawn = [100 * sd.expected_mean("AUC", each, 5, scheme="popularity") for each in sets]
    assert sampled(at) == pytest.approx(drawn, abs=0.005)


def test_wrong_files_get_one_sentence_and_too_many_negatives_a_click():
    at = page()
    before, charts = at.numbers, len(at.pictures)
    others = b"system,user,rank,n\nA,u1,3,9\nA,u2,3,9\nB,u2,1,9\nB,u3,1,9\n"
    at.upload("own.csv", others)
    assert all(fact in at.complaint for fact in ("own.csv", "u1", "1 of 3 instances", "All share"))
    assert (len(at.error), at.headline) == (1, "")
    assert len(at.pictures) >= charts - 1
    assert at.last_headline.startswith("With 100 negatives Recall@10 ranks X > Y > Z")
    assert "the last answer that could be shown, about MovieLens 1M: X, Y, Z." in at.captions
    assert at.pick("source", "MovieLens 1M: X, Y, Z").numbers == before
    at = page(source=ABC, m="20000").click("Take m = 9,999")
    # With all 9,999 negatives, the sampled metric is the exact metric.
    assert at.session_state["m"] == 9999
    assert not at.error
    assert "as it does on all items" in at.headline


def test_what_m_and_k_leave_out_is_said():
    at, sets = page(metrics=["Recall@k"], m="10000", k="10"), sd.example("movielens-xyz")
    assert max(int(ranks.n.max()) for ranks in sets) == 3687
    assert "With all negatives Recall@10 ranks Z > Y > X, as it does on all items." in at.headline
    assert "6,040 of 6,040 instances have fewer than 10,000 negatives" in at.captions
    at.put("k", 3_500).put("m", 3_600)
    some = int(np.sum(sets[0].n <= 3_500))
    assert f"{some:,} of 6,040 instances have no candidate beyond k = 3,500." in at.captions
    # If all instances have the same n, the sentence gives the number of negatives.
    assert "With all 9,999 negatives AP" in page(source=ABC, m="9999", metrics=["AP"]).headline


def test_n_of_a_file_is_asked_for_and_two_values_are_told_as_names_are_plain_text():
    at = page()
    assert at.slider("n")["locked"] == "1,393 to 3,687, from the data"
    at.upload("bare.csv", b"system,rank\nA,3\nA,9\nB,1\nB,40\n")
    assert "bare.csv does not say" in at.info[0].value.replace("\\", "")
    assert at.slider("n")["locked"] == "not known yet"
    assert at.give_n(900).slider("n")["locked"] == "900, from the data"
    data = b"system,rank,n\n<b>x</b>,1,900\n=1+1,2,900\na|b,3,900\n"
    at = page(answers="Numbers").upload("names.csv", data)
    assert "\\<b\\>x\\</b\\>" in at.headline
    assert "a|b" in set(at.table[0].value["System"])
    data = b"system,user,rank,n\nA,u1,3,900\nB,u1,3,1000\nA,u2,1,900\nB,u2,9,900\n"
    at.upload("differs.csv", data)
    assert "instance u1 has n = 900 and 1,000" in at.captions


def test_many_systems_of_a_wide_parquet_file_show_the_worst_pairs_whole():
    # Seven systems have 21 pairs; the map shows 10 of them, with a tile for each metric.
    rng, buffer = np.random.default_rng(7), io.BytesIO()
    ranks = {f"s{i}": rng.integers(1, 900, 40) for i in range(7)}
    pd.DataFrame({**ranks, "n_candidates": 900}).to_parquet(buffer)
    at = page(metrics=["Recall@k", "NDCG", "AP"]).upload("seven.parquet", buffer.getvalue())
    assert "The 10 worst of 21 pairs." in at.captions
    tiles = next(spec for spec in at.specs if "ticktext" in spec["layout"]["yaxis"])
    assert len(tiles["layout"]["annotations"]) == 30
    assert tiles["layout"]["xaxis"]["ticktext"] == ["Recall@10", "NDCG", "AP"]
    at.pick("shown", "Recall@10")
    sets = [sd.RankSet(name, values, 900) for name, values in ranks.items()]
    right = sd.right_from("Recall@10", sets, **HOW)["m"]
    assert at.numbers["All right from m"] == f"{right.max():,}"
    assert at.headline.endswith(f"right from m = {right.max():,}.")


def table(at, index=0):
    return at.table[index].value


def plain(cell):
    return cell.removeprefix("\\")


def row_of(frame, first, second):
    both = {first, second}
    return next(row for _, row in frame.iterrows() if {row["better"], row["worse"]} == both)


def test_one_run_shows_the_chance_and_its_bounds(monkeypatch):
    at, sets = page(metrics=["NDCG"]), sd.example("movielens-xyz")
    chances = sd.probability_of_order("NDCG", sets, 100, **HOW)
    bounds = probability_if_shared("NDCG", sets, 100, **HOW)
    assert "if shared" not in table(at)  # bounds are computed on request
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
    assert "if shared" in table(at.put("m", 200))  # once requested, the bounds follow m
    at.segmented_control(key="scheme").set_value("with replacement").run()
    assert "if shared" not in table(at)  # a change of the scheme removes the bounds


def test_over_instances_says_whether_there_is_anything_to_order_and_what_averaged_seeds_are():
    at = page(metrics=["Recall@k"], answers="How sure", sure_view="Over instances")
    sets = sd.example("movielens-xyz")
    core = significance("Recall@10", sets, np.random.default_rng(SEED))
    again = probability_if_redrawn("Recall@10", sets, 100, **HOW)
    shown = table(at).set_index("Pair")
    row, redrawn = row_of(core, "Y", "Z"), row_of(again, "Y", "Z")
    (low, high), cells = row["interval"], shown.loc["Z − Y"]
    assert cells["Difference, points"] == "0.58"
    assert cells["95 % interval"].replace("−", "-") == f"{100 * low:.2f} to {100 * high:.2f}"
    assert cells["p, Holm"] == f"{row['p_holm']:.4f}"
    assert plain(cells["Redrawn"]) == in_runs(redrawn["probability"])
    assert "There is something to order" in at.said  # about X and Y, the marked pair
    every = product((1, 2), range(30), (1, 2))
    rows = [f"S{s},{u},{seed},{1 + (u * 7 + seed + s) % 400},500" for s, u, seed in every]
    data = "\n".join(["system,user,seed,rank,n", *rows]).encode()
    at = page(answers="How sure", sure_view="Over instances")
    beware = "Repetitions of an instance count here as instances of their own"
    assert beware not in at.captions
    assert beware in at.upload("seeds.csv", data).captions


@pytest.mark.parametrize("size", [2, 3, 7])
def test_the_order_that_other_instances_turn_round_most_easily_is_named(size):
    rng = np.random.default_rng(size)
    sets = [sd.RankSet(f"S{i}", 1 + (rng.random(80) ** (1 + i) * 300).astype(int), 900)
            for i in range(size)]  # fmt: skip
    source, metric = Source(tuple(sets), "made", False), sd.parse_metric("Recall@10")
    result = compute(Question(source, (metric,), 20, HOW))
    focus = Focus(result, 0, result.worst_pair(0))
    said = words.weakest_order(focus, focus.tests()).replace("\u00a0", " ")
    tests = significance(metric, focus.sets, np.random.default_rng(SEED))
    assert (len(focus.sets), said.startswith(f"5 of {size} systems")) == (min(size, 5), size > 5)
    weak = int((tests["p_holm"] > 0.05).sum())
    assert (f"may turn round {weak} of {len(tests)} pairs." in said) == (0 < weak < len(tests))
    assert ("Nothing to order" in said) == (weak > 0)
    ahead = [f"{row.better} is ahead of {row.worse} by" in said for row in tests.itertuples()]
    assert tests["p_holm"][ahead].tolist() == [tests["p_holm"].max()]


def test_lines_of_chances_over_m_are_near_the_chances_between_their_points():
    sets, metric = tuple(sd.example("paper-abc")), sd.parse_metric("Recall@10")
    result = compute(Question(Source(sets, "made", False), (metric,), 100, HOW))
    focus = Focus(result, 0, result.worst_pair(0))
    ms, curves = focus.over_m(0.95, progress=lambda _: None)
    names = {frozenset(result.names(pair)): curve for pair, curve in curves.items()}
    between = names[frozenset("BC")]
    known = ~np.isnan(between)
    # Recall@10 is 1 for every system below m = 10, and C > B in .992 of the runs at m = 14.
    assert sd.probability_of_order("Recall@10", sets, 9, **HOW)["probability"].max() < 1e-9
    for m in (9, 10, 11, 12, 14, 17, 20, 25, 50):
        rows = sd.probability_of_order("Recall@10", sets, m, **HOW)
        drawn = np.interp(np.log(m), np.log(ms[known]), between[known])
        assert abs(drawn - row_of(rows, "C", "B")["probability"]) < 0.1, m


def test_plan_names_negatives_and_instances_and_its_curve_crosses_there():
    at = page(source=ABC, metrics=["Recall@k"], answers="How sure", sure_view="Plan")
    sets = sd.example("paper-abc")
    needed = negatives_needed("Recall@10", sets, 0.95, **HOW)
    other = instances_needed("Recall@10", sets, 100, 0.95, **HOW)
    shown = table(at).set_index("Pair")
    for pair in ("C > A", "C > B"):
        m = row_of(needed, *pair.split(" > "))["m"]
        assert shown.loc[pair, "Negatives for 95 %"] == f"{m:,}"
    # Sampled Recall@10 is 1.000 for A, 0.567 for C: as C is better, no number of instances helps.
    assert shown.loc["C > A", "Instances at m = 100"] == "not reachable"
    size = row_of(other, "C", "B")["instances"]
    assert shown.loc["C > B", "Instances at m = 100"] == f"{size:,}"
    assert shown.loc["A = B", "Negatives for 95 %"] == "not reachable"
    at.pick("wanted", "80 %")
    less = row_of(negatives_needed("Recall@10", sets, 0.8, **HOW), "C", "A")["m"]
    assert table(at).set_index("Pair").loc["C > A", "Negatives for 80 %"] == f"{less:,}"
    assert less < row_of(needed, "C", "A")["m"]
    above = np.random.default_rng(4).random((3, 60)) ** [[2], [3], [5]] * 900
    ranks = dict(zip("PQR", (1 + above.astype(int)).tolist(), strict=True))
    typed = "\n".join(["n = 900", *(f"{name}: {str(x)[1:-1]}" for name, x in ranks.items())])
    at = page(metrics=["Recall@k"], sure_view="Plan", source="Paste ranks", ranks=typed)
    shown = table(at).set_index("Pair")["Negatives for 95 %"]
    sets = [sd.RankSet(name, x, 900) for name, x in ranks.items()]
    (fig,) = [fig for fig in at.specs if "of runs" in str(fig["layout"]["yaxis"])]
    crossed = 0
    for line in fig["data"]:
        m, y = (array(line[part]).astype(float) for part in "xy")
        m, y = m[~np.isnan(y)], y[~np.isnan(y)]
        here = int(shown[unescape(line["name"])].replace(",", ""))
        crossed += here > 1
        # The curve has points at m = ``here`` - 1 and ``here``, and crosses 95 % between them.
        assert (m[y < 95].max(), m[y >= 95].min()) == (here - 1, here)
        for x in (here - 1, here):
            row = sd.probability_of_order("Recall@10", sets, x, **HOW)
            better, worse = unescape(line["name"]).split(" > ")
            exact = row_of(row, better, worse)["probability"]
            assert y[m == x].item() == pytest.approx(100 * exact, abs=1e-9)
    assert crossed == 3


def test_repeating_it_gives_the_exact_law_and_draws_no_half_instance():
    at = page(metrics=["Recall@k"], answers="Repeat it", repeats="100")
    at.press("repeat_start")
    shown = table(at).set_index("System")
    for system in "YZ":
        cells_of = shown.loc[system, ["100 runs", "Exact law"]].str.removesuffix(" %")
        (mean, std), (exact, scatter) = (map(float, x.split(" ± ")) for x in cells_of)
        assert abs(mean - exact) < 4 * scatter / 10 + 0.01
        assert abs(std / scatter - 1) < 4 / np.sqrt(198) + 0.03
    assert "of 100 runs show" in at.said
    assert "of 100 runs show" not in at.put("m", 99).said
    ranks = "n = 10000\nA: 100, 100\nB: 40, 8437\n"
    at = page(source="Paste ranks", ranks=ranks, metrics=["Recall@k"], m="99", answers="Repeat it")
    at.press("repeat_start")
    assert table(at, 1)["True order"].tolist() == ["A = B"]
    rows = "A,1,3,90,1.5\nA,2,40,80,2\nB,1,1,90,1.5\nB,2,12,80,2"
    ranks = f"system,instance,rank,n_candidates,count\n{rows}"
    at = page(source="Paste ranks", ranks=ranks, m=20, answers="Repeat it")
    at.press("repeat_start")
    assert "must be whole numbers to simulate" in " ".join(x.value for x in at.info)


def test_flips_of_corrections_and_the_smallest_counterexample():
    at = page(metrics=["Recall@k"], answers="Numbers", numbers_view="Flips")
    shown = table(at).set_index("Pair")
    # Figure 2 and section 6.2 of the paper: X and Y change order at m = 11 and m = 970.
    assert shown.loc["X, Y", "Order changes at m"] == "11 · 970"
    found = sd.flips("Recall@10", sd.example("movielens-xyz"), **HOW)
    assert [f.m for f in found if {f.first, f.second} == {"X", "Z"}] == [433]
    assert shown.loc["X, Z", "Right from m"] == "433"
    for name, first in (("CLS", 111), ("rank estimate", 111)):
        at = page(metrics=["Recall@k"], answers="Numbers", numbers_view="Flips", correction=name)
        assert table(at).set_index("Pair").loc["X, Y", "Right from m"] == str(first)
        sets, how = sd.example("movielens-xyz"), HOW | {"correction": name}
        core = sd.right_from("Recall@10", sets, 150, **how)
        assert row_of(core, "X", "Y")["m"] == first
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
    paragraph, latex, bibtex, script = at.codes[-4:]
    for name in "AB":  # AP of one relevant item is 1 / rank
        exact = (1 / ranks[name]).mean()
        assert percent(exact) in paragraph
        assert f"{100 * exact:.2f}" in latex
    assert "100 negatives" in paragraph
    assert "\\cite" in latex
    assert "krichene2020sampled" in bibtex
    assert "sd.read_rank_sets('mine.csv')" in script


# Mean number of candidates to score until Recall@10 of an instance is certain, for X, Y and Z.
COSTS = (683.6, 680.5, 714.1)


INSTEAD = {"answers": "What to do instead"}
instead = partial(page, metrics=["Recall@k"], **INSTEAD)


def test_designs_at_the_price_of_m_negatives_of_enough_and_of_what_nothing_decides():
    at = instead(m="100")
    found = sd.designs("Recall@10", sd.example("movielens-xyz"), 100, **HOW)
    table = at.table[0].value.set_index("Design")
    reached = round(6040 * 100 / np.mean(COSTS))  # 872
    assert table.loc["stop when decided", "Instances"] == str(reached)
    assert f"the exact Recall@10 of {reached} of 6,040 instances" in at.said
    chances = found.orders.query("better == 'Y' and worse == 'X'").set_index("design")
    for design in ("uncorrected", "CLS", "BV 0.01", "stop when decided"):
        errors = found.errors[found.errors["design"] == design]
        off = points(float(np.sqrt((errors["rmse"] ** 2).mean())))
        assert table.loc[design, "Off by"] == off.removesuffix(" points")
        assert off in at.said or design in ("CLS", "BV 0.01")
    shown = float(table.loc["stop when decided", "Shows Y > X"].removesuffix(" %"))
    assert shown == pytest.approx(100 * chances.loc["stop when decided", "probability"], abs=0.005)
    # Stopping early errs less than full ranking of fewer instances, or not at all (NaN).
    (fig,) = [x for x in at.specs if "against its price" in x["layout"]["title"]["text"]]
    lines = {x["name"]: array(x["y"]) for x in fig["data"]}
    full, stopped = lines["full ranking of fewer instances"], lines["stop when decided"]
    assert np.all(np.isnan(stopped) | (stopped < full))
    dots = [array(x["y"])[0] for x in fig["data"] if x["mode"] == "markers"]
    assert min(dots) > 10 ** fig["layout"]["yaxis"]["range"][0]  # all designs have an error here
    # In the best order the items above the relevant item are scored first: no proxy costs less.
    least = [np.where(x.ranks <= 10, x.n - 1, 10).mean() for x in sd.example("movielens-xyz")]
    reached = f"{round(6040 * 100 / np.mean(least)):,}"
    assert table.loc["stop when decided, best order", "Instances"] == reached
    assert "sampledash.proxy_cost" in at.captions
    assert "relevant item's own score comes on top" in at.captions
    at, cost = instead(m="1000"), round(np.mean(COSTS))
    assert f"the exact Recall@10 of all 6,040 instances, at {cost} scores each" in at.said
    # Ranking one of the 5 instances takes 9,999 scores: 5 x 100 are too few, 5 x 2,000 suffice.
    at = page(source=ABC, metrics=["AUC"], **INSTEAD)
    assert "not one instance can be ranked" in at.said
    assert "Nothing but the last candidate decides AUC" in at.put("m", 2_000).said
    # With n = 2 every design scores the only negative: no design has an error to draw.
    pasted = {"source": "Paste ranks", "ranks": "n = 2\nA: 1, 2\nB: 1, 1\n"}
    at = instead(**pasted, k="1", m="1")
    assert at.specs[-1]["layout"]["title"]["text"] == "<b>Every design gives the exact Recall@1</b>"
    assert at.table[0].value["Off by"].unique().tolist() == ["0.00"]
    assert "With 1 negative Recall@1 ranks B > A" in at.headline
    assert "the exact Recall@1 of all 2 instances, at 1 score each" in at.said
    at = page(source="Paste ranks", ranks="n = 3; A: 1; B: 2")
    assert "2 systems · 1 instance · n = 3" in at.said


SIZES = [("MovieLens 1M: X, Y, Z", 6_040, 3_687), ("Three toy recommenders", 5, 10_000)]


@pytest.mark.parametrize(("source", "users", "size"), SIZES)
def test_the_snippet_runs_as_printed(source, users, size, capsys):
    (code,) = instead(source=source, m="20").codes
    exec(code, {})
    run, mean = capsys.readouterr().out.splitlines()
    finished = rf"Evaluation\(\d+ of {users} users finished, k = 10, scored: 'mine' \d+\)"
    assert re.match(finished, run)
    assert mean.startswith("InstanceMean(value=0.")
    assert f"np.arange({size:_})" in code
    assert "budget = max(20 * len(users), len(items))" in code


def test_the_price_is_that_of_m_until_the_reader_sets_another():
    at = instead(m="200", source=ABC)
    assert at.said.count("For the price of 200 negatives") == 1
    assert "For the price of 50 negatives" in at.put("m", 50).said
    assert "For the price of 500 negatives" in at.put("budget", 500).said
    assert "For the price of 500 negatives" in at.put("m", 20).said
    link = at.link
    assert (link["m"], link["budget"]) == (["20"], ["500"])
    assert "For the price of 500 negatives" in page(**link).said
    for wrong in (10_000, 0):
        told, take = at.put("budget", wrong).notes, "take a whole number from 1 to 9,999"
        assert f"price is {wrong:,} scores per instance: {take}" in told
    assert "For the price of 1 negative not one" in at.put("budget", 1).said
    assert "1 sampled negative is off by" in at.said


N, RANKS = 40, {"A": [3, None, 7, 1, None, 9], "B": [1, 5, None, None, None, 4]}
TYPED = "n = 40\nA: 3, >10, 7, 1, > 10, 9\nB: 1, 5, >10, >10, >10, 4"


def ap_ranges():
    """Yield each system's lowest and highest mean AP (1 / rank) over all ranks beyond 10."""
    for ranks in RANKS.values():
        every = [[1 / r] if r else [1 / x for x in (11, 25, N)] for r in ranks]
        means = [sum(x) / len(x) for x in product(*every)]
        yield min(means), max(means)


def looked_at(at):
    assert at.headline == "Recall@10 on all items\\: A (66.67 %) before B (50.00 %)."
    cells = at.table[0].value["On all items"].tolist()
    ends = [f"{100 * low:.2f} % to {100 * high:.2f} %" for low, high in ap_ranges()]
    assert (cells[:2], cells[-2:]) == (["66.67 %", "50.00 %"], ends)
    assert "NDCG and AP need more: take a cutoff, k = 10 at most." in at.captions
    assert "5 of them only known to lie beyond a list, the shortest of 10" in at.captions
    assert not at.error


def test_typed_ranks_reach_comparison_exports_and_link(monkeypatch):
    at = page(source="Paste ranks", ranks=TYPED)
    looked_at(at)
    made = at.exports(monkeypatch)
    rows = [row.split(",") for row in made["CSV"].splitlines()]
    assert rows[0] == ["metric", "system", "exact", "low", "high"]
    assert [float(x) for x in rows[1][2:]] == pytest.approx([4 / 6] * 3)
    assert rows[-1][2] == ""
    assert [float(x) for x in rows[-1][3:]] == pytest.approx(list(ap_ranges())[1])
    assert "| AP | B |" in " ".join(made["Markdown"].split())
    assert "66.67" in made["LaTeX"]
    report = made["HTML report"]
    assert "66.67" in report
    assert "lie beyond 10: metrics cut there or before are exact" in report
    assert recheck(report, "report.html", anew)[1]
    assert not recheck(report.replace("66.67", "66.68"), "report.html", anew)[1]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(made["Script"], {})
    assert "'A': 66.67%\n" in out.getvalue()
    low, high = list(ap_ranges())[1]
    assert f"'B': {low:.2%} to {high:.2%}\n" in out.getvalue()
    looked_at(page(**at.link))


def test_a_cutoff_beyond_the_lists_is_told_with_the_largest():
    at = page(source="Paste ranks", ranks=TYPED, k="20", metrics=["Recall@k"])
    ranges = "A has 66.67 % to 100.00 % and B has 50.00 % to 100.00 %."
    assert at.headline == f"Recall@20 needs ranks beyond 10\\: {ranges}"
    assert at.put("k", 10).headline.startswith("Recall@10 on all items")
    # A cutoff of at least all candidates needs no ranks, and the page says so.
    told = "The cutoff holds all 40 candidates: Recall@60 is 100.00 % at every rank."
    assert told in at.put("k", 60).captions
    assert at.headline.startswith("Recall@60 on all items\\: A (100.00 %) and B (100.00 %)")
    at.put("k", 10)
    at.write("pasted", TYPED.replace(" 9", " >x"))
    assert "'x' is not a number" in at.complaint
    assert at.headline.startswith("Recall@10 on all items")
    assert "Below, the last that could be shown: your ranks" in at.captions


def test_a_shorter_list_leaves_others_exact_and_what_is_about_samples_is_left_out():
    at = page(source="Paste ranks", ranks="n = 40\nA: 3, >10, 7\nB: 1, >5, 2")
    ranges = "B has 66.67 % to 100.00 % and A has 66.67 %."
    assert at.headline == f"Recall@10 needs ranks beyond 5\\: {ranges}"
    assert at.table[0].value["On all items"].tolist()[:2] == ["66.67 %", "66.67 % to 100.00 %"]
    at = page(source="Paste ranks", ranks="n = 40\nA: >10, >10\nB: >10, >10")
    (ends,) = at.table[1].value["95 % interval"].tolist()[:1]
    low, high = (float(x.replace("−", "-")) for x in ends.split(" to "))
    assert low == -high < -30
    at = page(source="Paste ranks", ranks=TYPED, scheme="with replacement")
    assert "Negatives are drawn" not in [x.label for x in at.selectbox]
    assert "m, the scheme and the tabs about them are left out" in at.captions
    at.pick("source", "MovieLens 1M: X, Y, Z")
    assert at.segmented_control(key="scheme").value == "with replacement"
