"""``check`` and ``report``: whether the order that sampling shows is the true one."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from sampledash.command_line.output import RIGHT, WRONG, Answer
from sampledash.command_line.sources import metrics_of, options_of, rank_sets
from sampledash.comparison.verdict import CODES, Pairs
from sampledash.protocol import Protocol
from sampledash.report.sentences import headline
from sampledash.types import Progress


def check(args: argparse.Namespace, progress: Progress) -> Answer:
    """The verdict on every pair; exit code 1 where an order is wrong or undecided."""
    sets, protocol = rank_sets(args), Protocol.of(options_of(args))
    found = Pairs.of(metrics_of(args), sets, args.m, protocol, progress)
    said = [headline(found, x) for x in range(len(found.metrics))]
    state = CODES[int(found.states.min())]
    code = WRONG if state in ("wrong", "undecided") else RIGHT
    facts = {"m": found.m, "scheme": args.scheme, "m_max": found.m_max, "state": state}
    return Answer(said, {"pairs": found.verdict}, facts, code=code)


def report(args: argparse.Namespace, progress: Progress) -> Answer:
    """The report of the Consistency page: verdict, pictures and tables in one HTML file."""
    # There is no browser, which Streamlit tells whoever looks at its state.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True

    from sampledash.dashboard.consistency.result import Focus, Question, compute
    from sampledash.dashboard.consistency.tabs import report as page
    from sampledash.dashboard.ranks import Source, expression

    names = ["/dev/stdin" if each == "-" else each for each in args.files]
    said: dict[str, Any] = {name: getattr(args, name) for name in ("n", "instances", "runs")}
    said |= {"zero_based": args.zero_based, "censored": args.censored}
    argument = repr(names[0] if len(names) == 1 else names)
    argument += "" if args.qrels is None else f", qrels={args.qrels!r}"
    source = Source(
        tuple(rank_sets(args)),
        ", ".join("standard input" if each == "-" else Path(each).name for each in args.files),
        bundled=True,  # nobody else's ranks are in this process
        python=expression("read_rank_sets", argument, said),
    )
    question = Question(source, tuple(metrics_of(args)), args.m, options_of(args))
    if len(source.sets) < 2:
        raise ValueError("a report compares at least two systems, got 1")
    result = compute(question, progress)
    return Answer(text=page(Focus(result, 0, result.worst_pair(0))))
