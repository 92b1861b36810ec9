"""The command line, such as ``sampledash check ranks.csv --metric Recall@10 --m 100``.

A command is a function from its arguments to an answer (:mod:`~sampledash.command_line.streams`),
which :mod:`~sampledash.command_line.options` says where to find. Numbers, tables and sentences are
those of the dashboard, which begins with negatives drawn without replacement.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from sampledash.command_line.options import COMMANDS, FILES, parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 1 for a wrong or undecided order, 2 for bad input."""
    try:
        args = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    from sampledash.command_line.streams import BAD_INPUT, RIGHT, STOPPED, Told, save
    from sampledash.report.numbers import spell

    told = Told()
    code: int = RIGHT
    try:
        _apart(args)
        home = f"sampledash.command_line.{COMMANDS[args.command].module}"
        answer = getattr(import_module(home), args.command)(args, told)
        told.end()
        code = answer.code
        if not answer.saved:
            save(args.command, answer, args.form, args.output)
        if args.command in FILES and args.form != "json":  # what reads the file wants rows only
            print(*answer.sentences, sep="\n", end="\n" * bool(answer.sentences), file=sys.stderr)
        return code
    except (ValueError, MemoryError) as error:
        why = str(error) or "the memory does not suffice for this file"
        code = BAD_INPUT
    except KeyboardInterrupt:
        why, code = "stopped; nothing is written", STOPPED
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # who reads has seen enough
            return code
        why, code = f"{str(error.strerror).lower()}; give --output a file", BAD_INPUT
    told.end()
    options = re.sub(r'in Python: (\w+)="?([\w.-]+)"?', _option, why)
    print("sampledash", spell(f"{args.command}: {options}"), file=sys.stderr)
    return code


def _option(found: re.Match[str]) -> str:
    """An argument of a function as an option of the command line."""
    value = {"True": "", "...": " FILE"}.get(found[2], f" {found[2]}")
    return f"here: --{found[1].replace('_', '-')}{value}"


def _apart(args: Namespace) -> None:
    """Refuse to write into what is read."""
    reads = [*args.files, *(getattr(args, name, None) for name in ("relevant", "seen", "qrels"))]
    for each in filter(None, () if args.output in (None, "-") else reads):
        if Path(args.output).resolve().is_relative_to(Path(each).resolve()):
            raise ValueError(f"--output {args.output} is in what is read: give another")
