"""How large a file may be: every file ends within seconds and a gibibyte, read or refused."""

from __future__ import annotations

from sampledash.readers.errors import ReadError

MOST_BYTES = 200 * 2**20  # unpacked
MOST_ROWS = 2_000_000
MOST_RANKS = 2_000_000  # of one file, all systems together
MOST_LABELS = 1_000_000  # that are text; numbers are many times as fast
MOST_COLUMNS = 2_000
MOST_SYSTEMS = 1_000
MOST_REPETITIONS = 10_000
MOST_GROUPS = 5_000
MOST_FILES = 1_000
MOST_TYPED = 20 * 2**20  # characters that are pasted
MOST_PRINTED = 100_000  # of a table from a paper
LONGEST_LINE = 2**20  # bytes
LONGEST_NAME = 200  # characters of a system, an instance, or a column

_COUNTS = "reduce it to counts (columns system, rank, count), or split it"


def check_files(files: int) -> None:
    """Refuse no file, and more than anybody compares."""
    if not files:
        raise ReadError("source is empty: give at least one file")
    if files > MOST_FILES:
        raise ReadError(f"source holds {files:,} files, more than {MOST_FILES:,}; give fewer")


def check_bytes(size: int, name: str) -> None:
    """Refuse what is too large to be looked at."""
    if size > MOST_BYTES:
        raise ReadError(f"{name} holds more than {MOST_BYTES >> 20} MiB; {_COUNTS}")


def check_typed(size: int, name: str, most: int) -> None:
    """Refuse more pasted text than is looked at."""
    if size > most:
        raise ReadError(f"{name} holds {size:,} characters, more than {most:,}; paste less of it")


def check_rows(rows: int, name: str, what: str = "rows") -> None:
    """Refuse more rows than are read at once."""
    if rows > MOST_ROWS:
        raise ReadError(f"{name} holds {rows:,} {what}, more than {MOST_ROWS:,}; {_COUNTS}")


def check_ranks(ranks: int, name: str) -> None:
    """Refuse more ranks than are read at once, in a file with a column for each system."""
    if ranks > MOST_RANKS:
        raise ReadError(
            f"{name} holds {ranks:,} cells in columns of systems, more than {MOST_RANKS:,}; "
            "split it by systems or by instances"
        )


def check_columns(columns: int, where: str) -> None:
    """Refuse more columns than a table of ranks has."""
    if columns > MOST_COLUMNS:
        raise ReadError(
            f"{where}: {columns:,} columns, more than {MOST_COLUMNS:,}; write one row per rank "
            "(columns system, instance, rank), or leave out columns"
        )


def check_labels(labels: int, where: str) -> None:
    """Refuse more labels that are text than are told apart in a few seconds."""
    if labels > MOST_LABELS:
        raise ReadError(
            f"{where}: the column holds {labels:,} different labels that are no whole numbers, "
            f"more than {MOST_LABELS:,}; number them"
        )


def check_groups(groups: int, name: str) -> None:
    """Refuse a Parquet file in so many pieces that finding them takes all the time."""
    if groups > MOST_GROUPS:
        raise ReadError(
            f"{name} is written in {groups:,} row groups, more than {MOST_GROUPS:,}; write it again"
        )


def check_repetitions(repetitions: int, where: str) -> None:
    """Refuse so many repetitions that they are rather instances."""
    if repetitions > MOST_REPETITIONS:
        raise ReadError(
            f"{where}: {repetitions:,} different repetitions, more than {MOST_REPETITIONS:,}; is "
            "the column really the instance? Rename it"
        )


def check_systems(systems: int, name: str) -> None:
    """Refuse so many systems that they are rather instances."""
    if systems > MOST_SYSTEMS:
        raise ReadError(
            f"{name} names {systems:,} systems, more than {MOST_SYSTEMS:,}: "
            "is the system column really the instance? Rename it"
        )


def check_lines(data: bytes, name: str) -> None:
    """Refuse text of too many lines, or with one that is too long to be a line of ranks."""
    check_rows(max(data.count(b"\n"), data.count(b"\r")), name, "lines")
    start = 0
    while start + LONGEST_LINE < len(data):
        end = data.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            raise ReadError(
                f"{name}, line {line}: the line is longer than {LONGEST_LINE >> 20} MiB; "
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
