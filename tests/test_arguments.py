"""What is refused, each in one sentence that names the parameter, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sampledash as sd

AP = sd.parse_metric("AP")
SMALL = sd.Sampling(10, 3)
A, B = sd.RankSet("A", [1, 2, 5], 10), sd.RankSet("B", [2, 3, 4], 10)
BOTH = [A, B]
BV = sd.correction("BV")
BILLIONS = 10**12 + 1
Call = Callable[[], object]

RNG = [
    lambda rng: sd.simulate("AP", A, 3, 2, rng),
    lambda rng: sd.significance("AP", BOTH, rng),
    lambda rng: sd.sample_ranks(A, 3, rng),
    lambda rng: SMALL.draw([1], rng),
]


@pytest.mark.parametrize("call", RNG)
@pytest.mark.parametrize("rng", [None, 3])
def test_no_generator(call: Callable[[object], object], rng: object) -> None:
    with pytest.raises(ValueError, match=rf"^rng must be a numpy generator, got {rng}: numpy"):
        call(rng)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sd.expected("AP", [1], None),
        lambda: sd.variance("AP", [1], None),
        lambda: sd.posterior(1, None),
        lambda: BV.fit("AP", None),
        lambda: sd.eigenvalues(None),
        lambda: sd.retained(None, 0.1),
        lambda: sd.resolution(None, 0.1),
        lambda: sd.counterexample("AP", None),
    ],
)
def test_no_sampling(call: Call) -> None:
    with pytest.raises(ValueError, match=r"^sampling must be a Sampling, got None: make one with"):
        call()


def test_a_list_is_no_sampling() -> None:
    with pytest.raises(ValueError, match=r"^sampling must be a Sampling, got \[10, 3\]"):
        sd.eigenvalues([10, 3])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sd.curve("AP", [], [1]), "sets is empty: give at least one rank set"),
        (lambda: sd.flips("AP", []), "sets is empty: give at least one rank set"),
        (lambda: sd.curve("AP", None, [1]), r"sets must be a list, got None: write \[None\]"),
        (lambda: sd.curve("AP", BOTH, 3), r"m_values must be a list, got 3: write \[3\]"),
        (lambda: sd.curve("AP", BOTH, []), "m_values is empty: give at least one m"),
        (lambda: sd.curve("AP", [A, A], [3]), "system 'A' occurs twice: give each rank set"),
        (lambda: sd.flips("AP", [A, A]), "system 'A' occurs twice: give each rank set"),
        (
            lambda: sd.verdict(["AP"], BOTH, 3, corrections=[]),
            "corrections is empty: give at least one correction",
        ),
        (
            lambda: sd.verdict(["AP"], BOTH, 3, corrections="CLS"),
            r"corrections must be a list, got 'CLS': write \['CLS'\]",
        ),
        (
            lambda: sd.verdict(["AP"], BOTH, 3, corrections=BV),
            r"corrections must be a list, got 'BV 0\.1': write \['BV 0\.1'\]",
        ),
        (lambda: sd.verdict([], BOTH, 3), "metrics is empty: give at least one metric"),
        (lambda: sd.verdict("AP", BOTH, 3), r"metrics must be a list, got 'AP': write \['AP'\]"),
        (
            lambda: sd.verdict(["AP"], BOTH, 3, ["CLS"], m_values=3),
            r"m_values must be a list, got 3: write \[3\]",
        ),
    ],
)
def test_lists(call: Call, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: AP([1, 2, 3], [3, 4]), r"n has shape \(2,\), but rank has shape \(3,\): give one"),
        (lambda: AP([[1], [2, 3]], 5), r"rank must be one value or rows of one length, got \[\[1"),
        (lambda: AP([1, 2], [[5], [6, 7]]), "n must be one value or rows of one length"),
        (lambda: AP.of_set([[1], [2, 3]], 5), "ranks must be one value or rows of one length"),
        (
            lambda: sd.expected("AP", [[1], [2, 3]], SMALL),
            "rank must be one value or rows of one length",
        ),
        (
            lambda: sd.RankSet("A", [[1], [2, 3]], 9),
            "ranks of system 'A' must be one value or rows of one length",
        ),
        (
            lambda: sd.RankSet("A", [1, 2], 9, ties=[[1], [2, 3]]),
            "ties of system 'A' must be one value or rows of one length",
        ),
        (
            lambda: sd.SampledRankSet("A", [[1], [2, 3]], 9, 3),
            "sampled_ranks of system 'A' must be one value or rows of one length",
        ),
        (lambda: sd.correction("BV", prior=[[1], [2, 3]]), "prior must hold numbers, got"),
        (lambda: sd.correction("BV", prior=[]), "prior is empty: give one weight for each rank"),
        (lambda: sd.correction("BV", prior=[0, 0]), "prior is zero at every rank: put weight on"),
        (lambda: sd.correction("BV", prior=[[1, 1]]), r"prior has shape \(1, 2\): give one weight"),
        (lambda: sd.posterior(1, SMALL, []), "prior is empty: give one weight for each rank"),
    ],
)
def test_shapes(call: Call, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


def test_shapes_that_broadcast() -> None:
    assert AP([[1], [2]], [3, 4]).tolist() == [[1, 1], [0.5, 0.5]]


@pytest.mark.parametrize("value", [True, np.True_, "0.5", np.str_("2"), b"1", [0.5], None, 10**400])
def test_what_is_no_number(value: object) -> None:
    if value is not None:  # None is the default
        with pytest.raises(ValueError, match=r"^gamma must be a number, got "):
            sd.correction("BV", gamma=value)
    for call in (
        lambda: sd.retained(SMALL, value),
        lambda: sd.Sampling(10, 3, "popularity", value),
        lambda: sd.expected_mean("AP", A, 3, scheme="popularity", odds=value),
    ):
        with pytest.raises(ValueError, match=r"^(gamma|odds) must be a number, got "):
            call()


def test_numbers_in_texts_are_read() -> None:
    assert sd.parse_correction("BV 0.5").gamma == 0.5
    assert sd.parse_sampling("n = 10, m = 3, popularity, odds = 2.0").odds == 2
    assert sd.parse_metric("TOPK@2%").share == 0.02
    assert sd.correction("BV", gamma=np.float32(0.5)).gamma == 0.5
    for call, sentence in (
        (lambda: sd.parse_correction("BV x"), "gamma must be a number, got 'x'"),
        (lambda: sd.parse_sampling("n = 10, m = 3, popularity, odds = x"), "odds must be a number"),
    ):
        with pytest.raises(ValueError, match=f"^{sentence}"):
            call()


@pytest.mark.parametrize(
    ("text", "meant"),
    [("Recall10", "Recall@10"), ("NDCG 5", None), ("hr10", "HitRate@10"), ("map20", "AP@20")],
)
def test_the_sign_before_the_cutoff_is_suggested(text: str, meant: str | None) -> None:
    if meant is None:  # a space will do
        assert str(sd.parse_metric(text)) == "NDCG@5"
        return
    with pytest.raises(ValueError, match=f"^unknown metric '{text}': write {meant}$"):
        sd.parse_metric(text)


@pytest.mark.parametrize("text", ["AUC10", "foo10", "10", "TOPK2"])
def test_nothing_else_is_suggested(text: str) -> None:
    with pytest.raises(ValueError, match=f"^unknown metric '{text}': known are AUC"):
        sd.parse_metric(text)


def test_the_mass_that_is_known_counts_not_the_odds() -> None:
    known = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9])
    one, other = (
        sd.expected_mean("AP", known, 3, scheme="popularity", odds=odds) for odds in (1.0, 3.0)
    )
    assert one == other


@pytest.mark.parametrize(
    "call",
    [
        lambda: sd.Sampling(BILLIONS, 3),
        lambda: sd.RankSet("A", [1, 2], BILLIONS),
        lambda: sd.RankSet("A", [1, 2], [5, BILLIONS]),
        lambda: sd.SampledRankSet("A", [1, 2], BILLIONS, 3),
        lambda: AP([1], BILLIONS),
        lambda: AP.of_set([1], BILLIONS),
    ],
)
def test_too_many_candidates(call: Call) -> None:
    with pytest.raises(
        ValueError, match=r"^n .*must be at most 10\^12, got 1000000000001: .*fewer"
    ):
        call()


def test_priors_of_any_size() -> None:
    for each in (1e308, 1.0, 5e-324):
        assert np.array_equal(sd.correction("BV", prior=[each] * 10).prior, np.full(10, 0.1))
    steep = sd.correction("BV", prior=[1e308, 1e308, 5e307]).prior
    np.testing.assert_allclose(steep, [0.4, 0.4, 0.2], rtol=1e-15)
