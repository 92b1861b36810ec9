"""From a path or a buffer to bytes, unpacked, and from bytes to what they are."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path
from typing import BinaryIO, Literal

from sampledash.checks import shown
from sampledash.readers.errors import ReadError
from sampledash.readers.upload_limits import BYTES, Limit, check_size

Source = str | Path | BinaryIO
Kind = Literal["text", "parquet", "array"]

_GZIP = b"\x1f\x8b"
_BINARY: dict[bytes, Kind] = {b"PAR1": "parquet", b"\x93NUMPY": "array"}
_RATIO = 100  # ranks pack about 3 to 20 times; a bomb a thousand times
_MOST_MEMBERS = 100_000  # packers that write blocks make one of 64 KiB or more
_PLAIN = 16 * 2**20  # so much may be as regular as it likes
_PIECE = 2**20

# First bytes of what people upload by mistake, and the remedy.
_CONVERT = "save the table as CSV"
_SIGNATURES: tuple[tuple[tuple[bytes, ...], str, str], ...] = (
    (
        (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"),
        "a zip archive or an Excel workbook",
        "save the sheet as CSV, or save one array with numpy.save",
    ),
    (
        tuple(bytes([0x80, protocol]) for protocol in (2, 3, 4, 5)),
        "a Python pickle, which could run code and is never read",
        _CONVERT,
    ),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF"), "a picture or a PDF document", _CONVERT),
    (
        (b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"),
        "compressed with bzip2, xz or zstd",
        "unpack it, or use gzip",
    ),
    ((b"ARROW1", b"SQLite format 3"), "an Arrow file or a database", _CONVERT),
    ((b"\xff\xfe", b"\xfe\xff"), "text in UTF-16", "save it as UTF-8"),
    (
        (b"<!doctype", b"<html", b"<table", b"<meta", b"<?xml"),
        "a web page, or a sheet saved as one",
        "download the table itself, or save the sheet as CSV",
    ),
    ((b'{"', b"[{", b"[["), "JSON", _CONVERT),
)


def load(source: Source, name: str | None = None, limit: Limit = BYTES) -> tuple[bytes, str]:
    """Return the bytes, unpacked, and the name, without folders, that messages use."""
    if isinstance(source, str | Path):
        path = Path(source)
        name = name or path.name
        try:
            with path.open("rb") as file:
                data = file.read(limit.most + 1)
        except (OSError, ValueError) as error:
            there = os.path.exists(path)  # False too for what can be no path
            reason = "the file cannot be opened" if there else "there is no such file"
            raise ReadError(f"{shown(name)}: {reason}; check the path") from error
    elif hasattr(source, "read"):
        if name is None:
            own = getattr(source, "name", None)
            name = Path(own).name if isinstance(own, str) else "ranks"
        # A page reads the same buffer again once the reader has said what is missing.
        if hasattr(source, "seekable") and source.seekable():
            source.seek(0, io.SEEK_SET)
        read = source.read(limit.most + 1)
        data = read.encode() if isinstance(read, str) else bytes(read)
    else:
        raise ReadError(
            f"source must be a path or a binary buffer, got {type(source).__name__}; "
            "for pasted text use parse_rank_text"
        )
    check_size(len(data), name, limit=limit)
    return unpacked(data, name, limit) if data.startswith(_GZIP) else data, name


def unpacked(data: bytes, name: str, limit: Limit = BYTES) -> bytes:
    """The contents of a gzip file, its members joined, without filling the memory of a bomb."""
    if data.count(_GZIP + b"\x08") > _MOST_MEMBERS:
        raise ReadError(
            f"{name} is compressed with gzip in more than {_MOST_MEMBERS:,} pieces; "
            "compress the table again"
        )
    whole = io.BytesIO()
    try:
        with gzip.open(io.BytesIO(data)) as file:
            while piece := file.read(_PIECE):
                size = whole.tell() + whole.write(piece)
                check_size(size, name, "unpacks to", limit)
                if size > _PLAIN and size > _RATIO * len(data):
                    raise ReadError(
                        f"{name} unpacks to more than {_RATIO} times its size, which no table "
                        "does; unpack it and give the table itself"
                    )
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ReadError(
            f"{name} is compressed with gzip but damaged, followed by something else, or cut off; "
            "copy or download it again"
        ) from None
    contents = whole.getvalue()
    if contents.startswith(_GZIP):
        raise ReadError(f"{name} is compressed with gzip twice; unpack it once")
    return contents


def plain(name: str) -> str:
    """The name that the contents have: without the ending of gzip."""
    return name[:-3] if name.lower().endswith(".gz") and len(name) > 3 else name


def stem_of(name: str) -> str:
    """What a file's only system is called: its name without the endings."""
    last = plain(name).replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, _ = last.rpartition(".")
    return stem if dot and stem else last


def kind_of(data: bytes, name: str) -> Kind:
    """What this is by its content, whatever its name says."""
    if not data[:4096].strip() and not data.strip():
        raise ReadError(f"{name} is empty: give a header line and one line for each row")
    for magic, kind in _BINARY.items():
        if data.startswith(magic):
            return kind
    head = b"".join(data[:64].lower().split())  # JSON may be indented
    for beginnings, what, remedy in _SIGNATURES:
        if data.startswith(beginnings) or head.startswith(beginnings):
            raise ReadError(f"{name} is {what}; {remedy}")
    if b"\0" in data[:65536]:
        raise ReadError(
            f"{name} is neither text nor Parquet nor a numpy array: it holds zero bytes; save the "
            "table as CSV in UTF-8"
        )
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
