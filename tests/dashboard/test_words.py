"""Sentences of the pages for given numbers; … stands for text that is not checked."""

import itertools
import re
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from jinja2 import pass_context

import sampledash as sd
from sampledash import checks
from sampledash.analyses import sliding
from sampledash.analyses.consistency import words as consistency
from sampledash.analyses.correct import words as correct
from sampledash.analyses.correct.result import Prior
from sampledash.analyses.correct.words import Settled
from sampledash.analyses.explore import words as explore
from sampledash.analyses.lab import words as lab
from sampledash.analyses.paper import words as paper
from sampledash.correction import Fit
from sampledash.dashboard import ranks, start
from sampledash.lab.interactions import Interactions
from sampledash.lab.splits import Split
from sampledash.protocol import Protocol
from sampledash.readers.assemble import Summary
from sampledash.report import escape, estimates, sentences, templates
from sampledash.report import numbers as text

N = 10_000
SCHEMES = [("with-replacement", 1.0), ("without-replacement", 1.0), ("popularity", 2.0)]
METRICS = ["AUC", "AP", "NDCG", "NDCG@10", "Recall@10", "Precision@5"]
AP, AUC, RECALL = (sd.parse_metric(name) for name in ("AP", "AUC", "Recall@10"))
BV = sd.correction("BV", gamma=0.1)


def like(said, wanted):
    pattern = ".*".join(re.escape(part) for part in wanted.split("…"))
    assert re.fullmatch(pattern, said.replace("\u00a0", " "), re.DOTALL), said


def rows(*states_and_m):
    known = zip(states_and_m, "ZZY", "XYX", (0.99, 0.9, 0.8031), strict=False)
    return [
        {"state": state, "right_from": m, "better": better, "worse": worse, "probability": chance}
        for (state, m), better, worse, chance in known
    ]


def many(state, *, ahead=False, right_from=970, metric="Recall@10 (BV 0.1)", m_max=1_000):
    states = {"wrong": 14, "undecided": 3, "right": 173, "tied": 0}
    worst = {"better": "s7", "worse": "s3", "state": state, "probability": 0.6012}
    worst["sampled"] = 0.01 if ahead else -0.01
    return sentences.say.many_systems(metric, "100 negatives", worst, states, right_from, m_max)


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


def fitted(name, n=N, m=100, metric="Recall@10"):
    return sd.parse_correction(name).fit(metric, sd.Sampling(n, m))


#: Parts of the formulas that the page shows, after eq. 20, 22, 23 and 25 of Krichene & Rendle.
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
    assert steps[-1].endswith("= 0.049") == (name == "BV 0.1")
    exec(correct.script(made), space)
    assert space["fit"].values.tobytes() == made.values.tobytes()


def corrected(before, after, scatter=0.0003, size=6_040, m=100):
    return correct.say.sentence(RECALL, m, BV, before, after, scatter, size)


def fraction(metric, scheme):
    return explore.formula(metric, 100, sd.Sampling(N, 99, scheme), 0.0, 0.0)[2]


NAN = float("nan")
DRAWN, REPLACED = (sd.Sampling(N, m, "with-replacement") for m in (100, 99))
SOME, EVERY = (sd.Sampling(n, m, "without-replacement") for n, m in ((N, 100), (100, 99)))
RIGHT, WRONG, FIRST = (np.array(x) / 10 for x in ([1, 2, 3], [2, 1, 3], [1, 3, 2]))
UNDECIDED = rows(("right", 1), ("undecided", 5), ("undecided", 7))

#: Two users and three items; one (user, item) pair occurs twice.
ROWS = {"users": ["u", "v"], "items": ["a", "b", "c"], "user": [0, 0, 1, 0], "item": [0, 1, 2, 0]}
TAKEN, ONCE = Interactions(**ROWS), Interactions(["u"], ["a"], [0], [0])
RATED = Interactions(**ROWS, rating=[0.5, 5, 4.5, 3], time=[1, 2, 3, 4])
SWEPT = pd.DataFrame({"d": [8, 16, 4], "ATOP": [0.8, 0.9, 0.7], "RMSE": [0.8, 0.9, 1.0]})
TOPS = pd.DataFrame({"k": [0.01, 0.02, 0.04], "A": [0.1, 0.2, 0.4], "B": [0.2, 0.3, 0.5]})
OFF = {"measure": ["AUC", "AP"], "observed": [0.5, 0.01], "complete": [0.6, 0.02]}
OFF = pd.DataFrame(OFF | {"off": [-2.26, 1.0]})
GAMMAS = {"gamma": [0.001, 0.123, 1e-5], "mse": [0.04, 0.01, 0.09]}
GAMMAS = pd.DataFrame(GAMMAS | {"largest": [1.0, 2.0, 123.4], "condition": [1.0, 2.0, 1.23e9]})
CELL = namedtuple("CELL", "ours our_std text matched")
WORST = SimpleNamespace(states=np.array([[0, 3], [2, 2], [3, 2], [1, 0]]))
WORST.metrics = [*map(sd.parse_metric, ("NDCG", "AUC", "AP", "RR"))]
CLS, RANK = sd.correction("CLS"), sd.correction("rank-estimate")


def holds(name, n):
    return " ".join(sentences.cutoff_holds_all(sd.parse_metric(name), n, 9))


def stub(n, m, scheme="without-replacement", metrics=("AP",), **more):
    """Return a stub of the data that sentences need, with n of each instance of each system."""
    ranks = [2, 3, 1][: len(n[0])]
    sets = [sd.RankSet(x, ranks, some, **more) for x, some in zip("ABC", n, strict=False)]
    metrics, protocol = [*map(sd.parse_metric, metrics)], Protocol.of({"scheme": scheme})
    return SimpleNamespace(sets=sets, m=m, protocol=protocol, metrics=metrics)


def estimated(word, *values):
    return estimates.sentence("AP", word, "ABCD"[: len(values)], values, "mle", (0.05, 0.2))


def split(training, test, *, kept=False):
    return Split(training, None, test, "", exclude_seen=not kept)


def settled_by(*pairs):
    return correct.real_ranks(BV, [Settled("ABC"[i], *x) for i, x in enumerate(pairs)], 2000)


def note(*values):
    law = sd.Sampling(N, len(values) - 1)
    return correct.vector_note(Fit(BV, AP, law, np.array(values, dtype=float)))


NAMES = {
    "start": start,
    "escape": escape,
    "consistency": consistency,
    "lab": lab,
    "paper": paper,
    "ranks": ranks,
}
NAMES |= {"checks": checks, "Prior": Prior}
TILE, ROW = (
    {"metric": "AP", "exact": 0.01, "sampled": -0.02, "probability": 0.3},
    ("Z", "#123", "━━"),
)
READ = Summary("A", 1200, (30, 40), 99, 99, 1, 90, 2, False, False, True, False, 4, 80, 3, 50)
#: Lines of ``call | expected sentence``.
TABLE = r"""
sentences.sentence("AP", "9 negatives", "XY", [0.1, 0.2], [0.4, 0.3], rows(("wrong", 970)), 3686)
    | With 9 negatives AP ranks X > Y; on all items Y > X. Right from m = 970.
sentences.sentence("NDCG", "1 negative", list("XYZ"), [1, 2, 3], [4, 5, 6], UNDECIDED, 99)
    | With 1 negative NDCG rightly ranks Z > Y > X; one run shows Y > X in 80.31 %.
many("wrong") | …. 14 of 190 pairs wrong, right from m = 970.
many("undecided", ahead=True)
    | …rightly ranks s7 above s3; one run shows it in 60.12 %. 3 of 190 pairs undecided.
many("right", ahead=True, right_from=None) | …as on all items: not right even at 1,000.
sentences.settled(rows(("wrong", None), ("right", 1)), 99) | Not right even at 99.
sentences.settled(rows(("tied", None)), 99) | …equal…
corrected(0.02, 0.01, 0.5) | …is useless for Recall@10…more than the bias of 2.00 % it repairs.
consistency.tile("wrong", None, 3_686) | …not by 3,686</span>
consistency.say.one_run("Y", "X", "100 negatives", 0.3142, (0.2, 0.48))
    | …**31.42 %**; with shared negatives between 20.00 % and 48.00 %…
consistency.say.one_run("Y", "X", "100 negatives", 0.3142, None) | …**31.42 %**.
consistency.say.one_run("Y", "X", "100 negatives", 0.3, (0.3, 0.3)) | …also with shared negatives.
consistency.say.plan("Y", "X", 0.95, 100, 121, 9_307, 6_040)
    | …**121 negatives** with these 6,040 instances, or **9,307 instances**…
consistency.say.flips("X", "Y", [], 1) | X and Y never change order.
consistency.say.flips("X", "Y", [*range(2, 16)], 15) | …order 14 times, settled right from 15.
consistency.leaders(np.array([1, 10, 400]), ["X"], np.array([[0.5], [0.2], [0.0]]))
    | Most at rank 1: X (50.00 %). Most at rank 11 to 400: none.
consistency.leaders(np.array([200, 400]), ["X", "Z"], np.array([[0.0, 0.5], [0.2, 0.1]]))
    | Most at rank 1 to 200: Z (50.00 %). Most at rank 201 to 400: X (20.00 %).
consistency.say.repeated("P", "Q", 0.67, 200, 0.651)
    | 134 of 200 runs show P ahead of Q (67.00 %); the exact chance is 65.10 %.
consistency.say.counterexample("P", "Q", "AP", 10)
    | On all items P is ahead of Q by AP; with 10 sampled negatives Q is ahead in expectation.

explore.sentence(AP, 100, REPLACED, 0.01, 0.63659167554758955)
    | With 99 negatives drawn with replacement from 9,999, rank 100 scores AP = 63.66 % in…1.00 %.
explore.looks_like(AP, 1, DRAWN) | …rank 1…
explore.looks_like(AP, 5, sd.Sampling(10, 9, "with-replacement")) | Of the 4 items above…
fraction(AP, "with-replacement") | …(1-p)^{m+1}…
fraction(AP, "without-replacement") | …\sum…
fraction(RECALL, "with-replacement") | …P(\tilde r \le 10)…
fraction(AUC, "without-replacement") | …\frac{n - r}{n - 1}…

corrected(0.0, 0.02) | …unbiased: there is nothing to correct, and BV 0.1 adds a bias of 2.00 %.
corrected(0.3, 0.1, 0.0251, 1, m=1) | …one draw scatters by 2.51…
correct.gamma_meaning(sd.correction("CLS"), 1_000) | …has no γ.

*map(text.listed, ("a", "ab", "abc")), text.listed("abc", "or") | a a and b a, b and c a, b or c
*map(text.short_count, (1, 10**6, 2_500_000, 1_001_000, 990_000)) | 1 1M 2.5M 1,001,000 990,000
*map(correct.size, (0.02679, -0.5, 9.99, 31.2, 9999)) | 2.68 % −50.00 % 999.00 % 3,120 % 999,900 %
*map(correct.size, (-20, 10_000, 5757547462.5)) | −2,000 % 1.0e6 % 5.8e11 %
*map(correct.root, (815, 999.9**2, 10**6, 1e17, 0.004**2)) | 28.55 999.90 1.0e3 3.2e8 <0.01
*map(correct.root, (0.005**2, 1e-18, 0)) | 0.01 0.00 0.00
*map(text.p_value, (5e-5, 4.9e-5, NAN)) | 0.0001 < 0.0001 –
text.spell(checks.Refusal(" gamma is 1000", checks.Remedy("x", 3), " ")), text.spell("is it k?")
    | γ is 1,000. Is it k?
text.spell("n is 1000: 'a' is 10000, it's 2000") | n is 1,000: 'a' is 10,000, it's 2,000.
text.spell("file a=2000 of 2020-01-31, 1000.5, x1000!") | File a=2000 of 2020-01-31, 1000.5, x1000!
text.tex_count(12_345), text.tex_number(12_345_678), text.tex_number(0.125, 1), text.decimal(1234.5)
    | 12{,}345 1.235 \times 10^{7} 0.1 1,234.50

sentences.negatives(1, "sampled"), *map(text.first_named, ("abcd", "abc"))
    | 1 sampled negative a, b, c and … a, b and c
sentences.ranking("ABCD", [0.1, 0.2, 0.3, 0.3 + 3e-13]) | C = D > B > …
sentences.outside({"A": [0.5, -0.06], "B": [1.1], "C": [0, 1]})[0] | A and B are outside…
sentences.outside({"A": [-0.06]}, "BV")[0] | A by BV is outside…
holds("Recall@50", 50), holds("Precision@50", 50)
    | The cutoff holds all 50 …is 100.00 % at every…@50 is 2.00 % at every…
holds("AP@60", 50) | …candidates: AP@60 is AP. Take a k below 50, or a larger n.
holds("Recall@49", 50)
    | The cutoff holds all 10 items…Recall@49 is 100.00 %…k up to 9, or more negatives.
holds("Recall@10", 50) + holds("Recall@9", 50) + holds("AP@10", 50) + holds("AP", 50)
    | The cutoff holds all 10 items…Recall@10 is 100.00 % whatever is drawn…more negatives.
*sentences.beware(stub([[9, 9, 5], [9, 9, 5], [9, 8, 4]], 4, instances=["u", "v", "w"]), str.lower)
    | a and c ranked different candidates: instance v has n = 9 and 8.
*sentences.beware(stub([[9, 5, 5]], 5, metrics=["Recall@5", "AP@9", "NDCG@4"], counts=[1, 2000, 1]))
    | 2,001 of 2,002 instances have fewer than 5 negatives: …theirs. 2,001 of 2,002 instances have
      no candidate beyond k = 5. The cutoff holds all 9 candidates: AP@9 …
*sentences.beware(stub([[9, 5, 5]], 5, instances=["u", "v", "v"]))
    | 1 of 2 instances have fewer than 5 negatives: …theirs.
*sentences.beware(stub([[9, 5, 5]], 5, "with-replacement")) |
*sentences.beware(stub([[9, 9]], 2, metrics=["AP@8"])) |
*(sentences.drawn_negatives(stub(*x)) for x in (([[9, 9]], 8), ([[9, 9]], 7), ([[9, 7]], 8)))
    | all 8 negatives 7 negatives all negatives
sentences.drawn_negatives(stub([[9, 9]], 8, "with-replacement")) | 8 negatives
*(sentences.other_metrics(WORST, x) for x in (0, 2))
    | Also wrong: RR. Right: AUC and AP. Wrong: NDCG and RR. Also right: AUC.
escape.short_name("a" * 24) + escape.short_name("bcdefghijklmn", 12), escape.plain("<&>" * 9, 4)
    | aaaaaaaaaaaaaaaaaaaaaaaabcdef…ijklmn &lt;…&amp;&gt;
many("tied"), many("undecided")
    | Nothing to order: … ranks s3 above s7; on all items s7 wins. 3 of 190 pairs undecided, right…
sentences.settled(rows(("right", 12), ("wrong", 1000), ("wrong", 7)), 99) | Right from m = 1,000.
sentences.sentence("AP", "2 negatives", "XYZ", [1, 2, 3], [4, 5, 6], rows(("right", 1)), 99)
    | With 2 negatives AP ranks Z > Y > X, as it does on all items. Right from m = 1.

estimates.say.printed(0, SOME), estimates.say.printed(1, SOME)
    | …, off by their rounding alone, with 100 of 9,999 negatives drawn…over 1 instance, with…
*(estimates.say.instead(*x, "range") for x in (("side by side", "mle"), ("mes", "side by side")))
    | Estimated side by side, …: shown is the mle. Estimated by mes, …: shown is side by side.
estimates.goes_with_rank("AB", None), estimates.goes_with_rank("A", 1 / 2500)
    | The data say that … decided m (A and B). …Items of A with … than once in 2,500 evaluations…
estimates.goes_with_rank("A", 0) | …than once in 1,000,000 evaluations…
estimates.by_reading({"A": (0.25, 0.5), "B": (0, 1)}, "mle")
    | By mle: A 25.00 % if m was set…, 50.00 % if what was drawn…; B 0.00 % if m…, 100.00 % if what…
estimates.say.repeated(2000, 1), estimates.say.repeated(20, 2)
    | 2,000 sampled ranks of 1 instance: …20 sampled ranks of 2 instances: …
estimates.say.few("A", 1, 0.3), estimates.say.few("A", 2, 0.12345)
    | From 1 sampled rank of A …: 30.00 points are…From 2 sampled ranks of A …: 12.35 points are…
estimates.say.understood("A", 1), estimates.say.understood("ABCD", 2000)
    | Read: 1 sampled rank of 1 system, A. Read: 2,000 sampled ranks of 4 systems, A, B, C and ….
*estimates.unlike("AP", {"A": 9, "B": 8, "C": 2000}, {"A": 5, "B": 5})
    | n differs, from 8 (B) to 2,000 (C): AP is then…systems alone.
*estimates.unlike("AP", {"A": 9, "B": 9}, {"A": 5, "B": 4})
    | m differs, from 4 (B) to 5 (A): uncorr…
estimated("decided", 0.2, 0.1), estimated("if falling", 0.1, 0.2)
    | AP orders A > B, whatever …AP orders B > A if no rank…
estimated("open", 0.1, 0.2), estimated("open", 0.1, 0.2, 0)
    | …has the higher AP. Estimated (mle): B > A. …the highest AP. Estimated (mle): B > A > C.
estimated("open", 0.1, 0.2, 0, 0), estimates.alone("AP", "A", (0.1, 0.10000001))
    | …has the highest AP. AP of A is 10.00 %.
estimated("open", 0.1) | AP of A lies between 5.00 % and 20.00 %. Estimated (mle): 10.00 %.
*(estimates.say.table_sentence("AP", *x) for x in (("decided", "A"), ("if falling", "A"),
    ("decided", None)))
    | A has the highest AP, whatever…A has the highest AP if…This table cannot tell…
estimates.span(-0.0123, 0.2),
    *(estimates.say.told("A", "B", *x) for x in ((1e-9, 1), (-1, -1e-9), (0, 0)))
    | −1.23 to +20.00 points A is better B is better cannot tell
estimates.best_gamma(GAMMAS, "AP"), estimates.price_of_gamma(GAMMAS)
    | …least, 10.00 %, at γ = 0.12; at γ = 1/|D| = 0.001 by 20.00 %. …γ = 1e-5: …entry of 123
      and…1.2e+09.
estimates.say.price("AP", "A", (1.6, 2.4), (0.5, 2000)), estimates.say.about_example(2000, 1000, 7)
    | …takes 2 to 2 scores for each of these…, 0 to 2,000 for…of 2,000 users 1,000 negatives…seed
      7. …

lab.data(TAKEN), lab.data(ONCE) | 2 users, 3 items, 4 interactions, without ratings, in the order of
    the file, 1 of them repeats. 1 user, 1 item, 1 interaction, without…file, no repeats.
lab.knobs("EASE") | Linear item weights that rebuild each history without its own item. Steck…
lab.data(RATED) | …4 interactions, rated 0.5 to 5, in time, 1 of them repeats.
lab.split("last", split(RATED, ONCE)), lab.split("last", split(TAKEN, RATED), 5) | …last in time: 1
    tested; …last in the file: 4 tested, of 2 users; 1 rated 5 or more are…is no …
lab.split("part", split(TAKEN, TAKEN, kept=True), 5)
    | Of all interactions the last in the file: 4 tested, of 2 users; what…stays a candidate…
*(lab.say.working("A_", *x, halted=False) for x in ((1, 9), (0, 9), (0.256, 1), (0.5, 0.9), (0.5,
    None))) | A\_: ready A\_: waits A\_: 26%, 1 s left A\_: 50% A\_: 50%
lab.say.working("A", 0.5, 9, halted=True), lab.say.missing([], 3),
    lab.say.missing("A", 3) + lab.say.missing("A", 1)
    | A: 50%, halted All of these are trained. 2 of 3 are trained and kept.
lab.say.partly([]) + lab.say.partly("AB"), lab.say.earlier("A", "x")
    | Without A and B…Still A as…before (x)…
lab.swept("d", SWEPT), lab.swept("d", SWEPT[1:])
    | …highest at d = 16 (90.00 %), RMSE lowest at d = 8 (0.800), where ATOP is 80.00 %. …is highest
      at d = 16 (90.00 %), and there RMSE is lowest too (0.900).
lab.tops(TOPS) | …the first 2 % of the list hold 20.00 % with A and 30.00 % with B.

paper.missing(1, OFF), paper.missing(1000, OFF[1:])
    | Missing at random: AUC reads 50.00 % instead of 60.00 %, 2.3 standard errors off; AP
      reads…Observed 1,000 times as often: AP reads 1.00 % instead of 2.00 %, 1.0 standard…
paper.cell(CELL(1.236, NAN, "1.24", True), 2), paper.cell(CELL(1.25, 0.01, "1.2", False), 2)
    | 1.24 → 1.24 ✓ **1.2 → 1.25±0.01 ≠**
paper.say.unmatched("X, AP, 1", "0.5", 0.256), paper.ours(-9e-10, "x"), paper.ours(1e-9, "x")
    | AP, 1 (0.5, ours 0.26) 0: x 1e-09: x
paper.say.verdict(True, ""), paper.say.verdict(False, "as read")
    | ✓ holds **≠ does not hold**; as read

consistency.say.looked_at(9, 3_686, capped=True) | Looked at 9 values of m up to 3,686, and between…
consistency.flip_list("1 2 3 4 5 6"), consistency.say.flips("X", "Y", [1, 2, 3, 4, 5, 6], 6)
    | 1 · 2 · 3 · 4 · 5 · 6 …at m = 1, 2, 3, 4, 5 and 6.
consistency.tile("right", 1000, 9), consistency.tile("tied", None, 9, narrow=True)
    | ✓ right<…right from 1,000</span> =
*(consistency.tile("wrong", x, 9, narrow=True) for x in (None, 970)) | ⇅<br><span …>–<… ⇅<…>970<…
*(consistency.scatter_note([0.1, x, 0.9], [0.1, 0.05, 0.0])[14:25] for x in (0.4, 0.41))
    | scatter abo would agree
consistency.scatter_note([0.1, 0.9], [0.0, 0.0]), consistency.scatter_note([0.1], [0.1])
    | Repeated runs scatter…Repeated runs scatter…
consistency.formula("AP", 1000, 2000)[2] | M = \text{AP},\quad |D| = 2{,}000,\quad m = 1{,}000
*(consistency.say.anything_to_order("Y", "X", 0.01, (0.005, 0.02), p, 2) for p in (0.05, 0.0501))
    | **There is something to order**: Y is ahead of X by 1.00 points (95 % interval 0.50 to 2.00 …
      **Nothing to order…**…; p = 0.0501 after Holm over 2 pairs.
consistency.say.plan("Y", "X", 0.95, 1000, None, None, 60)
    | To show Y ahead of X in 95 %…at m = 1,000.
consistency.say.plan("Y", "X", 0.95, 1, None, 2000, 60)
    | …no number of negatives…, or **2,000 instances** with 1 negative.
consistency.say.plan("Y", "X", 0.95, 100, 1, None, 6040)
    | …**1 negative** with these 6,040 instances; with 100 negatives no number…
consistency.needed(NAN), consistency.needed(2000), *text.plus_minus([0.25], [0.01])
    | not reachable 2,000 25.00 ± 1.00 %
consistency.say.looking(BV), consistency.say.looking(RANK)
    | Fitting BV 0.1 over m Looking at every m

sentences.say.drawn(SOME) | With 100 of 9,999 negatives
consistency.say.looked_at(0, 3_686, capped=True) | Every m up to 3,686 is looked at; the data…
consistency.say.tied("A", "B"), consistency.say.some_systems(4, 2000)
    | A and B have the same exact value: …4 of 2,000 systems: those of the marked…
consistency.say.some_systems(4, 4) + consistency.say.weakest_order("few.", 1, 3, "weak.")
    | few. Other instances may turn round 1 of 3 pairs. weak.
*(consistency.say.instead("AP@10", m, {"sampled": 0.1, "exact": off, "corrected": 0.05}, *more)
    for m, off, *more in ((1, None, None, False, 2000, 0, 0), (10, 0.2, "CLS", False, 2000, 7, 99)))
    | For the price of 1 negative not one instance can be ranked …; 1 sampled negative is off by
      10.00 points. For the price of 10 negatives, ranking all candidates of 7 of 2,000 instances is
      off by 20.00 points; 10 sampled negatives are off by 10.00 points, corrected by CLS by
      5.00 points. Nothing but the last candidate decides AP@10: …
*(consistency.say.instead("AP@10", 9, {"sampled": 0.1, "exact": off}, None, True, 2000, 7, 8)
    for off in (0, 0.25))
    | …9 negatives, stopping when decided gives the exact AP@10 of all 2,000 instances, at 8 scores
      each; …, stopping when decided gives the exact AP@10 of 7 of 2,000 instances, which is off by
      25.00 points; 9 sampled negatives are off by 10.00 points.
consistency.say.stop_when_decided(), consistency.say.best_order()
    | Stop when decided: …Best order: …
consistency.say.exact_values("AP", 9, [{"place": place, "name": name, "value": 0.1} for place, name
    in (("first", "A"), ("tied", "B"), ("behind", "C"))], complete=True)
    | AP on all items: A (10.00 %) and B (10.00 %) before C (10.00 %).
consistency.say.exact_values("AP", 9, ["A has 1", "B has 2"], complete=False)
    | AP needs ranks beyond 9: A has 1 and B has 2.
consistency.say.range(0.1, 0.1), consistency.say.range(0.1, 0.2) | 10.00 % 10.00 % to 20.00 %
*(consistency.say.lists_end_early(*x) for x in ((2000, []), (9, ["AP"]), (0, ["AP", "AUC"])))
    | …beyond 2,000. Metrics cut at 2,000 or before are exact. What…beyond 9. … AP need more: take a
      cutoff, k = 9 at most. What…beyond 0. AP and AUC need more: rank more items. What…
estimates.say.legend(0, 0), estimates.say.legend(1, 1)
    | …without an assumption. Dot: the estimate. …better one. Dot: the estimate. Upright line: …
estimates.say.no_gamma(), estimates.say.contradicts("A") | …no vector…A: these numbers contradict…
lab.split("random", split(RATED, ONCE)), lab.split("last 5 halved", split(TAKEN, ONCE))
    | Of each user a random interaction; …Of each user a random half of the last five in the file: …

explore.looks_like(AP, 2, DRAWN), explore.looks_like(AP, 3, EVERY)
    | Of the 1 item above, on average 0.01 enter …The sample holds every one of the 2 items above…
explore.looks_like(AUC, 100, sd.Sampling(N, 9, "popularity", 2.0)) | …that is another, and AUC…
explore.one_draw(AP, 1, sd.Sampling(N, 1)), explore.one_draw(AP, 0, DRAWN)
    | The one drawn…: **sampled rank 2**, AP = 50.00 %. …**sampled rank 1**, AP = 100.00 %.
explore.one_draw(sd.parse_metric("Precision@5"), 3, DRAWN)
    | 3 of the 100 drawn negatives are…**sampled rank 4**, … = 20.00 %.
explore.say.many_draws(AP, 0.25, 0.3, 2000) | Over 2,000 draws AP averages 25.00 %; …is 30.00 %.
*(explore.law(x, 2000, DRAWN, [0.05] * 101) for x in (RECALL, sd.parse_metric("Recall@1"), AP))
    | True rank 2,000…first 10 of 101 with…50.00 %. …at the top of 101… 5.00 %. …at the top… 5.00 %.
explore.say.turned_round(1000, 2000, 3000) | Sampled rank 1,000 says: …in 2,000 to 3,000 with 90 %…
explore.say.family(AP, 1000, {10: 0.5, 2000: 0.25}, 0.1)
    | AP of rank 1,000: 50.00 % with m = 10, 25.00 % with m = 2,000; on all items 10.00 %.
explore.say.picture(AP, 1000, DRAWN, 0.1, 0.2)
    | …n = 10,000: …m = 100 sampled…At rank 1,000 exact 10.00 %, sampled 20.00 %.
explore.sentence(AP, 1000, REPLACED, 0.01, 0.01 + 9e-10) | …rank 1,000 …the same as on all items.
explore.say.source(AP), explore.say.source(sd.parse_metric("ATOP")) | Krichene…Steck…; Krichene…

corrected(0.02, 0.02004, 0.5), corrected(0.02, 0.01, 0.02)
    | …leaves the average bias of Recall@10 at 2.00 %; a mean over 6,040 …cuts the average…
corrected(1e-10, 9e-10), corrected(1e-9, 0.5, m=1)
    | …leaves it so. With 1 negative, …raises…from < 0.01 % to 50.00 %…
correct.say.picture(AP, DRAWN, [BV, CLS]) | …n = 10,000, m = 100: …under BV 0.1, CLS.
correct.risks({BV: (0.04, 0.09), CLS: (0.0, 0.25)}, 25)
    | BV 0.1: bias 20.00 %, scatter…6.00 %; CLS: bias 0.00 %, scatter…10.00 %
note(3, 1, 2, 0.5)
    | …among 4, report the t-th value instead of AP(t); …It changes direction 2 times: …
note(3, 2, 2 + 1e-13, 1, -0.25) | …It falls with…rank. Its smallest value, −25.00 %, is below…
correct.gamma_meaning(BV, 3_000) | …3,000 instances, γ = 1/|D| = 0.00033 weighs … Here γ = 0.1.
correct.say.tradeoff(BV, 2000), correct.say.tradeoff(CLS, 2)
    | …over 2,000 instances. …of BV 0.1 is…: a smaller γ or a larger m would…: a larger m would…
settled_by((1, 1)), settled_by() | …all pairs right at every m. Nothing to order…
settled_by((1, 1), (1, 2)), settled_by((20, 20), (None, 3)), settled_by((7, 3), (None, None))
    | BV 0.1 orders B right from m = 2; …BV 0.1 orders B right from m = 3; …not at any m up to
      2,000. …does not settle on the right order of B up to m = 2,000; uncorrected not at any m…
correct.say.resolved(DRAWN, 1e-5, 0, 0), correct.say.resolved(DRAWN, 0.1, 1, 2000.6)
    | …100 negatives and γ = 1e-5 not even…the 10,000 ranks…degree 1 are…2,001 of 10,000 ranks wide.
correct.say.reading("Recall@10", 10, DRAWN, 1000, 1999.6)
    | …Recall@10 on 100…like Recall@1,000 to Recall@2,000 on all 10,000…like Recall@10: …

*(correct.say.average_bias(Prior(*x), 0.1, 2) for x in (("uniform",), ("1/rank",), ("", b"x")))
    | …over all ranks, each weighing the same. Uncorrected: 10.00 %; reporting 0 always: 200.00 %.…
      weighing as the prior 1/rank says.…weighing as own weights say.…keeps its bias.
correct.say.prior_note(2000, 5, 1, True, 1000), correct.say.prior_note(9, 5, 1200, False, 1000)
    | Weights of the ranks 1 to 2,000, 5 of them above 0; rank 1 has half of their sum or more.…
      the first 1,200 have half…do not travel in a link: up to 1,000 typed characters do, files…
consistency.say.hover(TILE, "A", "B", "✓ right<br>at 9"), consistency.say.legend([ROW], "#000", 2)
    | AP: A is better than B by 1.00 points<br>…−2.00 points<br>one run shows it: 30.00 %<br>…right,
      at 9 <div…<span style="color:#123">━━</span>&nbsp;Z</span>…on all items…2 more not drawn…
ranks.say.numbers(READ), ranks.say.alone(None, None, 9, None), ranks.say.alone("AP", 0.5, 1, 0.25)
    | 1,200 ranks from 1 to 90 for 30 to 40 instances of each system, n = 99; counted from 1; each
      row counts for its number of instances; up to 2 relevant items an instance; no ties; 3 of them
      only known to lie beyond a list, the shortest of 50; 4 of 80 relevant items not in the run.
      One system…file. One…Its AP is 50.00 %; on 1 sampled negative 25.00 % would be expected.

start.headline("ABC", RIGHT, RIGHT, 5) | With 5 negatives the order is right
start.headline("ABC", RIGHT, WRONG, 1) | With 1 negative the order is wrong
start.headline("ABC", RIGHT, FIRST, 10) | With 10 negatives the best of three does not look best
sliding.step_title("AP", "ABC", RIGHT, FIRST) | ⇅ <b>wrong</b> by AP: B > C > A
"""


def said():
    for line in filter(None, re.sub(r"\n    +", " ", TABLE).splitlines()):
        calls, _, wanted = line.partition(" |")
        yield " ".join(eval(f"[{calls}]", globals() | NAMES)), wanted.strip()


def test_every_branch_of_every_sentence_is_rendered_below(monkeypatch):
    tag, inline = (
        re.compile(r"{%-? *(?:macro|if|elif|else|for)\b.*?(-?)%}", re.DOTALL),
        templates.inline,
    )
    branches, rendered = {}, set()

    @pass_context  # keeps Jinja from evaluating the filter at compile time
    def mark(_, number):
        rendered.add(number)
        return ""

    def marked(source, **names):
        if not source.endswith("{% endmacro %}\n"):  # a formula, which has no branches
            return inline(source, **names)

        def with_mark(match):
            branches[len(branches)] = source[match.start() : match.end() + 60]
            return f"{match[0]}{{{{{match[1]} {len(branches) - 1} | mark {match[1]}}}}}"

        return inline(tag.sub(with_mark, source), mark=mark, **names)

    monkeypatch.setattr(templates, "inline", marked)
    for module in (sentences, estimates, consistency, correct, explore, lab, paper, ranks):
        module.say._module.cache_clear()
    for _ in said():
        pass
    for module in (sentences, estimates, consistency, correct, explore, lab, paper, ranks):
        module.say._module.cache_clear()
    assert len(branches) > 150
    assert [text for number, text in branches.items() if number not in rendered] == []


def test_what_is_said_of_what():
    for sentence, wanted in said():
        like(sentence, wanted)
    assert text.unbroken("m = 1 to 5.00 %") == "m\u00a0=\u00a01 to 5.00\u00a0%"


def test_the_first_page_draws_heights_and_keeps_labels_apart():
    assert sliding.heights(FIRST).tolist() == pytest.approx([0.0, 1.0, 0.5])
    spread = sliding.spread(np.array([0.0, 0.02, 1.0]), 0.2)
    assert spread.tolist() == pytest.approx([-0.09, 0.11, 1.0])


SHARES = {0.9999963: "> 99.99 %", 1 - 2e-12: "> 99.99 %", 1 - 1e-15: "100.00 %", 1: "100.00 %"}
SHARES |= {1 + 1e-15: "100.00 %", 1 + 1e-6: "> 100.00 %", 1.001: "100.10 %", 0.99994: "99.99 %"}
SHARES |= {0.0: "0.00 %", 1e-9: "< 0.01 %", -1e-9: "0.00 %"}


@pytest.mark.parametrize(("value", "printed"), SHARES.items())
def test_a_share_reads_as_100_percent_or_0_only_where_it_is(value: float, printed: str) -> None:
    assert text.percent(value) == printed
    assert text.rounded(-5e-5) == ("", "-0.01")
    sign = "" if printed[0] in "<>" else "= "
    assert text.equals(value) == sign + printed
    assert text.tex_equals(value) == (sign + printed).replace(" %", r"\,\%")
