"""``correct`` and ``table``: vectors, and what sampled ranks or printed values allow."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sampledash.command_line.streams import Answer, metrics_of, opened
from sampledash.correction import parse_correction
from sampledash.estimation.bounds import Range, ahead, bounds_from_table, unless_contradicted
from sampledash.estimation.estimate import by_reading, compare, interval
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.rank_distribution import LEARNED, SHAPED
from sampledash.metrics import Metric
from sampledash.readers.files import read_sampled_ranks
from sampledash.readers.printed_table import PrintedRow, read_printed
from sampledash.readers.upload_limits import check_utf8, kind_of, load
from sampledash.report import estimates as words
from sampledash.report.sentences import cutoff_holds_all, drawn
from sampledash.report.tables import vector_json
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import Sampling
from sampledash.types import Progress

_ENDS = ("low", "high", "low_if_falling", "high_if_falling")
_READINGS = ("estimate_if_set", "estimate_if_drawn")  # where m goes with the rank


def correct(args: argparse.Namespace, progress: Progress) -> Answer:
    """The vector of a correction; or of files of sampled ranks, estimates and their ranges."""
    metrics = metrics_of(args)
    if args.files:
        return _estimates(metrics, args, progress)
    if args.n is None or args.m is None or len(metrics) > 1:
        raise ValueError("a vector is of one --metric, --n and --m: give each, or a file")
    odds = 1.0 if args.odds is None else args.odds
    recipe = parse_correction(args.correction or "CLS")
    fit = recipe.fit(metrics[0], Sampling(args.n, args.m, args.scheme, odds))
    table = pd.DataFrame({"sampled_rank": np.arange(1, args.m + 2), "value": fit.values})
    said = f"{drawn(fit.sampling)}: {fit.metric} by {recipe}, to report at each sampled rank."
    said_too = cutoff_holds_all(fit.metric, args.n, args.m)
    return Answer([said, *said_too], {"values": table}, json.loads(vector_json(fit)))


def _estimates(metrics: Sequence[Metric], args: argparse.Namespace, progress: Progress) -> Answer:
    if args.odds is not None:
        raise ValueError("--odds is for a vector: sampled ranks are of uniform negatives")
    sources = [opened(each) for each in args.files]
    names = [name for _, name in sources]
    sets = read_sampled_ranks(
        [source for source, _ in sources], n=args.n, m=args.m, scheme=args.scheme, name=names
    )
    asked: Any = args.correction or SHAPED
    called = LEARNED[asked].label if asked == SHAPED else asked
    estimates, pairs, said = [], [], []
    unsaid = [one for one in sets if len(one.readings) > 1]
    if unsaid:
        chance = max(one.chance_if_set for one in unsaid)
        said.append(words.goes_with_rank([one.system for one in unsaid], chance))
        said.append("Say which in a column adaptive: no if m was set beforehand, else yes.")
    ends = list(combinations(range(len(sets)), 2))
    for x, metric in enumerate(metrics):
        by_system = {one.system: by_reading(metric, one, asked) for one in sets}
        values = [sum(readings) / len(readings) for readings in by_system.values()]
        spans = [_spans(partial(_alone, metric, one), one) for one in sets]
        apart = []
        for place, (i, j) in enumerate(ends):
            both = sets[i], sets[j]
            apart.append(_spans(partial(_difference, metric, *both), *both))
            progress((x + (place + 1) / len(ends)) / len(metrics))
        for one, value, span in zip(sets, values, spans, strict=True):
            readings = (by_system[one.system] * 2)[:2] if unsaid else ()
            estimates.append((str(metric), one.system, value, *span, *readings))
        for (i, j), span in zip(ends, apart, strict=True):
            pairs.append((str(metric), sets[i].system, sets[j].system, *span))
        word = words.told_apart([span[:2] for span in apart], [span[2:] for span in apart])
        systems = list(by_system)
        said.append(words.sentence(str(metric), word, systems, values, called, spans[0][:2]))
        if unsaid:
            of_unsaid = {one.system: by_system[one.system] for one in unsaid}
            said.append(f"{metric} {words.by_reading(of_unsaid, called)}")
        against = zip(sets, spans, strict=True)
        said += [words.contradicts(one.system) for one, span in against if _against(one, span)]
        least = min(sets, key=lambda one: one.population)
        said += cutoff_holds_all(metric, least.population, least.outcomes.m[-1])
    tables = {
        "estimates": pd.DataFrame(
            estimates,
            columns=["metric", "system", "estimate", *_ENDS, *(_READINGS if unsaid else ())],
        )
    }
    if pairs:
        tables["differences"] = pd.DataFrame(pairs, columns=["metric", "first", "second", *_ENDS])
    return Answer(said, tables, {"scheme": args.scheme, "method": called})


def _alone(metric: Metric, one: Any, shape: Shape | None) -> Range:
    return interval(metric, one, shape=shape)


def _difference(metric: Metric, one: Any, other: Any, shape: Shape | None) -> Range:
    told = compare(metric, one, other, shape)
    return told.low, told.high


def _against(one: SampledRankSet, span: Sequence[float]) -> bool:
    """Whether the sampled ranks contradict that ranks fall off."""
    return bool(np.isnan(span[2])) and not one.readings[-1].adaptive


def _spans(
    make: Callable[[Shape | None], Range], *sets: SampledRankSet
) -> tuple[float, float, float, float]:
    """A range without and with the assumption that ranks fall off; NaN where that is refused."""
    whole, nowhere = make(None), (np.nan, np.nan)
    if any(one.readings[-1].adaptive for one in sets):
        return (*whole, *nowhere)
    shaped = unless_contradicted("non-increasing", lambda: make("non-increasing"))
    return (*whole, *(nowhere if shaped is None else shaped))


def table(args: argparse.Namespace, progress: Progress) -> Answer:
    """The range of the real metric that the sampled values of a printed table allow."""
    if len(args.files) > 1:
        raise ValueError("a table is one file: give the other by itself")
    data, name = load(*opened(args.files[0]))
    if kind_of(data, name) != "text":
        raise ValueError(f"{name} is no text: give the table as it is printed")
    check_utf8(data, name)
    found = read_printed(data.decode())
    n, m = found.n if args.n is None else args.n, found.m if args.m is None else args.m
    if n is None or m is None:
        raise ValueError(
            f"{name} does not say n and m: give --n and --m, or a line m = 99, n = 1000"
        )
    rows, sentences = [], list(found.notes)
    for metric in metrics_of(args):
        spans = []
        for place, one in enumerate(found.rows):
            sampling = Sampling(n, m, args.scheme)
            spans.append(_spans(partial(_allowed, metric, one, sampling, args.over)))
            progress((place + 1) / len(found.rows))
            rows.append((str(metric), one.system, *spans[-1]))
        sure = ahead([span[:2] for span in spans])
        falling = [None if np.isnan(span[2]) else span[2:] for span in spans]
        best = ahead(falling) if sure is None else sure
        word = "cannot tell" if best is None else "if falling" if sure is None else "decided"
        if len(spans) == 1:
            sentences.append(words.alone(str(metric), found.rows[0].system, spans[0][:2]))
        else:
            top = None if best is None else found.rows[best].system
            sentences.append(words.table_sentence(str(metric), word, top))
        against = zip(found.rows, falling, strict=True)
        sentences += [words.contradicts(one.system) for one, span in against if span is None]
        sentences += cutoff_holds_all(metric, n, m)
    columns = ["metric", "system", *_ENDS]
    facts = {"n": n, "m": m, "scheme": args.scheme, "instances": args.over}
    return Answer(sentences, {"ranges": pd.DataFrame(rows, columns=columns)}, facts)


def _allowed(
    metric: Metric, one: PrintedRow, s: Sampling, over: int | None, shape: Shape | None
) -> Range:
    about: Any = (metric, one.values, s.n, s.m, one.decimals, None, shape, s.scheme)
    try:
        return bounds_from_table(*about, instances=over)
    except ValueError as error:
        said = str(error).removeprefix("observed ")
        raise ValueError(f"{one.system}: {said}") from None
