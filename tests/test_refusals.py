"""What is refused, each in one sentence that names the parameter, the value and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf, nan

import numpy as np
import pytest

import sampledash as sd

A, B = sd.RankSet("A", [1, 2, 5], 10), sd.RankSet("B", [2, 3, 4], 10)


def ranks(**changes: object) -> sd.RankSet:
    return sd.RankSet(**{"system": "S", "ranks": [3, 1], "n": 10, **changes})


def sampled(**changes: object) -> sd.SampledRankSet:
    return sd.SampledRankSet(
        **{"system": "X", "sampled_ranks": [1, 2], "n": 50, "m": 10, **changes}
    )


def law(**changes: object) -> sd.Sampling:
    return sd.Sampling(**{"n": 10, "m": 3, **changes})


NAMES = {
    "sd": sd,
    "np": np,
    "nan": nan,
    "inf": inf,
    "rng": np.random.default_rng(0),
    "AP": sd.parse_metric("AP"),
    "AUC": sd.parse_metric("AUC"),
    "BV": sd.correction("BV"),
    "A": A,
    "BOTH": [A, B],
    "WITHOUT": "without-replacement",
    "POPULARITY": "popularity",
    "ranks": ranks,
    "sampled": sampled,
    "law": law,
    "several": sd.RankSet("S", [1, 5], 10, instances=["a", "a"]),
    "halves": sd.RankSet("S", [1], 9, counts=[1.5]),
    "known": sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9]),
    "tied": sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9], ties=[1, 0]),
    "many": 10**12 + 1,
}

#: A call, the beginning of its sentence, and values that take the place of "?" in both.
TABLE = r"""
sd.simulate("AP", A, 3, 2, ?) | rng must be a numpy generator, got ?: numpy | None ; 3
sd.significance("AP", BOTH, ?) | rng must be a numpy generator, got ?: numpy | None ; 3
sd.sample_ranks(A, 3, ?) | rng must be a numpy generator, got ?: numpy | None ; 3
law().draw([1], ?) | rng must be a numpy generator, got ?: numpy | None ; 3

sd.expected("AP", [1], None) | sampling must be a Sampling, got None: make one with
sd.variance("AP", [1], None) | sampling must be a Sampling, got None: make one with
sd.posterior(1, None) | sampling must be a Sampling, got None: make one with
BV.fit("AP", None) | sampling must be a Sampling, got None: make one with
sd.eigenvalues(None) | sampling must be a Sampling, got None: make one with
sd.retained(None, 0.1) | sampling must be a Sampling, got None: make one with
sd.resolution(None, 0.1) | sampling must be a Sampling, got None: make one with
sd.counterexample("AP", None) | sampling must be a Sampling, got None: make one with
sd.eigenvalues([10, 3]) | sampling must be a Sampling, got \[10, 3\]

sd.curve("AP", [], [1]) | sets is empty: give at least one rank set
sd.flips("AP", []) | sets is empty: give at least one rank set
sd.curve("AP", None, [1]) | sets must be a list, got None: write \[None\]
sd.curve("AP", A, [5]) | sets must be a list of rank sets, got the one of 'A'
sd.flips("AP", A) | sets must be a list of rank sets, got the one of 'A'
sd.curve("AP", BOTH, 3) | m_values must be a list, got 3: write \[3\]
sd.curve("AP", BOTH, []) | m_values is empty: give at least one m
sd.curve("AP", [A, A], [3]) | system 'A' occurs twice: give each rank set
sd.flips("AP", [A, A]) | system 'A' occurs twice: give each rank set
sd.verdict(["AP"], BOTH, 3, corrections=[]) | corrections is empty: give at least one correction
sd.verdict(["AP"], BOTH, 3, corrections="CLS")
    | corrections must be a list, got 'CLS': write \['CLS'\]
sd.verdict(["AP"], BOTH, 3, corrections=BV)
    | corrections must be a list, got 'BV 0\.1': write \['BV 0\.1'\]
sd.verdict([], BOTH, 3) | metrics is empty: give at least one metric
sd.verdict("AP", BOTH, 3) | metrics must be a list, got 'AP': write \['AP'\]
sd.verdict(["AP"], BOTH, 3, ["CLS"], m_values=3) | m_values must be a list, got 3: write \[3\]

sd.mean("AP", [1, 2]) | ranks must be a RankSet, got \[1, 2\]: make one with
sd.expected_mean("AP", [1, 2], 5) | ranks must be a RankSet, got \[1, 2\]
sd.std_of_mean("AP", "A", 5) | ranks must be a RankSet, got 'A'
sd.flips("AP", [A, [1]]) | ranks must be a RankSet, got \[1\]
sd.mean("AP", A, ties="best") | ties must be one of .*got 'best'
sd.mean("AP", A, weighting="micro") | weighting must be one of .*'micro'
sd.mean("foo", A) | unknown metric 'foo'
sd.expected_mean("foo", A, 3) | unknown metric 'foo'
sd.std_of_mean("foo", A, 3) | unknown metric 'foo'
sd.curve("foo", [A], [3]) | unknown metric 'foo'
sd.simulate("foo", A, 3, 2, rng) | unknown metric 'foo'
sd.expected_mean("AP", known, 3, scheme=POPULARITY, correction=BV)
    | correction BV 0\.1 of system 'M' is not defined: with mass_above
sd.expected_mean("AP", known, 3, scheme=POPULARITY, correction="RE")
    | correction rank estimate of system 'M' is not defined
sd.expected_mean("AP", tied, 3, scheme=POPULARITY) | ties of system 'M' need the weight

sd.simulate("AP", A, 5, 0, rng) | repeats must be at least 1, got 0
sd.simulate("AP", A, 0, 5, rng) | m must be at least 1, got 0
sd.simulate("AP", halves, 5, 5, rng) | counts of system 'S' must be whole
sd.simulate("AP", A, 10, 5, rng, scheme=WITHOUT) | m = 10 is too large without replacement
sd.sample_ranks(several, 3, rng) | .*several relevant items in one instance
sd.sample_ranks(A, 3, rng, scheme=POPULARITY) | .*popularity has no one sampled rank
sd.sample_ranks(halves, 3, rng) | .*whole numbers to simulate

AP([1, 2, 3], [3, 4]) | n has shape \(2,\), but rank has shape \(3,\): give one
AP([[1], [2, 3]], 5) | rank must be one value or rows of one length, got \[\[1
AP([1, 2], [[5], [6, 7]]) | n must be one value or rows of one length
AP.of_set([[1], [2, 3]], 5) | ranks must be one value or rows of one length
sd.expected("AP", [[1], [2, 3]], law()) | rank must be one value or rows of one length
ranks(ranks=[[1], [2, 3]]) | ranks of system 'S' must be one value or rows of one length
ranks(ties=[[1], [2, 3]]) | ties of system 'S' must be one value or rows of one length
ranks(ranks=[[1, 2], [3, 4]]) | ranks of system 'S' has shape
sampled(sampled_ranks=[[1], [2, 3]])
    | sampled_ranks of system 'X' must be one value or rows of one length
sd.correction("BV", prior=[[1], [2, 3]]) | prior must hold numbers, got
sd.correction("BV", prior=[]) | prior is empty: give one weight for each rank
sd.correction("BV", prior=[0, 0]) | prior is zero at every rank: put weight on
sd.correction("BV", prior=[[1, 1]]) | prior has shape \(1, 2\): give one weight

sd.correction("BV", gamma=?) | gamma must be a number, got
    | True ; np.True_ ; "0.5" ; np.str_("2") ; b"1" ; [0.5] ; 10**400
sd.retained(law(), ?) | gamma must be a number, got
    | True ; np.True_ ; "0.5" ; np.str_("2") ; b"1" ; [0.5] ; None ; 10**400
sd.Sampling(10, 3, POPULARITY, ?) | odds must be a number, got
    | True ; np.True_ ; "0.5" ; np.str_("2") ; b"1" ; [0.5] ; None ; 10**400
sd.expected_mean("AP", A, 3, scheme=POPULARITY, odds=?) | odds must be a number, got
    | True ; "0.5" ; [0.5] ; None ; 10**400
sd.parse_correction("BV x") | gamma must be a number, got 'x'
sd.parse_sampling("n = 10, m = 3, popularity, odds = x") | odds must be a number

law(n=?) | n must be at most 10\^12, got 1000000000001: .*fewer | many
ranks(n=?) | n .*must be at most 10\^12, got 1000000000001: .*fewer | many ; [5, many]
sampled(n=?) | n .*must be at most 10\^12, got 1000000000001: .*fewer | many
AP([1], ?) | n must be at most 10\^12, got 1000000000001: .*fewer | many
AP.of_set([1], ?) | n must be at most 10\^12, got 1000000000001: .*fewer | many

law(n=?) | n must be at least 2, got 1 | 1
law(n=?) | n must be a whole number, got ? | 2.5 ; 'x'
law(m=?) | m must be at least 1, got ? | 0 ; -3
law(m=?) | m .*got nan | nan
law(m=10, scheme=WITHOUT) | m = 10 is too large without replacement: n = 10
law(scheme="uniform") | scheme must be one of .*got 'uniform'
law(scheme=POPULARITY, odds=?) | odds must be above 0, got ? | 0 ; -1
law(scheme=POPULARITY, odds=?) | odds must be .*got ? | nan ; inf ; 'two'
law(odds=2.0) | odds = 2 applies to scheme 'popularity' only
law().pmf([1, ?]) | rank .*? | 0 ; 11 ; 1.5
law().share_above([1, ?]) | rank .*? | 0 ; 11 ; 1.5
law().draw([1, ?], rng) | rank .*? | 0 ; 11 ; 1.5
sd.parse_sampling("") | \S+ \S+
sd.parse_sampling("?") | \S+ \S+
    | 10, 3 ; n = 10, m = 3 ; n = ten, m = 3, with-replacement ; n = 10, m = 3, uniform
sd.parse_sampling("n = 10, m = ?") | \S+ \S+
    | 99, without-replacement ; 3, with-replacement, odds = 2

sd.parse_metric("") | \S+ \S+
sd.parse_metric("  ") | \S+ \S+
sd.parse_metric("?") | \S+ \S+
    | @10 ; foo ; foo@10 ; NDCG@ ; NDCG@x ; NDCG@1.5 ; AUC@10 ; Recall ; P
sd.metric("foo") | unknown metric 'foo'.*NDCG
sd.parse_metric("foo") | unknown metric 'foo'.*NDCG
sd.Metric("foo") | unknown metric 'foo'
sd.parse_metric("Recall10") | unknown metric 'Recall10': write Recall@10$
sd.parse_metric("hr10") | unknown metric 'hr10': write HitRate@10$
sd.parse_metric("map20") | unknown metric 'map20': write AP@20$
sd.parse_metric("?") | unknown metric '?': known are AUC | AUC10 ; foo10 ; 10 ; TOPK2
sd.metric("ndcg", k=?) | k must be | 0 ; -1 ; 1.5 ; nan ; "ten" ; True ; [10]
sd.parse_metric("NDCG@?") | k must be at least 1, got | 0 ; -3
sd.metric("?") | .*(cutoff|k =) | precision ; recall ; hit_rate
sd.metric("auc", k=3) | .*(cutoff|k =)
AP(?, 10) | rank must be at least 1, got | 0 ; -2 ; [1, 0]
AP(?, 10) | rank 11 is larger than n = 10 | 11 ; [1, 11]
AP(?, 10) | rank must be a whole number, got
    | 2.5 ; nan ; inf ; "three" ; None ; [1, 2.5] ; [1, "three"] ; [1, None]
AP(1, ?) | n must be | 1 ; 0 ; -5 ; 2.5 ; nan ; "many"
AUC(1, ?) | n must be | 1 ; 0 ; -5 ; 2.5 ; nan ; "many"
AP.of_set([1], ?) | n must be | 1 ; 0 ; -5 ; 2.5 ; nan ; "many"
AUC.of_set([1], ?) | n must be | 1 ; 0 ; -5 ; 2.5 ; nan ; "many"
AP.of_set([], 5) | .*ranks is empty
AP.of_set([2, 3, 2], 5) | .*holds 2 twice
AP.of_set([1, 2, 3], 3) | .*fills all 3
AP.of_set([6], 5) | .*6 is larger than n = 5
sd.parse_metric("TOPK") | TOPK needs a share of the list, such as TOPK@0.02; got none
sd.parse_metric("TOPK@10") | cutoff of 'TOPK@10' is '10': TOPK takes a share .* TOPK@2%
sd.parse_metric("TOPK@?") | cutoff of 'TOPK@?' is '?' | -0.1 ; ten
sd.parse_metric("ATOP@5") | ATOP takes no cutoff, got k = 5
sd.Metric("auc", share=0.1) | AUC takes no share, got 0\.1
sd.Metric("topk", k=5, share=0.1) | TOPK needs a share .* got k = 5

sd.expected("AP", ?, law()) | rank | 0 ; 11 ; 2.5 ; nan ; "one"
sd.variance("AP", ?, law()) | rank | 0 ; 11 ; 2.5 ; nan ; "one"
sd.expected("AUC", [1, ?], law()) | rank | 0 ; 11 ; 2.5 ; nan ; "one"
sd.variance("AUC", [1, ?], law()) | rank | 0 ; 11 ; 2.5 ; nan ; "one"
sd.posterior(?, law()) | sampled_rank must be | 0 ; 5 ; 1.5 ; "a"
sd.posterior(1, law(), []) | prior is empty: give one weight for each rank
sd.posterior(1, law(), [1] * 9) | prior has shape \(9,\)
sd.posterior(1, law(), [[1] * 10]) | prior has shape \(1, 10\)
sd.posterior(1, law(), [-1] + [1] * 9) | prior of rank 1 is -1
sd.posterior(1, law(), [1] * 9 + [?]) | prior of rank 10 is ? | nan ; inf
sd.posterior(1, law(), [0] * 10) | prior is zero
sd.posterior(1, law(), ["a"] * 10) | prior must hold numbers

ranks(ranks=[]) | ranks of system 'S' is empty
ranks(ranks=[?, 1]) | rank of system 'S' must be at least 1, got ? | 0 ; -4
ranks(ranks=[11, 1]) | rank of system 'S' 11 is larger than n = 10
ranks(ranks=[?, 1]) | rank of system 'S' must be a whole number, got ? | 1.5 ; nan ; 'a' ; None
ranks(n=?) | n of system 'S' must be at least 2, got 1 | 1 ; [10, 1]
ranks(n=9.5) | n of system 'S' must be a whole number, got 9\.5
ranks(n=[10, 10, 10]) | n of system 'S' has shape \(3,\)
ranks(ties=[-1, 0]) | ties of system 'S' must be at least 0, got -1
ranks(ties=[8, 0]) | .*rank 3 with 8 others tied reaches beyond n = 10
ranks(ties=[0.5, 0]) | ties of system 'S' must be a whole number, got 0\.5
ranks(counts=[?, 1]) | counts of system 'S' must be above 0, got ? | 0 ; -2
ranks(counts=[nan, 1]) | counts of system 'S' must .*finite
ranks(counts=["a", 1]) | counts of system 'S' must hold numbers
ranks(mass_above=[?, 0]) | mass_above of system 'S' must be a share in 0\.\.1, got ? | 1.5 ; -0.1
ranks(mass_above=[nan, 0]) | mass_above of system 'S' must hold finite
ranks(instances=["a"]) | instances of system 'S' has shape \(1,\)
ranks(instances=["a", "a"], ranks=[3, 3]) | .*'a' of system 'S' holds rank 3 twice
ranks(instances=["a", "a"], ties=[2, 0], ranks=[3, 5]) | .*two relevant items in one block
ranks(instances=["a", "a"], n=[10, 9]) | .*two values of n, (10 and 9|9 and 10)
ranks(instances=["a", "a"], counts=[1, 2]) | .*different counts
ranks(instances=["a", "a"], n=2, ranks=[1, 2]) | .*as many relevant items as candidates
ranks(instances=["a", "a"], mass_above=[0.1, 0.2]) | .*mass_above that falls

sampled(sampled_ranks=[]) | sampled_ranks of system 'X' is empty
sampled(sampled_ranks=[0, 1]) | sampled_rank of system 'X' must be at least 1, got 0
sampled(sampled_ranks=[1, 12]) | .*is 12, but with m = 10 .* at most 11: if these are true
sampled(sampled_ranks=[1, ?]) | sampled_rank .* must be a whole number, got ? | 2.5 ; nan
sampled(sampled_ranks=[1, "two"]) | .*must be a whole number
sampled(n=1) | n of system 'X' must be at least 2
sampled(n=[50, 50, 50]) | n of system 'X' has shape \(3,\): give one number, or one for
sampled(m=0) | m of system 'X' must be at least 1
sampled(m=[10]) | m of system 'X' has shape \(1,\)
sampled(m=None) | m of system 'X' must be a whole number, got None
sampled(n=None) | n of system 'X' must be a whole number, got None
sampled(scheme=POPULARITY) | scheme of system 'X' is 'popularity': what is above
sampled(scheme="bootstrap") | scheme must be one of
sampled(scheme=WITHOUT, n=10) | m of system 'X' is 10, but without .* leaves 9
sampled(counts=[1]) | counts of system 'X' has shape \(1,\)
sampled(counts=[1, -1]) | .*must be finite and at least 0, got -1
sampled(counts=[1, inf]) | .*must hold finite numbers, got inf
sampled(counts=[0, 0]) | counts of system 'X' are all 0
sampled(counts=["a", "b"]) | counts of system 'X' must hold numbers
sampled(instances=["u"]) | instances of system 'X' has shape \(1,\)
sampled(adaptive="yes") | adaptive of system 'X' must be True, False or None
"""


def rows() -> Iterator[tuple[str, str]]:
    for line in filter(None, TABLE.replace("\n    |", " |").splitlines()):
        call, sentence, *values = line.split(" | ")
        for value in values[0].split(" ; ") if values else [""]:
            yield call.replace("?", value), "^" + sentence.replace("?", re.escape(value))


@pytest.mark.parametrize(("call", "sentence"), list(rows()))
def test_what_is_refused(call: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        eval(call, NAMES)


def test_the_table_is_read_whole() -> None:
    # A row that takes its values more than once would repeat itself.
    every = list(rows())
    assert len(set(every)) == len(every) > 250
