"""Limits of uploads: sizes, formats, numbers of candidates and negatives, and errors about them.

:func:`load` turns a path or a buffer into unpacked bytes. Because of the limits, every file is read
or refused within seconds and with a gibibyte of memory.
"""

import gzip
import io
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

from sampledash.checks import LARGEST_N, Refusal, shown, text
from sampledash.readers import score_files
from sampledash.sampled_rank_sets import MOST_PLACES

PathOrBuffer = str | Path | BinaryIO
FileKind = Literal["text", "columns", "array"]


@dataclass(frozen=True)
class Format:
    """A binary format: its first bytes, its kind, and how to convert it to Parquet."""

    magic: bytes
    kind: FileKind
    #: Converts the data of a file; the second argument is the file's name, for error messages. By
    #: default, the data are not converted.
    to_parquet: Callable[[bytes, str], bytes] = lambda data, name: data


#: Every binary format by its name. The readers can read Parquet and .npy. To add another format,
#: add an entry with a function that converts its data to Parquet.
FORMATS = {
    "Parquet": Format(b"PAR1", "columns"),
    "a numpy array": Format(b"\x93NUMPY", "array"),
    "a numpy archive": Format(b"PK\x03\x04", "columns", score_files.npz_to_parquet),
    "JSON lines": Format(b'{"', "columns", score_files.json_to_parquet),
}
_GZIP = b"\x1f\x8b"
# Largest number of members (separately compressed pieces) of a gzip file. Programs that write many
# members write at least 64 KiB in each.
_MOST_MEMBERS = 100_000

# Kinds of files that people upload by mistake, and their first bytes.
_SIGNATURES = {
    "an old Excel workbook": (b"\xd0\xcf\x11\xe0",),
    "a pickle, which is never read": (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5"),
    "a picture or a PDF document": (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF"),
    "compressed, but not with gzip": (b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"),
    "an Arrow file or a database": (b"ARROW1", b"SQLite format 3"),
    "text in UTF-16": (b"\xff\xfe", b"\xfe\xff"),
    "a web page, or a sheet saved as one": (b"<!doctype", b"<html", b"<table", b"<meta", b"<?xml"),
    "JSON": (b'{"', b"[{", b"[["),
}

#: Role of a column of counts -> symbol, name of the counted items, smallest and largest count.
NUMBERS: dict[str, tuple[str, str, int, int]] = {
    "n_candidates": ("n", "candidates", 2, LARGEST_N),
    "negatives": ("m", "sampled negatives", 1, MOST_PLACES - 1),
}


class ReadError(Refusal):
    """The ranks cannot be used as they are. The message names file, row, column and remedy.

    ``ways`` maps the text of a button on a page to the options with which to read again.
    """

    ways: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class MissingCandidates(ReadError):
    """The number of candidates n is neither in the file nor given."""


class MissingNegatives(ReadError):
    """The number of sampled negatives m is neither in the file nor given."""


class ZeroBasedRanks(ReadError):
    """The smallest rank is 0 and no rank is negative, so the ranks seem to count from 0."""


class CensoredItems(ReadError):
    """Relevant items are missing from a truncated run; they rank somewhere beyond the run's end."""

    censored: int  # number of missing relevant items, summed over all systems


class DifferentInstances(ReadError):
    """The systems do not cover the same instances."""


@dataclass
class Limit:
    """The largest accepted size of an input, and what the user can do about a larger input."""

    most: int
    what: str
    remedy: str

    def check(self, size: int, where: str) -> None:
        """Refuse an input with a ``size`` above ``most``; ``where`` names it in the error."""
        if size > self.most:
            what = f"{size:,} {self.what}, more than {self.most:,}"
            raise ReadError(f"{where} holds {what}; {self.remedy}")


_COUNTS = "reduce it to counts (columns system, rank, count), or take fewer systems or instances"
_LONG = "write one row per rank (columns system, instance, rank)"
_PASTE = "paste less of it"
_NUMBER = "number them"
_INSTANCE = "is the column really the instance? Rename it"

FILES = Limit(1_000, "files", "give fewer")
BYTES = Limit(score_files.MOST_BYTES, "bytes", _COUNTS)  # unpacked size of all files together
TYPED = Limit(20 * 2**20, "characters", _PASTE)  # length of typed or pasted ranks
PRINTED = Limit(100_000, "characters", _PASTE)  # length of a table pasted from a paper
# Length of pasted weights of ranks: 100 characters for each of 100,000 ranks.
WEIGHTS = Limit(10_000_000, "characters", "round the weights")
WEIGHT_NUMBERS = Limit(200_000, "numbers", "give a weight for each rank up to 100,000")
ROWS = Limit(10_000_000, "rows", _COUNTS)  # for tables with no columns but system, rank, n, count
# For tables of ranks with other columns than system, rank, n and count, such as instance labels.
# Such tables need more memory per row. If labels are no whole numbers, the limit is TEXTS.
LABELLED = Limit(3_000_000, "rows", "leave it out, or split by instances")
# For text files with blank cells or unusual numbers. Only pandas can parse these, and it is slower
# than pyarrow.
CAREFUL = Limit(2_000_000, "rows, some with a cell that is no plain number", "split the file")
TEXTS = Limit(2_000_000, "rows with labels that are no whole numbers", _NUMBER)
LABELS = Limit(1_000_000, "different labels that are no whole numbers", _NUMBER)
LINES = Limit(2_000_000, "lines", _COUNTS)  # for TREC runs and qrels, and lists of recommendations
RANKS = Limit(2_000_000, "cells in columns of systems", "split it by systems or by instances")
COLUMNS = Limit(2_000, "columns", f"{_LONG}, or leave out columns")
SYSTEMS = Limit(1_000, "systems", _INSTANCE)
REPETITIONS = Limit(10_000, "different repetitions", _INSTANCE)
GROUPS = Limit(5_000, "row groups", "write it again")
LONGEST_LINE = 2**20  # bytes
LONGEST_NAME = 200  # most characters in the name of a system, an instance or a column


def check_size(size: int, where: str, verb: str = "holds", limit: Limit = BYTES) -> None:
    """Refuse a size of more bytes than ``limit`` allows; ``where`` names the file in the error."""
    if size > limit.most:
        raise ReadError(f"{where} {verb} more than {limit.most >> 20} MiB; {limit.remedy}")


def lines_of(data: bytes) -> int:
    """Return the number of line ends of a text whose lines all end in LF, CR LF or CR."""
    return max(data.count(b"\n"), data.count(b"\r"))


def check_lines(data: bytes, name: str) -> None:
    """Refuse text with too many lines, or with a line that is too long."""
    ROWS.check(lines_of(data) - 1, name)
    start = 0
    while start + LONGEST_LINE < len(data):
        ends = [data.rfind(end, start, start + LONGEST_LINE + 1) for end in (b"\n", b"\r")]
        if (end := max(ends)) < 0:
            line = lines_of(data[:start]) + 1
            long = f"the line is longer than {LONGEST_LINE >> 20} MiB; {_LONG}"
            raise ReadError(f"{name}, line {line}: {long}")
        start = end + 1


def check_name(text: str, where: str) -> None:
    """Refuse a name that is invalid text or too long (perhaps a quotation mark is not closed)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ReadError(f"{where}: the name {text[:20]!r} is not text; write it anew") from None
    if len(text) > LONGEST_NAME:
        size = f"has {len(text):,} characters, more than {LONGEST_NAME:,}"
        advice = "shorten it, or close a quotation mark"
        raise ReadError(f"{where}: the name {text[:20]!r}... {size}; {advice}")


def load(source: PathOrBuffer, name: str | None = None, limit: Limit = BYTES) -> tuple[bytes, str]:
    """Return the unpacked bytes of a source, and its name (without folders) for messages."""
    if name is not None:
        name = text("name", name)
    if isinstance(source, str | Path):
        path = Path(source)
        name = name or path.name
        try:
            with path.open("rb") as file:
                data = file.read(limit.most + 1)
        except (OSError, ValueError) as error:
            there = os.path.exists(path)  # False for an invalid path too
            reason = "the file cannot be opened" if there else "there is no such file"
            raise ReadError(f"{shown(name)}: {reason}; check the path") from error
    elif hasattr(source, "read"):
        if name is None:
            file_name = getattr(source, "name", None)
            name = Path(file_name).name if isinstance(file_name, str) else "ranks"
        # Go to the start of the buffer: a page reads the buffer again if a user changes an option.
        if hasattr(source, "seekable") and source.seekable():
            source.seek(0, io.SEEK_SET)
        read = source.read(limit.most + 1)
        data = read.encode() if isinstance(read, str) else bytes(read)
    else:
        what = type(source).__name__
        raise ReadError(f"source must be a path or a buffer, got {what}; for text: parse_rank_text")
    check_size(len(data), name, limit=limit)
    data = unpacked(data, name, limit) if data.startswith(_GZIP) else data
    for label, row in FORMATS.items():
        if data.startswith(row.magic):
            try:
                return row.to_parquet(data, name), name
            except Refusal as error:
                raise ReadError(*error.parts) from None
            except Exception as error:  # each library raises its own types of errors
                damaged = "it is damaged or cut off; write it again"
                raise ReadError(f"{name} cannot be read as {label}: {damaged}") from error
    return data, name


def unpacked(data: bytes, name: str, limit: Limit = BYTES) -> bytes:
    """Return the contents of a gzip file, with its members joined; refuse a gzip bomb early."""
    if data.count(_GZIP + b"\x08") > _MOST_MEMBERS:
        pieces = f"more than {_MOST_MEMBERS:,} pieces"
        raise ReadError(f"{name} is a gzip of {pieces}; compress it again")
    try:
        with gzip.open(io.BytesIO(data)) as file:
            whole = file.read(limit.most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        damaged = "damaged or cut off; copy or download it again"
        raise ReadError(f"{name} is compressed with gzip, but {damaged}") from None
    check_size(len(whole), name, "unpacks to", limit)
    return whole


def stem_of(name: str) -> str:
    """Return a file name without folders and endings, to name a system that has no name."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    last = last[:-3] if last.lower().endswith(".gz") and len(last) > 3 else last
    stem, dot, _ = last.rpartition(".")
    return stem if dot and stem else last


def kind_of(data: bytes, name: str) -> FileKind:
    """Return the kind of a file, judged only by its content; refuse kinds that cannot be read."""
    if not data[:4096].strip() and not data.strip():
        raise ReadError(f"{name} is empty: give a header line and one line for each row")
    for row in FORMATS.values():
        if data.startswith(row.magic):
            return row.kind
    head = b"".join(data[:64].lower().split())  # without white space: JSON may be indented
    for what, beginnings in _SIGNATURES.items():
        if data.startswith(beginnings) or head.startswith(beginnings):
            raise ReadError(f"{name} is {what}; save the table as CSV in UTF-8")
    if b"\0" in data[:65536]:
        formats = " nor ".join(FORMATS)
        raise ReadError(f"{name} is neither text nor {formats}: it holds zero bytes; save CSV")
    return "text"


def check_utf8(data: bytes, name: str) -> None:
    """Refuse text that is not UTF-8, and name the line."""
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        odd = f"(byte 0x{data[error.start]:02x})"
        raise ReadError(f"{name}, line {line}: the text is not UTF-8 {odd}; save it so") from None
