"""The Correct page shows the results of the library and of Krichene & Rendle."""

from functools import partial

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses.correct.result import Prior, stretched
from sampledash.grids import LIMIT
from sampledash.report.numbers import percent
from sampledash.report.tables import read_vector_json, vector_csv
from tests.dashboard.driver import Page, array

SAMPLING = sd.Sampling(10_000, 100, "without-replacement")
BV = sd.correction("BV", gamma=0.1)
page = partial(Page, "correct")


def lines(spec):
    return {t["name"]: (array(t["x"]), array(t["y"])) for t in spec["data"] if "name" in t}


def traces(at, title):
    """Return the lines of a picture; at a vertical step, only the lower end is kept."""
    titled = {spec["layout"]["title"].get("text"): spec for spec in at.specs}
    found = lines(titled[f"<b>{title}</b>"]).items()
    last = {name: np.diff(x, append=np.inf) > 0 for name, (x, _) in found}
    return {name: (x[last[name]], y[last[name]]) for name, (x, y) in found}


def by_axis(at):
    """Return the lines drawn over γ, m, n and |D|: {symbol: {name: (x, y in percent)}}."""
    titled = [(c["layout"].get("xaxis", {}).get("title", {}).get("text"), c) for c in at.specs]
    return {title.split(" (")[0]: lines(c) for title, c in titled if title}


def cuts(m, name, metric, before, bias2, variance):
    bias, scatter = percent(bias2**0.5), percent((variance / 6_040) ** 0.5)
    said = f"With {m} negatives, {name} cuts the average bias of {metric} from {percent(before)}"
    return f"{said} to {bias}; a mean over 6,040 scatters by {scatter}."


def test_first_screen_is_the_core():
    at, fit = page(), BV.fit("Recall@10", SAMPLING)
    before = sd.correction("uncorrected").fit("Recall@10", SAMPLING).risk()[0] ** 0.5
    bias2, variance = fit.risk()
    assert at.headline == cuts(100, "BV 0.1", "Recall@10", before, bias2, variance)
    labels = ["Average bias", "Scatter of one draw", "Scatter over 6,040", "Largest value"]
    values = bias2**0.5, variance**0.5, (variance / 6_040) ** 0.5, fit.values.max()
    assert at.numbers == dict(zip(labels, map(percent, values), strict=True))
    ranks, drawn = traces(at, "Expected Recall@10")["BV 0.1"]
    np.testing.assert_allclose(drawn, 100 * fit.expected(ranks), atol=1e-9)
    assert len(ranks) <= LIMIT
    assert {10, 11} <= set(ranks.tolist())
    picture = at.specs[0]
    drawn = {trace["name"]: trace for trace in picture["data"]}
    assert set(drawn) == {"exact", "uncorrected", "rank estimate", "CLS", "BV 0.1"}
    assert {a["text"] for a in picture["layout"]["annotations"]} == set(drawn)
    assert drawn["exact"]["line"]["dash"] == "6px,4px"
    assert [*drawn][-1] == "BV 0.1"  # the chosen correction is drawn on top


def test_other_choices_reach_the_numbers_and_gamma_zero_is_warned_about():
    at = page(scheme="popularity", odds="3", metric="NDCG@k", k="5", take="rank estimate")
    fit = sd.correction("rank-estimate").fit("NDCG@5", sd.Sampling(10_000, 100, "popularity", 3.0))
    assert at.numbers["Scatter of one draw"] == percent(fit.risk()[1] ** 0.5)
    at.select_slider(key="instances").set_value("100").run()
    assert at.numbers["Scatter over 100"] == percent((fit.risk()[1] / 100) ** 0.5)
    at.pills(key="drawn").set_value([]).run()
    assert set(traces(at, "Expected NDCG@5")) == {"exact", "rank estimate"}
    at, note = page(gamma="0", metric="AP"), sd.correction("BV", gamma=0).fit("AP", SAMPLING).note
    assert note.split(",")[0] in at.warning[0].value
    # The vector has entries above 1e5: even a mean over 6,040 instances scatters too widely.
    assert "BV 0 is useless for AP" in at.headline
    assert "more than the bias of 11.29 % it repairs" in at.headline


def test_own_weights_are_the_prior_of_the_core_in_sentence_picture_and_files(monkeypatch):
    typed = "rank,weight\n1,40\n2,25\n10,5\n30,2\n50,0.5"
    at = page(prior="own weights", n="50", m="5", metric="AP", take="CLS", weights=typed)
    weights = np.zeros(50)
    weights[[0, 1, 9, 29, 49]] = 40, 25, 5, 2, 0.5
    sampling = sd.Sampling(50, 5, "without-replacement")
    fit = sd.correction("CLS", prior=weights).fit("AP", sampling)
    bias2, variance = fit.risk()
    before = sd.correction("uncorrected").fit("AP", sampling).risk(weights)[0] ** 0.5
    assert at.headline == cuts(5, "CLS", "AP", before, bias2, variance)
    ranks, drawn = traces(at, "Vector for AP")["CLS"]
    assert ranks.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(drawn, 100 * fit.values, atol=1e-9)
    scope = {}
    exec(next(code for code in at.codes if code.startswith("values = [")), scope)
    assert [scope["corrected"](t) for t in ranks] == fit.values.tolist()
    taken = at.exports(monkeypatch)
    assert taken["Vector as CSV"] == vector_csv(fit)
    assert read_vector_json(taken["Vector as JSON"]).values.tolist() == fit.values.tolist()


def test_a_number_for_each_rank_in_the_field_and_in_the_link():
    at = page(prior="own weights", n="60", m="5")
    assert "Give the weights of the true ranks below" in at.info[0].value
    assert not at.pictures
    uniform = page(n="60", m="5").numbers
    assert at.write("weights", " ".join(["2.5"] * 60)).numbers == uniform
    assert at.write("weights", "1\n" * 60).numbers == uniform
    assert at.query_params["weights"] == "1\n" * 60
    assert at.write("weights", "1.00000000000000000000\n" * 60).numbers == uniform
    assert "weights" not in at.query_params  # a link carries up to 1,000 characters


def test_wrong_weights_get_one_sentence_and_the_last_good_picture():
    at = page(prior="own weights", n="50", m="5", metric="AP", weights="1 " * 50)
    for typed, sentence in (
        ("5,1\n7,-2", "Pasted text: prior of rank 7 is -2.0: weights are finite and not negative."),
        ("1,1\n2,1", "Prior gives sampled rank 3 no probability: put weight on ranks that can"),
    ):
        assert sentence in at.write("weights", typed).complaint
        assert (len(at.error), at.headline, at.dimmed) == (1, "", True)
        assert at.last_headline.startswith("With ")
        assert at.metric
        assert "exact" in lines(at.specs[0])


def test_weights_and_real_ranks_are_stretched_to_another_n():
    # Weights for n = 50 are stretched to n = 100: two ranks share each weight.
    own = 1 / np.arange(1, 51)
    assert Prior("own weights", own.tobytes()).weights(100) == pytest.approx(np.repeat(own / 2, 2))
    typed = {"prior": "own weights", "weights": " ".join(map(repr, own.tolist()))}
    at = page(n="50", m="5", metric="AP", sheet="What it costs", **typed)
    bias = {name: dict(zip(*xy, strict=True)) for name, xy in by_axis(at)["n"].items()}
    stretched_one = sd.correction("BV", gamma=0.1, prior=np.repeat(own, 2))
    fit = stretched_one.fit("AP", sd.Sampling(100, 5, "without-replacement"))
    assert bias["BV 0.1 bias"][100] == pytest.approx(100 * fit.risk()[0] ** 0.5)
    n = 700
    some = [sd.RankSet(x.system, x.ranks[:200], x.n[:200]) for x in sd.example("movielens-xyz")]
    true, ends = np.zeros(n), np.arange(n + 1) / n
    for one in some:
        for rank, size in zip(one.ranks, one.n, strict=True):
            true += np.diff(np.clip(ends * size - (rank - 1), 0, 1))
    assert stretched(some, n) == pytest.approx(true, abs=1e-8)


def test_what_it_costs_follows_section_5_5():
    axes = by_axis(page(sheet="What it costs", metric="AP"))
    gammas, bias = axes["γ"]["BV bias"]
    assert np.all(np.diff(bias) >= 0)  # bias grows with γ
    assert np.all(np.diff(axes["γ"]["BV scatter"][1]) <= 0)
    at_001 = sd.correction("BV", gamma=0.001).fit("AP", SAMPLING)
    here = np.flatnonzero(np.isclose(gammas, 0.001))[0]
    assert bias[here] == pytest.approx(100 * at_001.risk()[0] ** 0.5)
    # The paper: "Increasing the sample size m reduces the bias"; "increasing n has the opposite
    # effect" on the uncorrected metric. More instances reduce the standard error, not the bias.
    assert np.all(np.diff(axes["m"]["uncorrected bias"][1]) < 0)
    assert np.all(np.diff(axes["m"]["BV 0.1 bias"][1]) < 0)
    assert np.all(np.diff(axes["n"]["uncorrected bias"][1]) > 0)
    scatter = axes["|D|"]["uncorrected scatter"][1]
    np.testing.assert_allclose(scatter[1:] / scatter[:-1], 10**-0.5)
    assert np.ptp(axes["|D|"]["uncorrected bias"][1]) == 0


def test_many_negatives_wait_for_a_button_and_leave_slow_corrections_out():
    at = page(m="2001", drawn=["uncorrected", "CLS", "BV"])
    assert "m = 2,001" in at.info[0].value
    assert not at.pictures
    at.click("Compute m = 2,001")
    assert at.headline.startswith("With 2,001 negatives, BV 0.1 cuts")
    assert set(traces(at, "Expected Recall@10")) == {"exact", "uncorrected", "BV 0.1"}
    assert "CLS left out" in at.captions
    at = page()
    at.pills(key="metric").set_value("AP")
    assert "bias of AP" in at.run().headline
    at.put("m", 50)
    at.switch_page("sampledash/dashboard/pages/explore.py")
    assert at.run().number_input(key="m").value == 50
