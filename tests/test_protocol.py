"""Options are checked once, for all comparison functions alike."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.protocol import Protocol
from tests.oracles import POPULARITY, WITH, WITHOUT, dense_bias_variance, dense_law, dense_target

PAIR = [sd.RankSet("P", [1, 4, 9], 10), sd.RankSet("Q", [2, 3, 8], 10)]

CALLS = {
    "expected_mean": lambda m, **o: sd.expected_mean("AP", PAIR[0], m, **o),
    "std_of_mean": lambda m, **o: sd.std_of_mean("AP", PAIR[0], m, **o),
    "curve": lambda m, **o: sd.curve("AP", PAIR, [1, m], **o),
    "flips": lambda m, **o: sd.flips("AP", PAIR, m, **o),
    "right_from": lambda m, **o: sd.right_from("AP", PAIR, m, **o),
    "probability_of_order": lambda m, **o: sd.probability_of_order("AP", PAIR, m, **o),
    "simulate": lambda m, **o: sd.simulate("AP", PAIR[0], m, 3, np.random.default_rng(0), **o),
    "verdict": lambda m, **o: sd.verdict(["AP"], PAIR, m, **o),
}


def test_defaults() -> None:
    s = Protocol.of({})
    assert (s.scheme, s.odds, s.fit_scheme, s.ties) == (WITH, 1.0, WITH, "expected")
    assert str(s.correction) == "uncorrected"
    assert Protocol.of({"scheme": WITHOUT}).fit_scheme == WITHOUT
    assert Protocol.of({"scheme": WITHOUT, "fit_scheme": WITH}).fit_scheme == WITH


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"scheme": "uniform"}, "^scheme must be one of .*got 'uniform'"),
        ({"fit_scheme": "uniform"}, "^fit_scheme must be one of .*got 'uniform'"),
        ({"ties": "random"}, "^ties must be one of .*got 'random'"),
        ({"odds": 2}, "odds = 2 applies to scheme 'popularity' only"),
        ({"scheme": POPULARITY, "odds": 0}, "^odds must be above 0, got 0"),
        ({"scheme": POPULARITY, "odds": float("nan")}, "^odds must .*got nan"),
        ({"correction": "magic"}, "correction must be one of .*got 'magic'"),
        ({"correction": "BV 2"}, "gamma must be .*at most 1, got"),
        ({"correction": "BV -0.1"}, "gamma must be at least 0.*got"),
        ({"correction": "BV x"}, "gamma must be a number, got 'x'"),
    ],
)
def test_wrong_options(name: str, options: dict[str, object], sentence: str) -> None:
    if name == "verdict" and "correction" in options:
        return  # it takes a list of them
    with pytest.raises(ValueError, match=sentence):
        CALLS[name](3, **options)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("m", [0, -1, 2.5, float("nan"), "ten"])
def test_wrong_m(name: str, m: object) -> None:
    with pytest.raises(ValueError, match=r"^m(_max)? must be"):
        CALLS[name](m)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"flips", "right_from"}))
def test_too_many_without_replacement(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"m = 10 is too large without replacement: .* 9 negatives"
    ):
        CALLS[name](10, scheme=WITHOUT)


@pytest.mark.parametrize("name", CALLS)
def test_unknown_option(name: str) -> None:
    with pytest.raises(TypeError, match="scheem"):
        CALLS[name](3, scheem=WITH)


def test_a_correction_is_fitted_once_at_the_rounded_mean_of_n() -> None:
    # n of 90, 101 and 111 with counts 1, 1, 2: mean 103.25, rounded 103.
    m, gamma = 7, 0.1
    rs = sd.RankSet("N", [5, 40, 60], [90, 101, 111], counts=[1, 1, 2])
    vector = dense_bias_variance(
        dense_law(103, m, WITH), dense_target("ap", None, 103), gamma, None
    )
    means = [dense_law(n, m, WITHOUT)[r - 1] @ vector for r, n in ((5, 90), (40, 101), (60, 111))]
    ours = sd.expected_mean("AP", rs, m, scheme=WITHOUT, fit_scheme=WITH, correction="BV 0.1")
    assert ours == pytest.approx((means[0] + means[1] + 2 * means[2]) / 4, rel=1e-11)


def test_paper_sets_are_fitted_at_3541(xyz: list[sd.RankSet]) -> None:
    # 3,541 is the mean of n_candidates, rounded.
    atoms = xyz[0].counted()
    fitted = Protocol.of({"correction": "BV 0.1"}).vector(sd.parse_metric("AP"), atoms, 100, 1)
    other = sd.correction("BV").fit("AP", sd.Sampling(3541, 100)).values
    assert np.array_equal(fitted, other)
    assert int(np.floor(np.mean(xyz[0].n) + 0.5)) == 3541


def test_note_warns_of_least_squares() -> None:
    rs = sd.RankSet("N", [5, 40, 60], 5000)
    metric = sd.parse_metric("AP")
    assert "ill-conditioned" in str(Protocol.of({"correction": "LS"}).note(metric, rs, 100))
    assert Protocol.of({"correction": "BV 0.1"}).note(metric, rs, 100) is None


def test_mass_above_is_what_counts() -> None:
    known = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9])
    tied = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9], ties=[1, 0])
    one, other, optimistic = (
        sd.expected_mean("AP", ranks, 3, scheme=POPULARITY, **more)
        for ranks, more in ((known, {}), (known, {"odds": 3.0}), (tied, {"ties": "optimistic"}))
    )
    assert one == other == optimistic
