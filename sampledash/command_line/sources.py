"""What the commands read: files or standard input, metrics, and how a comparison is made."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sampledash.correction import parse_correction
from sampledash.metrics import Metric, parse_metric
from sampledash.protocol import Options
from sampledash.rank_sets import RankSet
from sampledash.readers.errors import MissingCandidates
from sampledash.readers.files import read_rank_sets


def rank_sets(args: argparse.Namespace) -> list[RankSet]:
    """True ranks of the files, or of standard input for ``-``."""
    return read([opened(each) for each in args.files], args)


def read(sources: Sequence[tuple[Any, str]], args: argparse.Namespace) -> list[RankSet]:
    """True ranks of opened sources."""
    how = {"instances": args.instances, "runs": args.runs, "censored": args.censored}
    qrels = None if args.qrels is None else opened(args.qrels)
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


def opened(path: str) -> tuple[Any, str]:
    """A source for the readers and its name; ``-`` is standard input."""
    if path != "-":
        return path, Path(path).name
    if sys.stdin is None:
        raise ValueError("standard input is closed: give a file in place of -")
    stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
    data = stream.read()
    return io.BytesIO(data.encode() if isinstance(data, str) else data), "standard input"


def metrics_of(args: argparse.Namespace) -> list[Metric]:
    """The metrics asked for, each once."""
    return list(dict.fromkeys(map(parse_metric, args.metric)))


def options_of(args: argparse.Namespace) -> Options:
    """The options of the comparison, as the functions take them."""
    found: Options = {
        "scheme": args.scheme,
        "correction": parse_correction(args.correction or "uncorrected"),
        "ties": args.ties,
        "weighting": args.weighting,
    }
    if args.odds is not None:
        found["odds"] = args.odds
    return found
