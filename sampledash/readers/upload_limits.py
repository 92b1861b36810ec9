"""What n and m an upload may say, and how large it may be.

Every file ends within seconds and a gibibyte, read or refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from sampledash.checks import LARGEST_N
from sampledash.readers.errors import ReadError
from sampledash.sampled_rank_sets import MOST_PLACES

#: What is said of all instances or of each -> its symbol, what it counts, the least and the most.
NUMBERS: dict[str, tuple[str, str, int, int]] = {
    "n_candidates": ("n", "candidates", 2, LARGEST_N),
    "negatives": ("m", "sampled negatives", 1, MOST_PLACES - 1),
}


@dataclass
class Limit:
    """The most of something that is looked at, and what to do about more."""

    most: int
    what: str
    remedy: str

    def check(self, found: int, where: str, **words: str) -> None:
        """Refuse what is more; ``words`` fill in what it is."""
        if found > self.most:
            what = self.what.format(**words)
            raise ReadError(
                f"{where} holds {found:,} {what}, more than {self.most:,}; {self.remedy}"
            )


_COUNTS = "reduce it to counts (columns system, rank, count), or take fewer systems or instances"
_PASTE = "paste less of it"
_NUMBER = "number them"
_INSTANCE = "is the column really the instance? Rename it"

FILES = Limit(1_000, "files", "give fewer")
BYTES = Limit(256 * 2**20, "bytes", _COUNTS)  # unpacked
TYPED = Limit(20 * 2**20, "characters", _PASTE)  # of ranks
PRINTED = Limit(100_000, "characters", _PASTE)  # of a table from a paper
ROWS = Limit(10_000_000, "rows", _COUNTS)  # of columns that cost little
LABELLED = Limit(  # with other columns, or labels that are whole numbers
    3_000_000,
    "rows with a column {column}",
    f"leave that column out (up to {ROWS.most:,} rows), or split the file by instances",
)
CAREFUL = Limit(  # with cells that are looked at one by one
    2_000_000,
    "rows, some of them with a cell that is blank or no plain number",
    "complete it, or split it into files that small, in which the odd ones are found",
)
TEXTS = Limit(2_000_000, "rows with labels that are no whole numbers", _NUMBER)
LABELS = Limit(1_000_000, "different labels that are no whole numbers", _NUMBER)
LINES = Limit(2_000_000, "lines", _COUNTS)  # of a run or qrels
RANKS = Limit(2_000_000, "cells in columns of systems", "split it by systems or by instances")
COLUMNS = Limit(
    2_000,
    "columns",
    "write one row per rank (columns system, instance, rank), or leave out columns",
)
SYSTEMS = Limit(1_000, "systems", _INSTANCE)
REPETITIONS = Limit(10_000, "different repetitions", _INSTANCE)
GROUPS = Limit(5_000, "row groups", "write it again")
_LONGEST_LINE = 2**20  # bytes
LONGEST_NAME = 200  # characters of a system, an instance, or a column


def check_size(size: int, where: str, verb: str = "holds", limit: Limit = BYTES) -> None:
    """Refuse more bytes than are read at once."""
    if size > limit.most:
        raise ReadError(f"{where} {verb} more than {limit.most >> 20} MiB; {limit.remedy}")


def lines_of(data: bytes) -> int:
    """How many lines a text has, the first one included, whatever ends them."""
    return max(data.count(b"\n"), data.count(b"\r"))


def check_lines(data: bytes, name: str) -> None:
    """Refuse text of too many lines, or with one that is too long to be a line of ranks."""
    ROWS.check(lines_of(data) - 1, name)
    start = 0
    while start + _LONGEST_LINE < len(data):
        end = data.rfind(b"\n", start, start + _LONGEST_LINE + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            raise ReadError(
                f"{name}, line {line}: the line is longer than {_LONGEST_LINE >> 20} MiB; "
                "write one row per rank (columns system, instance, rank)"
            )
        start = end + 1


def check_name(text: str, where: str) -> None:
    """Refuse a name that is none: a cell that swallowed half a file, or no text at all."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ReadError(f"{where}: the name {text[:20]!r} is not text; write it anew") from None
    if len(text) > LONGEST_NAME:
        raise ReadError(
            f"{where}: the name {text[:20]!r}... has {len(text):,} characters, more than "
            f"{LONGEST_NAME:,}; shorten it, or look for a quotation mark that is not closed"
        )
