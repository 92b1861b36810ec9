"""Exports of the Consistency page: results, pictures and tables in one HTML file."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd

from sampledash.analyses.consistency import cut, pictures, words
from sampledash.analyses.consistency.result import Focus, Question, compute
from sampledash.analyses.source import Source
from sampledash.metrics import Metric, parse_metric
from sampledash.rank_sets import RankSet
from sampledash.report.html import exact_report, html_report
from sampledash.report.numbers import count
from sampledash.report.sentences import if_shared

# If all systems together have more ranks than this, the report omits the significance tests: they
# resample the instances, which takes long.
MOST_TESTED = 50_000


def report(focus: Focus) -> str:
    """Return the content of the Consistency page as an HTML document with a white background."""
    r, systems = focus.result, focus.result.drawn(focus.pair)
    every, pairs = range(len(r.metrics)), r.few_pairs()
    few = "" if len(pairs) == r.pairs else f", the {len(pairs)} worst of {count(r.pairs)}"
    drawn = [(f"Verdict at m = {count(r.m)}{few}", pictures.tile_map(r, pairs, dark=False))]
    for x in every:
        caption = f"{r.metrics[x]}. {words.marked_flips(focus, x)}"
        drawn.append((caption, pictures.panel(focus, x, systems, dark=False)))
    tables: dict[str, pd.DataFrame] = {
        # The column ``correction`` is left out, because all rows have the same correction.
        "Verdict": r.verdict.drop(columns="correction"),
        "Means": r.means_table(),
        "Where the order changes": r.flips(r.few_pairs(focus.pair)),
    }
    for table in if_shared(r, r.question.options)[0].values():
        tables["Chance of the true order with shared negatives"] = table
    if sum(map(len, r.question.sets)) <= MOST_TESTED:
        with suppress(ValueError):  # no tests if ``counts`` are not whole numbers
            parts = [replace(focus, x=x).significance() for x in every]
            tests = pd.concat(parts, ignore_index=True)
            tables["Over instances"] = tests[["metric", *tests.columns.drop("metric")]]
    legend = pictures.legend([r.systems[i] for i in systems], more=len(r.systems) - len(systems))
    return html_report(r, drawn, tables, legend=legend, pair=focus.pair)


def exact(source: Source, metrics: Sequence[Metric], known: cut.Known) -> str:
    """Return an HTML report on rank sets in which ranks beyond a cutoff are unknown."""
    tables, k = {"Means": known.means, "Over instances": known.tests}, source.largest_cutoff or 0
    return exact_report(source.name, source.python, source.sets, metrics, tables, k)


def anew(sets: tuple[RankSet, ...], metrics: list[str], **inputs: Any) -> str:
    """Compute a report again, from the inputs that an earlier report holds.

    The results are cached for all users, so call this only in a process with a single user.
    """
    source = Source(sets, inputs["source"], bundled=True, python=inputs["python"])
    parsed = tuple(map(parse_metric, metrics))
    if "m" not in inputs:
        return exact(source, parsed, cut.compute(source, parsed))
    question = Question(source, parsed, inputs["m"], inputs["options"])
    return report(Focus(compute(question), 0, inputs["pair"]))
