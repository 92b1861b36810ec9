"""The commands ``check``, ``report`` and ``plan``: does sampling show the true order?"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from sampledash.command_line.options import SETTINGS, refuse_unused
from sampledash.command_line.streams import RIGHT, WRONG, Answer, metrics_of, options_of, rank_sets
from sampledash.comparison.order import check_sets
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.verdict import CODES, Pairs
from sampledash.protocol import Protocol
from sampledash.report.numbers import count, spell
from sampledash.report.recheck import recheck
from sampledash.report.sentences import beware, cutoff_holds_all, headline, if_shared, negatives
from sampledash.stopping import mean_stopping_cost
from sampledash.types import Progress


def check(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``check``: return whether sampling orders each pair of systems rightly.

    The exit code is 1 if a pair is ordered wrongly or is undecided. If the files are HTML reports,
    compute them again, and return whether each report has the same results as before; the exit code
    is 1 if a report has different results.
    """
    if any(Path(path).is_file() and _is_html(path) for path in args.files):
        return _reports(args)
    if lost := next((x for x in args.files if x != "-" and not Path(x).exists()), None):
        raise ValueError(f"{lost!r}: there is no such file; check the path")
    if not args.metric or args.m is None:
        raise ValueError("ranks are checked by a --metric and at an --m: give both")
    sets = rank_sets(args)
    protocol = Protocol.of(options_of(args, sets))
    findings = Pairs.of(metrics_of(args), sets, args.m, protocol, progress)
    sentences = [*(headline(findings, x) for x in range(len(findings.metrics))), *beware(findings)]
    shared, more = if_shared(findings, options_of(args, sets))
    tables, sentences = {"pairs": findings.verdict} | shared, [*sentences, *more]
    state = CODES[int(findings.states.min())]
    code = WRONG if state in ("wrong", "undecided") else RIGHT
    facts = {"m": findings.m, "scheme": args.scheme, "m_max": findings.m_max, "state": state}
    return Answer(sentences, tables, facts, code=code)


def _is_html(path: str) -> bool:
    with open(path, "rb") as file:
        begins = file.read(5).lower() in (b"<!doc", b"<html")
    return begins or path.lower().endswith((".html", ".htm"))


def _reports(args: argparse.Namespace) -> Answer:
    """Compute reports again, and return whether each has the same results as before."""
    from sampledash.analyses.consistency.report import anew

    refuse_unused(args, "a report, which holds its settings", SETTINGS)
    files = [Path(path) for path in args.files]
    answers = [recheck(file.read_text("utf-8", "replace"), file.name, anew) for file in files]
    sentences, holds = zip(*answers, strict=True)
    table = pd.DataFrame({"report": [file.name for file in files], "holds": holds})
    tables = {} if args.form == "text" else {"reports": table}
    return Answer(sentences, tables, code=RIGHT if all(holds) else WRONG)


def report(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``report``: return the results of the Consistency page as one HTML file."""
    # Importing the code of the pictures is slow: import it only when this command runs.
    from sampledash.analyses.consistency.report import report as written
    from sampledash.analyses.consistency.result import Focus, Question, compute
    from sampledash.analyses.source import Source, expression

    # A report names files without their folders: it may be given to others, and folder names are
    # private.
    names = ["/dev/stdin" if path == "-" else Path(path).name for path in args.files]
    argument = repr(names[0] if len(names) == 1 else names)
    argument += "" if args.qrels is None else f", qrels={Path(args.qrels).name!r}"
    source = Source(
        tuple(rank_sets(args)),
        ", ".join("standard input" if path == "-" else Path(path).name for path in args.files),
        bundled=True,  # cache results as for bundled data: a command has only one user
        python=expression("read_rank_sets", argument, vars(args)),
    )
    question = Question(source, tuple(metrics_of(args)), args.m, options_of(args, source.sets))
    check_sets(source.sets)
    result = compute(question, progress)
    return Answer(text=written(Focus(result, 0, result.worst_pair(0))))


def plan(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``plan``: how many negatives, or instances, show the true order of systems?

    Return these numbers for each pair of systems, and also how many candidates must be scored to
    know the exact metrics.
    """
    sets, metrics = rank_sets(args), metrics_of(args)
    options = options_of(args, sets)
    needed, costs, sentences, notes = [], [], [], []
    for metric in metrics:
        about, chance = (metric, sets), args.probability
        both = negatives_needed(*about, chance, progress=progress, **options)
        instances = instances_needed(*about, args.m, chance, **options)
        both = both.merge(instances, on=["better", "worse"])
        both.insert(0, "metric", str(metric))
        needed.append(both)
        largest = max(int(ranks.n.max()) for ranks in sets)
        relevant = max(ranks.max_relevant for ranks in sets)
        notes += cutoff_holds_all(metric, largest, args.m, relevant)
        if both["instances"].isna().any():
            why = f"the order by {metric} expected with {negatives(args.m)} is not the true one"
            equal = "No number of instances is enough where systems are equal"
            notes.append(f"{equal}, or where {why}.")
        try:
            by_system = [(ranks, mean_stopping_cost(metric, ranks)) for ranks in sets]
        except ValueError as error:  # for example, without a cutoff a metric needs all scores
            sentences.append(spell(error))
            continue
        for ranks, cost in by_system:
            every = ranks.counted()
            first = every[every.position == 1]
            whole = float(np.average(first.negatives, weights=first.count))
            costs.append((str(metric), ranks.system, cost.mean, cost.std, whole))
        most = max(costs[-len(by_system) :], key=lambda row: row[2])
        sentences.append(
            f"Exact {metric} by stopping when decided: up to {count(round(most[2]))} scores an "
            f"instance ({most[1]}), of {count(round(most[4]))}."
        )
    columns = ["metric", "system", "scores", "std_of_scores", "scores_of_full_ranking"]
    tables = {"needed": pd.concat(needed, ignore_index=True)}
    if costs:
        tables["stopping"] = pd.DataFrame(costs, columns=columns)
    facts = {"m": args.m, "scheme": args.scheme, "probability": args.probability}
    return Answer([*sentences, *notes], tables, facts)
