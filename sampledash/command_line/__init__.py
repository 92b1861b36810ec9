"""The command line, such as ``sampledash check ranks.csv --metric Recall@10 --m 100``.

A command is a function from its arguments to an answer (:mod:`~sampledash.command_line.output`),
which :mod:`~sampledash.command_line.options` says where to find. Numbers, tables and sentences are
those of the dashboard, which begins with negatives drawn without replacement.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from sampledash.command_line.options import COMMANDS, FILES, parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 1 for a wrong or undecided order, 2 for bad input."""
    try:
        args = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    from sampledash.command_line.output import BAD_INPUT, RIGHT, Told, save
    from sampledash.report.numbers import spell

    told = Told()
    try:
        home = f"sampledash.command_line.{COMMANDS[args.command].module}"
        answer = getattr(import_module(home), args.command)(args, told)
        told.end()
        if not answer.saved:
            save(args.command, answer, args.form, args.output)
        if args.command in FILES and args.form != "json":  # what reads the file wants rows only
            print(*answer.sentences, sep="\n", end="\n" * bool(answer.sentences), file=sys.stderr)
        code: int = answer.code
        return code
    except (ValueError, MemoryError) as error:
        told.end()
        sentence = spell(str(error) or "the memory does not suffice for this file")
        print(f"sampledash {args.command}: {sentence}", file=sys.stderr)
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return RIGHT
    return BAD_INPUT
