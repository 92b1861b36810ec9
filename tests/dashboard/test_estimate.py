"""The Correct page, for sampled ranks and printed tables, shows the results of the library."""

import io
import re
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.analyses.estimate.printed import TableQuestion, bounds, compute_table, read_tables
from sampledash.analyses.estimate.result import Question, compute
from sampledash.estimation.bounds import bounds_from_table, side
from sampledash.estimation.estimate import interval
from sampledash.estimation.table_estimates import foretell
from sampledash.report.numbers import percent
from sampledash.report.tables import as_csv
from sampledash.sampled_rank_sets import READINGS
from tests.dashboard.driver import Page, array
from tests.estimation.cases import adaptive

# Exact Recall@10 (Table 3 of Krichene & Rendle 2020); X is a rerun (the paper prints 7.60).
EXACT = {"X": "7.58 %", "Y": "8.84 %", "Z": "9.42 %"}

XYZ = sd.example("movielens-xyz")

page = partial(Page, "correct")
ranks_page = partial(page, what="Sampled ranks")
table_page = partial(page, what="A printed table")


@cache
def drawn(m=100):
    rng, how = np.random.default_rng(1), {"fit_scheme": "without-replacement"}
    return [sd.sample_ranks(ranks, m, rng, **how) for ranks in XYZ]


def pasted(text, **query):
    return ranks_page(sampled_source="Paste sampled ranks", **query).write("sampled_typed", text)


def table_of(text, **query):
    return table_page(**query).write("printed", text)


def estimates_of(at):
    table = at.table[0].value
    return table.set_index(table.columns[0])


def estimated(method, metric, ranks, n, m):
    """Return the library's estimate for ranks sampled without replacement, as the page has it."""
    drawn = sd.SampledRankSet("A", ranks, n, m, scheme="without-replacement")
    return percent(sd.estimate(metric, drawn, method).value)


def systems(at):
    return at.specs[0]["layout"]["yaxis"]["ticktext"], at.dimmed


def refused(at, facts):
    for fact in facts.split("|"):
        assert fact in at.complaint
    assert (len(at.error), len(at.pictures)) == (1, 1)


def test_one_run_shows_the_estimates_of_the_core_beside_the_exact_values():
    at = ranks_page()
    shown, sets = estimates_of(at), drawn()
    for one in sets:
        for name, method in (("MLE", "mle"), ("BV", "BV 0.1"), ("MN", "mn")):
            value = sd.estimate("Recall@10", one, method).value
            assert shown.loc[name, one.system] == percent(value)
        assert shown.loc["**on all items**", one.system] == EXACT[one.system]
    # Without an assumption, 100 negatives cannot show which items are among the first 10 of 3,541.
    assert at.numbers["Pairs decided"] == "0 of 3"
    assert "These samples cannot tell which system has the highest Recall@10" in at.headline
    widest = max(np.subtract(*interval("Recall@10", one)[::-1]) for one in sets)
    assert at.numbers["Left open"] == f"{100 * widest:.2f} points"
    # The picture of true ranks shows the estimated and the exact distribution.
    specs = ranks_page(estimate_tab="True ranks").specs
    lines = {line["name"]: line for line in specs[1]["data"]}
    for one, ranks in zip(sets, XYZ, strict=True):
        estimated, exact = lines[one.system], lines[f"{one.system}, on all items"]
        at_ten = array(estimated["x"]).tolist().index(10)
        # With one relevant item per instance, the share of ranks up to 10 is Recall@10.
        value = sd.estimate("Recall@10", one, "monotone-mle").value
        assert array(estimated["y"])[at_ten] == pytest.approx(100 * value, rel=1e-9)
        assert array(exact["y"])[at_ten] == pytest.approx(100 * np.mean(ranks.ranks <= 10))
        assert percent(np.mean(ranks.ranks <= 10)) == EXACT[one.system]


def test_auc_is_decided_by_any_sample_and_what_else_costs_is_told():
    # Table 3 of the paper: AUC is 89.13, 85.33 and 74.73. Such differences survive sampling.
    at = ranks_page(metric="AUC", estimates_view="Pairs")
    assert at.numbers["Pairs decided"] == "3 of 3"
    assert "AUC orders X > Y > Z, whatever the ranks behind these samples were." in at.headline
    first = at.table[0].value.iloc[0]
    assert (first["Pair"], first["So"]) == ("X − Y", "X is better")
    at = ranks_page(estimate_tab="Which γ")
    assert "is off by least" in at.said
    assert "γ = 1/|D| = 0.00017" in at.said  # 1/6040
    at = page(what="Sampled ranks").press("price")
    table = at.table[-1].value.set_index("System")
    for ranks in XYZ:
        row = table.loc[ranks.system].str.replace(",", "")
        these, more = row["Scores, these instances"], row["Scores, more like them"]
        (low, high), wide = (list(map(float, cell.split(" to "))) for cell in (these, more))
        assert low < sd.mean_stopping_cost("Recall@10", ranks).mean < high
        assert wide[0] < low < high < wide[1]
        assert row["All candidates, on average"] == "3540"
    assert "the exact Recall@10 of X takes" in at.said


def test_a_file_and_a_printed_table_say_n_and_m_themselves():
    columns = {"sampled_rank": "sampled_ranks", "n_candidates": "n", "m": "m", "system": "system"}
    tables = (pd.DataFrame({x: getattr(one, y) for x, y in columns.items()}) for one in drawn(m=50))
    table = pd.concat(tables)
    at = ranks_page().upload("own.csv", table.to_csv(index=False).encode())
    assert "3,541" in at.slider("n")["locked"]
    assert at.slider("m")["locked"] == "50, from the data"
    (x, *_) = drawn(m=50)
    assert estimates_of(at).loc["MLE", "X"] == percent(sd.estimate("Recall@10", x, "mle").value)
    table = "SASRec & 0.3160 & 0.5120 \\\\\nGRU & 0.2980 & 0.4870 \\\\\nImprov. & 6.0% & 5.1% \\\\"
    at = table_of(f"m = 99, n = 1000\nModel & H@5 & H@10 \\\\\n{table}")
    assert at.slider("n")["locked"] == "1,000, from the table"
    assert at.slider("m")["locked"] == "99, from the table"
    assert "99 of 999 negatives drawn" in at.captions
    assert "Left out, no system: Improv." in at.captions
    how = {"scheme": "without-replacement", "decimals": 4}
    low, high = bounds_from_table("Recall@10", {"HR@5": 0.316, "HR@10": 0.512}, 1000, 99, **how)
    shown = estimates_of(at)
    assert shown.loc["SASRec", "No assumption"] == f"{percent(low)} to {percent(high)}"
    assert {*shown.index} == {"SASRec", "GRU", "SASRec − GRU"}


def test_n_is_asked_for_where_sampled_ranks_do_not_say_it_and_a_zero_among_them():
    x = drawn()[0]
    rows = "".join(f"X,{t}\n" for t in x.sampled_ranks)
    at = ranks_page(n="500").upload("bare.csv", f"system,sampled_rank\n{rows}".encode())
    # n from another page or from the address must not be used for these data.
    assert "bare.csv does not say n, the number of candidates" in at.notes
    assert at.headline == ""
    assert not at.table
    assert at.slider("n")["locked"] == "not known yet"
    at.give_n(3541)
    assert at.slider("n")["locked"] == "3,541, as given"
    ours = sd.SampledRankSet("X", x.sampled_ranks, 3541, 100, scheme="without-replacement")
    value = sd.estimate("Recall@10", ours, "monotone-mle").value
    assert estimates_of(at).loc["shape-constrained MLE", "X"] == percent(value)
    # Table 3 of the paper: Recall@10 of X is 7.60. Sampling and one n for all users add errors.
    assert abs(100 * value - 7.60) < 2
    at = pasted("n = 3541\nX: 1, 1, 7")
    assert at.slider("n")["locked"] == "3,541, from the data"
    assert not at.info
    rows = "\n".join(f"A,{t}\nB,{t + 2}" for t in (0, 3, 5, 1))
    at = ranks_page().upload("zero.csv", f"system,sampled_rank\n{rows}\n".encode())
    assert "count from 0" in at.give_n(10_000).complaint
    assert not at.click("The ranks count from 0: add 1").error
    ours = estimates_of(at).loc["MLE", "A"]
    assert ours == estimated("mle", "Recall@10", [1, 4, 6, 2], 10_000, 100)


def test_scores_by_each_reading_of_ties():
    rng, file = np.random.default_rng(2), io.BytesIO()
    pos, neg = rng.integers(3, 9, 300), rng.integers(0, 9, (300, 50))
    np.savez(file, pos=pos, neg=neg)
    for read, rule in (("Expected", "expected"), ("Mean rank", "mean-rank")):
        at = ranks_page(tied_scores=read).upload("scores.npz", file.getvalue()).give_n(2_000)
        ours = sd.from_scores(pos, neg, 2_000, ties=rule)
        for label, method in (("uncorrected", "uncorrected"), ("MLE", "mle")):
            value = sd.estimate("Recall@10", ours, method).value
            assert estimates_of(at).loc[label, "scores"] == percent(value)
    np.savez(shared := io.BytesIO(), pos=pos, neg=neg[0])
    at = ranks_page().upload("one.npz", shared.getvalue()).give_n(2_000)
    assert "All 300 sampled ranks of one are of one list of negatives" in at.captions


HEAD = "system,sampled_rank"
WRONG = {
    f"{HEAD},n\nX,3,9000\nX,2500,9000": "own.csv|line 3|2,500|m + 1 = 101|true ranks|Consistency",
    f"{HEAD},n,m\nA,5,50000,20000": "m = 20,000 is more than this page estimates from: take m <=",
}


def test_what_is_wrong_gets_one_sentence_and_keeps_the_picture_of_its_mode():
    at = ranks_page()
    for data, facts in WRONG.items():
        refused(at.upload("own.csv", f"{data}\n".encode()), facts)
    assert "the last answer that could be shown, about earlier data." in at.captions
    # Files for the Consistency page are refused with a hint to that page.
    files = [("a.run", b"q1 Q0 d1 1 0.9 tag\n", ""), ("a.qrels", b"q1 0 d1 1\n", "")]
    at.file_uploader[0].set_value(files)
    refused(at.run(), "a.run is a TREC run|Consistency page")
    at = table_of("system, AUC\nP, 0.9\nQ, 0.7", metric="AUC", n="500")
    at.pick("what", "Sampled ranks")
    assert systems(at) == (["X", "Y", "Z"], False)
    estimates = at.table[0].value
    assert systems(at.put("m", 0)) == (["X", "Y", "Z"], True)
    assert at.table[0].value.equals(estimates)
    at.pick("what", "A printed table")
    assert "m must be at least 1" in at.complaint
    assert systems(at) == (["P", "Q"], True)


def test_what_contradicts_the_assumption_or_is_unlike_is_not_estimated_side_by_side():
    # That all sampled ranks are >= 60 contradicts that no rank is more frequent than a better one.
    data = b"system,sampled_rank,count\nX,60,900\nX,70,900\nY,62,900\nY,75,900\n"
    at = ranks_page().upload("late.csv", data).give_n(10_000)
    assert at.numbers["If ranks fall off"] == "contradicted"
    assert "contradict what side by side assumes: shown is the MLE." in at.captions
    assert "Estimated (MLE)" in at.headline
    assert "contradict that ranks fall off" in at.captions
    # The side-by-side estimate of A would leave the range that the samples of A allow.
    evenly = "".join(f"B,{t},300\n" for t in range(1, 102))
    data = f"system,sampled_rank,count\nA,1,5000\nA,2,1\n{evenly}"
    at = ranks_page().upload("unlike.csv", data.encode()).give_n(10_000)
    assert "a system would lie outside its range: shown is the MLE." in at.captions
    shown = estimates_of(at)
    # The dots belong to the method that the text names, not to the requested method.
    dots = [trace["x"][0] for trace in at.specs[0]["data"] if trace["name"] == "estimate"]
    wanted = [float(shown.loc["MLE", name].strip("> %")) for name in "AB"]  # may be "> 99.99 %"
    assert dots == pytest.approx(wanted, abs=0.011)


def test_the_printed_table_of_x_y_z_cannot_tell_and_impossible_ones_are_told_by_their_value():
    at = table_page(scheme="with replacement")
    assert "This table cannot tell which system has the highest Recall@10" in at.headline
    shown, how = estimates_of(at), {"scheme": "without-replacement"}
    # The ranges, in percent, are known to 0.3 points for a model with replacement, n = 3,541.
    known = {"X": (0, 18.3, 6.4, 9.8), "Y": (0, None, 7.3, 11.6), "Z": (0, None, 7.6, 12.1)}
    for ranks in XYZ:
        names = {"HR@1": "Recall@1", "HR@5": "Recall@5", "HR@10": "Recall@10", "NDCG@10": "NDCG@10"}
        printed = {x: round(sd.expected_mean(y, ranks, 100, **how), 4) for x, y in names.items()}
        found = []
        for column, shape in (("No assumption", None), ("If ranks fall off", "non-increasing")):
            model = {"shape": shape, "scheme": "with-replacement"}
            low, high = bounds_from_table("Recall@10", printed, 3541, 100, 4, **model)
            assert shown.loc[ranks.system, column] == f"{percent(low)} to {percent(high)}"
            found += [100 * low, 100 * high]
        for value, true in zip(found, known[ranks.system], strict=True):
            assert true is None or abs(value - true) <= 0.3
    refused(at.write("printed", "system, HR@5, HR@10\nA, 0.50, 0.30"), "HR@")
    assert "where the sliders stand" not in captions_of(at)  # the dimmed answer is the example's
    captions = captions_of(at.write("printed", "system, HR@10\nA, -\nB, 0.5"))
    assert re.search(r"Left out, no value.*: A\.", captions)
    assert "say n and m: n = 10,000 and m = 100 are only where the sliders stand." in captions
    captions = captions_of(at.write("printed", "m = 99\nsystem, HR@10\nB, 0.5"))
    assert "say n: n = 10,000 is only where the slider stands." in captions


def captions_of(at):
    return "\n".join(caption.value for caption in at.caption)


def test_what_a_sample_can_see_says_what_is_half_kept():
    at = page(sheet="What a sample can see", n="10000", m="100", gamma="0.1")
    told = next(m.value for m in at.markdown if "at least half kept" in m.value)
    degree = int(re.search(r"degree (\d+)", told).group(1))
    kept = sd.retained(sd.Sampling(10_000, 100, "without-replacement"), 0.1)
    assert kept[degree] >= 0.5 > kept[degree + 1]
    # Li et al., KDD 2020: sampled cutoff 10 is like cutoff floor(9 · 9999 / 100) + 1 on all items.
    assert "behaves like Recall@900" in at.said


def test_a_printed_table_scatters_and_its_bounds_are_taken_away():
    at = table_of("Model & AUC \\\\\nA & 90.1 \\\\\nB & 88.2 \\\\", metric="AUC")
    assert "Read in percent: AUC." in at.captions
    assert "A has the highest AUC, whatever the ranks were." in at.headline
    assert estimates_of(at).loc["A", "No assumption"] == "90.05 % to 90.15 %"
    # For 100 users, the printed AUC is accurate to 6 points only, so the order is open.
    assert "This table cannot tell" in at.put("table_instances", 100).headline
    (table,) = read_tables("system, HR@1, AUC\nA, 0.4, 0.8\nB, 0.1, 0.6")
    sampling = sd.Sampling(500, 99, "with-replacement")
    question = TableQuestion(table, sd.parse_metric("Recall@10"), sampling, 300)
    taken = pd.read_csv(io.StringIO(as_csv(bounds(compute_table(question, lambda share: None)))))
    known = {"n": 500, "m": 99, "scheme": "with-replacement", "instances": 300}
    assert (taken[[*known]] == [*known.values()]).all(axis=None)
    first = taken[taken["minus"].isna() & (taken["system"] == "A")].set_index("shape")
    for shape, name in ((None, "any"), ("non-increasing", "non-increasing")):
        given = {"metric": "Recall@10", "observed": {"HR@1": 0.4, "AUC": 0.8}, "decimals": 1}
        ends = bounds_from_table(shape=shape, **given, **known)
        assert first.loc[name, ["low", "high"]].tolist() == pytest.approx(ends)


def test_what_was_read_is_said_and_nothing_estimated_where_everything_was_drawn():
    # A column that is neither system nor rank is read as a system, and the page says so.
    at = ranks_page().upload("odd.csv", b"user,bar\nA,1\nB,2\nC,7\n").give_n(10_000)
    assert "Read: 3 sampled ranks of 1 system, bar." in at.captions
    assert set(at.numbers) == {"Left open", "Sampled ranks"}
    assert "Recall@10 of bar lies between" in at.headline
    assert "side by side" not in set(at.table[0].value["Estimator"])
    assert "Estimated (shape-constrained MLE)" in at.headline
    # n = 20 and m = 19: sampled ranks are true ranks, of which 3 in 4 are at most 10.
    data = "system,sampled_rank,n_candidates,m\n" + "A,5,20,19\nA,2,20,19\nA,9,20,19\nA,12,20,19\n"
    at = ranks_page().upload("all.csv", data.encode())
    assert "Recall@10 of A is 75.00 %" in at.headline
    assert "Estimated (MLE): 75.00 %" in at.headline
    assert at.numbers["Left open"] == "0.00 points"
    at = pasted("m = 2, n = 3\nA: 2", estimate_tab="Which γ", k="25")
    assert "is off by least, 0.00 %" in at.said


def test_which_systems_are_shown_is_a_choice_and_other_candidates_are_told():
    rows = "".join(f"S{i:02d},{r}\n" for i in range(12) for r in (1, 2 + i, 9))
    at = pasted(f"m = 20, n = 40\nsystem,sampled_rank\n{rows}", metric="AUC")
    choice = at.multiselect[0]
    assert choice.label == "Systems shown, up to 8 of 12"
    assert systems(at)[0] == [f"S{i:02d}" for i in range(8)]
    assert at.numbers["Pairs decided"].endswith(" of 28")
    choice.set_value([11, 2]).run()
    assert systems(at)[0] == ["S02", "S11"]
    assert estimates_of(at).loc["MLE", "S11"] == estimated("mle", "AUC", [1, 13, 9], 40, 20)
    at.multiselect[0].set_value([]).run()
    assert "Choose at least one system" in at.info[0].value
    rows = "A,1,300,20\nA,5,300,20\nB,2,900,9\nB,4,900,9"
    at = pasted(f"system,sampled_rank,n,m\n{rows}", metric="AUC")
    for differs in ("n differs, from 300 (A) to 900 (B)", "m differs, from 9 (B) to 20 (A)"):
        assert differs in at.captions
    assert "Side by side takes systems with the same candidates, but n differs" in at.captions
    assert "differs" not in pasted("m = 20, n = 300\nA: 1, 5; B: 2, 4", metric="AUC").captions


def by_the_draw(column="", every=8):
    """Return a file of samples; m doubles from 20 up to 320 until a negative is above the item."""
    rng, rows = np.random.default_rng(7), []
    for one in XYZ:
        ranks, n = one.ranks[::every], one.n[::every]
        m, above = adaptive((ranks - 1) / (n - 1), rng, 20, 320, 1)
        rows += [f"{one.system},{a + 1},3541,{b}{column}" for a, b in zip(above, m, strict=True)]
    head = "system,sampled_rank,n_candidates,m" + (",adaptive" if column else "")
    return "\n".join([head, *rows]).encode()


def test_m_that_goes_with_the_rank_is_asked_about_unless_the_file_says_why():
    at = ranks_page().upload("adaptive.csv", by_the_draw())
    (told,) = (note.value for note in at.info)
    assert "Items of X, Y and Z with more negatives stand unlike those with fewer" in told
    shown = estimates_of(at)
    every = sd.read_sampled_ranks(io.BytesIO(by_the_draw()), scheme="without-replacement")
    found = sd.estimate("Recall@10", every[0], "mle")
    for value, why in zip(found.readings, READINGS, strict=True):
        assert shown.loc[f"MLE, if {why}", "X"] == percent(value)
        assert f"{percent(value)} if {why}" in str(found)
    assert {name.split(", if ")[0] for name in shown.index} == {"shape-constrained MLE", "MLE"}
    assert at.numbers["If ranks fall off"] == "not offered"
    assert "falling" not in {trace["name"] for trace in at.specs[0]["data"]}
    dots = [trace["x"] for trace in at.specs[0]["data"] if trace["name"] == "estimate"]
    assert len(dots) == 2 * len(every)
    at.selectbox(key="estimator").set_value("MN").run()
    assert "What was drawn decided m, or may have, where MN is not valid" in at.captions
    assert not at.pick("m_set", "The draw decided m").info
    assert list(estimates_of(at).index) == ["side by side", "shape-constrained MLE", "MLE"]
    assert estimates_of(at).loc["MLE", "X"] == percent(found.readings[1])
    assert not at.pick("m_set", "m was set beforehand").info
    assert {"MES", "BV", "MN"} <= set(at.table[0].value["Estimator"])
    assert estimates_of(at).loc["MLE", "X"] == percent(found.readings[0])
    at = ranks_page().upload("not.csv", by_the_draw(",no", 80))
    assert not at.info
    assert "BV" in set(at.table[0].value["Estimator"])
    at = ranks_page(estimate_tab="Which γ").upload("said.csv", by_the_draw(",yes", 80))
    assert "The data say that what was drawn decided m (X, Y and Z)" in at.notes
    assert "no vector corrects the metric" in at.notes


def test_an_estimate_outside_0_to_100_percent_has_its_reason_and_long_ranks_no_link():
    rows = "".join(f"A,{t},{c}\n" for t, c in ((3, 20), (4, 20), (2, 9), (1, 4), (6, 8)))
    text = f"m = 20, n = 1000\nsystem,sampled_rank,count\n{rows}"
    at = pasted(text, estimator="BV")
    data, how = io.BytesIO(text.partition("\n")[2].encode()), {"scheme": "without-replacement"}
    (a,) = sd.read_sampled_ranks(data, n=1000, m=20, **how)
    found = sd.estimate("Recall@10", a, "BV 0.1")
    assert found.value < 0
    told = [x for x in at.captions.splitlines() if "outside 0 to 100 %, as no metric is" in x]
    assert len(told) == 2  # the captions under the headline and under the table of all estimators
    assert told[0].startswith("A by BV is")
    at = pasted("m = 20, n = 300\nA: 1, 5, 1; B: 2, 4, 9", metric="AUC")
    assert "sampled" in at.query_params
    # Sampled AUC is the mean share of the 20 negatives below the item: for A (20 + 16 + 20) / 60.
    assert estimates_of(at)["A"]["uncorrected"] == f"{100 * 56 / 60:.2f} %"
    at.write("sampled_typed", "m = 400, n = 3000\nA: " + ", ".join(map(str, range(1, 400))))
    assert "sampled" not in at.query_params
    assert "1,000 characters travel in a link" in at.captions


def test_a_test_corpus_is_a_sample_of_a_larger_corpus():
    # VSRN on MS-COCO is printed with R@1, 5, 10 of 62.8, 89.7, 95.1 % on 1,000 images, and with
    # R@10 of 81.1 % on all 5,000 (Li et al. 2019, text to image, ensemble).
    corpus = {"candidates": "A sample of a larger corpus"}
    at = table_of("m = 999, n = 5000\nModel R@1 R@5 R@10\nVSRN 62.8 89.7 95.1", **corpus)
    low, high = estimates_of(at).loc["VSRN", "If ranks fall off"].replace("%", "").split(" to ")
    assert float(low) < 81.1 < float(high)
    known = {"R@1": 0.628, "R@5": 0.897, "R@10": 0.951}
    ends = bounds_from_table("Recall@10", known, 5000, 999, 3, shape="non-increasing")
    assert f"{low}to {high}" == "to ".join(f"{100 * end:.2f} " for end in ends)
    assert (
        "a test corpus of 1,000 candidates, drawn uniformly from a corpus of 5,000" in at.captions
    )
    # Ranks among the candidates of a test, from a file that says how many there were.
    ranks = np.random.default_rng(3).geometric(0.05, 400)
    rows = "".join(f"A,{rank},1000\n" for rank in ranks)
    at = ranks_page(n="1000000", **corpus).upload("a.csv", f"system,rank,n\n{rows}".encode())
    assert at.slider("m")["locked"] == "999, from the data"
    sample = sd.as_sample(sd.RankSet("A", ranks, n=1000), 10**6)
    assert estimates_of(at).loc["MLE", "A"] == percent(
        sd.estimate("Recall@10", sample, "mle").value
    )
    refused(at.put("n", 500), "n = 500 is smaller than the 1,000 candidates|whole corpus")
    sampled = b"system,sampled_rank,n_candidates\nA,1,1000\n"
    assert "name the ranks rank" in at.upload("b.csv", sampled).complaint
    # A corpus as large as the test: the ranks are exact, and the picture has room around the value.
    at = ranks_page(n="1000", **corpus).upload("a.csv", f"system,rank,n\n{rows}".encode())
    exact = percent(np.mean(ranks <= 10))
    assert f"Recall@10 of A is {exact}" in at.headline
    low, high = at.specs[0]["layout"]["xaxis"]["range"]
    assert low < 100 * np.mean(ranks <= 10) < high


def test_several_tables_a_review_and_what_would_decide_them():
    first = "# A\nModel HR@1 HR@10\nx 0.30 0.60\ny 0.28 0.57"
    text = f"m = 99, n = 900\n{first}\n# B\nModel AUC\nx 0.90\ny 0.80"
    at = table_of(text, table="B", metric="AUC", table_tab="For a review")
    assert "x has the highest AUC, whatever the ranks were." in at.headline
    # A table of one printed AUC each is decided; HR@1 and HR@10 leave AUC open.
    of = at.table[0].value.set_index("Table")
    assert of.loc["A", "Pairs decided"] == "0 of 1"
    assert of.loc["B", "Pairs decided"] == "1 of 1"
    (review,) = [x for x in at.codes if "The paper reports" in x]
    assert "HR@1 and HR@10 of the relevant item among 99 sampled negatives" in review
    assert "for 1 of 2 pairs of systems in 2 tables" in review
    assert "which is better of x and y (A)." in review
    refused(at.write("printed", text.replace("# B", "# A")), "Two tables have the same title")
    # On all candidates the table prints the metric itself, so it decides the pair.
    at = table_of(
        "m = 9, n = 30\nModel HR@5\nx 0.60\ny 0.50", k="5", table_tab="What would decide it"
    )
    table = at.press("decide").table[-1].value.set_index("If the table printed")
    assert table.loc["The same on all 30 candidates", "Pairs decided"] == "1 of 1"
    assert table.loc["The same with 1 more decimal", "Pairs decided"] == "0 of 1"
    # The range of a larger table is that of the numbers which it is foretold to print.
    row = {"HR@5": 0.6}
    small, large = (sd.Sampling(30, m) for m in (9, 20))
    value = round(foretell(row, small, ["HR@5"], large)["HR@5"], 2)
    low, _ = bounds_from_table("Recall@5", {"HR@5": value}, 30, 20, 2)
    other = round(foretell({"HR@5": 0.5}, small, ["HR@5"], large)["HR@5"], 2)
    _, high = bounds_from_table("Recall@5", {"HR@5": other}, 30, 20, 2)
    assert table.loc["The same with m = 20", "Pairs decided"] == f"{int(low > high)} of 1"


@pytest.mark.parametrize("method", ["uncorrected", "MLE"])
def test_a_decided_order_is_that_of_the_ranges_and_not_of_uncorrected_values(method):
    rng = np.random.default_rng(2)
    ranks = {"A": rng.integers(150, 251, 2_000), "B": np.repeat([1, 950], 1_000)}
    sets = [sd.sample_ranks(sd.RankSet(x, some, 1_000), 100, rng) for x, some in ranks.items()]
    metric = sd.parse_metric("Recall@50")
    # On all items Recall@50 of A is 0 and of B .5; on 100 negatives it is 1 and .5.
    result = compute(Question(tuple(sets), metric, method, 1e-3), lambda _: None)
    assert result.word == "decided"
    assert "orders B > A, whatever" in result.sentence
    wrong = "The estimated order (uncorrected), A > B, is wrong."
    assert result.sentence.endswith(wrong) == (method == "uncorrected")


def test_ranges_that_touch_at_0_do_not_decide_and_ranges_of_nothing_but_0_are_a_tie():
    spans = [(0.0, 0.1), (1e-13, 0.1), (-0.1, -2e-16), (1e-6, 0.1), (-0.1, -1e-6), (-1e-12, 1e-13)]
    assert [*map(side, spans)] == [None, None, None, 1, -1, 0]
    # The printed values .90 and .91 may both be .905, on all items too: sampled AUC is unbiased.
    for m, n, low in ((100, 3541, 0.90), (99, 1000, 0.90), (50, 10_000, 0.66)):
        text = f"system,AUC\nA,{low}\nC,{low + 0.01:.2f}\nm = {m}, n = {n}"
        (table,) = read_tables(text)
        metric, sampling = sd.parse_metric("AUC"), sd.Sampling(n, m)
        result = compute_table(TableQuestion(table, metric, sampling, 0), lambda _: None)
        assert result.word == "cannot tell", (m, n)


def test_samples_of_all_candidates_show_a_tie():
    typed = "m = 99, n = 100\nA: 1,2,3,5,100\nB: 11,20,3,50,100\nC: 1,2,3,5,100"
    at = ranks_page(sampled_source="Paste sampled ranks").write("sampled_typed", typed)
    assert "Recall@10 orders A = C > B, whatever the ranks" in at.headline
    assert at.numbers["Pairs decided"] == "3 of 3"


def test_a_distribution_that_contradicts_the_shape_is_learned_without_the_shape():
    rng = np.random.default_rng(3)
    ranks = {"A": rng.integers(1, 900, 3_000), "C": np.repeat([1, 1_500], [500, 2_500])}
    sets = [sd.sample_ranks(sd.RankSet(x, some, 5_000), 100, rng) for x, some in ranks.items()]
    q = Question(tuple(sets), sd.parse_metric("Recall@10"), "MLE", 1e-3)
    assert [*map(q.learned_by, sets)] == ["monotone-mle", "mle"]
    grid, shares = q.shares_below()
    # On all items 500 of 3,000 relevant items of C are among the first 1,000.
    at_1000 = np.interp(1_000, grid, shares["C"])
    assert abs(at_1000 - 1 / 6) < 0.01
