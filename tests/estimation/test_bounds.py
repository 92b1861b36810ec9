"""Bounds on metrics, also from printed tables, against linear programmes over all ranks."""

import re
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import sampledash as sd
from sampledash.estimation import linear_programme
from sampledash.estimation.bounds import ahead, confidence_range, constrained, decided
from sampledash.estimation.linear_programme import Columns
from sampledash.metrics import metric
from sampledash.rank_sets import RankSet
from sampledash.sampled_rank_sets import SampledRankSet
from tests.estimation.cases import brute, extremes, limited, shaped
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT, dense_law, exact_metric

N, M = 3541, 100
FALLING = "non-increasing"
SHAPES = (None, FALLING)
SEEDS = st.integers(0, 10**6)


def rough(rng: np.random.Generator, n: int, most: int) -> tuple[tuple, str, str | None, list[int]]:
    """Return a random metric, scheme, shape of the rank distribution, and one or two m."""
    m = rng.choice(np.arange(1, min(n, most)), min(n - 1, int(rng.integers(1, 3))), replace=False)
    name = METRICS[rng.integers(len(METRICS))]
    return name, str(rng.choice(UNIFORM)), SHAPES[rng.integers(2)], sorted(m.tolist())


@given(SEEDS, st.sampled_from([5, 60, 400, 2000]), st.booleans())
def test_columns_and_their_minima_at_every_place(seed, n, room) -> None:
    """``Columns`` match dense matrices for any weights, whether or not all ranks are stored."""
    rng = np.random.default_rng(seed)
    name, scheme, shape, sizes = rough(rng, n, 30)
    laws = [dense_law(n, m, scheme) for m in sizes]
    readings = [None if rng.random() < 0.5 else rng.normal(size=(m + 1, 2)) for m in sizes]
    exact, joint = exact_metric(*name, n)[:, None], bool(rng.integers(2))
    every = np.hstack([x if y is None else x @ y for x, y in zip(laws, readings, strict=True)])
    more = [every * exact, exact**2] if joint else []
    rows = shaped(np.hstack([every, *more, exact]), shape)
    samplings = tuple(sd.Sampling(n, m, scheme) for m in sizes)
    with patch.object(linear_programme, "_ROOM", n * (sum(sizes) + len(sizes)) - (not room)):
        columns = Columns(samplings, tuple(readings), metric(name[0], k=name[1]), shape, joint)
        assert columns.every_place == room
        close = {"rtol": 0, "atol": 1e-9}
        np.testing.assert_allclose(columns.on_grid(), rows[columns.grid - 1], **close)
        some = np.unique(rng.integers(1, n + 1, 20))
        np.testing.assert_allclose(columns.at(some), rows[some - 1], **close)
        combination = rng.normal(size=rows.shape[1])
        values = columns.at(np.arange(1, n + 1)) @ combination
        level = float(np.quantile(values, rng.random()))
        if not room:  # no stored row has a value below level: the minimum is searched for
            level = float(values[columns.stored[0] - 1].min())
        places, least = columns.price(combination, level)
    assert least == pytest.approx(min(values.min(), level), abs=1e-9)
    around = np.pad(values, 1, constant_values=np.inf)
    lowest = 1 + np.flatnonzero((values <= around[:-2]) & (values <= around[2:]) & (values < level))
    assert not room or set(lowest) <= set(places)
    if values.min() < level - 1e-9:
        assert values[places - 1].min() == pytest.approx(values.min(), abs=1e-9)


def test_a_grid_resolves_every_law() -> None:
    for n, m, text in [(3000, 40, "Recall@500"), (30, 9, "AUC"), (66, 3, "AP@66")]:
        grid = Columns((sd.Sampling(n, m),), (None,), sd.parse_metric(text), None).grid
        assert grid[:64].tolist() == list(range(1, min(n, 64) + 1))
        assert grid[-30:].tolist() == list(range(n - 29, n + 1))
        assert {500, 501} <= set(grid.tolist()) or n < 500
        steps, places = np.diff(grid), np.minimum(grid[:-1], n - grid[:-1])
        assert np.all((steps == 1) | (steps <= 0.03 * places + 2))
        widths = np.sqrt((grid - 0.5) * (n - grid + 0.5) / m)[:-1]
        assert np.all((steps == 1) | (steps <= 0.2 * widths + 2))


@given(SEEDS)
def test_small_cases_against_all_ranks(seed) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 70))
    (name, k), scheme, shape, sizes = rough(rng, n, 9)
    sets = []
    for system in "AB"[: rng.integers(1, 3)]:
        own = rng.choice([n, n + int(rng.integers(1, 4)), 7 * n][: rng.integers(1, 4)], 60)
        m = rng.choice(sizes, 60)
        t = 1 + rng.binomial(m, rng.beta(0.5, 1.5, 60))
        more = {"scheme": scheme, "adaptive": False, "counts": rng.integers(0, 3, 60) / 2}
        sets.append(SampledRankSet(system, t, own, m, **more))
    how = {"shape": shape, "tolerance": float(rng.choice([0.02, 0.1, 0.3]))}
    every = [brute(name, k, one, **how) for one in sets]
    with patch.object(linear_programme, "_ROOM", int(rng.choice([0, 1 << 22]))):
        if None not in every:
            first, *second = every
            expected = np.subtract(first, second[0][::-1]) if second else first
            found = sd.bounds(metric(name, k=k), *sets, **how)
            assert found == pytest.approx(tuple(expected), abs=1e-6)
            return
        one = sets[every.index(None)]
        with pytest.raises(ValueError, match=f"'{one.system}'") as caught:
            sd.bounds(metric(name, k=k), one, **how)
    text = f"tolerance = {how['tolerance']:g} leaves no {shape or ''} rank".replace("  ", " ")
    assert str(caught.value).startswith(text)
    enough, small = float(re.search("take (.*), or None", str(caught.value))[1]), how["tolerance"]
    if len(one.strata) == 1:  # ``enough`` is nearly the least tolerance that leaves some ranks
        assert brute(name, k, one, shape, enough)
        less = small + 0.9 * (enough / 1.01 - small) / sum(one.outcomes.m)
        assert brute(name, k, one, shape, less) is None
    assert enough > small


@given(SEEDS)
def test_small_tables_against_all_ranks(seed) -> None:
    """``bounds_from_table`` is right for any decimals and size, and refuses impossible tables."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 70))
    (name, k), scheme, shape, (m, *_) = rough(rng, n, 12)
    shown = [METRICS[i] for i in rng.permutation(len(METRICS))[: rng.integers(1, 4)]]
    keys = [str(metric(one, k=cut)) for one, cut in shown]
    law = dense_law(n, m, scheme) @ np.transpose([exact_metric(*one, m + 1) for one in shown])
    decimals, size = rng.integers(1, 4, len(keys)).tolist(), [None, 1, 40][rng.integers(3)]
    exact, possible = shaped(exact_metric(name, k, n), shape), rng.random() < 0.5

    def error(value):
        return 0.0 if size is None else 2 * np.sqrt(value * (1 - value) / size)

    def left(values, shape, free=None):
        """Return the range of the metric; with ``free``, of that printed value given the others."""
        half, every = 0.5 * 10.0 ** -np.array(decimals) + error(values), shaped(law, shape)
        room = np.where(np.arange(len(half)) == free, 9.0, half)
        target = exact if free is None else every[:, free]
        return extremes(every, values - room, values + room, target)

    tables, spans = [], []
    for _ in range(2):
        means = rng.dirichlet(np.full(n, 0.2)) @ shaped(law, shape)
        if not possible:  # no ranks have these values, or only ranks without the shape
            means = rng.random(len(keys)) if rng.random() < 0.5 else law[rng.integers(n)]
        values = np.array([round(x, d) for x, d in zip(means.tolist(), decimals, strict=True)])
        tables.append(dict(zip(keys, values.tolist(), strict=True)))
        spans.append(left(values, shape))
        if shape is not None and spans[-1]:
            low, high = spans[-1]
            spans[-1] = max(low - error(low), 0.0), min(high + error(high), 1.0)
    how = {"decimals": dict(zip(keys, decimals, strict=True)), "instances": size}
    call = partial(sd.bounds_from_table, metric(name, k=k), tables[0], n, m, shape=shape)
    call = partial(call, scheme=scheme, **how)
    if None not in spans:
        (low, high), (least, most) = spans
        assert call() == pytest.approx((low, high), abs=2e-5 if size else 1e-6)
        expected = pytest.approx((low - most, high - least), abs=4e-5 if size else 1e-6)
        assert call(versus=tables[1]) == expected
        return
    with pytest.raises(ValueError, match=f"with n = {n} and m = {m}") as caught:
        call(versus=tables[1])
    place, said = spans.index(None), str(caught.value)
    system, values = ("observed", "versus")[place], np.array(list(tables[place].values()))
    written = {(repr(key), f"{value:g}") for key, value in tables[place].items()}
    assert written >= set(re.findall(r"('\S+') = (\S+\b)", said))
    free = [left(values, shape, i) for i in range(len(keys))]
    if shape and left(values, None):
        text = f"shape {shape!r} contradicts {system} '.*' = .* with .*, so leave shape out"
        assert re.fullmatch(text, said)
    elif not any(free):
        assert re.match(f"{system} holds values that no .* without '.*' = .* and '.*' = ", said)
    else:
        text = f"{system} '(.*)' is (.*), but with .* leave it (.*) to (.*): check it"
        key, *numbers = re.match(text, said).groups()
        i = keys.index(key)
        unit = 10.0 ** -decimals[i] + 2 * float(error(values[i]))
        digits = max(0, round(-np.log10(unit)))
        assert numbers[0] == f"{values[i]:.{digits}f}"
        assert [len(x.partition(".")[2]) for x in numbers] == [digits] * 3
        assert list(map(float, numbers[1:])) == pytest.approx(free[i], abs=0.501 * 10.0**-digits)


def alike(rng: np.random.Generator, system: str, scheme: str, sizes: list[int], n: int):
    """Return a sample whose sampled ranks are nearly all equal at each number of negatives."""
    last, ranks, m, counts = rng.choice([0.0, 1.0, 0.0, 0.3][: 4 // len(sizes)]), [], [], []
    for size in sizes:  # if there are two m, all items are first or all are last at both
        t = 1 + round(last * size)
        ranks += [t, min(t + 1, size + 1)]
        m += [size] * 2
        few = rng.choice([0.0, 1.0, 4.0]) if len(sizes) == 1 else 0.0
        counts += [float(rng.integers(20, 200)), few]
    own = rng.choice([n, n + 3], len(m)) if rng.random() < 0.5 else n
    labels = np.arange(len(m)) // 2 if rng.random() < 0.3 else None
    more = {"scheme": scheme, "adaptive": False, "counts": counts, "instances": labels}
    return SampledRankSet(system, ranks, own, m, **more)


@given(SEEDS)
def test_samples_that_are_all_alike_have_exact_limits(seed) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    (name, k), scheme, shape, sizes = rough(rng, n - 1, 8)
    name, k = ("ndcg", 3) if name == "auc" else (name, k)
    sets = [alike(rng, x, scheme, sizes, n) for x in "AB"[: rng.integers(1, 3)]]
    confidence = float(rng.choice([0.8, 0.95]))
    level = 1 - (1 - confidence) / sum(len(one.strata) for one in sets)
    spans = [[limited(name, k, x, shape, level) for x in one.strata] for one in sets]
    call = partial(confidence_range, metric(name, k=k), sets[0])
    call = partial(call, sets[1] if len(sets) > 1 else None, shape, confidence)
    if not all(map(all, spans)):  # no range exists, or the samples contradict the shape
        bad = next(one for one, some in zip(sets, spans, strict=True) if not all(some))
        text = f"no{f' {shape}' if shape else ''} rank .* of system '{bad.system}': nearly all are "
        text += "[^l]*$" if shape is None else ".*, or leave"
        with pytest.raises(ValueError, match=text):
            call()
        return
    ends = []
    for one, some in zip(sets, spans, strict=True):
        shares = [float(x.total) / one.n_instances for x in one.strata]
        ends.append(np.array(shares) @ np.array(some))
    low, high = ends[0] if len(ends) == 1 else ends[0] - ends[1][::-1]
    assert call() == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_strata_and_systems_share_the_risk(shape) -> None:
    """Two strata, each with one n, get half the error rate each, even if one has only rank 1."""
    t = 1 + np.random.default_rng(5).binomial(9, np.linspace(0, 1, 90) ** 3)
    first, other, both = (
        SampledRankSet("A", rank, n, 9, scheme=WITH)
        for rank, n in (([1] * 60, 40), (t, 400), ([1] * 60 + t.tolist(), [40] * 60 + [400] * 90))
    )
    parts = [confidence_range("AP", one, None, shape, 0.95) for one in (first, other)]
    expected = parts[0][0] - parts[1][1], parts[0][1] - parts[1][0]
    found = confidence_range("AP", first, other, shape, 0.9)
    assert found == pytest.approx(expected, abs=1e-5)
    # The sampled ranks of ``known`` are true ranks (m = n - 1), those of ``other`` are not.
    known = SampledRankSet("A", np.arange(1, 41), 40, 39, scheme=WITHOUT)
    assert np.ptp(confidence_range("AP", known, other, shape, 0.9)) >= np.ptp(parts[1]) / 2
    found = confidence_range("AP", both, None, shape, 0.9)
    assert found == pytest.approx(np.dot([0.4, 0.6], parts), abs=1e-5)


def test_the_cost_of_stopping_where_all_ranks_are_known() -> None:
    """The variance of a mean of ``size`` costs is at most (mean - least) (most - mean) / size."""
    rng = np.random.default_rng(6)
    for n in (np.full(30, 12), rng.integers(9, 30, 30)):
        ranks = rng.integers(1, n + 1)
        counts = rng.integers(1, 4, 30)
        pilot = SampledRankSet("A", ranks, n, n - 1, scheme=WITHOUT, counts=counts)
        size = counts.sum()
        mean = sd.mean_stopping_cost("RR@10", RankSet("A", ranks, n, counts=counts)).mean
        least, most = min(10.0, n.min() - 1), n.max() - 1.0
        for whole in (None, size, size + 1, 4 * size, np.inf):
            part = 0.0 if whole is None else 1 - size / whole
            z = norm.isf((1 - 0.95) / 2)
            # Wilson's ends x are z standard errors, computed at x, from the mean.
            part *= z**2 / size
            ends = np.roots(
                [1 + part, -2 * mean - part * (least + most), mean**2 + part * least * most]
            )
            found = sd.stopping_range("RR@10", pilot, whole, confidence=0.9)
            assert found == pytest.approx(sorted(ends.real), abs=1e-6)


@pytest.mark.parametrize(
    ("spans", "place"),
    [([(0.5, 0.6), (0.1, 0.2), (0.2, 0.4)], 0), ([(0.1, 0.2), (0.5, 0.6), (0.2, 0.4)], 1),
     ([(0.5, 0.6), (0.1, 0.2), (0.3, 0.5)], None),  # (0.5, 0.6) touches (0.3, 0.5)
     ([(0.5, 0.6), (0.1, 0.5)], None), ([(0.5, 0.6)], None),
     ([(0.5, 0.6), (0.1, 0.2), None], None)],
)  # fmt: skip
def test_who_is_ahead_of_all_others_and_what_decides(spans, place) -> None:
    assert ahead(spans) == place
    assert decided([(-0.2, -0.1), (0.1, 0.2), (-0.1, 0.1), (0.0, 0.1), (-0.1, 0.0), None]) == 2


@pytest.mark.parametrize("m", [1, 200, 300, 5000])
def test_which_shares_are_constrained(m) -> None:
    places = constrained(m).tolist()
    even = [m * np.sin(i * np.pi / 400) ** 2 for i in range(1, 201)] if m > 200 else range(1, m + 1)
    assert places == sorted({max(1, round(x)) for x in even})
