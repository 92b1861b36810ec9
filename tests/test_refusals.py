"""Each error message is one sentence that names the parameter, the value and the remedy."""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np
import pytest

import sampledash as sd
from sampledash import metrics
from sampledash.estimation import estimate
from sampledash.estimation.estimate import METHODS
from sampledash.estimation.rank_distribution import fitted
from sampledash.papers import krichene as tables
from tests import wrong_calls

A, B = sd.RankSet("A", [1, 2, 5], 10), sd.RankSet("B", [2, 3, 4], 10)

#: Calls of the functions that take scheme, odds, ties, weighting and correction.
CALLS: dict[str, Callable[..., object]] = {
    "expected_mean": lambda m=3, **o: sd.expected_mean("AP", A, m, **o),
    "std_of_mean": lambda m=3, **o: sd.std_of_mean("AP", A, m, **o),
    "curve": lambda m=3, **o: sd.curve("AP", [A, B], [1, m], **o),
    "flips": lambda m=3, **o: sd.flips("AP", [A, B], m, **o),
    "right_from": lambda m=3, **o: sd.right_from("AP", [A, B], m, **o),
    "probability_of_order": lambda m=3, **o: sd.probability_of_order("AP", [A, B], m, **o),
    "simulate": lambda m=3, **o: sd.simulate("AP", A, m, 3, np.random.default_rng(0), **o),
    "verdict": lambda m=3, correction=None, **o: sd.verdict(["AP"], [A, B], m, [correction], **o),
}


def decided(
    score: object = lambda items: items, relevant: object = 4, k: int = 2, **more: object
) -> object:
    return sd.rank_until_decided(score, relevant, **{"candidates": ITEMS, "k": k} | more)


def evaluated(users: object, systems: object = None, **more: object) -> object:
    return sd.evaluate(users, {"A": lambda user, x: x} if systems is None else systems, 2, **more)


def json(**changes: object) -> str:
    content = {"metric": "AP", "n": 50, "m": 2, "scheme": WITH, "odds": 1.0, "prior": None}
    content |= {"correction": "BV 0.1", "values": [1, 0.5, 0.2], **changes}
    return str(content).replace("'", '"').replace("None", "null")


def nan_at(place: int) -> Callable[[object], object]:
    return lambda items: np.where(items == place, np.nan, items * 1.0)


ITEMS = np.arange(30)
USER = ("u", 4, ITEMS)
X = {"HR@1": 0.1746, "HR@5": 0.4892, "HR@10": 0.6622, "NDCG@10": 0.3921}
ranks = partial(sd.RankSet, system="S", ranks=[3, 1], n=10)
listed = partial(sd.RankSet, system="S", ranks=[3, 11], n=30, instances=["u", "u"])
sampled = partial(sd.SampledRankSet, system="X", sampled_ranks=[1, 2], n=50, m=10)
law = partial(sd.Sampling, n=10, m=3)
printed = partial(sd.bounds_from_table, "Recall@10", observed=X, n=3541, m=100, decimals=4)


def cell(name: str, value: object) -> object:
    return printed(observed=X | {name: value})


BOTH, AP, AUC, BV = [A, B], sd.parse_metric("AP"), sd.parse_metric("AUC"), sd.correction("BV")
WITH, WITHOUT = "with-replacement", "without-replacement"
POPULARITY, FALLING = "popularity", "non-increasing"
RNG, MANY, FIT = np.random.default_rng(0), 10**12 + 1, BV.fit("AP", sd.Sampling(50, 9))
SEVERAL = sd.RankSet("S", [1, 5], 10, instances=["a", "a"])
HALVES = sd.RankSet("S", [1], 9, counts=[1.5])
KNOWN = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9])
TIED = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9], ties=[1, 0])
MIXED = sampled(sampled_ranks=[1, 2, 3, 1, 4, 9], m=[5, 5, 5, 20, 20, 20])
#: Most sampled ranks are in the middle, which no non-increasing rank distribution allows.
MIDDLE = sd.SampledRankSet("A", 1 + np.random.default_rng(8).binomial(100, 0.5, 500), 1000, 100)
# For n = 2, the rounded mean of n, the last 20 sampled ranks would be impossible.
MIXED_UP = sampled(
    sampled_ranks=[1] * 40 + [3] * 40 + [2] * 20, n=[2] * 80 + [3] * 20, m=2, scheme=WITH
)
FLAT = fitted(sd.SampledRankSet("S", [1, 2], 50, 4), "mle")
SAID = sampled(adaptive=True)
# Instance a has two relevant items, and one of them is tied with two irrelevant items.
BLOCKS = [sd.RankSet(x, [1, 4, 2], 9, instances=list("aab"), ties=[0, 2, 0]) for x in "PQ"]

CUT = sd.RankSet("cut", [2, 6, 7], 12, instances=list("aab"), beyond=[False, True, True])
OTHER = sd.RankSet("other", [1, 3, 2], 12, instances=list("aab"))
THREE = [sd.RankSet("A", [1, 2, 3], 9), sd.RankSet("B", [1, 2, 3], 9, instances=list("xyz"))]
PILOT = sd.SampledRankSet("S", [1, 2], 9, 3)

PARTS = (math, wrong_calls, metrics, tables, estimate, sd)
NAMES = {name: getattr(part, name) for part in PARTS for name in dir(part)} | globals()

#: Lines of ``call | beginning of the message | values that replace "?"``. <a/b> makes a call for
#: each of a and b; EVERY calls all functions of CALLS.
TABLE = r"""
EVERY(<scheme/fit_scheme>="uniform") | (|fit_)scheme must be one of .*got 'uniform'
EVERY(ties="random") | ties must be one of .*got 'random'
EVERY(odds=2) | odds = 2 applies to scheme 'popularity' only
EVERY(scheme=POPULARITY, odds=?) | odds must be above 0, got ? | 0 ; nan
EVERY(correction="magic") | correction must be one of .*got 'magic'
EVERY(correction="BV 2") | gamma must be .*at most 1, got
EVERY(correction="BV -0.1") | gamma must be at least 0.*got
EVERY(correction="BV x") | gamma must be a number, got 'x'
EVERY(?) | m(|_max) must be | 0 ; -1 ; 2.5 ; nan ; "ten"
CALLS["<expected_mean/std_of_mean/curve/probability_of_order/simulate/verdict>"](10, scheme=WITHOUT)
    | m = 10 is too large without replacement: .* 9 negatives

<simulate("AP", A, 3, 2/significance("AP", BOTH/sample_ranks(A, 3/law().draw([1]>, ?)
    | rng must be a numpy generator, got ?: numpy | None ; 3

<expected/variance>("AP", [1], None) | sampling must be a Sampling, got None: make one with
<posterior(1, None/BV.fit("AP", None/retained(None, 0.1/resolution(None, 0.1>)
    | sampling must be a Sampling, got None: make one with
<eigenvalues(None/counterexample("AP", None>) | sampling must be a Sampling, got None: make one with

<curve("AP", [], [1]/flips("AP", []>) | sets is empty: give at least one rank set
curve("AP", None, [1]) | sets must be a list, got None: write \[None\]
<curve("AP", A, [5]/flips("AP", A>) | sets must be a list of rank sets, got the one of 'A'
curve("AP", BOTH, 3) | m_values must be a list, got 3: write \[3\]
curve("AP", BOTH, []) | m_values is empty: give at least one m
<curve("AP", [A, A], [3]/flips("AP", [A, A]>) | system 'A' occurs twice: give each rank set
verdict(["AP"], BOTH, 3, corrections=[]) | corrections is empty: give at least one correction
verdict(["AP"], BOTH, 3, corrections="CLS") | corrections must be a list, got 'CLS': write \['CLS'\]
verdict(["AP"], BOTH, 3, corrections=BV)
    | corrections must be a list, got 'BV 0\.1': write \['BV 0\.1'\]
verdict([], BOTH, 3) | metrics is empty: give at least one metric
verdict("AP", BOTH, 3) | metrics must be a list, got 'AP': write \['AP'\]

mean("AP", [1, 2]) | ranks must be a RankSet, got \[1, 2\]: make one with
expected_mean("AP", [1, 2], 5) | ranks must be a RankSet, got \[1, 2\]
flips("AP", [A, [1]]) | ranks must be a RankSet, got \[1\]
mean("AP", A, ties="best") | ties must be one of .*got 'best'
mean("AP", A, weighting="micro") | weighting must be one of .*'micro'
<mean("foo", A/expected_mean("foo", A, 3/std_of_mean("foo", A, 3>) | unknown metric 'foo'
expected_mean("AP", KNOWN, 3, scheme=POPULARITY, correction=BV)
    | correction BV 0\.1 of system 'M' is not defined: with mass_above
expected_mean("AP", TIED, 3, scheme=POPULARITY) | ties of system 'M' need the weight

std_of_mean("AP", BLOCKS[0], 3, scheme=POPULARITY) | system 'P' has ties and several relevant
probability_if_redrawn("AP", BLOCKS, 3, scheme=POPULARITY) | .*'P' has ties and several relevant
<flips/right_from/negatives_needed>("AP", [A]) | .*needs at least two systems, got 1
<probability_of_order("AP", [A], 3/instances_needed("AP", [A], 3>) | .*at least two systems, got 1
<verdict(["AP"], [A], 3/significance("AP", [A], RNG>) | .*at least two systems
negatives_needed("AP", BOTH, 1.5) | probability must be above 0 and at most 1, got 1\.5
negatives_needed("AP", BOTH, m_max=0) | m_max must be at least 1
instances_needed("AP", BOTH, 5, redraw="all") | redraw must be one of negatives, both
<instances_needed/probability_if_redrawn>("AP", BOTH, 10, scheme=WITHOUT) | m = 10 is too large
significance("AP", [HALVES, A], RNG) | counts of system 'S' must be whole numbers.*1\.5
significance("AP", BOTH, RNG, resamples=10) | resamples must be at least 100, got 10
significance("AP", BOTH, RNG, confidence=1) | confidence
probability_if_shared("AP", [A, sd.RankSet("B", ?)], 3) | systems '.' and '.' cannot share negatives
    | [1, 2], 10 ; [1, 2, 5], 11 ; [1, 2, 3], 10, instances=list("abc")
<expected_mean/std_of_mean>("AP", A, 4, correction=correction("BV", prior=[1] * 19))
    | prior has 19 weights, but system 'A' has n = 10 .*the mean, rounded.*: give one weight

simulate("AP", A, 5, 0, RNG) | repeats must be at least 1, got 0
sample_ranks(HALVES, 3, RNG) | .*whole numbers to simulate
sample_ranks(SEVERAL, 3, RNG) | .*several relevant items in one instance
sample_ranks(A, 3, RNG, scheme=POPULARITY) | .*popularity has no one sampled rank

AP([1, 2, 3], [3, 4]) | n has shape \(2,\), but rank has shape \(3,\): give one
AP([[1], [2, 3]], 5) | rank must be one value or rows of one length, got \[\[1
AP([1, 2], [[5], [6, 7]]) | n must be one value or rows of one length
AP.of_set([[1], [2, 3]], 5) | ranks must be one value or rows of one length
ranks(<ranks/ties>=[[1], [2, 3]]) | (ranks|ties) of system 'S' must be one value or rows of one

correction("magic") | correction must be one of .*got 'magic'
correction("CLS", gamma=0.1) | gamma = 0.1 applies to 'bias-variance'
correction("BV", rounding="linear") | rounding applies to 'rank-estimate'
correction("rank-estimate", rounding="up") | rounding must be one of .*got 'up'
correction("BV", nonnegative=False) | nonnegative applies to 'monotone'
correction("uncorrected", prior=[1, 2]) | prior has no effect on 'uncorrected'
correction("BV", prior=?) | prior must hold numbers, got | [[1], [2, 3]] ; "flat"
correction("BV", prior=[]) | prior is empty: give one weight for each rank
correction("BV", prior=[0, 0]) | prior is zero at every rank: put weight on
correction("BV", prior=[[1, 1]]) | prior has shape \(1, 2\): give one weight
correction("BV", prior=[1, ?]) | prior of rank 2 is ? | -2 ; nan
correction("<BV/CLS/LS>", prior=[1, 2, 3]).fit("AP", law()) | prior has shape \(3,\)
correction("BV", prior=[1] + [0] * 8 + [1]).fit("AP", law(m=4))
    | prior gives sampled rank [234] no probability
FIT(?) | sampled_rank must be | 0 ; 11 ; 1.5 ; "a" ; nan
FIT.<expected/variance>(?) | rank | 0 ; 51 ; 1.5 ; "a"

<correction("BV", gamma=/retained(law(), >?) | gamma must be a number, got
    | True ; np.True_ ; "0.5" ; np.str_("2") ; b"1" ; [0.5] ; 10**400
correction("BV", gamma=?) | gamma must be .*got | -0.1 ; 1.1 ; nan ; inf ; "x"
resolution(law(), 0) | gamma must be above 0
retained(law(scheme=POPULARITY), 0.1) | .*popularity
Sampling(10, 3, POPULARITY, ?) | odds must be a number, got
    | True ; np.True_ ; "0.5" ; np.str_("2") ; b"1" ; [0.5] ; None ; 10**400
parse_sampling("n = 10, m = 3, popularity, odds = x") | odds must be a number

law(n=?) | n must be at most 10\^12, got 1000000000001: .*fewer | MANY
ranks(n=?) | n .*must be at most 10\^12, got 1000000000001: .*fewer | MANY ; [5, MANY]
sampled(n=?) | n .*must be at most 10\^12, got 1000000000001: .*fewer | MANY
AP<(/.of_set(>[1], ?) | n must be at most 10\^12, got 1000000000001: .*fewer | MANY

law(n=?) | n must be at least 2, got 1 | 1
law(n=?) | n must be a whole number, got ? | 2.5 ; 'x'
law(m=?) | m must be at least 1, got ? | 0 ; -3
law(m=10, scheme=WITHOUT) | m = 10 is too large without replacement: n = 10
law(scheme=POPULARITY, odds=?) | odds must be .*got ? | nan ; inf ; 'two'
law().<pmf/share_above>([1, ?]) | rank .*? | 0 ; 11 ; 1.5
law().draw([1, ?], RNG) | rank .*? | 0 ; 11 ; 1.5
parse_sampling("?") | \S+ \S+
    | 10, 3 ; n = 10, m = 3 ; n = ten, m = 3, with-replacement ; n = 10, m = 3, uniform
parse_sampling("n = 10, m = ?") | \S+ \S+ | 99, without-replacement ; 3, with-replacement, odds = 2

parse_metric("?") | \S+ \S+ | @10 ; foo ; foo@10 ; NDCG@ ; NDCG@x ; NDCG@1.5 ; AUC@10 ; Recall ; P
<metric/parse_metric>("foo") | unknown metric 'foo'.*NDCG
Metric("foo") | unknown metric 'foo'
parse_metric("hr10") | unknown metric 'hr10': write HitRate@10$
parse_metric("?") | unknown metric '?': known are Recall@k, NDCG | AUC10 ; foo10 ; 10 ; TOPK2
metric("ndcg", k=?) | k must be | 0 ; -1 ; 1.5 ; nan ; "ten" ; True ; [10]
parse_metric("NDCG@?") | k must be at least 1, got | 0 ; -3
metric("?") | .*(cutoff|k =) | precision ; recall ; hit_rate
AP(?, 10) | rank must be at least 1, got | 0 ; -2 ; [1, 0]
AP(?, 10) | rank 11 is larger than n = 10 | 11 ; [1, 11]
AP(?, 10) | rank must be a whole number, got
    | 2.5 ; nan ; inf ; "three" ; None ; [1, 2.5] ; [1, "three"] ; [1, None]
<AP/AUC>(1, ?) | n must be | 1 ; 0 ; -5 ; 2.5 ; nan ; "many"
AP.of_set([], 5) | .*ranks is empty
AP.of_set([2, 3, 2], 5) | .*holds 2 twice
AP.of_set([1, 2, 3], 3) | .*fills all 3
AP.of_set([6], 5) | .*6 is larger than n = 5
parse_metric("TOPK") | TOPK needs a share of the list, such as TOPK@0.02; got none
parse_metric("TOPK@10") | cutoff of 'TOPK@10' is '10': TOPK takes a share .* TOPK@2%
parse_metric("TOPK@?") | cutoff of 'TOPK@?' is '?' | -0.1 ; ten
parse_metric("ATOP@5") | ATOP takes no cutoff, got k = 5
Metric("auc", share=0.1) | AUC takes no share, got 0\.1
Metric("topk", k=5, share=0.1) | TOPK needs a share .* got k = 5
share_of(0, 10) | k must be at least 1, got 0

<expected/variance>("AP", ?, law()) | rank | 0 ; 11 ; 2.5 ; nan ; "one"
posterior(?, law()) | sampled_rank must be | 0 ; 5 ; 1.5 ; "a"
posterior(1, law(), []) | prior is empty: give one weight for each rank
posterior(1, law(), [1] * 9) | prior has shape \(9,\)
posterior(1, law(), [1] * 9 + [?]) | prior of rank 10 is ? | nan ; inf

ranks(ranks=[]) | ranks of system 'S' is empty
ranks(ranks=[?, 1]) | rank of system 'S' must be at least 1, got ? | 0 ; -4
ranks(ranks=[11, 1]) | rank of system 'S' 11 is larger than n = 10
ranks(ranks=[?, 1]) | rank of system 'S' must be a whole number, got ? | 1.5 ; nan ; 'a' ; None
ranks(n=?) | n of system 'S' must be at least 2, got 1 | 1 ; [10, 1]
ranks(ties=[-1, 0]) | ties of system 'S' must be at least 0, got -1
ranks(ties=[0.5, 0]) | ties of system 'S' must be a whole number, got 0\.5
ranks(<counts/mass_above>=[nan, 0]) | (counts|mass_above) of system 'S' must .*finite
ranks(<instances/n>=[9] * 3) | (instances|n) of system 'S' has shape \(3,\)
ranks(counts=["a", 1]) | counts of system 'S' must hold numbers
<expected_mean("AP", KNOWN, 3/std_of_mean("AP", KNOWN, 3/sample_ranks(KNOWN, 3, RNG>) | UNREAD
<simulate("AP", KNOWN, 3, 2, RNG/curve("AP", [KNOWN], [3]/matching_cutoff(1, KNOWN, 3>) | UNREAD
<verdict(["AP"], [KNOWN, B], 3/right_from("AP", [KNOWN, B]>) | UNREAD
probability_<of_order/if_redrawn/if_shared>("AP", [KNOWN, B], 3) | UNREAD

sampled(sampled_ranks=[]) | sampled_ranks of system 'X' is empty
sampled(sampled_ranks=[0, 1]) | sampled_rank of system 'X' must be at least 1, got 0
sampled(sampled_ranks=[1, ?]) | sampled_rank .* must be a whole number, got ? | 2.5 ; nan
sampled(<m/n>=0) | (m|n) of system 'X' must be at least [12]
sampled(<counts/instances/m/n>=[9] * 3) | \w+ of system 'X' has shape \(3,\): give one
sampled(<m/n>=None) | [mn] of system 'X' must be a whole number, got None
sampled(scheme=POPULARITY) | scheme of system 'X' is 'popularity': what is above
sampled(scheme="bootstrap") | scheme must be one of
sampled(counts=[1, inf]) | .*must hold finite numbers, got inf
sampled(adaptive="yes") | adaptive of system 'X' must be True, False or None

rank_distribution([]) | sets is empty
rank_distribution([sampled(), "x"]) | .*give SampledRankSets
rank_distribution(sampled(), iterations=0) | iterations must be at least
rank_distribution(sampled(), "mes", iterations=5) | .*no effect on 'mes'
rank_distribution([sampled(), sampled(scheme=WITH)]) | .*pool sets drawn in the same way
rank_distribution(sampled(n=10**7 + 1)) | n = 10000001 is too large to write out
fitted(MIXED_UP, "mle") | sampled_rank 2 cannot occur with n = 2 and m = 2
<point/interval>("AP", sampled(), "best") | method 'best' is not understood: use mle, mes
fit_learned("bv", "AP", sampled()) | method must be one of bv-mle
fit_learned("bv-mle", "AP", sampled(), gamma=0) | gamma must be above 0
fit_learned("bv-mle", "AP", sampled(n=10**9)) | .*too large
fit_learned("bv-mle", "AP", MIXED) | .*say which one
fit_learned("bv-mle", "AP", MIXED, m=7) | m = 7 is not among .* sets: 5, 20
gamma_table("AP", law(n=60), 10, FLAT) | .*distribution over 50 ranks
gamma_table("AP", law(n=50), 0, FLAT) | instances must be above 0
gamma_table("AP", law(n=50), 9, FLAT, gammas=[0]) | gamma must be above
gamma_table("AP", law(n=50), 5, np.ones(9)) | .*shape \(9,\): give one weight for each

<interval("AUC", MIDDLE/compare("AUC", MIDDLE, sampled()>, confidence=?) | confidence must be
    | 0 ; 1 ; -0.5 ; 2 ; nan ; "high"
<interval/bounds>("AP", MIDDLE, shape="flat") | shape must be one of non-increasing
bounds("AP", sampled(), tolerance=?) | tolerance must be | -0.1 ; 1.5 ; nan ; "much"
bounds("AP", A) | srs must be a SampledRankSet
bounds("AP", sampled(), A) | versus must be a SampledRankSet
bounds("<Recall@10/AUC>", MIDDLE, shape=FALLING)
    | shape 'non-increasing' contradicts .* system 'A' .*: leave shape out
bounds("AUC", sampled(sampled_ranks=[2] * 300, n=10_000, m=100))
    | no rank distribution shows.*nearly all are 2
<bounds("AP", SAID/compare("AP", SAID, MIDDLE/bounds("AP", MIDDLE, SAID>, shape=FALLING)
    | .* not valid for system 'X': .* its m \(as adaptive says\), .*; leave shape out, or give
<rank_distribution(SAID/rank_distribution([MIDDLE, SAID]>, "mes") | .* its m \(as adaptive says\)
fit_learned("bv-mle", "AP", SAID, m=10) | .*decided its m \(as adaptive says\)
bounds("AP", SAID, tolerance=0.1) | .*decided its m \(as adaptive says\)
<point/interval>("AP", SAID, "LIMITED") | .* not valid for system 'X'.*'mle'.*adaptive=False
<point/interval>("AP", SAID, "?") | .* not valid for system 'X'.*'mle'.*adaptive=False
    | BV 0.1 ; CLS ; rank estimate ; uncorrected

full_cutoff(?, 50, 5) | k must be at (least 1|most 6) | 0 ; 7
full_cutoff(1, 50, 5, beta=0) | beta must be above 0
matching_cutoff(1, A, 5, scheme=POPULARITY) | scheme must be one of
matching_cutoff(1, ranks(ties=[3, 0]), 5) | .*has ties
matching_cutoff(1, SEVERAL, 5) | .*several

cell("HR@5", 0.9) | observed 'HR@5' is 0.9000, but with n = 3541 and m = 100 the other
cell("NDCG@10", 0.7) | observed 'NDCG@10' is 0.7000, but .* leave it 0\.\d+ to 0\.\d+
cell("HR@1", 17.46)
    | .*'HR@1' is 17.46, .*: if the table prints percent, give 0.1746 and decimals = 4$
cell("HR@1", ?) | observed 'HR@1' is ?, but a metric lies in 0..1 | -0.1 ; 170
cell("HR@1", 0.17462) | observed 'HR@1' is 0.17462, which has more than decimals = 4
cell("HR@1", ?) | observed 'HR@1' must be | "x" ; nan
cell("HR", 0.1) | .*HitRate needs a cutoff
cell("Hits of mine", 0.1) | .*unknown metric 'Hits of mine'
cell("HR@101", 0.5) | observed 'HR@101' is 0.5000, but .* leave it 1.0000 to 1.0000
printed(observed={"HR@1": 0.3, "HR@5": 0.2, "HR@10": 0.5, "NDCG@10": 0.6})
    | .*nearest to it without 'HR@\d+' = .* and '
printed(observed={"HR@5": 0.5, "HR@10": 0.5001}, shape=FALLING)
    | shape 'non-increasing' contradicts observed 'HR@
printed(n=1, m=1) | n must be at least 2
printed(n=50, m=60, scheme=WITHOUT) | m = 60 is too large without replacement
printed(scheme=POPULARITY) | scheme must be one of
printed(versus={}) | versus must hold printed values
printed(observed={}) | observed must hold printed values
printed(decimals=-1) | decimals of 'HR@1' must be
printed(decimals={"HR@1": 4, "HR@5": 4, "HR@10": 4}) | decimals has no entry for 'NDCG@10'

designs("RR@3", THREE, 0) | budget must be at least 1, got 0
designs("RR@3", THREE[0], 9) | sets must be a list of rank sets
designs("RR@3", THREE, 9, corrections=[]) | corrections is empty
designs("RR@3", THREE, 9, proxies={"p": [1, 2, 3]}) | proxies 'p' must
mean_of_sample("RR@3", THREE[0], 2) | instances must be at least the 3
mean_of_sample("RR@3", THREE[0], 9, confidence=1) | confidence must be below 1
mean_of_sample("RR@3", THREE[0], 9, THREE[1]) | .*do not rank the same instances

stopping_cost("AUC", 1, 10) | .*AUC is never decided: every candidate counts
stopping_cost("AP", 1, 10) | .*AP has no cutoff, so that only the last
stopping_cost("RR", 1, 10, tolerance=2) | tolerance must be at least 0 and at
stopping_cost("RR@2", 10, 10, relevant=2) | .*rank 10 is larger than n = 9
proxy_cost("RR@2", [1, 2], [1], 0) | proxy has shape
proxy_cost("RR@2", [1, 2], [1, 2], ?) | relevant must be | 2 ; -1
deciding_cutoff("RR@2", 5, relevant=5) | relevant must be .*at most 4, got 5
stopping_cost("RR@2", 1, [5, 3], relevant=?) | relevant must be at (least 1|most 2), got | 0 ; 3
proxy_cost("RR@2", [1, nan], [1, 2], 0) | scores must hold finite numbers
stopping_range("AUC", PILOT) | .*AUC has no cutoff k
stopping_range("RR@3", PILOT, 1) | instances must be at least the 2 of
stopping_range("RR@3", A) | pilot must be a SampledRankSet

listed(beyond=[0, 1]) | beyond of system 'S' must hold true or false, got 0
listed(beyond=[True]) | beyond of system 'S' has shape
mean("Recall@1", RankSet("S", [1], 9, beyond=True)) | .*beyond 0, .*rank more items
mean_stopping_cost("Recall@3", CUT) | .*beyond 5, and the cost of stopping needs every rank
mean("<Recall@6/AUC/NDCG/TOPK@0.5>", CUT) | HIDDEN
<expected_mean/std_of_mean>("Recall@3", CUT, 5) | HIDDEN
<flips/right_from/instances_needed>("Recall@3", [CUT, OTHER], 5) | HIDDEN
probability_<of_order/if_redrawn/if_shared>("Recall@3", [OTHER, CUT], 5) | HIDDEN
negatives_needed("Recall@3", [OTHER, CUT]) | HIDDEN
<designs("Recall@3", [CUT], 5/curve("Recall@3", [CUT], [5]/verdict(["Recall@3"], [OTHER, CUT], 5>)
    | HIDDEN
<significance("AP", [CUT, OTHER]/simulate("Recall@3", CUT, 5, 10/sample_ranks(CUT, 5>, RNG) | HIDDEN

decided(nan_at(4), 9, 50) | .*score of candidate 4 is NaN
decided(nan_at(9), 9) | .*relevant item 9 is NaN
decided(relevant=40) | .*40 is not among the 30 cand
decided(relevant=[4, 4]) | .*item once, got 4
decided(candidates=[4, *ITEMS]) | .*item once, got 4 more
decided(relevant=("q", 1), candidates=[("q", 1), ("q", 2)])
    | candidates must be a list of items, each a number or a text, got
decided(relevant=[]) | relevant is empty
decided(relevant=ITEMS) | .*there is nothing to rank
decided(k=0) | k must be at least 1, got 0
decided(chunk=0) | chunk must be at le
decided(order=[1, 2]) | order has shape
decided(lambda x: x[:-1]) | .*for each of 1 of them
decided(lambda x: x[: 1 + len(x) // 2])
    | score has shape \(15,\): one number for each of 29 candidates
decided(lambda x: x.astype(str)) | .*must hold numbers
decided([[1], [0, nan]], "i", candidates=3, k=1) | .*score of candidate number 2 is NaN
decided([[1], [[0]]], "i", candidates=2)
    | a chunk of scores has shape \(1, 1\): one dimension is needed
decided([[1], [2, 0]], "i", candidates=5) | .*holds 2 scores of other cand
decided([[1], [0], [0]], "i", candidates=2) | .*but there are 1
evaluated([("u", 4, [*ITEMS, 9])])
    | .*user 'u': candidates must hold each item once, got 9 more often
evaluated([USER], budget=28)
    | .*28 is smaller than one user: user 'u' has 29 other candidates; give at least 29
evaluated([USER], {"A": max, "B": max}, budget=30)
    | .*29 other candidates, to be scored by each of 2 systems; give at least 58
evaluated([("u", 99, ITEMS)]) | .*user 'u': relevant item 99 is not among
evaluated([?]) | users must hold .label, rel | ("u", 4) ; ("u", 4, 30)
evaluated([USER] * 2) | .*a label twice
evaluated([]) | users is empty
evaluated([USER], ?) | systems must hold a function | dict() ; {"A": max, "B": 3}

match(5, example) | table must be 1, 2, 3 or 4, got 5
rank_distribution(sampled(), iterations=?) | iterations must be (a|one) whole number | [[]] ; {}

read_vector_json(json(values=?)) | .*values must hold | [10**400, 1, 1] ; {"a": 1}
read_vector_json(json(n=10**400)) | .*n is too large
read_vector_json(?) | .*not a vector written by vector_json | "[1]" ; "[" * 10**5
vector_json(1) | fit must be a Fit, got 1
matching_cutoff(1, 1, 10) | ranks must be a RankSet, got 1
split(DATA, 50) | split must be one of last 1, .*got 50
split(50, "last 1") | interactions must be a Interactions
finish(rank(FIT, 1, system="A")) | split must be a Split, got 1: make one with sampledash.split
finish(rank(FIT, SPLIT, system="A", part="training")) | part must be one of test, validation
Interactions(5, [1], [0], [0]) | users must be a list of labels
DATA.take([0, 6]) | .*which must be at most 5, got 6
ranks_from_scores("Recall@10", [[0]]) | scores has shape \(\)
ranks_from_scores([[1, 2]], 5) | relevant must be a list
RankSet(pd.DataFrame({"a": [1]}), [1], 9) | system must be text, got
correction("LS").fit(np.eye(2), 1) | metric must be text
Sampling(9, 3, np.array(["popularity", "a"])) | scheme must be one of
mean_of_sample("AP", A, pd.DataFrame({"a": [1]})) | instances must be a number
parse_metric("x" * 10**5) | unknown metric 'xxx
"""


def rows() -> Iterator[tuple[str, str]]:
    hidden = ".*only known to lie beyond 5, .* k = 5 at most"
    table = TABLE.replace("\n    |", " |").replace("HIDDEN", hidden)
    unread = "system 'M' has mass_above, which .* does not read: draw by .*without_mass"
    table = table.replace("UNREAD", unread)
    table = table.replace("EVERY", f"CALLS['<{'/'.join(CALLS)}>']")
    refused = [name for name in METHODS if name not in ("mle", "monotone-mle")]
    for line in filter(None, table.replace("LIMITED", f"<{'/'.join(refused)}>").splitlines()):
        calls, sentence, *values = re.split(r" \| (?!{)", line)
        for call in expanded(calls):
            for value in values[0].split(" ; ") if values else [""]:
                yield call.replace("?", value), "^" + sentence.replace("?", re.escape(value))


def expanded(text: str) -> Iterator[str]:
    if found := re.search("<(.*?)>", text):
        for each in found[1].split("/"):
            yield from expanded(text.replace(found[0], each, 1))
    else:
        yield text


@pytest.mark.parametrize(("call", "sentence"), list(rows()))
def test_what_is_refused(call: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        eval(call, NAMES)
    assert len(str(caught.value)) < 300


def test_the_table_is_read_whole() -> None:
    # A call would be repeated if its line had a value twice, or several values but no "?".
    every = list(rows())
    assert len(set(every)) == len(every) > 350


@pytest.mark.parametrize("name", CALLS)
def test_unknown_option(name: str) -> None:
    with pytest.raises(TypeError, match="scheem"):
        CALLS[name](scheem="with-replacement")


def test_every_public_name_is_called() -> None:
    assert (
        set(sd.__all__)
        == {name for name in wrong_calls.valid() if name in sd.__all__} | wrong_calls.RESULTS
    )


@pytest.mark.parametrize("name", wrong_calls.valid())
def test_the_calls_that_are_changed_are_valid(name: str) -> None:
    function, arguments = wrong_calls.valid()[name]
    function(**arguments)


def test_a_wrong_argument_is_refused_in_a_sentence_of_ours() -> None:
    # This is a sample; python -m tests.benchmarks --only wrong_arguments makes 3,000 calls.
    calls = islice(wrong_calls.wrong_calls(1), 400)
    quick = [call for call in calls if call.name != "synthetic"]  # synthetic takes seconds
    assert [f"{call}: {found}" for call in quick if (found := call.judged())] == []


def test_whole_numbers_are_scores_and_a_tolerance_that_nothing_exceeds_costs_nothing() -> None:
    found = sd.ranks_from_scores([[3, 1, 2], [5, 5, 9]], [2, 0])
    assert (found.ranks.tolist(), found.ties.tolist()) == ([2, 2], [0, 1])
    assert sd.deciding_cutoff("RR@2", 3, tolerance=1) == 0
    assert sd.proxy_cost("RR@2", [1, 2, 3], [3, 1, 2], 0, tolerance=1) == 0
