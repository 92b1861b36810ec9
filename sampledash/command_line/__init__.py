"""The command line, such as ``sampledash check ranks.csv --metric Recall@10 --m 100``.

A command takes the parsed arguments and returns an ``Answer``;
:mod:`~sampledash.command_line.options` lists the commands and their modules. Numbers, tables and
sentences are those of the dashboard. As there, negatives are drawn without replacement by default.
"""

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from sampledash.checks import Refusal, Remedy
from sampledash.command_line.options import COMMANDS, FILES, masked, parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 (wrong or undecided order), 2 (bad input) or 130 (Ctrl-C)."""
    try:
        args = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    from sampledash.command_line.streams import BAD_INPUT, RIGHT, STOPPED, Told, save
    from sampledash.report.numbers import spell

    progress = Told()
    code: int = RIGHT
    failure = BAD_INPUT
    try:
        _check_paths(args)
        home = f"sampledash.command_line.{COMMANDS[args.command].module}"
        answer = getattr(import_module(home), args.command)(args, progress)
        progress.end()
        code = answer.code
        if not answer.saved:
            save(args.command, answer, args.form, args.output)
        # Other programs read the output of ``rank`` and ``count``. These commands therefore write
        # only their table to standard output, and their sentences to standard error.
        if args.command in FILES and args.form != "json":
            print(*answer.sentences, sep="\n", end="\n" * bool(answer.sentences), file=sys.stderr)
        return code
    except (ValueError, MemoryError) as error:
        why = error.worded(partial(_option, args)) if isinstance(error, Refusal) else str(error)
        why = why or "the memory does not suffice for this file"
    except KeyboardInterrupt:
        why, failure = "stopped; nothing is written", STOPPED
    except BrokenPipeError:  # the program that reads standard output (such as head) has ended
        return code
    except OSError as error:
        reason = str(error.strerror or error).lower()
        why = f"{error.filename or 'a file'}: {reason}; check the path"
    except Exception:  # otherwise Python exits with code 1, which means misordered systems
        traceback.print_exc()
        why = "this is a fault of the program: please report it with the lines above"
    progress.end()
    sentence = spell(f"{args.command}: {why}")
    print("sampledash", masked(sentence, *sys.argv if argv is None else argv), file=sys.stderr)
    return failure


def _option(args: Namespace, remedy: Remedy) -> str:
    """Return the option that would avoid an error, such as " (here: --n 100)".

    ``remedy`` has the option's name and value. Return "" if the command has no such option.
    """
    if remedy.value is None or not hasattr(args, remedy.name):
        return ""
    value = {True: "", ...: " FILE"}.get(remedy.value, f" {remedy.value}")
    return f" (here: --{remedy.name.replace('_', '-')}{value})"


def _check_paths(args: Namespace) -> None:
    """Raise a ValueError if a path is empty, or if the output would change the input.

    The output may be neither an input file nor a file in an input folder.
    """
    read = [("FILE", path) for path in getattr(args, "files", ())]
    inputs = ("relevant", "seen", "qrels", "train")
    read += [(f"--{name}", getattr(args, name, None)) for name in inputs]
    for name, path in (*read, ("--output", args.output)):
        if path == "":
            raise ValueError(f"{name} is '', an empty path: is a variable of the script empty?")
        if name == "--output" or path is None or args.output in (None, "-"):
            continue
        # Unlike Path.resolve, realpath does not raise an error for a loop of symbolic links.
        if Path(os.path.realpath(args.output)).is_relative_to(os.path.realpath(path)):
            raise ValueError(f"--output {args.output} is in what is read: give another")
