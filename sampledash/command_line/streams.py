"""Input and output of commands: reading of files, writing of answers, display of progress."""

import argparse
import io
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from sampledash.checks import Refusal, Remedy
from sampledash.command_line.options import FILES, READING
from sampledash.correction import parse_correction
from sampledash.leftovers import Scratch
from sampledash.metrics import Metric, parse_metric
from sampledash.protocol import Options
from sampledash.rank_sets import RankSet
from sampledash.readers.files import read_rank_sets
from sampledash.readers.upload_limits import MissingCandidates
from sampledash.report.tables import as_csv, as_latex, as_markdown, printed
from sampledash.schemes import check_weights

RIGHT, WRONG, BAD_INPUT, STOPPED = 0, 1, 2, 130
TABLES = {"csv": as_csv, "markdown": as_markdown, "latex": as_latex}
_PATIENCE = 1.0  # seconds until progress is shown


def rank_sets(args: argparse.Namespace) -> list[RankSet]:
    """Return the true ranks in the command's files; for the file ``-``, read standard input."""
    return read([opened(path) for path in args.files], args)


def read(sources: Sequence[tuple[Any, str]], args: argparse.Namespace) -> list[RankSet]:
    """Return the true ranks in ``sources``: pairs (path or buffer, name) from :func:`opened`."""
    files, names = map(list, zip(*sources, strict=True))
    options = {option: getattr(args, option) for option in READING}
    if args.qrels is not None:
        options["qrels"], _ = opened(args.qrels)
    try:
        return read_rank_sets(files, name=names, **options)
    except MissingCandidates as error:
        raise Refusal(*error.parts, Remedy("n", True)) from None


def opened(path: str) -> tuple[Any, str]:
    """Return ``path`` and the file's name for messages.

    For the path ``-``, return the content of standard input in a buffer, and "standard input".
    """
    if path != "-":
        return path, Path(path).name
    if sys.stdin is None:
        raise ValueError("standard input is closed: give a file in place of -")
    stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
    data = stream.read()
    return io.BytesIO(data.encode() if isinstance(data, str) else data), "standard input"


def metrics_of(args: argparse.Namespace) -> list[Metric]:
    """Return the metrics that the options ``--metric`` give, without repetitions."""
    return list(dict.fromkeys(map(parse_metric, args.metric)))


def options_of(args: argparse.Namespace, sets: Sequence[RankSet]) -> Options:
    """Return the command's options as keyword arguments for functions that compare systems."""
    if args.odds is None:
        check_weights(args.scheme, sets)
    options: Options = {
        "scheme": args.scheme,
        "correction": parse_correction(args.correction or "uncorrected"),
        "ties": args.ties,
        "weighting": args.weighting,
    }
    if args.odds is not None:
        options["odds"] = args.odds
    return options


@dataclass(frozen=True)
class Answer:
    """The result of a command: sentences, tables by name (the main table first), an exit code."""

    sentences: Sequence[str] = ()
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)  # further entries of the JSON output
    text: str | None = None  # if given, it is written in place of sentences and tables
    code: int = RIGHT
    saved: bool = False  # whether the command has written the output itself


def written(command: str, answer: Answer, form: str) -> str:
    """Return the answer of a command as text in the format ``form``, such as "json" or "csv"."""
    if answer.text is not None:
        return answer.text
    if form == "json":
        # JSON has null for missing values.
        plain = {x: table.astype(object) for x, table in answer.tables.items()}
        tables = {x: y.where(y.notna(), None).to_dict("records") for x, y in plain.items()}
        content = {"command": command, "sentences": [*answer.sentences]} | tables | answer.facts
        return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    # Programs read this CSV. It is therefore not written by ``as_csv``, which puts an apostrophe
    # before text that a spreadsheet would run as a formula.
    if form == "csv" and command in FILES:
        return "".join(x.to_csv(index=False, lineterminator="\n") for x in answer.tables.values())
    if form in TABLES:
        return "\n".join(TABLES[form](table) for table in answer.tables.values())
    parts = ["\n".join(answer.sentences), *map(_aligned, answer.tables.values())]
    return "\n\n".join(filter(None, parts)) + "\n"


def _aligned(table: pd.DataFrame) -> str:
    """Return a table as text for people, with rounded numbers in aligned columns."""
    columns = []
    for column in printed(table):
        cells = [column.header, *(" ".join(cell.split()) or "–" for cell in column.cells)]
        width = max(map(len, cells))
        columns.append([f"{x:>{width}}" if column.number else f"{x:<{width}}" for x in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


@contextmanager
def aside(path: str) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces the file ``path`` once it is complete.

    If ``path`` is a link, its target is replaced. Raises ValueError if the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if (os.path.exists(path) or target.is_symlink()) and not target.is_file():
            raise OSError(0, "it is a folder or a device, a pipe or a loop of links")
        # os.replace checks only the folder, and would replace a file that is write-protected.
        if target.is_file() and not os.access(target, os.W_OK):
            raise PermissionError(0, "permission denied")
        with Scratch(target.parent) as folder:
            yield (part := Path(folder, target.name))
            if target.is_file():
                shutil.copymode(target, part)
            os.replace(part, target)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise ValueError(f"{path} cannot be written ({why}): give another --output") from None


def save(command: str, answer: Answer, form: str, path: str | None) -> None:
    """Write the answer of a command to a file; if ``path`` is None or "-", to standard output."""
    if path in (None, "-"):
        try:
            print(written(command, answer, form), end="", flush=True)
        except OSError as error:
            # Discard the output. Otherwise Python would flush it at exit and raise the error again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            raise ValueError(f"{str(error.strerror).lower()}; give --output a file") from None
        return
    with aside(path) as part:
        if path.endswith(".parquet") and answer.text is None:
            next(iter(answer.tables.values())).to_parquet(part, index=False)
        else:
            part.write_text(written(command, answer, form), encoding="utf-8", newline="\n")


class Told:
    """Show the progress of a command on standard error, after its first second.

    Nothing is shown if standard error is not a terminal.
    """

    def __init__(self) -> None:
        self.start, self.last = time.monotonic(), -1

    def __call__(self, share: float) -> None:
        """Show the share of the work that is done, in percent."""
        done = int(100 * share)
        patient = time.monotonic() - self.start <= _PATIENCE
        if done > self.last and not patient and sys.stderr.isatty():
            self.last = done
            print(f"\r{done:3d} %", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Erase the progress display from the terminal."""
        if self.last >= 0:
            print("\r      \r", end="", file=sys.stderr, flush=True)
