"""From a path or a buffer to bytes, and from bytes to what they are."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO, Literal

from sampledash.readers.arrays import MAGIC as ARRAY
from sampledash.readers.errors import ReadError
from sampledash.readers.limits import MOST_BYTES, check_bytes
from sampledash.readers.unpack import plain, unpacked

Kind = Literal["text", "parquet", "array"]

# First bytes of what people upload by mistake, and the remedy.
_CONVERT = "save the table as CSV"
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", "rename it to end in .parquet"),
    (ARRAY, "a numpy array", "rename it to end in .npy"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (b"\x89PNG", "a PNG picture", _CONVERT),
    (b"\xff\xd8\xff", "a JPEG picture", _CONVERT),
    (b"GIF8", "a GIF picture", _CONVERT),
    (b"%PDF", "a PDF document", _CONVERT),
    (b"BZh", "compressed with bzip2", "unpack it, or use gzip"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it, or use gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it, or use gzip"),
    (b"ARROW1", "an Arrow file", "save the table as Parquet"),
    (b"\x80\x02", "a Python pickle, which could run code and is never read", _CONVERT),
    (b"\x80\x03", "a Python pickle, which could run code and is never read", _CONVERT),
    (b"\x80\x04", "a Python pickle, which could run code and is never read", _CONVERT),
    (b"\x80\x05", "a Python pickle, which could run code and is never read", _CONVERT),
    (b"SQLite format 3", "an SQLite database", _CONVERT),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    (b"<!doctype", "a web page", "download the table itself"),
    (b"<html", "a web page", "download the table itself"),
    (b'{"', "JSON", _CONVERT),
    (b"[{", "JSON", _CONVERT),
)
# Kind -> first bytes, endings of the name, and what it is called.
_BINARY: dict[Kind, tuple[bytes, tuple[str, ...], str]] = {
    "parquet": (b"PAR1", (".parquet", ".pq"), "Parquet"),
    "array": (ARRAY, (".npy",), "a numpy array"),
}


def load(source: str | Path | BinaryIO, name: str | None) -> tuple[bytes, str]:
    """Return the bytes, unpacked, and the name, without folders, that messages use."""
    data, called = _bytes(source, name)
    check_bytes(len(data), called)
    return unpacked(data, called), called


def _bytes(source: str | Path | BinaryIO, name: str | None) -> tuple[bytes, str]:
    if isinstance(source, str | Path):
        path = Path(source)
        try:
            with path.open("rb") as file:
                return file.read(MOST_BYTES + 1), name or path.name
        except (OSError, ValueError) as error:
            reason = "there is no such file" if not _exists(path) else "the file cannot be opened"
            raise ReadError(f"{_short(name or path.name)}: {reason}; check the path") from error
    if not hasattr(source, "read"):
        raise ReadError(
            f"source must be a path or a binary buffer, got {type(source).__name__}; "
            "for pasted text use parse_rank_text"
        )
    if name is None:
        own = getattr(source, "name", None)
        name = Path(own).name if isinstance(own, str) else "ranks"
    # A page reads the same buffer again once the reader has said what is missing.
    if hasattr(source, "seekable") and source.seekable():
        source.seek(0, io.SEEK_SET)
    data = source.read(MOST_BYTES + 1)
    return (data.encode() if isinstance(data, str) else bytes(data)), name


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _short(name: str) -> str:
    line = name.splitlines()[0] if name else "(no name)"
    return line if len(line) <= 60 else line[:57] + "..."


def kind_of(data: bytes, name: str) -> Kind:
    """Decide by the content what this is; refuse what the name contradicts."""
    if not data[:4096].strip() and not data.strip():
        raise ReadError(f"{name} is empty: it needs a header line and one line per rank")
    suffix = Path(plain(name)).suffix.lower()
    head = data[:64].lstrip().lower()
    found = next(
        (s for s in _SIGNATURES if data.startswith(s[0]) or head.startswith(s[0].lower())), None
    )
    for kind, (magic, endings, says) in _BINARY.items():
        if suffix in endings:
            if data.startswith(magic):
                return kind
            what = found[1] if found else (f"not {says}" if b"\0" in data[:4096] else "plain text")
            remedy = found[2] if found else "give it the ending .csv if it is a table in text form"
            raise ReadError(f"{name} is not what its name says: it is {what}; {remedy}")
        if found is not None and found[0] == magic and suffix == "":
            return kind
    if found is not None:
        zipped = found[0] == b"PK\x03\x04" and suffix == ".npz"
        what, remedy = (
            ("a zip archive of numpy arrays", "save one array with numpy.save")
            if zipped
            else found[1:]
        )
        says = "is not what its name says: it " if suffix in (".csv", ".tsv", ".txt") else ""
        raise ReadError(f"{name} {says}is {what}; {remedy}")
    if b"\0" in data[:65536]:
        raise ReadError(f"{name} is not text: it holds zero bytes; save the table as CSV in UTF-8")
    return "text"


def check_utf8(data: bytes, name: str) -> None:
    """Refuse text that is not UTF-8, by its line."""
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReadError(
            f"{name}, line {line}: the text is not UTF-8 (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None
