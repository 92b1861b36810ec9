"""How often intervals computed from sampled ranks miss the exact metric, and how wide they are."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import sampledash as sd
from sampledash.estimation.bounds import bounds
from sampledash.estimation.confidence import maximum_likelihood, nonnegative, profile_interval
from sampledash.estimation.estimate import interval
from sampledash.estimation.linear_programme import Columns
from sampledash.metrics import as_metric
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import draw_above
from sampledash.types import Floats, Ints
from tests.benchmarks.frame import Result
from tests.estimation.cases import FALLING, adaptive, averaged, drawn, falling, own_n_drawn
from tests.oracles import WITH, WITHOUT, dense_law

SHAPES = (None, "non-increasing")
METRICS = ("Recall@10", "NDCG@10", "AUC")
MISSES = 0.07  # allowed share of 95 % intervals that miss the exact metric
UNLIKE = 0.08  # like MISSES, if n differs between instances, or if m depends on the rank
HARD = 0.15  # like MISSES, for ranks that are chosen to make intervals miss
ROUNDING = 1e-9
WIDTH = 1.5  # a case is counted as narrow if its median width is at most this times ``Case.width``
N = 3706
#: (start, cap, stop): m doubles from start until m = cap or ``stop`` negatives rank above the item.
RULES = ((100, 3200, 1), (20, 320, 2))
MANY = 300_000  # instances in a sample that stands for infinitely many instances
XYZ = sd.example("movielens-xyz")
PLACES = np.arange(1, N + 1)
Rng = np.random.Generator
Drawn = tuple[SampledRankSet, Ints, Ints]  # sampled ranks, true ranks, n of each instance


@dataclass(frozen=True)
class Case:
    """True ranks, the distribution that they come from (if known), and how they are sampled."""

    ranks: sd.RankSet
    n: int
    m: int
    mass: Floats | None

    def __str__(self) -> str:
        return f"{self.ranks.system}, {self.size} of n = {self.n}, m = {self.m}"

    @property
    def size(self) -> int:
        return len(self.ranks.ranks)

    def draw(self, rng: Rng) -> SampledRankSet:
        if self.mass is None:
            return own_n_drawn(self.ranks, self.n, self.m, rng)
        return drawn(self.ranks.ranks, self.n, self.m, rng)

    @property
    def infinite(self) -> SampledRankSet:
        n, m = self.n, self.m
        if self.mass is None:
            return averaged(self.ranks, n, m)
        counts = self.mass @ dense_law(n, m, WITH)
        return SampledRankSet("", np.arange(1, m + 2), n, m, counts=counts, scheme=WITH)

    def width(self, metric: str, shape: str | None) -> float | None:
        """Return the width of the metric's range over rank distributions that give the expected
        shares of sampled ranks to 1e-4, else to 1e-3; None for AUC, or if no distribution does."""
        for tolerance in () if as_metric(metric).linear else (1e-4, 1e-3):
            with suppress(ValueError):
                return float(np.diff(bounds(metric, self.infinite, None, shape, tolerance))[0])
        return None


def cases() -> list[Case]:
    """Return 3 cases with the ranks of systems X, Y, Z, and 20 with ranks drawn at random."""
    rng, every = np.random.default_rng(7), [Case(x, 3541, 100, None) for x in XYZ]
    for i in range(20):
        kind = ("Zipf", "geometric", "bimodal", "uniform")[i % 4]
        n, m = (500, 1000, 3541, 10_000, 20_000)[i % 5], (20, 50, 99, 100, 200)[(i // 4 + i) % 5]
        size, r = (200, 400, 800, 1500, 3000, 6000)[(i * 5 + i // 6) % 6], np.arange(1, n + 1)
        if kind == "Zipf":
            weights = (r + rng.integers(0, 10)) ** -rng.uniform(0.6, 1.2)
        elif kind == "geometric":
            weights = np.exp(-r / (n * rng.uniform(0.02, 0.2)))
        elif kind == "bimodal":
            top, middle = np.exp(-r / (0.03 * n)), np.exp(-0.5 * (r / n - 0.5) ** 2 / 0.01)
            weights = top / top.sum() + middle / middle.sum()
        else:
            weights = np.where(r <= 0.1 * n, 6 / n, 0.4 / n)
        mass = weights / weights.sum()
        ranks = sd.RankSet(f"{kind} {i}", 1 + rng.choice(n, size, p=mass), n)
        every.append(Case(ranks, n, m, mass))
    return every


class Misses(NamedTuple):
    """The share of intervals that miss each true mean; their number, median width, seconds each."""

    shares: Floats
    seen: int
    width: float
    seconds: float

    def result(self, name: str, limit: float, quick: bool, note: str = "", **more: Any) -> Result:
        """Return a benchmark result; if ``quick``, any share of misses is allowed: runs are few."""
        note, limit = f"width {self.width:.4f}{note}", 1.0 if quick else limit
        return Result(name, self.seconds, None, float(self.shares[0]), limit, note=note, **more)


def misses(runs, draw, span):
    """Return how often ``span(sample)`` misses the truth; samples that it refuses are left out."""
    spans, missed, start = [], [], time.perf_counter()
    for _ in range(runs):
        sample, truth = draw()
        with suppress(ValueError):
            low, high = span(sample)
            spans.append(high - low)
            truths = np.atleast_1d(truth)
            missed.append((truths < low - ROUNDING) | (truths > high + ROUNDING))
    spent = (time.perf_counter() - start) / runs
    shares = np.mean(missed, axis=0) if spans else np.zeros(1)
    return Misses(shares, len(spans), float(np.median(spans or [np.nan])), spent)


def of_cases(quick: bool, most: int) -> Iterator[tuple[str, str | None, list[Case], str]]:
    for metric, shape in product(METRICS[: 1 if quick else most], SHAPES):
        yield metric, shape, cases()[:: 6 if quick else 1], f"{metric}, {shape or 'any'} shape"


def held(quick: bool) -> Iterator[Result]:
    """Measure how often 95 % intervals miss the exact metric, and how wide the intervals are."""
    runs, rng = 5 if quick else 200, np.random.default_rng(1)
    for metric, shape, every, of in of_cases(quick, 3):
        ratios, span = [], partial(interval, metric, shape=shape)
        for case in every:
            exact = sd.mean(metric, case.ranks)
            seen = misses(runs, lambda case=case, exact=exact: (case.draw(rng), exact), span)
            note = f", refused {runs - seen.seen}"
            if seen.seen and (infinite := case.width(metric, shape)):
                ratios.append(seen.width / infinite)
                note += f", {ratios[-1]:.2f} x infinite"
            yield seen.result(f"misses, {of}: {case}", MISSES, quick, note, within=0.3)
        if ratios:
            within = sum(ratio <= WIDTH for ratio in ratios)
            note = f"median {np.median(ratios):.2f} x, {within} of {len(ratios)} within {WIDTH} x"
            yield Result(f"widths, {of}", 0.0, None, 0.0, 0.0, note=note)


def shaped(quick: bool) -> Iterator[Result]:
    """Measure how often intervals miss the mean metric of the sample and of the population."""
    for name, kind, size in product(METRICS[:1] if quick else METRICS[:2], FALLING, (200, 3000)):
        metric, mass, rng = as_metric(name), falling(kind, N), np.random.default_rng(3)
        mean = float(mass @ metric(PLACES, N))

        def draw(metric=metric, mass=mass, rng=rng, size=size, mean=mean):
            ranks = rng.choice(PLACES, size, p=mass)
            return drawn(ranks, N, 100, rng), (float(metric(ranks, N).mean()), mean)

        span = partial(interval, metric, shape="non-increasing")
        seen = misses(5 if quick else 100, draw, span)
        title = f"misses, {name}, non-increasing shape: {size} of {kind}"
        note = f", of the distribution {seen.shares[1]:.2f}"
        yield seen.result(title, MISSES, quick, note, within=0.3)


def deciding(ranks: Ints, rule: Ints, rng: Rng, **more: Any) -> SampledRankSet:
    m, above = adaptive((ranks - 1) / (N - 1), rng, *rule)
    return SampledRankSet("A", above + 1, N, m, adaptive=True, scheme=WITH, **more)


def hardest_to_tell(metric, mass, rule, size):
    """Yield two rank distributions, whose mean metrics are the ends of a typical interval."""
    rng, counts = np.random.default_rng(9), np.full(MANY, size / MANY)
    srs = deciding(1 + rng.choice(N, MANY, p=mass), rule, rng, counts=counts)
    fit, samplings = maximum_likelihood(metric, srs.outcomes), srs.outcomes.samplings
    places = Columns(samplings, (None,) * len(samplings), metric, None).grid
    for end in profile_interval([fit], 0.95):
        rows, goal = np.vstack([fit.rows, 1e6 * fit.values]), np.append(fit.observed, 1e6 * end)
        weights = nonnegative(rows, goal)
        yield places, weights / weights.sum()


def decided_by_the_draw(quick: bool) -> Iterator[Result]:
    """Measure how often intervals miss the exact metric if m grows by RULES during sampling."""
    runs, some = 2 if quick else 60, 1 if quick else None
    kinds = ("uniform", "exponential")
    for name, rule, kind, size in product(METRICS[:some], RULES[::-1][:some], kinds, (200, 3000)):
        metric, mass = as_metric(name), falling(kind, N)
        ends = () if quick else hardest_to_tell(metric, mass, rule, size)
        which = [(PLACES, mass), *ends]
        for place, shares in zip(("", "lowest of ", "highest of "), which, strict=False):
            rng = np.random.default_rng(5)

            def draw(shares=shares, rng=rng, rule=rule, size=size, metric=metric):
                ranks = rng.choice(shares[0], size, p=shares[1])
                return deciding(ranks, rule, rng), float(metric(ranks, N).mean())

            title = f"misses, {name}, m by {rule}: {size} of {place}{kind}"
            seen = misses(runs, draw, partial(bounds, metric))
            yield seen.result(title, HARD if place else MISSES, quick)


def sampled(rng: Rng, share: Floats, n: Any, m: Any, scheme: str = WITHOUT) -> Drawn:
    """Return sampled ranks, true ranks and n of items; each ranks below its ``share`` of all n."""
    n, m = (np.broadcast_to(x, len(share)) for x in (n, m))
    ranks = np.minimum(1 + (n * share).astype(np.int64), n)
    above = draw_above(scheme, m, ranks - 1, n - ranks, rng)
    return SampledRankSet("A", above + 1, n, m, scheme=scheme), ranks, n


def platform(m: tuple[int, int], size: int, rng: Rng) -> Drawn:
    """Return a sample from two platforms with different m; items of the first rank higher."""
    second = rng.integers(0, 2, size)
    share = rng.beta(*np.where(second, [[1.0], [2.0]], [[0.3], [6.0]]))
    return sampled(rng, share, N, np.array(m)[second], WITH)


def activity(rng: Rng) -> Drawn:
    """Return a sample in which active users get more negatives, and their items rank higher."""
    active = rng.lognormal(0, 0.7, 600)
    m = np.clip(40 * active, 5, 300).astype(np.int64)
    return sampled(rng, rng.beta(0.4, 1 + 2 * active), N, m)


def doubled(rng: Rng) -> Drawn:
    """Return a sample in which m doubles, up to 320, until a negative ranks above the item."""
    ranks = np.minimum(1 + (N * rng.beta(0.4, 2, 600)).astype(np.int64), N)
    m, above = adaptive((ranks - 1) / (N - 1), rng, 20, 320, 1)
    return SampledRankSet("A", above + 1, N, m, scheme=WITH), ranks, np.full(600, N)


def some_sizes(sizes: list[int], users: int, m: int, rng: Rng) -> Drawn:
    n = rng.choice(sizes, users)
    return sampled(rng, rng.beta(0.4, 2, users), n, m)


def few_with_more(rng: Rng) -> Drawn:
    """Return a sample of 30 users, of whom about 5 % have 500 negatives and the others 20."""
    m = rng.choice([20, 500], 30, p=[0.95, 0.05])
    return sampled(rng, rng.beta(0.4, 2, 30), N, m, WITH)


def lognormal(sigma: float, rng: Rng) -> Drawn:
    n = np.clip(2000 * rng.lognormal(0, sigma, 500), 110, 10**6).astype(np.int64)
    return sampled(rng, rng.beta(0.4, 2, 500), n, 99)


def n_and_m(rng: Rng) -> Drawn:
    """Return a sample in which items that rank nearer the top tend to have a larger n and m."""
    n = np.clip(2000 * rng.lognormal(0, 1, 600), 300, 10**6).astype(np.int64)
    share = rng.beta(0.4, 2 * np.sqrt(n / 1000))
    more = rng.random(600) < np.where(share < 0.05, 0.8, 0.3)
    return sampled(rng, share, n, np.where(more, 150, 30))


CASES: dict[str, Callable[[Rng], Drawn]] = {
    "m of a platform, 20 and 200": partial(platform, (20, 200), 600),
    "m of a platform, 200 and 20": partial(platform, (200, 20), 600),
    "m of a platform, 6,000 users": partial(platform, (20, 200), 6000),
    "m of the activity": activity,
    "m doubled by the draw": doubled,
    "30 users, m = 20 or 500": few_with_more,
    "n = 200 or 20,000": partial(some_sizes, [200, 20_000], 400, 99),
    **{f"lognormal n, {sigma:g}": partial(lognormal, sigma) for sigma in (0.5, 1, 1.5)},
    "n and m with the rank": n_and_m,
    "40 users, three n": partial(some_sizes, [100, 1000, 10_000], 40, 50),
}


def unlike(quick: bool) -> Iterator[Result]:
    """Measure how often 95 % intervals miss the mean metric if n or m differs between instances."""
    runs = 1 if quick else 200
    for (case, draw), text in product(CASES.items(), METRICS[:1] if quick else METRICS):
        metric, rng = as_metric(text), np.random.default_rng(11)

        def sample(draw=draw, metric=metric, rng=rng):
            srs, ranks, n = draw(rng)
            return srs, float(metric(ranks, n).mean())

        seen = misses(runs, sample, partial(bounds, metric))
        missed = round(float(seen.shares[0]) * seen.seen)
        note = f", {missed} of {seen.seen} missed, refused {runs - seen.seen}"
        yield seen.result(f"misses, {text}: {case}", UNLIKE, quick, note)


BENCHMARKS = (held, shaped, decided_by_the_draw, unlike)
