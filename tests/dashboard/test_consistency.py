"""The Consistency page: the verdict on the screen is the core's, and the paper's."""

import io
from functools import partial

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.papers.krichene import cells
from sampledash.report.numbers import percent
from tests.dashboard.driver import Page, worst_states

ABC = "Three toy recommenders"
HOW = {"scheme": "without-replacement"}


page = partial(Page, "consistency")


def test_first_screen_says_the_order_of_movielens_is_wrong_at_100_and_right_from_970():
    at = page()
    # Section 6.2: on the sample X > Y > Z, on all items Z > Y > X.
    said = "Recall@10 ranks X > Y > Z; on all items Z > Y > X. Right from m = 970."
    assert at.headline.endswith(f"With 100 negatives {said}")
    assert "wrong" in at.headline
    table = sd.right_from("Recall@10", sd.example("movielens-xyz"), **HOW)
    assert at.numbers["All right from m"] == f"{table['m'].max():,}" == "970"
    assert (at.numbers["Pairs in true order"], at.numbers["Instances"]) == ("0 of 3", "6,040")
    assert at.others == "Also wrong: NDCG and AP."
    at = page(metrics=["Recall@k"], m="969")
    assert "ranks Z > X > Y; on all items Z > Y > X" in at.headline
    # At 970 it is right in expectation; one run may still say otherwise.
    assert "Recall@10 rightly ranks Z > Y > X" in at.put("m", 970).headline
    assert at.others == ""


def test_the_sentence_stays_with_its_metric():
    at = page()
    # From 970 on Recall@10 is in order, NDCG not before 1,988 (Y and X).
    for m in (1, 1_000, 3_000):
        at.put("m", m)
        assert f"{m:,} negative{'s' * (m > 1)} Recall@10" in at.headline
        assert at.segmented_control(key="shown").value == "Recall@10"
        worst = worst_states(sd.verdict(["Recall@10"], sd.example("movielens-xyz"), m, **HOW))
        assert f" {worst['Recall@10']}]" in at.headline
    at.pick("shown", "AP")
    assert "AP ranks" in at.headline
    assert "AP" not in at.others
    assert at.put("m", 100).segmented_control(key="shown").value == "AP"
    assert at.link["shown"] == ["AP"]
    # Another cutoff is no other metric; Reset puts the first back, also where a link said another.
    at.pills(key="metrics").set_value(["Recall@k", "NDCG@k"]).run()
    assert "NDCG@7 ranks" in at.pick("shown", "NDCG@10").put("k", 7).headline
    at = page(shown="AP", correction="rank estimate")
    assert "With 100 negatives AP (rank estimate)" in at.headline
    assert "With 100 negatives Recall@10" in at.click("Reset").headline
    # A metric that is taken away, or is none, leaves the sentence to the first.
    assert "With 100 negatives Recall@10" in page(shown="Gini").headline
    at.pills(key="metrics").set_value(["Recall@k", "NDCG"]).run()
    assert "With 100 negatives Recall@10" in at.headline
    assert "shown" not in at.link


def test_numbers_are_those_of_table_3_and_several_metrics_and_cutoffs_share_the_page():
    at = page(metrics=["Recall@k", "NDCG@k"], answers="Numbers", shown="Recall@10")
    shown, y = at.table[0].value, sd.example("movielens-xyz")[1]
    row = shown[(shown["Metric"] == "Recall@10") & (shown["System"] == "Y")].iloc[0]
    # Table 3, Recall, Y: exact 8.84, sampled 56.51 +- 0.22.
    assert row["Exact"] == "8.84 %" == percent(sd.mean("Recall@10", y))
    mean, std = (f("Recall@10", y, 100, **HOW) for f in (sd.expected_mean, sd.std_of_mean))
    assert row["Sampled, m = 100"] == f"{100 * mean:.2f} ± {100 * std:.2f} %"
    assert abs(100 * mean - 56.51) < 3 * 0.22 / 10  # 100 repetitions
    assert len(shown) <= 8
    at = page(metrics=["Recall@k", "AUC"], also_k=["1", "50"])
    titles = at.segmented_control(key="shown").options
    assert titles == ["Recall@1", "Recall@10", "Recall@50", "AUC"]
    for metric, right_from in (("AUC", "1"), ("Recall@1", "1,877")):
        at.pick("shown", metric)
        # Table 4: AUC is right at every m. Flips of Recall@1: 111, 50, and 15 and 1877.
        assert at.numbers["All right from m"] == right_from
        assert f"With 100 negatives {metric} ranks" in at.headline
        assert f"Right from m = {right_from}." in at.headline


@pytest.mark.parametrize(("choice", "gamma"), [("rank estimate", None), ("CLS", None), ("BV", 0.1)])
def test_corrections_give_the_chances_of_table_4(choice, gamma):
    at = page(metrics=["Recall@k"], correction=choice)
    name = choice if gamma is None else f"BV {gamma:g}"
    assert f"(BV {gamma})" in at.headline or f"({name})" in at.headline
    assert any(field.key == "gamma" for field in at.number_input) == (gamma is not None)
    shown, sets = at.table[0].value.set_index("Pair")["Recall@10"], sd.example("movielens-xyz")
    core = sd.probability_of_order("Recall@10", sets, 100, correction=name, **HOW)
    for pair, cell in (("X, Y", "XY"), ("X, Z", "XZ"), ("Y, Z", "YZ")):
        row = core[(core["better"] + core["worse"]).isin([cell, cell[::-1]])].iloc[0]
        assert shown[pair] == percent(row["probability"])
        # 100 runs of the paper; X is a rerun, and the paper fits to sampling with replacement.
        of = "metric == 'Recall@10' and row == @cell and column == @name"
        (printed,) = cells(4).query(of)["printed"]
        chance = float(row["probability"])
        within = 15 if cell == "XY" else max(3, 300 * (chance * (1 - chance) / 100) ** 0.5 + 1)
        assert abs(100 * chance - printed) <= within
    assert ("40 values of m up to 1,000" in at.captions) == (choice != "rank estimate")
    if choice == "BV":
        assert "(BV 0.1) rightly ranks Z > Y > X; one run shows" in at.headline
        assert percent(core["probability"].min()) in at.headline
    if choice == "CLS":  # beyond its largest m it is refused
        assert "m = 2,500" in at.put("m", 2_500).complaint
        assert "CLS" in at.complaint


# Recall of u: 1/2 and 1/1; by hand: instances (1/2 + 1)/2, relevant items (1 + 1)/3.
SEVERAL = b"system,user,rank,n\nA,u,1,900\nA,u,90,900\nA,v,2,900\n"
SEVERAL += b"B,u,100,900\nB,u,90,900\nB,v,200,900\n"


def test_ties_and_weights_are_offered_and_sampling_weights_read_where_there_is_a_choice():
    def offered(at):
        return {c.key for c in at.segmented_control} & {"ties", "weighting"}

    assert offered(page(metrics=["AUC"])) == set()
    at = page(source="MovieLens 1M with ties", metrics=["AUC"], answers="Numbers")
    assert offered(at) == {"ties"}
    # Z, exact AUC in %: expected over ties 74.80, optimistic 94.44, pessimistic 55.16.
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
    at.selectbox(key="scheme").set_value("popularity").run()
    assert "mass_above" not in at.captions
    drawn = [100 * sd.expected_mean("AUC", each, 5, scheme="popularity") for each in sets]
    assert sampled(at) == pytest.approx(drawn, abs=0.005)


def test_wrong_files_get_one_sentence_and_too_many_negatives_a_click():
    at = page()
    before, charts = at.numbers, len(at.pictures)
    others = b"system,user,rank,n\nA,u1,3,9\nA,u2,3,9\nB,u2,1,9\nB,u3,1,9\n"
    at.upload("own.csv", others)
    assert all(fact in at.complaint for fact in ("own.csv", "u1", "u3", "share"))
    assert (len(at.error), at.headline) == (1, "")
    # The answer of before is still there, dimmed.
    assert len(at.pictures) >= charts - 1
    assert at.last_headline.startswith("With 100 negatives Recall@10 ranks X > Y > Z")
    assert at.pick("source", "MovieLens 1M: X, Y, Z").numbers == before
    at = page(source=ABC, m="20000").click("Take m = 9,999")
    # All negatives of 10,000 items: the sampled metric is the exact one.
    assert at.session_state["m"] == 9999
    assert not at.error
    assert "as it does on all items" in at.headline


def test_what_m_and_k_leave_out_is_said_and_why_a_corrected_mean_leaves_0_to_100_percent():
    at, sets = page(metrics=["Recall@k"], m="10000", k="10"), sd.example("movielens-xyz")
    assert max(int(ranks.n.max()) for ranks in sets) == 3687
    assert "With all negatives Recall@10 ranks Z > Y > X, as it does on all items." in at.headline
    assert "6,040 of 6,040 instances have fewer than 10,000 negatives" in at.captions
    at.put("k", 3_500).put("m", 3_600)
    some = int(np.sum(sets[0].n <= 3_500))
    assert f"{some:,} of 6,040 instances have no candidate beyond k = 3,500." in at.captions
    # With one n for all it is said how many there are.
    assert "With all 9,999 negatives AP" in page(source=ABC, m="9999", metrics=["AP"]).headline
    # Always first of 1,000: BV of Recall@100 at m = 20 is 1.1, for entries overshoot.
    rows = "".join(f"A,{u},1,1000\nB,{u},900,1000\n" for u in range(20))
    at = page(metrics=["Recall@k"], answers="Numbers", correction="BV", k="100", m="20")
    at.upload("first.csv", f"system,user,rank,n\n{rows}".encode())
    first = sd.RankSet("A", [1] * 20, 1000)
    assert sd.expected_mean("Recall@100", first, 20, correction="BV 0.1", **HOW) > 1
    (told,) = (c.value.replace("\\", "") for c in at.caption if "as no metric is" in c.value)
    assert told.startswith("Recall@100 of A by BV 0.1 is outside 0 to 100 %")


def test_n_of_a_file_is_asked_for_and_two_values_are_told_as_names_are_plain_text():
    at = page()
    assert at.text_input(key="n_locked").value == "1,393 to 3,687, from the data"
    at.upload("bare.csv", b"system,rank\nA,3\nA,9\nB,1\nB,40\n")
    assert "bare.csv does not say" in at.info[0].value.replace("\\", "")
    assert at.text_input(key="n_locked").value == "not known yet"
    assert at.give_n(900).text_input(key="n_locked").value == "900, from the data"
    at = page().upload("names.csv", b"system,rank,n\n<b>x</b>,1,900\n=1+1,2,900\n")
    assert "\\<b\\>x\\</b\\>" in at.headline
    data = b"system,user,rank,n\nA,u1,3,900\nB,u1,3,1000\nA,u2,1,900\nB,u2,9,900\n"
    at.upload("differs.csv", data)
    assert "instance u1 has n = 900 and 1,000" in at.captions


def test_many_systems_of_a_wide_parquet_file_show_the_worst_pairs_whole():
    # Seven systems: 21 pairs, of which the map shows 10, each with a tile for each metric.
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


def test_a_pinned_setting_stays_and_a_marked_pair_travels():
    at = page(metrics=["Recall@k"], curve="Values").press("pin").put("m", 1_000)
    pinned = {x.label: x.delta for x in at.metric}
    # Section 6.2: at m = 100 all three pairs are in the wrong order.
    assert pinned["Pairs in true order"] == "0 of 3"
    assert at.numbers["Pairs in true order"] == "3 of 3"
    assert "as pinned, uncorrected, m = 100, k = 10." in at.captions
    assert not any(x.delta for x in at.press("pin").metric)
    at = page(metrics=["Recall@k"])
    assert "pair" not in at.link
    box = next(b for b in at.selectbox if b.label == "Marked pair")
    assert box.options[box.index] != "Y, Z"
    box.select_index(box.options.index("Y, Z"))
    assert at.run().link["pair"] == ["Y, Z"]
