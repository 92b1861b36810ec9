"""Monte Carlo simulation of sampled evaluations; the caller provides the random generator."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from sampledash import checks
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, as_ranked_by, group_by_candidate_set
from sampledash.rank_counts import RankCounts
from sampledash.rank_sets import RankSet, Ties, require_ranks
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import draw_above, draw_sizes
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme
from sampledash.types import Floats, blocks

#: What relevant items contribute to the mean of a metric: the metric; arrays of its values for 0..m
#: sampled items above the relevant item, the first array for the best relevant item of an instance,
#: the second for the second best, ...; and the weight of each relevant item in the mean.
Contributions = tuple[Metric, list[Floats], Floats]

_BLOCK = 1 << 17  # number of random draws that are simulated at a time, in some ten milliseconds


def simulate(
    metric: Metric | str,
    ranks: RankSet,
    m: int,
    repeats: int,
    rng: np.random.Generator,
    **options: Unpack[Options],
) -> Floats:
    """Return the mean over instances of the sampled metric in each simulated run.

    Parameters
    ----------
    metric
        A metric, or its text such as ``"Recall@10"``.
    ranks
        True ranks; the ``counts`` of the instances must be whole numbers.
    m
        Number of sampled negatives per instance.
    repeats
        Number of runs, at least 1.
    rng
        Random generator; the same state gives the same runs.
    **options
        See :class:`~sampledash.Options`. With a ``correction``, the corrected metric is simulated.
        With ties "expected", the order of tied items is drawn anew in each run.

    Returns
    -------
    Array of shape (repeats,).
    """
    m = checks.integer("m", m, low=1)
    repeats = checks.integer("repeats", repeats, low=1)
    metric, protocol = as_metric(metric), Protocol.of(options)
    return np.concatenate(list(batches([metric], ranks, m, repeats, rng, protocol)))[:, 0]


def batches(
    metrics: Sequence[Metric],
    ranks: RankSet,
    m: int,
    repeats: int,
    rng: np.random.Generator,
    protocol: Protocol,
) -> Iterator[Floats]:
    """Yield blocks of simulated runs: the mean of each metric in each run, (runs, metrics).

    The metrics of a run share the sampled negatives, except TOPK and ATOP, which rank each relevant
    item among other relevant items too. A block takes well below a second, so that a page can show
    progress or stop in between. Block sizes depend on the rank set only, so a generator in the same
    state gives the same runs.
    """
    protocol.check(ranks, m)
    checks.generator(rng)
    counts, rows = ranks.counted(protocol.ties), _repeated(ranks, protocol.ties)
    values = [contributions(metric, rows, counts, m, protocol) for metric in metrics]
    for runs in blocks(repeats, _BLOCK, len(rows)):
        size = runs.stop - runs.start
        sums = np.empty((size, len(metrics)))
        for x in group_by_candidate_set(metrics):
            ranked = as_ranked_by(metrics[x[0]], rows)
            sums[:, x] = run_sums([values[i] for i in x], ranked, m, size, protocol, rng)
        yield sums


def _repeated(ranks: RankSet, ties: Ties) -> RankCounts:
    """Return the relevant items with count 1: an instance with count c is repeated c times."""
    if np.any(ranks.counts != np.floor(ranks.counts)):
        raise ValueError(f"counts of system {ranks.system!r} must be whole numbers to simulate")
    rows = ranks.rows(ties)
    starts = np.flatnonzero(rows.position == 1)
    times = rows.count[starts].astype(np.int64)
    first, length = np.repeat(starts, times), np.repeat(rows.relevant[starts], times)
    before = np.cumsum(length) - length
    repeated = rows[np.repeat(first - before, length) + np.arange(length.sum())]
    return replace(repeated, count=np.ones(len(repeated)))


def contributions(
    metric: Metric, rows: RankCounts, counts: RankCounts, m: int, protocol: Protocol
) -> Contributions:
    """Return what each relevant item of ``rows`` adds to the mean with 0..m sampled items above it.

    If the metric is corrected, the correction is fitted to ``counts``.
    """
    last = 1 if metric.first_only or metric.of_others else int(rows.position.max())
    ranked = as_ranked_by(metric, counts)
    vectors = [protocol.vector(metric, ranked, m, j) for j in range(1, last + 1)]
    return metric, vectors, metric.scales(rows.relevant) * protocol.shares(rows)


def run_sums(
    values: Sequence[Contributions],
    rows: RankCounts,
    m: int,
    runs: int,
    protocol: Protocol,
    rng: np.random.Generator,
) -> Floats:
    """Return the weighted sum of each metric over relevant items in each run: (runs, metrics).

    ``rows`` are the relevant items, sorted by instance, with the best item of an instance first.
    """
    above = np.broadcast_to(rows.above, (runs, len(rows)))
    if np.any(rows.tied):
        above = above + rng.integers(0, rows.tied + 1, size=(runs, len(rows)))
    # In some schemes (``design.varies``), the number of distinct negatives in a sample is random.
    # ``draw_sizes`` then draws this number, and as many negatives are drawn without replacement.
    law = DEFAULT_SCHEME if protocol.design.varies else protocol.scheme
    by_class = list(protocol.laws(rows, m)) if protocol.design.by_class is not None else []
    first = np.flatnonzero(rows.position == 1)
    repeats = runs if protocol.design.varies else 1
    pools = np.broadcast_to(rows.negatives[first], (repeats, len(first)))
    drawn = draw_sizes(protocol.scheme, m, pools, rng)[:, np.cumsum(rows.position == 1) - 1]
    total = np.zeros((len(values), runs))
    sampled = np.zeros((runs, len(rows)), dtype=np.int64)
    # Start with the worst relevant item: draw how many sampled items are above it. Then draw how
    # many of these are above the next better relevant item too, and so on.
    for j in range(int(rows.position.max()), 0, -1):
        at = np.flatnonzero(rows.position == j)
        items, size = rows[at], (runs, len(at))
        sides = protocol.weights(items, above[:, at])
        draws, a, b = (np.broadcast_to(x, size) for x in (drawn[:, at], *sides))
        last, groups = items.relevant == j, [slice(None)]
        if not np.all(last):
            draws, b, groups = draws.copy(), b.copy(), [last, ~last]
            after = at[~last] + 1
            a_after, _ = protocol.weights(rows[after], above[:, after])
            between = np.maximum(a_after - a[:, ~last], 0)
            b[:, ~last] = between + ((between == 0) & (a[:, ~last] == 0))
            draws[:, ~last] = sampled[:, after]
        for _, p in by_class:
            for i, steps in enumerate(np.cumsum(p, axis=1)):
                sampled[:, i] = np.searchsorted(steps[:-1], rng.random(runs), side="right")
        for some in groups if not by_class else ():
            sampled[:, at[some]] = draw_above(law, draws[:, some], a[:, some], b[:, some], rng)
        count = sampled[:, at]
        exact = protocol.design.distinct & (items.negatives < m)
        full = at[exact]
        for row, (metric, vectors, scale) in zip(total, values, strict=True):
            if j <= len(vectors):
                worth = vectors[j - 1][count]
                worth[:, exact] = metric.of_above(above[:, full], rows.negatives[full], j)
                row += worth @ scale[at]
    return total.T


def sample_ranks(
    ranks: RankSet,
    m: int,
    rng: np.random.Generator,
    *,
    scheme: Scheme = DEFAULT_SCHEME,
    fit_scheme: Scheme | None = None,
) -> SampledRankSet:
    """Simulate one sampled evaluation of known true ranks, and return its sampled ranks.

    Parameters
    ----------
    ranks
        True ranks, one relevant item per instance; counts must be whole numbers.
    m
        Sampled negatives per instance. Without replacement, an instance with fewer negatives uses
        all its negatives.
    rng
        Random generator. Tied items are put in random order.
    scheme
        How the negatives are drawn: a uniform scheme.
    fit_scheme
        The scheme that the result records and the estimators assume. If None, it is ``scheme``, or
        without replacement if the number of different sampled items varies.

    Returns
    -------
    Sampled ranks with the n and m of each instance.

    Raises
    ------
    ValueError
        If an instance has several relevant items, or the scheme is not uniform.
    """
    require_ranks(ranks)
    ranks.require_known()
    checks.generator(rng)
    protocol = Protocol.of({"scheme": scheme})
    protocol.check_mass(ranks)
    if ranks.max_relevant > 1 or not SCHEMES[scheme].uniform:
        what = "several relevant items in one instance" if ranks.max_relevant > 1 else scheme
        raise ValueError(f"system {ranks.system!r}: {what} has no one sampled rank per instance")
    rows = _repeated(ranks, "expected")
    m = checks.integer("m", m, low=1)
    drawn = draw_sizes(scheme, m, rows.negatives, rng)
    # If the number of different items varies, ``draw_sizes`` has drawn this number. The items are
    # then drawn without replacement.
    law = DEFAULT_SCHEME if protocol.design.varies else scheme
    above = rows.above + rng.integers(0, rows.tied + 1)
    count = draw_above(law, drawn, *protocol.weights(rows, above), rng)
    labels = np.repeat(ranks.instances, ranks.counts.astype(np.int64))
    carried = law if fit_scheme is None else fit_scheme
    return SampledRankSet(
        ranks.system, count + 1, rows.negatives + 1, drawn, scheme=carried, instances=labels
    )
