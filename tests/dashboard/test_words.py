"""Sentences of the pages, on numbers written by hand; … stands for what is not looked at."""

import itertools
import re

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses import sliding
from sampledash.analyses.consistency import words as consistency
from sampledash.analyses.correct import words as correct
from sampledash.analyses.correct.words import Settled
from sampledash.analyses.explore import words as explore
from sampledash.comparison.verdict import Pairs
from sampledash.dashboard import start
from sampledash.protocol import Protocol
from sampledash.report import numbers as text
from sampledash.report import sentences
from sampledash.schemes import DEFAULT_SCHEME

N = 10_000
SCHEMES = [("with-replacement", 1.0), ("without-replacement", 1.0), ("popularity", 2.0)]
METRICS = ["AUC", "AP", "NDCG", "NDCG@10", "Recall@10", "Precision@5"]
AP, AUC, RECALL = (sd.parse_metric(name) for name in ("AP", "AUC", "Recall@10"))
BV = sd.correction("BV", gamma=0.1)


def like(said, wanted):
    pattern = ".*".join(re.escape(part) for part in wanted.split("…"))
    assert re.fullmatch(pattern, said.replace("\u00a0", " "), re.DOTALL), said


def test_numbers_as_they_are_written():
    percents = {0.63659167554758955: "63.66 %", 5e-5: "0.01 %", float("nan"): "–"}
    counts = {1: "1", 1000: "1,000", 10**6: "1M", 10**9: "1B", 2_500_000: "2.5M"}
    counts[1_234_567] = "1,234,567"
    # Numbers far beyond 100 percent stay short.
    sizes = {0.02679: "2.68 %", -0.5: "−50.00 %", 31.2: "3,120 %", 5757547462.5: "5.8e11 %"}
    roots = {815.0: "28.55", 1e-9: "<0.01", 0.0: "0.00", 1e17: "3.2e8"}
    errors = {
        "n must be at least 2, got 1": "n must be at least 2, got 1.",
        "m = 20000 is too large": "m = 20,000 is too large.",
        "unknown metric 'x'": "Unknown metric 'x'.",
        "is it k?": "Is it k?",
        "rank 1.23456 is odd": "Rank 1.23456 is odd.",
        "line 1000: '05/01/2020' is no date such as 2026-01-31": (
            "Line 1,000: '05/01/2020' is no date such as 2026-01-31."
        ),
    }
    for write, written in (
        (text.percent, percents),
        (text.short_count, counts),
        (correct.size, sizes),
        (correct.root, roots),
        (text.spell, errors),
        (consistency.p_value, {1e-5: "< 0.0001"}),
    ):
        assert [write(x).replace("\u00a0", " ") for x in written] == list(written.values())


# ---------------------------------------------------------------------------- Consistency


def rows(*states_and_m):
    known = zip(states_and_m, "ZZY", "XYX", (0.99, 0.9, 0.8031), strict=False)
    return [
        {"state": state, "right_from": m, "better": better, "worse": worse, "probability": chance}
        for (state, m), better, worse, chance in known
    ]


def many(state, *, ahead=False, right_from=970, metric="Recall@10 (BV 0.1)", m_max=1_000):
    states = {"wrong": 14, "undecided": 3, "right": 173}
    worst = {"better": "s7", "worse": "s3", "state": state, "probability": 0.6012}
    worst["sampled"] = 0.01 if ahead else -0.01
    return sentences.sentence_of_many(metric, "100 negatives", worst, states, right_from, m_max)


@pytest.mark.parametrize("correction", ["uncorrected", "rank estimate", "CLS", "BV 0.001"])
def test_no_verdict_has_more_than_25_words(correction):
    metric = sentences.metric_name("Recall@10", correction)
    for state, m in itertools.product(("wrong", "undecided", "right"), (970, None)):
        for sampled in ([1, 2, 3], [3, 2, 1]):
            given = (list("XYZ"), [1, 2, 3], sampled, rows(*[(state, m)] * 3), 20_000)
            said = sentences.sentence(metric, "100 negatives", *given)
            assert len(said.split()) <= 25, said
        for ahead in (True, False):
            said = many(state, ahead=ahead, right_from=m, metric=metric, m_max=20_000)
            assert len(said.split()) <= 25, said


# -------------------------------------------------------------------------------- Explore


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", METRICS)
def test_no_sentence_is_longer_than_25_words_and_formulas_carry_the_numbers(scheme, name):
    metric = sd.parse_metric(name)
    cases = [(rank, n, 1000) for rank in (1, 2, 10**6) for n in (10**6, 10**9)]
    for rank, n, m in (*cases, *((rank, N, 99) for rank in (1, 2, 100, N))):
        sampling = sd.Sampling(n, m, *scheme)
        exact, mean = (float(f) for f in (metric(rank, n), sd.expected(metric, rank, sampling)))
        assert len(explore.sentence(metric, rank, sampling, exact, mean).split()) <= 25
        steps = explore.formula(metric, rank, sampling, exact, mean)
        assert all(step.count("{") == step.count("}") for step in steps)
        assert text.tex_equals(mean) in steps[2]
        assert text.tex_equals(exact) in steps[3]


# -------------------------------------------------------------------------------- Correct


def fitted(name, n=N, m=100, metric="Recall@10"):
    return sd.parse_correction(name).fit(metric, sd.Sampling(n, m))


#: Eq. 20, 22, 23 and 25 of Krichene & Rendle (KDD 2020), and numbers; uncorrected, the metric.
FORMULAS = {
    "uncorrected": (r"= \mathrm{Recall}(\tilde r)", ""),
    "rank estimate": (r"\lfloor", r"1 + \frac{9{,}999}{100} \to 100"),
    "CLS": (r"\operatorname*{argmin}", r"\hat M_1 \ge \hat M_2"),
    "BV 0.1": (r"(1 - 0.1)\, A^\top A + 0.1\, \mathrm{diag}(c)", ""),
    "BV 1": (r"\sum_r p(r \mid \tilde r)\, ", ""),
    "LS": (r"(A^\top A)^{-1} A^\top b", ""),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_correction_has_its_own_formula_with_its_numbers_and_its_script_gives_it(name):
    made, space = fitted(name), {}
    steps = correct.formula(made, 0.04, 0.09)
    own, part = FORMULAS[name]
    assert [text for text, _ in FORMULAS.values() if text in steps[0]] == [own]
    assert any(part in step for step in steps)
    assert r"\text{bias}^2 = 0.04" in steps[-1]
    assert all(step.count("{") == step.count("}") for step in steps)
    # What BV makes small: the squared bias and γ times the variance.
    assert steps[-1].endswith("= 0.049") == (name == "BV 0.1")
    exec(correct.script(made), space)
    assert space["fit"].values.tobytes() == made.values.tobytes()


@pytest.mark.parametrize(
    ("scheme", "end"),
    [("with-replacement", "not right even at 11"), (DEFAULT_SCHEME, "right from m = 10")],
)
def test_many_systems_are_right_from_where_all_pairs_are(scheme: str, end: str) -> None:
    ranks = [1, 12, 12], [3, 3, 3], [4, 4, 4], [5, 5, 6], [6, 7, 8]
    sets = [sd.RankSet(name, some, 12) for name, some in zip("ABCDE", ranks, strict=True)]
    means = sd.curve("AP", sets, range(1, 12), scheme=scheme)
    right = (means.diff(axis=1).iloc[:, 1:] < 0).all(axis=1)  # A > B > C > D > E, as on all items
    assert right.iloc[-1] == (not end.startswith("not"))
    assert right.iloc[-1] == (end == f"right from m = {right[~right].index[-1] + 1}")
    found = Pairs.of([AP], sets, 4, Protocol.of({"scheme": scheme}))
    assert sentences.headline(found, 0).endswith(f"{end}.")


# ------------------------------------------------------------------------------- said so


def corrected(before, after, scatter=0.0003, size=6_040, m=100):
    return correct.sentence(RECALL, m, BV, before, after, scatter, size)


def fraction(metric, scheme):
    return explore.formula(metric, 100, sd.Sampling(N, 99, scheme), 0.0, 0.0)[2]


NAN, SWAPPED = float("nan"), (["X", "Y"], [0.1, 0.2], [0.4, 0.3])
SHARES = np.array([[0.5, 0.4], [0.1, 0.3]])
DRAWN, REPLACED = (sd.Sampling(N, m, "with-replacement") for m in (100, 99))
SOME, EVERY = (sd.Sampling(n, m, "without-replacement") for n, m in ((N, 100), (100, 99)))
PAIRS = [Settled("X and Y", 970, 52), Settled("X and Z", 433, 20), Settled("Y and Z", 128, 7)]
OSCILLATING = fitted("BV 0.001", metric="AP")
RIGHT, WRONG, FIRST = (np.array(x) / 10 for x in ([1, 2, 3], [2, 1, 3], [1, 3, 2]))
UNDECIDED = rows(("right", 1), ("undecided", 5), ("undecided", 7))

NAMES = {"start": start}
#: A call and what it says.
TABLE = r"""
sentences.ranking(["A", "B", "C"], [0.2, 0.2 + 1e-13, 0.5]) | C > A = B
sentences.ranking(list("ABCDEF"), [6, 5, 4, 3, 2, 1]) | A > B > C > …
sentences.sentence("Recall@10", "100 negatives", *SWAPPED, rows(("wrong", 970)), 3686)
    | With 100 negatives Recall@10 ranks X > Y; on all items Y > X. Right from m = 970.
sentences.sentence("NDCG", "1 negative", list("XYZ"), [1, 2, 3], [4, 5, 6], UNDECIDED, 99)
    | With 1 negative NDCG rightly ranks Z > Y > X; one run shows Y > X in 80.31 %.
many("wrong") | With 100 negatives Recall@10 (BV 0.1) ranks s3 above s7; on all items s7 wins. …
many("wrong") | …. 14 of 190 pairs wrong, right from m = 970.
many("undecided", ahead=True)
    | …rightly ranks s7 above s3; one run shows it in 60.12 %. 3 of 190 pairs undecided.
many("right", ahead=True, right_from=None)
    | …ranks all 190 pairs as on all items: not right even at 1,000.
sentences.settled(rows(("tied", None), ("right", 1)), 99) | Right from m = 1.
sentences.settled(rows(("wrong", None), ("right", 1)), 99) | Not right even at 99.
sentences.settled(rows(("tied", None)), 99) | …equal…
correct.size(-5.83e9) | −5.8e11 %
corrected(0.02, 0.03, 0.5) | With 100 negatives, BV 0.1 raises the average bias of Recall@10 …
corrected(0.02, 0.01, 0.5) | …is useless for Recall@10…more than the bias of 2.00 % it repairs.
consistency.looked_at(0, 3_686, capped=False) |
consistency.looked_at(0, 20_000, capped=True) | …the data go further…
consistency.tile("wrong", None, 3_686) | …not by 3,686</span>
consistency.tile("wrong", 970, 3_686, narrow=True) | …970</span>
consistency.tile("tied", None, 9) | = tied
consistency.one_run("Y", "X", "100 negatives", 0.3142, 0.2, 0.48)
    | …**31.42 %**; with shared negatives between 20.00 % and 48.00 %…
consistency.one_run("Y", "X", "100 negatives", 0.3142, NAN, NAN) | …**31.42 %**.
consistency.one_run("Y", "X", "100 negatives", 0.3, 0.3, 0.3) | …also with shared negatives.
consistency.anything_to_order("Y", "X", 0.01, (0.005, 0.02), 0.01, 3) | …something to order…
consistency.anything_to_order("Y", "X", 0.001, (-0.005, 0.02), 0.3, 3)
    | …Nothing to order beyond chance…−0.50 to 2.00 points…
consistency.plan("Y", "X", 0.95, 100, None, None, 60) | …not reachable…
consistency.plan("Y", "X", 0.95, 100, 121, 9_307, 6_040)
    | …**121 negatives** with these 6,040 instances, or **9,307 instances**…
consistency.flips("X", "Y", [], 1) | X and Y never change order.
consistency.flips("X", "Y", [7], 7) | …at m = 7.
consistency.flips("X", "Y", [7, 1000, 2000], 2000) | …7, 1,000 and 2,000.
consistency.flips("X", "Y", [*range(2, 16)], 15) | …order 14 times, settled right from 15.
consistency.leaders(np.array([200, 400]), ["X", "Z"], SHARES)
    | Most at rank 1 to 200: X (50.00 %). Most at rank 201 to 400: Z (30.00 %).
consistency.leaders(np.array([1, 10, 400]), ["X"], np.array([[0.5], [0.2], [0.0]]))
    | Most at rank 1: X (50.00 %). Most at rank 11 to 400: none.
consistency.scatter_note([0.1, 0.9], [0.2, 0.1]) | Repeated runs would agree…
consistency.leaders(np.array([2, 9]), ["X", "Z"], np.array([[0.0, 0.5], [0.2, 0.1]]))
    | Most at rank 1 to 2: Z (50.00 %). Most at rank 3 to 9: X (20.00 %).
consistency.anything_to_order("Y", "X", 0.001, (-0.005, 0.02), 0.3, 1) | …; p = 0.3000.
consistency.scatter_note([0.1, 0.2, 0.9], [0.1, 0.1, 0.1]) | Repeated runs scatter about as much…
consistency.scatter_note([0.1, 0.6], [0.2, 0.1]) | Repeated runs scatter about as much…
consistency.repeated("P", "Q", 0.67, 200, 0.651)
    | 134 of 200 runs show P ahead of Q (67.00 %); the exact chance is 65.10 %.
consistency.counterexample(["P", "Q"], "AP", 10)
    | On all items P is ahead of Q by AP; with 10 sampled negatives Q is ahead in expectation.

explore.sentence(AP, 100, REPLACED, 0.01, 0.63659167554758955)
    | With 99 negatives drawn with replacement from 9,999, rank 100 scores AP = 63.66 % in…1.00 %.
explore.sentence(AUC, 100, REPLACED, 0.990099, 0.990099) | …99.01 % in…, the same as on all items.
explore.one_draw(AP, 0, DRAWN) | None of the 100 drawn negatives is…
explore.one_draw(AP, 1, DRAWN) | 1 of…is ranked above the item: **sampled rank 2**, AP = 50.00 %.
explore.one_draw(AP, 2, DRAWN) | …2 of the 100 drawn negatives are…
explore.looks_like(AP, 100, SOME)
    | …Of the 99 items above, on average 0.99 enter…looks like rank 1.99…rank that is too good…
explore.looks_like(AP, 1, DRAWN) | …rank 1…
explore.looks_like(AP, 5, EVERY) | …nothing is lost…
explore.looks_like(AP, 5, sd.Sampling(10, 9, "with-replacement"))
    | Of the 4 items above, on average 4.00 enter the sample, so true rank 5 looks like rank 5.00.…
explore.looks_like(AUC, 100, DRAWN) | …that is the same, and AUC looks at the share…
explore.looks_like(sd.parse_metric("TOPK@0.02"), 100, DRAWN) | …and TOPK@0.02 looks at the share…
explore.law(sd.parse_metric("Recall@1"), 5, DRAWN, [0.25, 0.75])
    | True rank 5 of 10,000 appears at the top of 101 with probability 25.00 %.
explore.law(RECALL, 5, DRAWN, [0.25, 0.75]) | …appears among the first 10 of 101…100.00 %.
explore.source(sd.parse_metric("ATOP")) | …Steck…
fraction(AP, "with-replacement") | …(1-p)^{m+1}…
fraction(AP, "without-replacement") | …\sum…
fraction(RECALL, "with-replacement") | …P(\tilde r \le 10)…
fraction(AUC, "without-replacement") | …\frac{n - r}{n - 1}…

corrected(0.2855, 0.0268) | With 100 negatives, BV 0.1 cuts the average bias of Recall@10 from…
corrected(0.01, 0.02) | With 100 negatives, BV 0.1 raises the average bias of Recall@10 from…
corrected(0.02, 0.02) | With 100 negatives, BV 0.1 leaves the average bias of Recall@10 at 2.00…
corrected(0.0, 0.02) | …unbiased: there is nothing to correct, and BV 0.1 adds a bias of 2.00 %.
corrected(0.0, 0.0) | Recall@10 from 100 negatives is unbiased: …, and BV 0.1 leaves it so.
corrected(0.3, 0.1, 0.0251, 1, m=1) | …one draw scatters by 2.51…
correct.real_ranks(BV, PAIRS, 2_000)
    | BV 0.1 orders X and Y right from m = 52; uncorrected from m = 970.
correct.real_ranks(BV, [*PAIRS, Settled("W and Z", None, None)], 2_000)
    | …does not settle on the right order of W and Z up to m = 2,000; uncorrected not at any m…
correct.real_ranks(BV, [Settled("A and B", 1, 1)], 2_000) | …all pairs right at every m…
correct.real_ranks(BV, [], 2_000) | …Nothing to order…
correct.risks({BV: (0.04, 0.09)}, 9) | BV 0.1: bias 20.00 %, scatter of the mean 10.00 %
correct.vector_note(fitted("CLS")) | …falls with the sampled rank…
correct.vector_note(OSCILLATING) | …changes direction…
correct.vector_note(OSCILLATING) | …below any exact one…
correct.gamma_meaning(BV, 1_000) | …γ = 1/|D| = 0.001 weighs both…
correct.gamma_meaning(sd.correction("CLS"), 1_000) | …has no γ.

start.headline("ABC", RIGHT, RIGHT, 5) | With 5 negatives the order is right
start.headline("ABC", RIGHT, WRONG, 1) | With 1 negative the order is wrong
start.headline("ABC", RIGHT, FIRST, 10) | With 10 negatives the best of three does not look best
sliding.step_title("AP", "ABC", RIGHT, FIRST) | ⇅ <b>wrong</b> by AP: B > C > A
"""


def test_what_is_said_of_what():
    for line in filter(None, TABLE.replace("\n    |", " |").splitlines()):
        call, _, wanted = line.partition(" |")
        like(eval(call, globals() | NAMES), wanted.strip())
    # A line never begins with the sign of percent.
    assert all(" %" not in corrected(before, 0.02) for before in (0.2855, 0.01, 0.02))


def test_the_first_page_draws_heights_and_keeps_labels_apart():
    assert sliding.heights(FIRST).tolist() == pytest.approx([0.0, 1.0, 0.5])
    spread = sliding.spread(np.array([0.0, 0.02, 1.0]), 0.2)
    assert spread.tolist() == pytest.approx([-0.09, 0.11, 1.0])


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.9999963, "> 99.99 %"), (1 - 2e-12, "> 99.99 %"), (1 - 1e-15, "100.00 %"),
        (1.0, "100.00 %"), (1 + 1e-15, "100.00 %"), (1 + 1e-6, "> 100.00 %"), (1.001, "100.10 %"),
        (0.99994, "99.99 %"), (0.0, "0.00 %"), (1e-9, "< 0.01 %"), (-1e-9, "0.00 %"),
    ],
)  # fmt: skip
def test_a_share_reads_as_100_percent_or_0_only_where_it_is(value: float, printed: str) -> None:
    assert text.percent(value) == printed
    sign = "" if printed[0] in "<>" else "= "
    assert text.equals(value) == sign + printed
    assert text.tex_equals(value) == (sign + printed).replace(" %", r"\,\%")
