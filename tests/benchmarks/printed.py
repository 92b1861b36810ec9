"""The accuracy of estimates from printed tables, for systems whose exact metrics are known."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

import sampledash as sd
from sampledash.readers.files import bundled
from sampledash.types import Floats
from tests.benchmarks.frame import Result, timed
from tests.estimation.cases import extremes, shaped
from tests.oracles import WITHOUT, dense_law, exact_metric

CUTOFFS = (1, 5, 10)
NAMES = [f"Recall@{k}" for k in CUTOFFS]
SHOWN = ("HR@1", "HR@5", "HR@10", "NDCG@10")


def middle(metric: str, table: dict[str, float], n: int, m: int, decimals: int) -> float:
    span = sd.bounds_from_table(metric, table, n, m, decimals, shape="non-increasing")
    return float(np.mean(span))


def in_order(values: Floats, exact: Floats) -> float:
    """Return the % of pairs of systems that the values order as the exact metrics do."""
    i, j = np.triu_indices(len(exact), 1)
    same = np.sign((values[i] - values[j]).round(12)) == np.sign((exact[i] - exact[j]).round(12))
    return 100 * float(same.mean())


def coco(quick: bool) -> tuple[list[dict[str, float]], Floats]:
    """Return Recall that 69 systems print on 1,000 images, as tables, and on all 5,000 images."""
    rows = pd.read_csv(str(bundled() / "printed_coco_1k_5k.csv"))[:: 12 if quick else 1]
    part, whole = (rows[[f"r{k}_{size}k" for k in CUTOFFS]].to_numpy() / 100 for size in (1, 5))
    return [dict(zip(NAMES, x, strict=True)) for x in part.round(3)], whole


def ranges(quick: bool) -> Iterator[Result]:
    """Compare ranges from the numbers on 1,000 images with linear programmes over 5,000 ranks."""
    (tables, _), shown = coco(quick), [exact_metric("recall", k, 1000) for k in CUTOFFS]
    law = dense_law(5000, 999, WITHOUT) @ np.transpose(shown)
    for shape in (None, "non-increasing"):
        seen, rows = [], shaped(law, shape)
        for k, table in product(CUTOFFS, tables):
            about, values = (f"Recall@{k}", table, 5000, 999, 3), np.array([*table.values()])
            # A second call would find the answer in a cache.
            ours, span = timed(partial(sd.bounds_from_table, *about, shape=shape))
            target = shaped(exact_metric("recall", k, 5000), shape)
            every = partial(extremes, rows, values - 0.0005, values + 0.0005, target)
            obvious, expected = timed(every)
            seen.append((ours, obvious, np.abs(np.subtract(span, expected)).max()))
        ours, obvious, off = np.transpose(seen)
        yield Result(
            f"range from 1,000 of 5,000 images, {shape or 'any'} shape: median",
            float(np.median(ours)), float(np.median(obvious)), float(off.max()), 1e-7, within=0.02,
            note=f"all {len(ours)} ranges {ours.sum():.1f} s",
        )  # fmt: skip


def printed_twice(quick: bool) -> Iterator[Result]:
    """Compare with Recall on 5,000 images what 69 systems print on 1,000 of these images."""
    tables, whole = coco(quick)
    for name, exact in zip(NAMES, whole.T, strict=True):
        about = [(name, table, 5000, 999, 3) for table in tables]
        spent, made = timed(lambda about=about: [sd.estimate_from_table(*x) for x in about])
        ways = {
            "ours": np.array([x.value for x in made]),
            "middle": np.array([middle(*x) for x in about]),
            "naive": np.array([table[name] for table in tables]),
        }
        off = {way: float(np.abs(x - exact).mean()) for way, x in ways.items()}
        order = {way: in_order(x, exact) for way, x in ways.items()}
        note = ", ".join(f"{way} {100 * off[way]:.2f} / {order[way]:.1f} %" for way in ways)
        note += f", contradicted {sum(x.contradiction is not None for x in made)}"
        limit = 0.0 if not quick and order["ours"] < order["naive"] else 0.012
        yield Result(
            f"{name} from 1,000 of 5,000 images: mean error in points / order",
            spent / len(made), None, off["ours"], limit, note=note,
        )  # fmt: skip


def published(quick: bool) -> Iterator[Result]:
    """Estimate metrics of X, Y, Z from expected metrics for m = 100, of NCF from published ones."""
    tables = {}
    for ranks in sd.example("movielens-xyz"):
        exact = {metric: sd.mean(metric, ranks) for metric in SHOWN}
        shown = {metric: sd.expected_mean(metric, ranks, m=100) for metric in SHOWN}
        tables[ranks.system] = (100, shown, exact)
    for system, rows in pd.read_csv(str(bundled() / "ranks_ncf.csv")).groupby("system"):
        metrics = [sd.parse_metric(metric) for metric in SHOWN]
        exact = {str(x): float(x(rows["rank"], rows.n).mean()) for x in metrics}
        shown = {str(x): float(x(rows.sampled, rows.m + 1).mean()) for x in metrics}
        tables[system] = (99, shown, exact)
    for system, (m, shown, exact) in tables.items():
        table = {metric: round(float(value), 4) for metric, value in shown.items()}
        for metric in list(exact)[2:] if not quick else ["HR@10"]:
            about = (metric, table, 3541, m, 4)
            spent, estimate = timed(partial(sd.estimate_from_table, *about, instances=6040))
            note = f"exact {exact[metric]:.4f}, middle {middle(*about):.4f}, {estimate}"
            name = f"{metric} of {system} on MovieLens 1M, from a table for m = {m}"
            limit = 0.012 if estimate.contradiction is None else 1.0
            off = abs(estimate.value - exact[metric])
            yield Result(name, spent, None, off, limit, note=note)


def printed(quick: bool) -> Iterator[Result]:
    """Measure times of ranges, and errors and orders of estimates, from printed tables."""
    yield from ranges(quick)
    yield from printed_twice(quick)
    yield from published(quick)


BENCHMARKS = (printed,)
