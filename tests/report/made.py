"""Results of comparisons, shared by the tests of the report."""

from functools import cache

import numpy as np

import sampledash as sd
from sampledash.analyses import theme
from sampledash.comparison.means import exact_means
from sampledash.comparison.order import largest_m, orders
from sampledash.comparison.verdict import Pairs, verdict_at_m
from sampledash.metrics import as_metric
from sampledash.protocol import Protocol

WITHOUT = {"scheme": "without-replacement"}


def findings(source, python, sets, metrics, m, options, m_max=None, m_values=None):
    """Return ``Pairs`` as ``Pairs.of`` does, for m up to ``m_max`` or at the given ``m_values``."""
    metrics, protocol = [*map(as_metric, metrics)], Protocol.of(options)
    m_max = m_max or largest_m(sets, None, protocol)
    over_m = orders(metrics, sets, m_max, protocol, None, m_values)
    exact = exact_means(metrics, sets, protocol)
    columns = verdict_at_m(over_m, metrics, sets, m, protocol, exact)
    return Pairs(tuple(metrics), tuple(sets), m, protocol, over_m, exact, columns, source, python)


@cache
def movielens(metrics=("Recall@10", "AUC"), m_max=1000, **options):
    sets, python = sd.example("movielens-xyz"), 'sd.example("movielens-xyz")'
    name, options = "MovieLens 1M: X, Y, Z", {**WITHOUT, **options}
    return findings(name, python, sets, metrics, 100, options, m_max)


def of_ranks(ranks, n, metrics, m, *, source="ranks", options=WITHOUT, m_max=None, instances=None):
    """Return findings for {system: ranks}, with a Python expression that builds the sets."""
    how = f"{n}, instances={instances!r}"
    python = f"[sd.RankSet(name, ranks, {how}) for name, ranks in {ranks!r}.items()]"
    sets = [sd.RankSet(name, values, n, instances=instances) for name, values in ranks.items()]
    return findings(source, python, sets, metrics, m, options, m_max)


@cache
def several(weighting="instances"):
    rng = np.random.default_rng(3)
    drawn = np.sort([[rng.permutation(99)[:3] + 1 for _ in range(40)] for _ in "PQ"])
    ranks = dict(zip("PQ", drawn.reshape(2, -1).tolist(), strict=True))
    how = {"source": "several", "instances": np.repeat(np.arange(40), 3).tolist()}
    how["options"] = {**WITHOUT, "weighting": weighting}
    return of_ranks(ranks, 100, ["NDCG@10"], 10, **how)


IMAGE = "<img src=http://evil.invalid/x.png onerror=alert(2)>"
NAMES = ["<script>alert(1)</script>", "=1|`a`\n& $x$ </pre></script>", IMAGE]


def figure(name="A"):
    line = {"type": "scatter", "mode": "lines", "x": [1, 2, 3], "y": [3, 1, 2], "name": name}
    return theme.figure([line], dark=False, title="AP", height=300)


def hostile():
    pairs = zip(NAMES, sd.example("movielens-xyz"), strict=True)
    sets = [sd.RankSet(name, rs.ranks, rs.n) for name, rs in pairs]
    return findings('<b>"file".csv</b>', "sets", sets, ["Recall@10", "AP"], 100, WITHOUT, 150)
