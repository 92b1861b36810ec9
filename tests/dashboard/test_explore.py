"""The Explore page shows the results of the library and of Krichene & Rendle."""

from functools import partial

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses import choices
from sampledash.analyses.explore import result as draws
from sampledash.catalogue import Catalogue
from sampledash.report.numbers import equals, percent
from sampledash.schemes import SCHEMES
from tests.dashboard.driver import Page, array

# Section 4.2 of Krichene & Rendle 2020: n = 10,000, m = 99, with replacement, A at rank 100. Values
# are (exact from Table 1, expected from data/reference_values.json); the means of 1,000 repetitions
# in Table 2 are 0.630, 0.724, 1.000 and 0.990.
TABLE = {"AP": (0.010, 0.63659167554758955), "NDCG": (0.150, 0.72898943266193070)}
TABLE |= {"Recall@k": (0.000, 0.99999993674907442), "AUC": (0.990, 0.990)}

page = partial(Page, "explore")


def paper_page(*chips, **query):
    return page(m="99", scheme="with replacement", metrics=list(chips or TABLE), **query)


def panel(at, title):
    """Return the curves of one panel, in percent: {name: (ranks, values)}."""
    spec = at.specs[0]
    notes = [x["text"] for x in spec["layout"]["annotations"]]
    titles = [x[3:-4] for x in notes if x.startswith("<b>")] or [title]  # a title per panel
    end = str(titles.index(title) + 1).removeprefix("1")
    own = [t for t in spec["data"] if t.get("xaxis", "x") == f"x{end}"]
    lines = [t for t in own if t["mode"] == "lines" and t["name"]]
    return {t["name"].split(",")[0]: (array(t["x"]), array(t["y"])) for t in lines}


def test_shows_the_numbers_of_the_core_and_of_the_paper():
    at, sampling = paper_page(), sd.Sampling(10_000, 99, "with-replacement")
    for chip, (exact, literal) in TABLE.items():
        at.selectbox(key="focus").set_value(chip).run()
        metric = sd.parse_metric(chip.replace("@k", "@10"))
        mean = float(sd.expected(metric, 100, sampling))
        np.testing.assert_allclose(mean, literal, rtol=0, atol=1e-3 if chip == "AUC" else 1e-13)
        shown = at.numbers
        assert shown[f"{metric}, exact"] == percent(float(metric(100, 10_000)))
        assert round(float(metric(100, 10_000)), 3) == exact
        assert shown[f"{metric}, sampled"] == percent(mean)
        scatter = float(np.sqrt(sd.variance(metric, 100, sampling)))
        assert shown["Scatter of one draw"] == percent(scatter)
        assert shown["Sampled rank, mean"] == f"{1 + 99 * 99 / 9999:.2f}" == "1.98"
        assert f"{metric} {equals(mean)}" in at.headline
        if chip == "AUC":
            continue
        curves = panel(at, str(metric))
        ranks, y = curves["sampled"]
        assert len(ranks) <= 400
        here = int(np.flatnonzero(ranks == 100)[0])
        np.testing.assert_allclose(y[here] / 100, literal, rtol=0, atol=1e-13)
        np.testing.assert_allclose(curves["exact"][1][here] / 100, exact, atol=5e-4)
    assert len(at.button_group) == 3  # the choices of metrics, ranks and scheme


def test_topk_takes_k_as_a_share_atop_is_auc_and_the_top_is_drawn_evenly():
    # k = 10 of 10,000 is a share of 0.1 %: of 1 + 99 sampled ranks, only the first is a hit.
    shown = paper_page("TOPK").numbers
    assert shown["TOPK@0.001, exact"] == "0.00 %"
    assert shown["TOPK@0.001, sampled"] == percent((1 - 99 / 9999) ** 99) == "37.34 %"
    shown = paper_page("ATOP").numbers
    assert shown["ATOP, exact"] == shown["ATOP, sampled"] == percent(9900 / 9999) == "99.01 %"
    at = paper_page("AP", view="top 100", rank="5000", tab="Family")
    ranks, y = panel(at, "AP")["sampled"]
    assert (ranks[0], ranks[-1]) == (1, 100)
    np.testing.assert_allclose(y[-1] / 100, TABLE["AP"][1], rtol=0, atol=1e-13)
    names = [note["text"] for note in at.specs[0]["layout"]["annotations"]]
    assert {"sampled", "exact"} <= set(names)
    family = at.specs[1]
    sizes = [trace["name"] for trace in family["data"]]
    assert "type" not in family["layout"]["xaxis"]
    texts = [note["text"] for note in family["layout"]["annotations"]]
    assert texts == sizes
    for trace in family["data"][:-1]:
        m = int(trace["name"].removeprefix("m = ").replace(",", ""))
        mean = float(sd.expected("AP", 50, sd.Sampling(10_000, m, "with-replacement")))
        at_fifty = array(trace["x"]).tolist().index(50)
        np.testing.assert_allclose(array(trace["y"])[at_fifty] / 100, mean, rtol=1e-12)


def test_bounds_of_sliders_follow_one_another_and_what_does_not_apply_is_hidden():
    at, scores = page(), "rank 100 scores Recall@10 > 99.99 % in expectation; on all items 0.00 %."
    assert at.headline == f"With 100 of 9,999 negatives, {scores}"
    assert "cutoff" not in at.captions
    at.put("n", 3706)
    assert "of 3,705 negatives" in at.headline
    assert at.slider("n")["number"] == 3706
    # A slider's lowest and highest number are accepted beside the numbers of the other sliders.
    bounds = {
        key: (at.slider(key)["low"], at.slider(key)["high"]) for key in ("m", "n", "k", "rank")
    }
    assert bounds == {"m": (1, 3705), "n": (101, 10**9), "k": (1, 3706), "rank": (1, 3706)}
    assert "to 3,705 (n - 1)" in at.slider("m")["help"]
    for key, ends in bounds.items():
        for end in ends:
            assert not Page("explore", **{"n": "3706", key: str(end)}).error
    assert at.put("rank", 500).slider("n")["low"] == 500
    at.put("m", 50).put("rank", 7)
    assert at.click("Reset").session_state["m"] == 100
    at = page()
    assert not {field.key for field in at.number_input} & {"gamma", "odds"}
    at.segmented_control(key="scheme").set_value("popularity").run()
    assert (at.slider("zipf")["high"], at.slider("bestsellers")["high"]) == (2, 1)
    at.button_group(key="metrics").set_value(["AP"]).run()
    assert "k" not in {field.key for field in at.number_input}
    at.button_group(key="metrics").set_value([]).run()
    assert at.complaint == "No metric is chosen: pick at least one above the picture."


def test_many_negatives_wait_for_a_button_and_show_no_answer_to_another_question():
    at = page(n="1000000", m="5000", rank="2")  # a link of uniform draws shows its answer at once
    assert at.headline.startswith("With 5,000 of 999,999 negatives, rank 2 scores")
    at = page(n="1000000", m="5000", rank="2", scheme="duplicates collapsed")
    assert "takes some seconds" in at.info[0].value
    assert not at.numbers
    assert "### " not in at.said
    assert not at.click("Compute m = 5,000").info
    assert at.headline.startswith("With 5,000 negatives")
    at.put("m", 6_000)
    assert "takes some seconds" in at.info[0].value  # the button computes one m only
    assert at.last_headline.startswith("With 5,000 negatives")
    at = page(n="1000000000", m="1000", rank="1000000", metrics=["AP", "Recall@k"])
    mean = sd.expected("AP", 10**6, sd.Sampling(10**9, 1000, "without-replacement"))
    at.selectbox(key="focus").set_value("AP").run()
    assert at.numbers["AP, sampled"] == percent(float(mean))


def test_draws_can_be_drawn_again_beside_the_law_and_the_family():
    at, twin = page(metrics=["AP"], rank="800"), page(metrics=["AP"], rank="800")
    assert "sampled rank" in at.said
    assert (at.said, at.click("Draw 100").said) == (twin.said, twin.click("Draw 100").said)
    assert at.number_input(key="draws").value == 130
    told = next(m.value for m in at.markdown if m.value.startswith("Over 130 draws"))
    mean = sd.expected("AP", 800, sd.Sampling(10_000, 100, "without-replacement"))
    assert percent(float(mean)) in told
    at = paper_page("AP", tab="Law", turn="true")
    p = sd.Sampling(10_000, 99, "with-replacement").pmf(100)
    assert percent(float(p[0])).replace("\u00a0", " ") in at.said
    assert "90 % probability" in at.said
    at = page(metrics=["AP"], tab="Family")
    # With all 9,999 negatives, drawn without replacement, the metric is exact.
    assert "1.00 % with m = 9,999; on all items 1.00 %" in at.said


def test_a_pinned_setting_stays_and_the_curves_are_taken_away_as_numbers(monkeypatch):
    at = paper_page().press("pin").put("m", 1_000)
    dotted = [t for t in at.specs[0]["data"] if t.get("line", {}).get("dash") == "dot"]
    sampling = sd.Sampling(10_000, 99, "with-replacement")
    # Exact curves, and AUC at every m, do not change and are drawn once.
    for trace, metric in zip(dotted, ("Recall@10", "NDCG", "AP"), strict=True):
        ranks = array(trace["x"]).astype(int)
        expected = 100 * sd.expected(metric, ranks, sampling)
        np.testing.assert_allclose(array(trace["y"]), expected, rtol=1e-9, atol=1e-9)
    assert "Below the numbers: m = 99, the latest pin." in at.captions
    rows = paper_page().exports(monkeypatch)["Download data"].splitlines()
    head, values = rows[1].split(","), np.array([row.split(",") for row in rows[2:]], float)
    (at_100,) = values[values[:, 0] == 100]
    for chip, (exact, expected) in TABLE.items():
        name = chip.replace("@k", "@10")
        shown = [at_100[head.index(f"{name} {part}")] for part in ("exact", "expected")]
        np.testing.assert_allclose(shown, (exact, expected), rtol=1e-9, atol=0.0005)


@pytest.mark.parametrize("scheme", ["with-replacement", "without-replacement", "popularity"])
@pytest.mark.parametrize(("rank", "seen"), [(500, 6), (1, 1), (1000, 100)])
def test_the_negatives_of_a_draw_give_its_sampled_rank_and_more_keep_the_earlier(
    scheme, rank, seen
):
    sampling = sd.Sampling(1000, 99, scheme, 2.0 if scheme == "popularity" else 1.0)
    few, many = (draws.sampled_ranks(sampling, rank, 7, size) for size in (10, 200))
    np.testing.assert_array_equal(few, many[:10])
    found = draws.negatives(sampling, rank, seen, 1, 3)
    assert len(found) == 99
    assert 1 <= found.min() <= found.max() <= 1000
    assert rank not in found
    assert np.sum(found < rank) == seen - 1
    if scheme == "without-replacement":
        assert len(np.unique(found)) == 99


def test_the_mean_sampled_rank_counts_duplicates_once():
    at = page(n="50", m="30", rank="20", metrics=["AUC"], scheme="duplicates collapsed")
    different = 49 * (1 - (48 / 49) ** 30)  # expected number of different items in 30 draws
    shown = at.numbers["Sampled rank, mean"]
    assert shown == f"{1 + different * 19 / 49:.2f}" == "9.76"


@pytest.mark.parametrize("scheme", ["popularity", "popularity-without-replacement"])
def test_a_catalogue_drawn_by_popularity_is_shown_beside_uniform_negatives(scheme, monkeypatch):
    given = {"n": "3000", "m": "60", "rank": "40", "zipf": "0.9", "bestsellers": "0.6"}
    at = page(scheme=SCHEMES[scheme].label, metrics=["Recall@k"], tab="Law", why="true", **given)
    catalogue = Catalogue(3_000, 60, scheme, zipf=0.9, bestsellers=0.6)
    ((_, (p,)),) = catalogue.laws(np.array([39]))
    uniform = float(sd.expected("Recall@10", 40, catalogue.uniform))
    numbers = equals(float(p[:10].sum())), percent(uniform)
    by = f"with 60 negatives drawn {SCHEMES[scheme].words}"
    ends = f"Recall@10 {numbers[0]} {by}, {numbers[1]} if uniform; on all items 0.00 %."
    assert at.headline == f"At rank 40, {ends}"
    assert at.numbers["Recall@10, sampled"] == percent(float(p[:10].sum()))
    assert at.numbers["Sampled rank, mean"] == f"{1 + p @ np.arange(61):.2f}"
    curves = panel(at, "Recall@10")
    ranks, y = curves["uniform negatives"]
    expected = 100 * sd.expected("Recall@10", ranks.astype(int), catalogue.uniform)
    np.testing.assert_allclose(y, expected, atol=1e-9)
    assert "Of the items above, 60.00 % are the most popular of all" in at.said
    late = {key for key in ("m", "n", "k", "rank", "zipf", "bestsellers") if at.slider(key)["late"]}
    assert late == (set() if scheme == "popularity" else {"m", "n", "k", "zipf", "bestsellers"})
    assert "Recall@10 uniform" in at.exports(monkeypatch)["Download data"].splitlines()[1]
    # Equal weights are uniform draws.
    assert at.put("zipf", 0.0).headline.count(percent(uniform)) == 2


def test_a_link_with_odds_shows_their_curve_and_says_that_a_catalogue_has_replaced_them():
    for query, odds in (({"odds": "1.5", "v": "1"}, 1.5), ({"v": "1"}, 2), ({"odds": "3"}, 3)):
        at = page(scheme="popularity", m="20", metrics=["AP"], rank="900", **query)
        mean = float(sd.expected("AP", 900, sd.Sampling(10_000, 20, "popularity", odds)))
        assert f"AP {equals(mean)}" in at.headline
        assert f"above the relevant one {odds:g} times as often as one below" in at.captions
        assert page(**at.link).headline == at.headline
    at.segmented_control(key="scheme").set_value("popularity").run()
    assert "odds" not in at.captions
    assert "if uniform" in at.headline


def test_frames_stop_at_round_numbers_and_at_both_bounds():
    assert choices.stops(1, 998)[-3:] == [500, 700, 998]
    assert choices.stops(101, 10**9, (1, 2, 5))[:3] == [101, 200, 500]
    assert choices.stops(1, 1) == [1]
