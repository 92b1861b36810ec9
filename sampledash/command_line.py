"""The command line, such as ``sampledash check ranks.csv --metric Recall@10 --m 100``.

A command is a function from its arguments to an :class:`Answer`, beside the lines of its parser.
Numbers, tables and sentences are those of the dashboard, which begins with negatives drawn without
replacement.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from sampledash.comparison.findings import Findings
from sampledash.comparison.means import variances_of_means
from sampledash.comparison.pairs import CODES, Pairs
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.correction import parse_correction
from sampledash.dashboard.estimate import words
from sampledash.estimation.bounds import (
    Range,
    ahead,
    bounds_from_table,
    decided,
    unless_contradicted,
)
from sampledash.estimation.estimate import compare, interval, point
from sampledash.estimation.linear_programme import Shape
from sampledash.lab.scores import ranks_of_scores, score_table
from sampledash.metrics import Metric, parse_metric
from sampledash.protocol import Options, Protocol, Weighting
from sampledash.ranksets import RankSet, Ties
from sampledash.readers.contents import load
from sampledash.readers.errors import MissingCandidates
from sampledash.readers.files import read_rank_sets, read_sampled_ranks
from sampledash.readers.printed_table import PrintedRow, read_printed
from sampledash.report.html import html_report
from sampledash.report.numbers import spell
from sampledash.report.sentences import headline
from sampledash.report.tables import as_csv, as_latex, as_markdown, printed, ranks_table
from sampledash.report.vectors import vector_json
from sampledash.sampling import SCHEMES, Sampling
from sampledash.stopping import mean_stopping_cost
from sampledash.types import Progress

RIGHT, WRONG, BAD_INPUT = 0, 1, 2
_ENDS = ("low", "high", "low_if_falling", "high_if_falling")
_PATIENCE = 1.0  # seconds without a word of progress


@dataclass(frozen=True)
class Answer:
    """What a command found: sentences, tables by name, the main one first, and an exit code."""

    sentences: Sequence[str] = ()
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)  # further facts of the JSON
    text: str | None = None  # of a file, in place of sentences and tables
    code: int = RIGHT


class Command(NamedTuple):
    """A command: what it does, an example that runs as it stands, its options and its function."""

    about: str
    example: str
    options: tuple[str, ...]
    run: Callable[[argparse.Namespace, Progress], Answer]


# ------------------------------------------------------------------------------------ what is asked


def _sets(args: argparse.Namespace) -> list[RankSet]:
    """True ranks of the files, or of standard input for ``-``."""
    return _read([_opened(each) for each in args.files], args)


def _read(sources: Sequence[tuple[Any, str]], args: argparse.Namespace) -> list[RankSet]:
    how = {"instances": args.instances, "runs": args.runs, "censored": args.censored}
    qrels = None if args.qrels is None else _opened(args.qrels)
    try:
        return read_rank_sets(
            [source for source, _ in sources],
            name=[name for _, name in sources],
            n=args.n,
            zero_based=args.zero_based,
            qrels=qrels and qrels[0],
            **how,
        )
    except MissingCandidates as error:
        raise ValueError(f"{str(error).rstrip('.')} (here: --n)") from None


def _opened(path: str) -> tuple[Any, str]:
    """A source for the readers and its name; ``-`` is standard input."""
    if path != "-":
        return path, Path(path).name
    stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
    data = stream.read()
    return io.BytesIO(data.encode() if isinstance(data, str) else data), "standard input"


def _metrics(args: argparse.Namespace) -> list[Metric]:
    return list(dict.fromkeys(map(parse_metric, args.metric)))


def _options(args: argparse.Namespace) -> Options:
    """The options of the comparison, as the functions take them."""
    options: Options = {
        "scheme": args.scheme,
        "correction": parse_correction(args.correction or "uncorrected"),
        "ties": args.ties,
        "weighting": args.weighting,
    }
    if args.odds is not None:
        options["odds"] = args.odds
    return options


def _asked(args: argparse.Namespace, progress: Progress) -> tuple[Pairs, Options]:
    sets, options = _sets(args), _options(args)
    return Pairs.of(_metrics(args), sets, args.m, Protocol.of(options), progress), options


# ---------------------------------------------------------------------------------------- commands


def check(args: argparse.Namespace, progress: Progress) -> Answer:
    """The verdict on every pair; exit code 1 where an order is wrong or undecided."""
    found, _ = _asked(args, progress)
    said = [headline(found, x) for x in range(len(found.metrics))]
    state = CODES[int(found.states.min())]
    code = WRONG if state in ("wrong", "undecided") else RIGHT
    facts = {"m": found.m, "scheme": args.scheme, "m_max": found.m_max, "state": state}
    return Answer(said, {"pairs": found.verdict}, facts, code=code)


def plan(args: argparse.Namespace, progress: Progress) -> Answer:
    """Negatives or instances that show the true order, and what stopping when decided costs."""
    sets, options, metrics = _sets(args), _options(args), _metrics(args)
    needed, costs, said = [], [], []
    for metric in metrics:
        about, chance = (metric, sets), args.probability
        negatives = negatives_needed(*about, chance, progress=progress, **options)
        instances = instances_needed(*about, args.m, chance, **options)
        both = negatives.merge(instances, on=["better", "worse"])
        both.insert(0, "metric", str(metric))
        needed.append(both)
        for each in sets:
            try:
                cost = mean_stopping_cost(metric, each)
            except ValueError as error:  # nothing decides a metric without a cutoff
                said.append(spell(str(error)))
                break
            every = each.counted()
            first = every[every.position == 1]
            whole = float(np.average(first.negatives, weights=first.count))
            costs.append((str(metric), each.system, cost.mean, cost.std, whole))
    columns = ["metric", "system", "scores", "std_of_scores", "scores_of_full_ranking"]
    tables = {"needed": pd.concat(needed, ignore_index=True)}
    if costs:
        tables["stopping"] = pd.DataFrame(costs, columns=columns)
    facts = {"m": args.m, "scheme": args.scheme, "probability": args.probability}
    return Answer(said, tables, facts)


def count(args: argparse.Namespace, progress: Progress) -> Answer:
    """Ranks as a histogram: one row for each distinct system, n, rank and ties."""
    sets = _sets(args)
    several = next((each.system for each in sets if each.max_relevant > 1), None)
    if several is not None:
        raise ValueError(
            f"system {several!r} has instances with several relevant items, which a histogram does "
            "not keep together: give the ranks themselves"
        )
    table = ranks_table(sets).drop(columns="instance", errors="ignore")
    table = table if "count" in table else table.assign(count=1)
    keys = [name for name in table.columns if name != "count"]
    counts = table.groupby(keys, sort=False, dropna=False)["count"].sum().reset_index()
    return Answer((), {"counts": counts})


def rank(args: argparse.Namespace, progress: Progress) -> Answer:
    """Scores, runs or lists of recommendations, and the relevant items → true ranks."""
    sources = [_opened(each) for each in args.files]
    if len(sources) == 1 and args.qrels is None:
        source, name = sources[0]
        data, name = load(source, name)
        if (scores := score_table(data, name)) is not None:
            sets, said = ranks_of_scores(scores, name)
            return Answer(said, {"ranks": ranks_table(sets)})
        sources = [(io.BytesIO(data), name)]
    return Answer((), {"ranks": ranks_table(_read(sources, args))})


def correct(args: argparse.Namespace, progress: Progress) -> Answer:
    """The vector of a correction; or of files of sampled ranks, estimates and their ranges."""
    metrics = _metrics(args)
    if args.files:
        return _estimates(metrics, args, progress)
    if args.n is None or args.m is None or len(metrics) > 1:
        raise ValueError("a vector is of one --metric, --n and --m: give each, or a file")
    recipe = parse_correction(args.correction or "CLS")
    fit = recipe.fit(metrics[0], Sampling(args.n, args.m, args.scheme, args.odds or 1.0))
    table = pd.DataFrame({"sampled_rank": np.arange(1, args.m + 2), "value": fit.values})
    return Answer((), {"values": table}, json.loads(vector_json(fit)))


def _estimates(metrics: Sequence[Metric], args: argparse.Namespace, progress: Progress) -> Answer:
    sources = [_opened(each) for each in args.files]
    names = [name for _, name in sources]
    sets = read_sampled_ranks(
        [source for source, _ in sources], n=args.n, m=args.m, scheme=args.scheme, name=names
    )
    asked: Any = args.correction or "monotone-mle"
    called = "shape-constrained MLE" if asked == "monotone-mle" else asked
    estimates, pairs, said = [], [], []
    ends = list(combinations(range(len(sets)), 2))
    for x, metric in enumerate(metrics):
        values = [point(metric, one, asked) for one in sets]
        spans = [_spans(partial(_alone, metric, one)) for one in sets]
        apart = []
        for place, (i, j) in enumerate(ends):
            apart.append(_spans(partial(_difference, metric, sets[i], sets[j])))
            progress((x + (place + 1) / len(ends)) / len(metrics))
        rows = zip(sets, values, spans, strict=True)
        estimates += [(str(metric), one.system, value, *ends_) for one, value, ends_ in rows]
        both = zip(ends, apart, strict=True)
        pairs += [(str(metric), sets[i].system, sets[j].system, *span) for (i, j), span in both]
        systems = [one.system for one in sets]
        word = _word([span[:2] for span in apart], [span[2:] for span in apart])
        said.append(words.sentence(str(metric), word, systems, values, called, spans[0][:2]))
        against = zip(systems, spans, strict=True)
        said += [words.contradicts(name) for name, span in against if np.isnan(span[2])]
    tables = {
        "estimates": pd.DataFrame(estimates, columns=["metric", "system", "estimate", *_ENDS])
    }
    if pairs:
        tables["differences"] = pd.DataFrame(pairs, columns=["metric", "first", "second", *_ENDS])
    return Answer(said, tables, {"scheme": args.scheme, "method": called})


def _alone(metric: Metric, one: Any, shape: Shape | None) -> Range:
    return interval(metric, one, shape=shape)


def _difference(metric: Metric, one: Any, other: Any, shape: Shape | None) -> Range:
    told = compare(metric, one, other, shape)
    return told.low, told.high


def _spans(make: Callable[[Shape | None], Range]) -> tuple[float, float, float, float]:
    """A range without and with the assumption that ranks fall off; NaN where that is refused."""
    whole, nowhere = make(None), (np.nan, np.nan)
    shaped = unless_contradicted("non-increasing", lambda: make("non-increasing"))
    return (*whole, *(nowhere if shaped is None else shaped))


def _word(free: Sequence[Any], falling: Sequence[Any]) -> str:
    """Whether every pair is told apart, and by what."""
    if decided(free) == len(free):
        return "decided"
    return "if falling" if decided(falling) == len(falling) else "cannot tell"


def table(args: argparse.Namespace, progress: Progress) -> Answer:
    """The range of the real metric that the sampled values of a printed table allow."""
    source, name = _opened(args.files[0])
    data, name = load(source, name)
    found = read_printed(data.decode(errors="replace"))
    n, m = args.n or found.n, args.m or found.m
    if n is None or m is None:
        raise ValueError(
            f"{name} does not say n and m: give --n and --m, or a line m = 99, n = 1000"
        )
    rows, sentences = [], list(found.notes)
    for metric in _metrics(args):
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


def report(args: argparse.Namespace, progress: Progress) -> Answer:
    """The verdict as one HTML file that needs nothing else."""
    if "-" in args.files:
        raise ValueError("a report names its files, so that its script can read them: give paths")
    found, options = _asked(args, progress)
    std = np.sqrt(variances_of_means(found.metrics, found.sets, found.m, Protocol.of(options)))
    names = args.files[0] if len(args.files) == 1 else args.files
    said = {"n": args.n, "zero_based": args.zero_based or None, "qrels": args.qrels}
    said |= {"instances": args.instances, "runs": args.runs, "censored": args.censored}
    usual = {"instances": "same", "runs": "averaged", "censored": "refuse"}
    more = [f"{k}={v!r}" for k, v in said.items() if v is not None and usual.get(k) != v]
    findings = Findings(
        source=", ".join(Path(name).name for name in args.files),
        python=f"sd.read_rank_sets({', '.join([repr(names), *more])})",
        sets=found.sets,
        metrics=found.metrics,
        m=found.m,
        options=options,
        m_max=found.m_max,
        verdict=found.verdict,
        exact=found.exact,
        expected=found.sampled,
        std=std,
        m_values=found.looked_at,
    )
    return Answer(text=html_report(findings))


def serve(args: argparse.Namespace, progress: Progress) -> Answer:
    """The dashboard, until it is stopped."""
    app = Path(__file__).parents[1] / "app.py"
    if not app.is_file():
        raise ValueError("app.py is not installed: run sampledash serve from a clone")
    call = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(args.port)]
    return Answer(text="", code=subprocess.call(call))


# ----------------------------------------------------------------------------------------- parsers

#: Options by name: flags and what argparse is told of them.
OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "files": (("files",), {"nargs": "+", "metavar": "FILE", "help": "a table, or - for stdin"}),
    "metric": (
        ("--metric",),
        {"action": "append", "required": True, "help": "such as Recall@10; may be repeated"},
    ),
    "m": (("--m",), {"type": int, "required": True, "help": "sampled negatives an instance"}),
    "sampled": (("files",), {"nargs": "*", "metavar": "FILE", "help": "sampled ranks, or -"}),
    "perhaps_m": (("--m",), {"type": int, "help": "sampled negatives an instance"}),
    "over": (
        ("--instances",),
        {"type": int, "dest": "over", "help": "that the printed means are over: they scatter"},
    ),
    "port": (("--port",), {"type": int, "default": 8501, "help": "of this machine"}),
    "n": (("--n",), {"type": int, "help": "candidates, where the file does not say"}),
    "scheme": (
        ("--scheme",),
        {"choices": SCHEMES, "default": "without-replacement", "help": "how negatives are drawn"},
    ),
    "odds": (("--odds",), {"type": float, "help": "of scheme popularity"}),
    "correction": (("--correction",), {"help": 'such as CLS or "BV 0.1"; default uncorrected'}),
    "ties": (
        ("--ties",),
        {"choices": get_args(Ties), "default": "expected", "help": "how tied items are read"},
    ),
    "weighting": (
        ("--weighting",),
        {"choices": get_args(Weighting), "default": "instances", "help": "what weighs the same"},
    ),
    "probability": (
        ("--probability",),
        {"type": float, "default": 0.95, "help": "chance of the true order that is wanted"},
    ),
    "qrels": (("--qrels",), {"metavar": "FILE", "help": "relevant items of a run or of lists"}),
    "zero_based": (("--zero-based",), {"action": "store_true", "help": "the best rank is 0"}),
    "instances": (
        ("--instances",),
        {"choices": ("same", "shared", "any"), "default": "same", "help": "which are compared"},
    ),
    "runs": (
        ("--runs",),
        {"choices": ("averaged", "apart"), "default": "averaged", "help": "what repetitions are"},
    ),
    "censored": (
        ("--censored",),
        {
            "choices": ("refuse", "beyond", "tied", "left-out"),
            "default": "refuse",
            "help": "relevant items that a run does not hold",
        },
    ),
}
_READING = ("n", "qrels", "zero_based", "instances", "runs", "censored")
_HOW = ("scheme", "odds", "correction", "ties", "weighting")
COMMANDS = {
    "check": Command(
        "Is the order that sampling shows the true one? Exit code 0 where it is, 1 where the order "
        "of a pair is wrong or undecided at this m, 2 for bad input.",
        "sampledash check assets/movielens_xyz.csv --metric Recall@10 --m 100",
        ("files", "metric", "m", *_HOW, *_READING),
        check,
    ),
    "plan": Command(
        "How many negatives, or instances, show the true order, and what it costs to look at "
        "candidates in random order until the metric is decided.",
        "sampledash plan assets/movielens_xyz.csv --metric Recall@10 --m 100",
        ("files", "metric", "m", "probability", *_HOW, *_READING),
        plan,
    ),
    "rank": Command(
        "True ranks, as CSV, from a table of scores with the columns system, instance, item, score "
        "and relevant (1 or 0), or from TREC runs or lists of recommendations and their qrels.",
        "sampledash rank assets/templates/run.txt --qrels assets/templates/qrels.txt --n 1000",
        ("files", *_READING),
        rank,
    ),
    "count": Command(
        "A histogram of ranks, as CSV: smaller, and read wherever ranks are.",
        "sampledash count assets/movielens_xyz_ties.csv",
        ("files", *_READING),
        count,
    ),
    "correct": Command(
        "The vector of a correction: what to report at each sampled rank. With files of sampled "
        "ranks, estimates of the real metric and the range that these samples leave open.",
        "sampledash correct --metric Recall@10 --n 10000 --m 100 --correction CLS",
        ("sampled", "metric", "n", "perhaps_m", "scheme", "odds", "correction"),
        correct,
    ),
    "table": Command(
        "What the real metric can be, given the sampled values that a paper prints.",
        "sampledash table assets/printed_table.csv --metric Recall@10",
        ("files", "metric", "n", "perhaps_m", "over", "scheme"),
        table,
    ),
    "report": Command(
        "The verdict with its settings, a paragraph for a paper and a script, as one HTML file.",
        "sampledash report assets/movielens_xyz.csv --metric Recall@10 --m 100 -o report.html",
        ("files", "metric", "m", *_HOW, *_READING),
        report,
    ),
    "serve": Command(
        "The dashboard in a browser, until it is stopped.",
        "sampledash serve --port 8501",
        ("port",),
        serve,
    ),
}
TABLES = {"csv": as_csv, "markdown": as_markdown, "latex": as_latex}
_FILES = ("rank", "count")  # what they write is read again: CSV unless told otherwise


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    root = argparse.ArgumentParser(
        prog="sampledash", description="Check, plan and correct metrics on sampled negatives."
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        told = f"example:\n  {command.example}"
        plain = argparse.RawDescriptionHelpFormatter
        own = commands.add_parser(
            name,
            help=command.about.split(". ")[0].rstrip("."),
            description=command.about,
            epilog=told,
            formatter_class=plain,
        )
        for option in command.options:
            flags, how = OPTIONS[option]
            own.add_argument(*flags, **how)
        if name == "serve":
            own.set_defaults(form="text", output=None)
            continue
        own.add_argument("-o", "--output", metavar="FILE", help="write to this file")
        if name != "report":
            form = own.add_mutually_exclusive_group()
            for kind in ("json", *TABLES):
                how = {"action": "store_const", "const": kind, "help": f"as {kind}"}
                form.add_argument(f"--{kind}", dest="form", **how)
        own.set_defaults(form="csv" if name in _FILES else "text")
    return root


# ------------------------------------------------------------------------------------------ output


def written(command: str, answer: Answer, form: str) -> str:
    """An answer as text in one of the forms."""
    if answer.text is not None:
        return answer.text
    if form == "json":
        tables = {name: _records(table) for name, table in answer.tables.items()}
        said = {"command": command, "sentences": [*answer.sentences]}
        content = said | tables | answer.facts
        return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    if form in TABLES:
        return "\n".join(TABLES[form](table) for table in answer.tables.values())
    parts = ["\n".join(answer.sentences), *map(_aligned, answer.tables.values())]
    return "\n\n".join(filter(None, parts)) + "\n"


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows with plain values; None where there is none."""
    plain = table.astype(object).where(table.notna(), None)
    return [dict(zip(plain.columns, row, strict=True)) for row in plain.itertuples(index=False)]


def _aligned(table: pd.DataFrame) -> str:
    """A table for people: rounded, in columns."""
    columns = []
    for column in printed(table):
        cells = [column.header, *(cell or "–" for cell in column.cells)]
        width = max(map(len, cells))
        columns.append([f"{x:>{width}}" if column.number else f"{x:<{width}}" for x in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _write(text: str, path: str | None) -> None:
    """To standard output, or aside and then renamed: nobody finds half a file."""
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with open(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(aside, 0o666 & ~mask)
            os.replace(aside, target)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ValueError(
            f"{path} cannot be written ({why.lower()}): give another --output"
        ) from None


class _Told:
    """Progress on standard error, once a second has gone by."""

    def __init__(self) -> None:
        self.start, self.last = time.monotonic(), -1

    def __call__(self, share: float) -> None:
        done = int(100 * share)
        if time.monotonic() - self.start > _PATIENCE and done > self.last:
            self.last = done
            print(f"\r{done:3d} %", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.last >= 0:
            print("\r      \r", end="", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 1 for a wrong or undecided order, 2 for bad input."""
    try:
        args = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    told = _Told()
    try:
        answer = COMMANDS[args.command].run(args, told)
        told.end()
        _write(written(args.command, answer, args.form), args.output)
        if args.command in _FILES and args.form != "json":  # what reads the file wants rows only
            print(*answer.sentences, sep="\n", end="\n" * bool(answer.sentences), file=sys.stderr)
        return answer.code
    except (ValueError, MemoryError) as error:
        told.end()
        sentence = spell(str(error) or "the memory does not suffice for this file")
        print(f"sampledash {args.command}: {sentence}", file=sys.stderr)
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return RIGHT
    return BAD_INPUT
