"""How a comparison is made: defaults, what a correction is fitted at, and what is odd about it."""

import pytest

import sampledash as sd
from sampledash.protocol import Protocol
from tests.oracles import POPULARITY, WITH, WITHOUT, dense_bias_variance, dense_law, exact_metric


def test_defaults_and_the_note_of_least_squares() -> None:
    s = Protocol.of({})
    assert (s.scheme, s.odds, s.fit_scheme, s.ties) == (WITHOUT, 1.0, WITHOUT, "expected")
    assert (str(s.correction), Protocol.of({"scheme": WITH}).fit_scheme) == ("uncorrected", WITH)
    assert Protocol.of({"fit_scheme": WITH}).scheme == WITHOUT
    rs, metric = sd.RankSet("N", [5, 40, 60], 5000), sd.parse_metric("AP")
    assert "ill-conditioned" in str(Protocol.of({"correction": "LS"}).note(metric, rs, 100))
    assert Protocol.of({"correction": "BV 0.1"}).note(metric, rs, 100) is None


def test_a_correction_is_fitted_once_at_the_rounded_mean_and_mass_above_counts() -> None:
    # n of 90, 101 and 111 with counts 1, 1, 2: mean 103.25, rounded 103.
    m, rs = 7, sd.RankSet("N", [5, 40, 60], [90, 101, 111], counts=[1, 1, 2])
    vector = dense_bias_variance(dense_law(103, m, WITH), exact_metric("ap", None, 103), 0.1, None)
    means = [dense_law(n, m, WITHOUT)[r - 1] @ vector for r, n in ((5, 90), (40, 101), (60, 111))]
    ours = sd.expected_mean("AP", rs, m, scheme=WITHOUT, fit_scheme=WITH, correction="BV 0.1")
    assert ours == pytest.approx((means[0] + means[1] + 2 * means[2]) / 4, rel=1e-11)
    known = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9])
    tied, means = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9], ties=[1, 0]), set()
    for ranks, more in ((known, {}), (known, {"odds": 3.0}), (tied, {"ties": "optimistic"})):
        means.add(sd.expected_mean("AP", ranks, 3, scheme=POPULARITY, **more))
    assert len(means) == 1
