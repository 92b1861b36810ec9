"""How large a file may be: every file ends within seconds and a gibibyte, read or refused."""

from __future__ import annotations

from collections.abc import Sequence

from sampledash.readers.errors import ReadError

MOST_BYTES = 256 * 2**20  # unpacked
MOST_ROWS = 10_000_000  # of columns that cost little
MOST_LABELLED = 3_000_000  # with other columns, or labels that are whole numbers
MOST_CAREFUL = 2_000_000  # with labels that are text, or cells that are looked at one by one
CHEAP = ("system", "rank", "n_candidates", "count")
MOST_RANKS = 2_000_000  # of one file with a column for each system
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


def check_rows(rows: int, name: str, what: str = "rows", most: int | None = None) -> None:
    """Refuse more rows than are read at once; by default than of any kind."""
    most = MOST_ROWS if most is None else most
    if rows > most:
        raise ReadError(f"{name} holds {rows:,} {what}, more than {most:,}; {_COUNTS}")


def check_costly(rows: int, name: str, headers: Sequence[str], roles: Sequence[str | None]) -> None:
    """Refuse more rows, one per rank, than are read at once with columns that cost much."""
    costly = [h for h, r in zip(headers, roles, strict=True) if r is not None and r not in CHEAP]
    if rows > MOST_LABELLED and costly and "rank" in roles:
        raise ReadError(
            f"{name} holds {rows:,} rows with a column {costly[0]!r}, more than "
            f"{MOST_LABELLED:,}; leave that column out (up to {MOST_ROWS:,} rows), or split the "
            "file by instances"
        )


def check_careful(rows: int, name: str) -> None:
    """Refuse more rows than can be looked at cell by cell."""
    if rows > MOST_CAREFUL:
        raise ReadError(
            f"{name} holds {rows:,} rows, and in more than {MOST_CAREFUL:,} every cell of a number "
            "must hold just that, and every line all cells: complete it, or split it into files "
            "that small, in which the odd ones are found"
        )


def check_text_labels(rows: int, where: str) -> None:
    """Refuse more rows than can be told apart by labels that are text."""
    if rows > MOST_CAREFUL:
        raise ReadError(
            f"{where}: {rows:,} rows have labels that are no whole numbers, more than "
            f"{MOST_CAREFUL:,}; number them"
        )


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


def lines_of(data: bytes) -> int:
    """How many lines a text has, the first one included, whatever ends them."""
    return max(data.count(b"\n"), data.count(b"\r"))


def check_lines(data: bytes, name: str) -> None:
    """Refuse text of too many lines, or with one that is too long to be a line of ranks."""
    check_rows(lines_of(data) - 1, name)
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
