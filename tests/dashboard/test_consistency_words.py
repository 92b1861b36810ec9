"""Sentences of the Consistency page, on numbers written by hand."""

import numpy as np
import pytest

from sampledash.dashboard.consistency import words
from sampledash.dashboard.words import ranking


def rows(*states_and_m, **more):
    found = [{"state": state, "right_from": m} for state, m in states_and_m]
    for name, values in more.items():
        for row, value in zip(found, values, strict=True):
            row[name] = value
    return found


def test_ranking_names_ties_and_shortens():
    assert ranking(["A", "B", "C"], [0.2, 0.2 + 1e-13, 0.5]) == "C > B = A"
    assert ranking(list("ABCDEF"), [6, 5, 4, 3, 2, 1]) == "A > B > C > …"


def test_verdict_sentence_is_short_and_says_when_it_is_right():
    said = words.sentence(
        "Recall@10", 100, ["X", "Y"], [0.1, 0.2], [0.4, 0.3], rows(("wrong", 970)), 3686
    )
    assert (
        said == "With 100 negatives Recall@10 ranks X > Y; on all items Y > X. Right from m = 970."
    )
    right = words.sentence("AP", 1, ["X", "Y"], [0.2, 0.1], [0.4, 0.3], rows(("right", 1)), 9)
    assert right == "With 1 negative AP ranks X > Y, as it does on all items. Right from m = 1."


def test_undecided_sentence_gives_the_chance_of_the_pair():
    table = rows(
        ("right", 1),
        ("undecided", 5),
        ("undecided", 7),
        better=["Z", "Z", "Y"],
        worse=["X", "Y", "X"],
        probability=[0.99, 0.9, 0.8031],
    )
    said = words.sentence("NDCG", 100, list("XYZ"), [1, 2, 3], [4, 5, 6], table, 99)
    assert (
        said == "With 100 negatives NDCG rightly ranks Z > Y > X; one run shows Y > X in 80.31 %."
    )


def worst_pair(better, worse, state, ahead, probability):
    row = {"better": better, "worse": worse, "state": state, "probability": probability}
    return row | {"sampled": 0.01 if ahead else -0.01}


def of_many(state, *, ahead=False, right_from=970, m_max=1_000):
    states = {"wrong": 14, "undecided": 3, "right": 173}
    worst = worst_pair("s7", "s3", state, ahead, 0.6012)
    return words.sentence_of_many("Recall@10 (BV 0.1)", 100, worst, states, right_from, m_max)


def test_sentence_of_many_names_the_worst_pair_and_a_count():
    assert of_many("wrong") == (
        "With 100 negatives Recall@10 (BV 0.1) ranks s3 above s7; on all items s7 wins. "
        "14 of 190 pairs wrong, right from m = 970."
    )
    assert of_many("undecided", ahead=True).endswith(
        "rightly ranks s7 above s3; one run shows it in 60.12 %. 3 of 190 pairs undecided."
    )
    assert of_many("right", ahead=True, right_from=None).endswith(
        "ranks all 190 pairs as on all items: not right even at 1,000."
    )


@pytest.mark.parametrize("correction", ["uncorrected", "rank estimate", "CLS", "BV 0.001"])
@pytest.mark.parametrize("state", ["wrong", "undecided", "right"])
@pytest.mark.parametrize("right_from", [970, None])
def test_no_verdict_has_more_than_25_words(correction, state, right_from):
    metric = words.metric_name("Recall@10", correction)
    table = rows(
        *[(state, right_from)] * 3,
        better=["Z", "Z", "Y"],
        worse=["X", "Y", "X"],
        probability=[0.5] * 3,
    )
    for sampled in ([1, 2, 3], [3, 2, 1]):
        said = words.sentence(metric, 100, list("XYZ"), [1, 2, 3], sampled, table, 20_000)
        assert len(said.split()) <= 25, said
        worst = worst_pair("A", "B", state, sampled[0] == 1, 0.5)
        many = words.sentence_of_many(metric, 100, worst, {state: 5}, right_from, 20_000)
        assert len(many.split()) <= 25, many


def test_settled_counts_ties_out_and_never_promises_what_was_not_seen():
    assert words.settled(rows(("tied", None), ("right", 1)), 99) == "Right from m = 1."
    assert words.settled(rows(("wrong", None), ("right", 1)), 99) == "Not right even at 99."
    assert "equal" in words.settled(rows(("tied", None)), 99)


def test_what_was_not_looked_at_is_said():
    assert words.looked_at(0, 3_686, capped=False) == ""
    assert "the data go further" in words.looked_at(0, 20_000, capped=True)
    assert "40 values of m up to 1,000" in words.looked_at(40, 1_000, capped=True)


def test_tiles_say_by_which_m_they_are_not_right():
    assert words.tile("wrong", None, 3_686).endswith("not by 3,686</span>")
    assert words.tile("wrong", 970, 3_686, narrow=True).endswith("970</span>")
    assert words.tile("tied", None, 9) == "= tied"


def test_sentences_about_being_sure():
    nan = float("nan")
    told = words.one_run("Y", "X", 100, 0.3142, 0.2, 0.48)
    assert "**31.42 %**; with shared negatives between 20.00 % and 48.00 %" in told
    assert words.one_run("Y", "X", 100, 0.3142, nan, nan).endswith("**31.42 %**.")
    assert words.one_run("Y", "X", 100, 0.3, 0.3, 0.3).endswith("also with shared negatives.")
    assert "something to order" in words.anything_to_order("Y", "X", 0.01, (0.005, 0.02), 0.01, 3)
    said = words.anything_to_order("Y", "X", 0.001, (-0.005, 0.02), 0.3, 3)
    assert "Nothing to order beyond chance" in said
    assert "−0.50 to 2.00 points" in said
    assert "not reachable" in words.plan("Y", "X", 0.95, 100, None, None, 60)
    both = words.plan("Y", "X", 0.95, 100, 121, 9_307, 6_040)
    assert "**121 negatives** with these 6,040 instances, or **9,307 instances**" in both
    assert words.p_value(1e-5) == "< 0.0001"


def test_flips_are_listed_or_counted():
    assert words.flips("X", "Y", [], 1) == "X and Y never change order."
    assert words.flips("X", "Y", [7], 7).endswith("at m = 7.")
    assert words.flips("X", "Y", [7, 1000, 2000], 2000).endswith("7, 1,000 and 2,000.")
    assert words.flips("X", "Y", list(range(2, 16)), 15) == (
        "X and Y change order 14 times, settled right from 15."
    )


def test_leaders_name_the_ends_of_the_distribution():
    said = words.leaders(np.array([200, 400]), ["X", "Z"], np.array([[0.5, 0.4], [0.1, 0.3]]))
    assert said == "Most at rank 1 to 200: X (50.00 %). Most at rank 201 to 400: Z (30.00 %)."
