"""Lesson 8: what no correction can infer from sampled ranks."""

from functools import lru_cache

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, Numbers, movielens
from sampledash.report.numbers import count

SEED, MANY = 1, 100
VISITED = (5, 10, 20, 50, 100, 500)


@lru_cache(maxsize=8)
def run(m: int) -> tuple[sd.SampledRankSet, ...]:
    """Return sampled ranks of the bundled recommenders: those of one run with m negatives."""
    return tuple(sd.sample_ranks(rs, m, np.random.default_rng(SEED)) for rs in movielens().sets)


@lru_cache(maxsize=8)
def ranges(m: int) -> tuple[list[sliding.Range], list[sliding.Range]]:
    """Return the range in which each system's exact metric lies, given one run with m negatives.

    The second list of ranges assumes that no rank is rarer than the next worse rank.
    """
    falling = [sd.bounds(METRIC, srs, shape="non-increasing") for srs in run(m)]
    return [sd.bounds(METRIC, srs) for srs in run(m)], falling


@lru_cache(maxsize=1)
def with_more_users() -> sliding.Range:
    """Return the range of the first system's exact metric with ``MANY`` times as many users.

    The true ranks of all users are repeated ``MANY`` times. Instead of a random draw, each sampled
    rank occurs as often as expected.
    """
    rs, n = movielens().sets[0], run(M)[0].population
    sizes = np.unique(rs.n).tolist()
    laws = [sd.Sampling(size, M, WITHOUT).pmf(rs.ranks[rs.n == size]) for size in sizes]
    law = MANY * np.concatenate(laws).sum(axis=0)
    many = sd.SampledRankSet(rs.system, np.arange(1, M + 2), n=n, m=M, counts=law)
    return sd.bounds(METRIC, many)


def numbers(variant: str) -> Numbers:
    free, falling = (spans[0] for spans in ranges(M))
    return {
        "n": run(M)[0].population,
        "observed": M + 1,
        "users": len(movielens().sets[0]),
        "name": movielens().names[0],
        "free": sliding.from_to(free),
        "more": sliding.from_to(with_more_users()),
        "assumed": sliding.from_to(falling),
        "exact": movielens().exact[0],
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw each system's exact metric; with the answer ``revealed``, also the range from one run.

    The range holds all exact values that the sampled ranks of one run allow.
    """
    _, names, exact, *_ = movielens()
    if not revealed:
        title = f"<b>{METRIC} on all movies</b>,<br>which the sampled ranks do not show"
        return sliding.truths(METRIC, names, exact, 0.3, title, dark)
    steps = {}
    for m in VISITED:
        free, falling = ranges(m)
        title = (
            f"<b>{names[0]}, m = {count(m)}: {sliding.from_to(free[0])}</b>"
            "<br>wide: no assumption, narrow: with it, ┃ truth"
        )
        steps[count(m)] = sliding.ranges(free, falling, exact, dark), title
    top = 1.03 * max(high for m in VISITED for _, high in ranges(m)[0])
    axes = sliding.rows(METRIC, names, top, dark)
    return sliding.sliding([], steps, count(M), dark=dark, barmode="overlay", **axes)
