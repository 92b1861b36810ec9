"""The commands, their options and their parser, without the code that runs the commands."""

import argparse
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_args
from urllib.parse import unquote, unquote_plus

import sampledash
from sampledash import checks
from sampledash.protocol import Weighting
from sampledash.rank_sets import Ties
from sampledash.report.templates import texts
from sampledash.sampled_rank_sets import TieRule
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES

FILES = ("rank", "count")  # commands whose output is a file of ranks, by default CSV
PAGES = ("report", "lessons")  # commands whose output is an HTML page
_FORMS = ("json", "csv", "markdown", "latex")


#: The help of each command and option, and examples, which run in a clone of the repository.
TEXTS = texts(Path(__file__).with_suffix(".txt"))


def number(text: str, *, whole: bool = True) -> float:
    """Return the number that a text such as 100, 1e2 or 1,000 stands for."""
    plain = re.sub(r"(?<=\d)[,_](?=\d{3})", "", text)
    if not checks.is_numeral(plain) or (whole and not float(plain).is_integer()):
        kind = "whole number: write 100 or 1e2" if whole else "number: write 0.5 or 1e-3"
        raise argparse.ArgumentTypeError(f"{checks.shown(text)} is not a {kind}")
    return int(float(plain)) if whole else float(plain)


class Command(NamedTuple):
    """A command: its module, and the keys of its options.

    The module has a function with the name of the command. For each key, :data:`TEXTS` has the help
    of the option, and :data:`OPTIONS` the other arguments of ``add_argument`` in argparse.
    """

    module: str
    options: tuple[str, ...]


#: Key of an option -> arguments of argparse's ``add_argument``; an option without entry is plain
#: text. Without ``flag``, the flag is ``--`` and the key, with hyphens: ``--zero-based``.
OPTIONS: dict[str, dict[str, Any]] = {
    "files": {"flag": "files", "nargs": "+", "metavar": "FILE"},
    "one_file": {"flag": "files", "nargs": 1, "metavar": "FILE"},
    **{x: {"flag": "files", "nargs": "*", "metavar": "FILE"} for x in ("sampled", "shown")},
    **{x: {"metavar": "FILE"} for x in ("relevant", "seen", "train", "ranks", "qrels")},
    "metric": {"action": "append", "required": True},
    "m": {"type": number, "required": True},
    "perhaps_m": {"flag": "--m", "type": number},
    "n": {"type": number},
    "sample_of": {"type": number, "metavar": "N"},
    "over": {"flag": "--instances", "type": number, "dest": "over"},
    "scheme": {"choices": SCHEMES, "default": DEFAULT_SCHEME},
    "odds": {"type": partial(number, whole=False)},
    "ties": {"choices": get_args(Ties), "default": "expected"},
    "tied_scores": {"flag": "--ties", "choices": get_args(TieRule), "default": "expected"},
    "weighting": {"choices": get_args(Weighting), "default": "instances"},
    "probability": {"type": partial(number, whole=False), "default": 0.95},
    "any_metric": {"flag": "--metric", "action": "append", "default": []},
    "engine": {"metavar": "URL"},
    "port": {"type": number, "default": 8501},
    "address": {"default": "127.0.0.1"},
    **{x: {"action": "store_true"} for x in ("zero_based", "overlaps")},
    "instances": {"choices": ("same", "shared", "any"), "default": "same"},
    "runs": {"choices": ("averaged", "apart"), "default": "averaged"},
    "censored": {"choices": ("refuse", "beyond", "tied", "left-out"), "default": "refuse"},
}
READING = ("n", "qrels", "zero_based", "instances", "runs", "censored")
_HOW = ("scheme", "odds", "correction", "ties", "weighting")
SETTINGS = ("metric", "m", *_HOW, *READING)
_OF_SAMPLES = ("metric", "n", "perhaps_m", "sample_of", "scheme")
COMMANDS = {
    "check": Command("verdicts", ("files", "any_metric", "perhaps_m", *_HOW, *READING)),
    "plan": Command("verdicts", ("files", "probability", *SETTINGS)),
    "rank": Command(
        "ranking", ("files", "relevant", "seen", "negatives", "overlaps", "engine", *READING)
    ),
    "count": Command("ranking", ("files", "engine", *READING)),
    "correct": Command("estimates", ("sampled", *_OF_SAMPLES, "odds", "correction", "tied_scores")),
    "table": Command("estimates", ("one_file", *_OF_SAMPLES, "over")),
    "audit": Command("estimates", ("one_file", "train", "ranks", "any_metric", "scheme")),
    "report": Command("verdicts", ("files", *SETTINGS)),
    "lessons": Command("serving", ()),
    "serve": Command("serving", ("shown", "port", "address", "base_path")),
}


_SECRET = "pass|pwd|token|secret|key|credential|signature|auth"
# Matches the password before the host of a URL, and the values of parameters with secret names.
_SECRETS = re.compile(rf"(?i)://[^\s/@:]*:([^\s/@]+)@|[?&;][\w.-]*(?:{_SECRET})[\w.-]*=([^\s&;]+)")


def masked(text: str, *words: str) -> str:
    """Return ``text`` with *** in place of passwords and other secrets of URLs in ``words``."""
    secrets = {match[1] or match[2] for word in words for match in _SECRETS.finditer(word)}
    for secret in secrets.union(map(unquote, secrets), map(unquote_plus, secrets)):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text)
    return text


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one sentence on the error, without the usage text that argparse would show."""
        self.exit(2, f"{self.prog}: {masked(message, message)}; see {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    root = _Parser(prog="sampledash", description=TEXTS["sampledash"])
    root.add_argument("--version", action="version", version=f"sampledash {sampledash.__version__}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        subparser = commands.add_parser(
            name,
            help=TEXTS[name].split(". ")[0].rstrip("."),
            description=TEXTS[name],
            epilog=f"example:\n  {TEXTS[f'{name}: example']}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for option in command.options:
            settings = {"flag": f"--{option.replace('_', '-')}", **OPTIONS.get(option, {})}
            subparser.add_argument(settings.pop("flag"), help=TEXTS[option], **settings)
        if name == "serve":
            subparser.set_defaults(form="text", output=None)
            continue
        subparser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
        if name not in PAGES:
            form = subparser.add_mutually_exclusive_group()
            for kind in _FORMS:
                form.add_argument(
                    f"--{kind}", dest="form", action="store_const", const=kind, help=f"as {kind}"
                )
        subparser.set_defaults(form="csv" if name in FILES else "text")
    return root


def refuse_unused(args: argparse.Namespace, where: str, options: Sequence[str] = READING) -> None:
    """Raise a ValueError if one of the ``options`` is set, because this kind of input ignores them.

    ``where`` names the kind of input in the error message.
    """
    usual = vars(parser().parse_args([args.command, "-"]))
    if given := [name for name in options if getattr(args, name) != usual[name]]:
        raise ValueError(f"--{given[0].replace('_', '-')} is not for {where}")
