"""Instances that differ in n, or in m by what goes with the rank: do 95 % ranges hold?"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sampledash.estimation.bounds import bounds
from sampledash.metrics import as_metric
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import draw_above
from sampledash.types import Floats, Ints
from tests.benchmarks.bounds import METRICS, misses
from tests.benchmarks.frame import Result
from tests.estimation.cases import adaptive
from tests.oracles import WITH, WITHOUT

MISSES = 0.08  # share of 95 % ranges that may miss the exact metric
N = 3706
Rng = np.random.Generator


class Drawn(NamedTuple):
    """A sample, and the true ranks and candidates of its instances."""

    srs: SampledRankSet
    ranks: Ints
    n: Ints


def ranks_of(share: Floats, n: Ints) -> Ints:
    """True ranks of items that have about these shares of the candidates above."""
    return np.minimum(1 + (n * share).astype(np.int64), n)


def sampled(rng: Rng, share: Floats, n: Any, m: Any, scheme: str = WITHOUT) -> Drawn:
    n, m = (np.broadcast_to(x, len(share)) for x in (n, m))
    ranks = ranks_of(share, n)
    above = draw_above(scheme, m, ranks - 1, n - ranks, rng)
    return Drawn(SampledRankSet("A", above + 1, n, m, scheme=scheme), ranks, n)


def platform(m: tuple[int, int], size: int, rng: Rng) -> Drawn:
    """Two platforms, each with its own m; items stand higher on the first."""
    second = rng.integers(0, 2, size)
    share = rng.beta(*np.where(second, [[1.0], [2.0]], [[0.3], [6.0]]))
    return sampled(rng, share, N, np.array(m)[second], WITH)


def activity(rng: Rng) -> Drawn:
    """Active users get more negatives, and their items stand higher."""
    active = rng.lognormal(0, 0.7, 600)
    m = np.clip(40 * active, 5, 300).astype(np.int64)
    return sampled(rng, rng.beta(0.4, 1 + 2 * active), N, m)


def doubled(rng: Rng) -> Drawn:
    """Twice as many negatives while nothing ranks above the item."""
    n = np.full(600, N)
    ranks = ranks_of(rng.beta(0.4, 2, 600), n)
    m, above = adaptive((ranks - 1) / (n - 1), rng, 20, 320, 1)
    return Drawn(SampledRankSet("A", above + 1, n, m, scheme=WITH), ranks, n)


def few_with_more(rng: Rng) -> Drawn:
    """30 users, one or two of them with 500 negatives; m is independent of the rank."""
    m = rng.choice([20, 500], 30, p=[0.95, 0.05])
    return sampled(rng, rng.beta(0.4, 2, 30), N, m, WITH)


def some_sizes(sizes: list[int], users: int, m: int, rng: Rng) -> Drawn:
    n = rng.choice(sizes, users)
    return sampled(rng, rng.beta(0.4, 2, users), n, m)


def lognormal(sigma: float, rng: Rng) -> Drawn:
    n = np.clip(2000 * rng.lognormal(0, sigma, 500), 110, 10**6).astype(np.int64)
    return sampled(rng, rng.beta(0.4, 2, 500), n, 99)


def n_and_m(rng: Rng) -> Drawn:
    """Items stand higher where there are more candidates; so do those with more negatives."""
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
    """How often 95 % ranges miss the mean metric of the instances, each with its own n."""
    runs = 1 if quick else 200
    for (case, draw), text in product(CASES.items(), METRICS[:1] if quick else METRICS):
        metric, rng = as_metric(text), np.random.default_rng(11)

        def sample(draw=draw, metric=metric, rng=rng):
            found = draw(rng)
            return found.srs, float(metric(found.ranks, found.n).mean())

        found = misses(runs, sample, partial(bounds, metric))
        missed = round(float(found.shares[0]) * found.seen)
        note = f", {missed} of {found.seen} missed, refused {runs - found.seen}"
        yield found.result(f"misses, {text}: {case}", MISSES, quick, note)


BENCHMARKS = (unlike,)
