"""The commands ``correct`` (sampled ranks), ``table`` (printed tables), ``audit`` (negatives)."""

import argparse
import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.analyses.estimate import printed as printed_table
from sampledash.analyses.estimate import result as asked
from sampledash.auditing.audit import effects
from sampledash.auditing.reading import audit_files
from sampledash.command_line.streams import Answer, metrics_of, opened
from sampledash.comparison.means import step_of
from sampledash.correction import parse_correction
from sampledash.estimation.rank_distribution import LEARNED, SHAPED
from sampledash.metrics import Metric
from sampledash.readers import files as readers
from sampledash.readers.printed_table import read_tables
from sampledash.readers.upload_limits import check_utf8, kind_of, load
from sampledash.report import estimates as words
from sampledash.report import sentences as verdict
from sampledash.report.sentences import cutoff_holds_all
from sampledash.report.tables import vector_json
from sampledash.sampling import Sampling
from sampledash.types import Progress

_ENDS = ("low", "high", "low_if_falling", "high_if_falling")
# Names of columns of estimates. In some files, the number m of negatives depends on the sampled
# rank, and nothing says why; then there are two estimates. The first is valid if each m was set
# before negatives were drawn. The second is valid if negatives were drawn one by one, and those
# drawn so far decided whether to go on.
_READINGS = ("estimate_if_set", "estimate_if_drawn")


def correct(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``correct``: return the value of a corrected metric for each sampled rank.

    If files of sampled ranks are given, return estimates of the exact metrics of their systems.
    """
    metrics = metrics_of(args)
    if args.files:
        return _estimates(metrics, args, progress)
    if args.n is None or args.m is None or len(metrics) > 1:
        raise ValueError("a vector is of one --metric, --n and --m: give each, or a file")
    odds = 1.0 if args.odds is None else args.odds
    recipe = parse_correction(args.correction or "CLS")
    fit = recipe.fit(metrics[0], Sampling(args.n, args.m, args.scheme, odds))
    table = pd.DataFrame({"sampled_rank": np.arange(1, args.m + 2), "value": fit.values})
    drawn = verdict.say.drawn(fit.sampling)
    sentence = f"{drawn}: {fit.metric} by {recipe}, to report at each sampled rank."
    said_too = cutoff_holds_all(fit.metric, args.n, args.m)
    return Answer([sentence, *said_too], {"values": table}, json.loads(vector_json(fit)))


def _estimates(metrics: Sequence[Metric], args: argparse.Namespace, progress: Progress) -> Answer:
    if args.odds is not None:
        raise ValueError("--odds is for a vector: sampled ranks are of uniform negatives")
    sources, names = zip(*(opened(path) for path in args.files), strict=True)
    files = readers.open_sources(sources, name=names)
    if args.sample_of is None:
        sets = readers.read_sampled_ranks(files, n=args.n, m=args.m, scheme=args.scheme)
    else:
        sets = readers.samples_of_corpus(files, n=args.sample_of, candidates=_tested(args))
    sets = [ranks.with_ties(args.ties) for ranks in sets]
    method = args.correction or LEARNED[SHAPED].label
    estimates, pairs, sentences, methods = [], [], list[str](), list[str]()
    unsaid = [ranks for ranks in sets if len(ranks.readings) > 1]
    if unsaid:
        chance = max(ranks.chance_if_set for ranks in unsaid)
        sentences.append(words.goes_with_rank([ranks.system for ranks in unsaid], chance))
        sentences.append("Say which in a column adaptive: no if m was set beforehand, else yes.")
    for x, metric in enumerate(metrics):
        corpus = args.sample_of is not None
        question = asked.Question(tuple(sets), metric, method, gamma=0.1, corpus=corpus)
        result = asked.compute(question, step_of(progress, x, len(metrics)), name=str)
        sentences += [result.sentence, *result.notes]
        methods.append(result.method)
        for row in result.rows:
            readings = row.readings if unsaid else ()
            estimates.append((str(metric), row.name, row.value, *_ends(row), *readings))
        pairs += [(str(metric), row.name, row.other, *_ends(row)) for row in result.pairs]
    columns = ["metric", "system", "estimate", *_ENDS, *(_READINGS if unsaid else ())]
    tables = {"estimates": pd.DataFrame(estimates, columns=columns)}
    if pairs:
        tables["differences"] = pd.DataFrame(pairs, columns=["metric", "first", "second", *_ENDS])
    shown = ", ".join(dict.fromkeys(methods))
    return Answer(list(dict.fromkeys(sentences)), tables, {"scheme": args.scheme, "method": shown})


def _tested(args: argparse.Namespace) -> int | None:
    """Return the option ``--n``; with ``--sample-of``, it is the number of candidates in the test.

    These candidates are then a sample of a larger corpus, whose size is given by ``--sample-of``.
    """
    if args.m is not None:
        raise ValueError("with --sample-of, --n is the number of candidates in the test: omit --m")
    return None if args.n is None else int(args.n)


def _ends(row: asked.Row) -> tuple[float, ...]:
    """Return the ends of two ranges of a metric: without and with an assumption.

    The assumption is that no rank is more frequent than a better rank. If the data contradict it,
    the ends of the second range are NaN.
    """
    return (*row.free, *(row.falling or (np.nan, np.nan)))


def table(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``table``: return the ranges that a printed table allows for exact metrics.

    The table prints sampled metrics of systems.
    """
    data, name = load(*opened(args.files[0]))
    if kind_of(data, name) != "text":
        raise ValueError(f"{name} is no text: give the table as it is printed")
    check_utf8(data, name)
    tables = read_tables(data.decode().removeprefix("\ufeff"))
    over = 0 if args.over is None else checks.integer("--instances", args.over, low=1)
    rows, sentences, metrics, several = [], list[str](), metrics_of(args), len(tables) > 1
    asks = [(printed, metric) for printed in tables for metric in metrics]
    for x, (printed, metric) in enumerate(asks):
        n, m = printed.n if args.n is None else args.n, printed.m if args.m is None else args.m
        if args.sample_of is not None:
            tested = _tested(args)
            n, m = args.sample_of, printed.m if tested is None else tested - 1
        if n is None or m is None:
            which = f"{name}, table {printed.title!r}," if printed.title else name
            advice = "give --n and --m, or a line m = 99, n = 1000"
            raise ValueError(f"{which} does not say n and m: {advice}")
        corpus = args.sample_of is not None
        sampling = printed_table.sampling_of(n, m, args.scheme, corpus=corpus)
        question = printed_table.TableQuestion(printed, metric, sampling, over, corpus)
        result = printed_table.compute_table(question, step_of(progress, x, len(asks)), name=str)
        about = f"{printed.title}: " if printed.title else ""
        sentences += [about + sentence for sentence in (result.sentence, *result.notes)]
        protocol = (printed.title, n, m) if several else ()
        for row in result.rows:
            if row.value is not None:
                sentences.append(words.say.fitted(question.point(0).family))
            estimate = (row.value, *(row.interval or (np.nan, np.nan)))
            rows.append((*protocol, str(metric), row.name, *estimate, *_ends(row)))
    columns = ["metric", "system", "estimate", "estimate_low", "estimate_high", *_ENDS]
    columns = [*("table", "n", "m") * several, *columns]
    facts = {} if several else {"n": n, "m": m}
    facts |= {"scheme": args.scheme, "instances": args.over}
    ranges = pd.DataFrame(rows, columns=columns)
    return Answer(list(dict.fromkeys(sentences)), {"ranges": ranges}, facts)


def audit(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``audit``: return faults in lists of negatives, and how they were drawn."""
    train = None if args.train is None else opened(args.train)
    result = audit_files(opened(args.files[0]), train)
    numbers = result.uniform_p, result.fit_p, result.alpha, *result.alpha_interval
    names = "uniform_p", "fit_p", "alpha", "alpha_low", "alpha_high"
    facts = {x: y if np.isfinite(y) else None for x, y in zip(names, numbers, strict=True)}
    tables = {"findings": result.findings, "deciles": result.deciles}
    sentences, metrics = [result.sentence], metrics_of(args)
    if bool(metrics) != (args.ranks is not None):
        raise ValueError("the effect on a --metric is computed from true --ranks: give both")
    if metrics:
        file, name = opened(args.ranks)
        sets = readers.read_rank_sets(file, name=name)
        parts = [result.effect(metric, sets, args.scheme) for metric in metrics]
        both = list(zip(metrics, parts, strict=True))
        sentences += [effects(result, metric, part, args.scheme) for metric, part in both]
        effect = [part.assign(metric=str(metric)) for metric, part in both]
        tables["effect"] = pd.concat(effect, ignore_index=True)[["metric", *parts[0].columns]]
    return Answer(sentences, tables, {"drawn": result.drawn, **facts})
