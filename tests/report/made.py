"""Comparisons that the tests of the report share."""

from functools import cache

import numpy as np
import pandas as pd

import sampledash as sd
from sampledash.analyses import theme
from sampledash.comparison.order import EVERY, Orders, largest_m
from sampledash.comparison.verdict import Pairs
from sampledash.metrics import as_metric
from sampledash.protocol import Protocol

WITHOUT = {"scheme": "without-replacement"}


def findings(source, python, sets, metrics, m, options, m_max=None, verdict=None, **given):
    metrics, protocol = tuple(map(as_metric, metrics)), Protocol.of(options)
    m_max = m_max or largest_m(sets, None, protocol)
    values = given.pop("m_values", None)
    if verdict is None:
        how = {name: value for name, value in options.items() if name != "correction"}
        how |= {"m_max": m_max, "m_values": values}
        verdict = sd.verdict(metrics, sets, m, [protocol.correction], **how)
    reading = {"ties": protocol.ties, "weighting": protocol.weighting}
    means = {
        "exact": lambda metric, ranks: sd.mean(metric, ranks, **reading),
        "expected": lambda metric, ranks: sd.expected_mean(metric, ranks, m, **options),
        "std": lambda metric, ranks: sd.std_of_mean(metric, ranks, m, **options),
    }
    for name, each in means.items():
        if name not in given:
            given[name] = np.array([[each(metric, ranks) for metric in metrics] for ranks in sets])
    if values is None:
        few = protocol.correction.kind.fitted and m_max > EVERY
        values = [1, m_max] if few else range(1, m_max + 1)
    exact, size = given["exact"], (len(values), *given["exact"].shape)
    orders = Orders(np.array(values), np.broadcast_to(given["expected"], size))
    columns = {name: verdict[name].astype(object).tolist() for name in verdict}
    columns["right_from"] = [None if x is pd.NA else x for x in columns["right_from"]]
    found = Pairs(metrics, tuple(sets), m, protocol, orders, exact, columns, source, python)
    vars(found)["std"] = given["std"]
    return found


@cache
def movielens(metrics=("Recall@10", "AUC"), m_max=1000, **options):
    sets, python = sd.example("movielens-xyz"), 'sd.example("movielens-xyz")'
    name, options = "MovieLens 1M: X, Y, Z", {**WITHOUT, **options}
    return findings(name, python, sets, metrics, 100, options, m_max)


def of_ranks(ranks, n, metrics, m, *, source="ranks", options=WITHOUT, m_max=None, instances=None):
    """Systems given by a mapping of names to ranks, read in a script as they are here."""
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
