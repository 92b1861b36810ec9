"""Sentences of the Consistency page, on numbers written by hand."""

import numpy as np
import pandas as pd

from sampledash.explain import consistency as words


def rows(*states_and_m):
    states, ms = zip(*states_and_m, strict=True)
    return pd.DataFrame({"state": states, "right_from": pd.array(ms, dtype="Int64")})


def test_ranking_names_ties_and_shortens():
    assert words.ranking(["A", "B", "C"], [0.2, 0.2 + 1e-13, 0.5]) == "C > B = A"
    assert words.ranking(list("ABCDEF"), [6, 5, 4, 3, 2, 1]) == "A > B > C > D > …"


def test_verdict_sentence_is_short_and_says_when_it_is_right():
    said = words.sentence(
        "Recall@10", 100, ["X", "Y"], [0.1, 0.2], [0.4, 0.3], rows(("wrong", 970)), 3686
    )
    assert said == (
        "At m = 100 Recall@10 ranks X > Y; on all items it is Y > X. Right from m = 970."
    )
    assert len(said.split()) <= 25


def test_settled_counts_ties_out_and_never_promises_what_was_not_seen():
    assert words.settled(rows(("tied", None), ("right", 1)), 99) == "Right from m = 1."
    assert words.settled(rows(("wrong", None), ("right", 1)), 99) == (
        "Not right for every m up to 99."
    )
    assert "equal" in words.settled(rows(("tied", None)), 99)


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
