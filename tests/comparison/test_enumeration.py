"""Check ``expected_mean`` and ``std_of_mean`` by enumerating all samples, also with ties."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from sampledash.comparison import scatter
from tests import oracles
from tests.comparison import made
from tests.comparison.made import READINGS, Instance, drawn, each_metric, instances, most
from tests.oracles import METRICS, POPULARITY, UNIFORM, WITH, WITHOUT

WEIGHTING = st.sampled_from(["instances", "relevant-items"])


@pytest.fixture(scope="module", autouse=True)
def blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scatter, "CHUNK", 80)
        yield


def often(rows: list[Instance]) -> list[float]:
    return [(1.5, 1.0, 3.0)[(i + row[0]) % 3] for i, row in enumerate(rows)]


def check(rows, m, laws, error=1e-12, masses=None, metrics=None, **options):
    """Compare the mean and standard deviation of metrics with those over all possible samples."""
    times = often(rows)
    counts = np.repeat(times, [len(ranks) for _, ranks, _ in rows])
    rs = made.rank_set(rows, mass_above=masses, counts=counts)
    shares = np.array(made.shares(rows, options.get("weighting", "")))
    shares /= shares @ times
    for metric, value in metrics or each_metric():
        mean = spread = 0.0
        for law, share, count in zip(laws, shares, times, strict=True):
            p, values = np.array([(p, value(*what)) for p, what in law]).T
            mean += count * share * (p @ values)
            spread += count * share**2 * (p @ (values - p @ values) ** 2)
        assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, abs=error)
        std = sd.std_of_mean(metric, rs, m, **options)
        assert std == pytest.approx(np.sqrt(spread), abs=np.sqrt(error))
        assert std**2 == pytest.approx(spread, abs=error)


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=15)
@given(rows=instances(2), data=st.data())
def test_corrections_of_several_items(scheme, rows, data):
    m, gamma = data.draw(st.integers(1, most(rows, scheme))), 0.3
    fit_scheme = data.draw(st.sampled_from(UNIFORM))
    laws = [drawn(row, m, scheme) for row in rows]
    for name, k in METRICS:
        vectors = []
        for j in range(1, max(len(ranks) for _, ranks, _ in rows) + 1):
            here = [i for i, row in enumerate(rows) if len(row[1]) >= j]
            times = np.array(often(rows))[here]
            negatives = times @ [rows[i][0] - len(rows[i][1]) for i in here] / times.sum()
            n = int(np.floor(negatives + 0.5)) + 1
            if fit_scheme == WITHOUT:
                n = max(n, m + 1)
            if n < m + 1:
                return  # with so few negatives a sampled rank may be impossible with replacement
            law, target = oracles.dense_law(n, m, fit_scheme), oracles.dense_target(name, k, n, j)
            vectors.append(oracles.dense_bias_variance(law, target, gamma, None))

        def value(ranks, size, name=name, k=k, vectors=vectors, m=m):
            if size < m + len(ranks):  # all candidates are in the sample: the metric is exact
                return oracles.by_definition(name, k, ranks, size)
            total = sum(vectors[j - 1][t - j] for j, t in enumerate(ranks, start=1))
            return float(total * oracles.item_scale(name, k, len(ranks)))

        options = {"scheme": scheme, "fit_scheme": fit_scheme, "correction": f"BV {gamma}"}
        check(rows, m, laws, 1e-11, metrics=[(sd.metric(name, k=k), value)], **options)


@settings(max_examples=30)
@given(data=st.data(), m=st.integers(1, 4), odds=st.sampled_from([1 / 4, 2, 10]))
def test_popularity_odds(data: st.DataObject, m: int, odds: float) -> None:
    rows = data.draw(st.one_of(instances(3, 1, tied=True), instances(2, 3)))
    laws = [drawn(row, m, WITH, weights=made.odds_of(Fraction(odds))) for row in rows]
    check(rows, m, laws, **made.options_of(POPULARITY, odds))


@settings(max_examples=25)
@given(rows=instances(2), data=st.data(), weighting=WEIGHTING)
def test_mass_above(rows: list[Instance], data: st.DataObject, weighting: str) -> None:
    m = data.draw(st.integers(1, 3))
    laws, masses = [], []
    for row in rows:
        others = [r for r in range(1, row[0] + 1) if r not in row[1]]
        popular = tuple(Fraction(data.draw(st.integers(1, 9))) for _ in others)
        laws.append(drawn(row, m, WITH, weights=lambda n, order, popular=popular: popular))
        for r in row[1]:
            above = sum(w for item, w in zip(others, popular, strict=True) if item < r)
            masses.append(float(above / sum(popular)))
    check(rows, m, laws, masses=masses, scheme=POPULARITY, weighting=weighting)


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=15)
@given(rows=instances(tied=True), data=st.data(), weighting=WEIGHTING)
def test_every_metric_and_reading_of_ties(scheme, rows, data, weighting):
    m, rs = data.draw(st.integers(1, most(rows, scheme))), made.rank_set(rows)
    for reading in READINGS:
        how = {"ties": reading, "weighting": weighting}
        check(rows, m, [drawn(row, m, scheme, reading) for row in rows], scheme=scheme, **how)
        for metric, value in each_metric():
            each = [np.mean([value(x, row[0]) for x in made.orders(row, reading)]) for row in rows]
            exact = np.dot(made.shares(rows, weighting), each)
            assert sd.mean(metric, rs, **how) == pytest.approx(exact, abs=1e-13)
