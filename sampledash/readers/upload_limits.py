"""What n and m an upload may say, and how large it may be.

Every file ends within seconds and a gibibyte, read or refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from sampledash.checks import LARGEST_N
from sampledash.readers.errors import ReadError
from sampledash.sampledranks import MOST_PLACES

#: What is said of all instances or of each -> its symbol, what it counts, the least and the most.
NUMBERS: dict[str, tuple[str, str, int, int]] = {
    "n_candidates": ("n", "candidates", 2, LARGEST_N),
    "negatives": ("m", "sampled negatives", 1, MOST_PLACES - 1),
}


@dataclass
class Limit:
    """The most of something that is looked at, and what is said of a file with more."""

    most: int
    sentence: str

    def check(self, found: int, where: str, **words: str) -> None:
        """Refuse what is more; ``words`` fill in the sentence."""
        if found > self.most:
            words |= {"found": f"{found:,}", "most": f"{self.most:,}", "mib": f"{self.most >> 20}"}
            raise ReadError(self.sentence.format(where=where, **words))


_COUNTS = "reduce it to counts (columns system, rank, count), or split it"
_PASTED = "{where} holds {found} characters, more than {most}; paste less of it"

FILES = Limit(1_000, "{where} holds {found} files, more than {most}; give fewer")
BYTES = Limit(256 * 2**20, "{where} {holds} more than {mib} MiB; " + _COUNTS)  # unpacked
TYPED = Limit(20 * 2**20, _PASTED)  # characters of ranks
PRINTED = Limit(100_000, _PASTED)  # of a table from a paper
ROWS = Limit(  # of columns that cost little
    10_000_000, "{where} holds {found} rows, more than {most}; " + _COUNTS
)
LABELLED = Limit(  # with other columns, or labels that are whole numbers
    3_000_000,
    "{where} holds {found} rows with a column {column}, more than {most}; leave that column out "
    "(up to {rows} rows), or split the file by instances",
)
CAREFUL = Limit(  # with cells that are looked at one by one
    2_000_000,
    "{where} holds {found} rows, and in more than {most} every cell of a number must hold just "
    "that, and every line all cells: complete it, or split it into files that small, in which the "
    "odd ones are found",
)
TEXTS = Limit(  # with labels that are text
    2_000_000,
    "{where}: {found} rows have labels that are no whole numbers, more than {most}; number them",
)
LABELS = Limit(  # that differ and are text; numbers are many times as fast
    1_000_000,
    "{where}: the column holds {found} different labels that are no whole numbers, more than "
    "{most}; number them",
)
LINES = Limit(  # of a run or qrels
    2_000_000, "{where} holds {found} lines, more than {most}; " + _COUNTS
)
RANKS = Limit(  # of one file with a column for each system
    2_000_000,
    "{where} holds {found} cells in columns of systems, more than {most}; split it by systems or "
    "by instances",
)
COLUMNS = Limit(
    2_000,
    "{where}: {found} columns, more than {most}; write one row per rank (columns system, instance, "
    "rank), or leave out columns",
)
SYSTEMS = Limit(
    1_000,
    "{where} names {found} systems, more than {most}: is the system column really the instance? "
    "Rename it",
)
REPETITIONS = Limit(
    10_000,
    "{where}: {found} different repetitions, more than {most}; is the column really the instance? "
    "Rename it",
)
GROUPS = Limit(5_000, "{where} is written in {found} row groups, more than {most}; write it again")
_LONGEST_LINE = 2**20  # bytes
LONGEST_NAME = 200  # characters of a system, an instance, or a column


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
