"""The commands, their options and their parser, without the code that runs the commands."""

from __future__ import annotations

import argparse
import re
from typing import Any, NamedTuple, NoReturn, get_args
from urllib.parse import unquote, unquote_plus

from sampledash.protocol import Weighting
from sampledash.rank_sets import Ties
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES

FILES = ("rank", "count")  # commands whose output is a file of ranks, by default CSV
_DATA = "sampledash/data"  # examples are run in a clone of the repository, where this path exists
_FORMS = ("json", "csv", "markdown", "latex")


class Command(NamedTuple):
    """A command: what it does, an example that can be run, keys of :data:`OPTIONS`, and a module.

    The module is in :mod:`sampledash.command_line`. It has a function with the name of the command.
    """

    about: str
    example: str
    options: tuple[str, ...]
    module: str


#: Arguments for argparse of each option. Without an entry ``flag``, the flag of an option is ``--``
#: followed by its key, with hyphens for underscores, such as ``--zero-based``.
OPTIONS: dict[str, dict[str, Any]] = {
    "files": {"flag": "files", "nargs": "+", "metavar": "FILE", "help": "a table, or - for stdin"},
    "sampled": {"flag": "files", "nargs": "*", "metavar": "FILE", "help": "sampled ranks, or -"},
    "shown": {
        "flag": "files", "nargs": "*", "metavar": "FILE",
        "help": "of ranks, or a folder of such files",
    },
    "metric": {"action": "append", "required": True, "help": "such as Recall@10; may be repeated"},
    "m": {"type": int, "required": True, "help": "sampled negatives an instance"},
    "perhaps_m": {"flag": "--m", "type": int, "help": "sampled negatives an instance"},
    "n": {"type": int, "help": "candidates, where the file does not say"},
    "sample_of": {
        "type": int, "metavar": "N",
        "help": "the candidates are a uniform sample of a corpus of N: metrics are then its own",
    },
    "over": {
        "flag": "--instances", "type": int, "dest": "over",
        "help": "that the printed means are over: they scatter",
    },
    "scheme": {"choices": SCHEMES, "default": DEFAULT_SCHEME, "help": "how negatives are drawn"},
    "odds": {"type": float, "help": "of scheme popularity"},
    "correction": {"help": 'such as CLS or "BV 0.1"; default uncorrected'},
    "ties": {"choices": get_args(Ties), "default": "expected", "help": "how tied items are read"},
    "weighting": {
        "choices": get_args(Weighting), "default": "instances", "help": "what weighs the same",
    },
    "probability": {
        "type": float, "default": 0.95, "help": "chance of the true order that is wanted",
    },
    "relevant": {"metavar": "FILE", "help": "relevant items of scores: instance, item"},
    "seen": {"metavar": "FILE", "help": "items that are no candidates"},
    "engine": {"metavar": "URL", "help": "of Ibis: duckdb://..., pyspark://?spark.master=..."},
    "port": {"type": int, "default": 8501, "help": "of this machine"},
    "address": {"default": "127.0.0.1", "help": "to listen at; 0.0.0.0 is every interface"},
    "base_path": {"help": "where a reverse proxy has it, such as sampledash"},
    "qrels": {"metavar": "FILE", "help": "relevant items of a run or of lists"},
    "zero_based": {"action": "store_true", "help": "the best rank is 0"},
    "instances": {
        "choices": ("same", "shared", "any"), "default": "same", "help": "which are compared",
    },
    "runs": {
        "choices": ("averaged", "apart"), "default": "averaged", "help": "what repetitions are",
    },
    "censored": {
        "choices": ("refuse", "beyond", "tied", "left-out"), "default": "refuse",
        "help": "relevant items that a run does not hold",
    },
}  # fmt: skip
READING = ("n", "qrels", "zero_based", "instances", "runs", "censored")
_HOW = ("scheme", "odds", "correction", "ties", "weighting")
COMMANDS = {
    "check": Command(
        "Is the order that sampling shows the true one? Exit code 0 where it is, 1 where the order "
        "of a pair is wrong or undecided at this m, 2 for bad input.",
        f"sampledash check {_DATA}/movielens_xyz.csv --metric Recall@10 --m 100",
        ("files", "metric", "m", *_HOW, *READING), "verdicts",
    ),
    "plan": Command(
        "How many negatives, or instances, show the true order, and what it costs to look at "
        "candidates in random order until the metric is decided.",
        f"sampledash plan {_DATA}/paper_abc.csv --metric Recall@10 --m 100",
        ("files", "metric", "m", "probability", *_HOW, *READING), "verdicts",
    ),
    "rank": Command(
        "True ranks, as CSV, from a table of scores with the columns system, instance, item, score "
        "and relevant (1 or 0; or --relevant), or from TREC runs or lists and their qrels. A "
        "folder of Parquet is ranked by DuckDB or another --engine; -o x.parquet writes Parquet.",
        f"sampledash rank {_DATA}/templates/run.txt --qrels {_DATA}/templates/qrels.txt --n 1000",
        ("files", "relevant", "seen", "engine", *READING), "ranking",
    ),
    "count": Command(
        "A histogram of ranks, as CSV: smaller, and read wherever ranks are.",
        f"sampledash count {_DATA}/movielens_xyz_ties.csv", ("files", "engine", *READING),
        "ranking",
    ),
    "correct": Command(
        "The vector of a correction: what to report at each sampled rank. With files of sampled "
        "ranks, estimates of the real metric and the range that these samples leave open.",
        "sampledash correct --metric Recall@10 --n 10000 --m 100 --correction CLS",
        ("sampled", "metric", "n", "perhaps_m", "sample_of", "scheme", "odds", "correction"),
        "estimates",
    ),
    "table": Command(
        "What the real metric can be, given the sampled values that a paper prints.",
        f"sampledash table {_DATA}/printed_table.csv --metric Recall@10",
        ("files", "metric", "n", "perhaps_m", "sample_of", "over", "scheme"), "estimates",
    ),
    "report": Command(
        "The verdict with its settings, a paragraph for a paper and a script, as one HTML file.",
        f"sampledash report {_DATA}/movielens_xyz.csv --metric Recall@10 --m 100 -o report.html",
        ("files", "metric", "m", *_HOW, *READING), "verdicts",
    ),
    "serve": Command(
        "The dashboard in a browser, with these files opened in it, until it is stopped.",
        f"sampledash serve {_DATA}/movielens_xyz.csv --port 8501",
        ("shown", "port", "address", "base_path"), "serving",
    ),
}  # fmt: skip


_SECRET = "pass|pwd|token|secret|key|credential|signature|auth"
# Matches the password before the host of a URL, and the values of parameters with secret names.
_SECRETS = re.compile(
    rf"://[^\s/@:]*:([^\s/@]+)@|[?&;][\w.-]*(?:{_SECRET})[\w.-]*=([^\s&;]+)", re.I
)


def masked(text: str, *words: str) -> str:
    """Return ``text`` with *** for the secrets of URLs in ``words``, percent-encoded or not."""
    secrets = {match[1] or match[2] for word in words for match in _SECRETS.finditer(word)}
    for secret in secrets.union(map(unquote, secrets), map(unquote_plus, secrets)):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text)
    return text


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one sentence on the error; unlike argparse by default, show no usage text."""
        self.exit(2, f"{self.prog}: {masked(message, message)}; see {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    root = _Parser(
        prog="sampledash", description="Check, plan and correct metrics on sampled negatives."
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name,
            help=command.about.split(". ")[0].rstrip("."),
            description=command.about,
            epilog=f"example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for option in command.options:
            settings: dict[str, Any] = {"flag": f"--{option.replace('_', '-')}", **OPTIONS[option]}
            subparser.add_argument(settings.pop("flag"), **settings)
        if name == "serve":
            subparser.set_defaults(form="text", output=None)
            continue
        subparser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
        if name != "report":
            form = subparser.add_mutually_exclusive_group()
            for kind in _FORMS:
                form.add_argument(
                    f"--{kind}", dest="form", action="store_const", const=kind, help=f"as {kind}"
                )
        subparser.set_defaults(form="csv" if name in FILES else "text")
    return root
