"""gzip, unpacked piece by piece so that a small file cannot fill the memory."""

from __future__ import annotations

import io
import zlib

from sampledash.readers import limits
from sampledash.readers.errors import ReadError

MAGIC = b"\x1f\x8b"
RATIO = 100  # ranks pack about 3 to 20 times; a bomb a thousand times
MOST_MEMBERS = 100_000  # packers that write blocks make one of 64 KiB or more
_PLAIN = 16 * 2**20  # so much may be as regular as it likes
_PIECE = 2**20
_FED = 2**16  # what lies behind the end of a member is copied: a piece, never the whole file


def unpacked(data: bytes, name: str) -> bytes:
    """Return the contents of a gzip file, and what is none as it is.

    Parameters
    ----------
    data
        The file; several members one after the other are joined, as gunzip does.
    name
        How messages call it.

    Raises
    ------
    ReadError
        If it is cut off or damaged, has more than ``MOST_MEMBERS`` members, unpacks to more than
        ``MOST_BYTES`` or to more than ``RATIO`` times its size, or holds gzip again.
    """
    if not data.startswith(MAGIC):
        return data
    whole = io.BytesIO()
    place = members = 0
    while place < len(data):
        # gunzip ignores zeros that pad the last member.
        if members and not data.startswith(MAGIC, place):
            if data.count(b"\0", place) == len(data) - place:
                break
            raise ReadError(
                f"{name} is compressed with gzip but followed by something else; "
                "compress the table again"
            )
        members += 1
        if members > MOST_MEMBERS:
            raise ReadError(
                f"{name} is compressed with gzip in more than {MOST_MEMBERS:,} pieces; "
                "compress the table again"
            )
        place = _member(data, place, whole, name)
    contents = whole.getvalue()
    if contents.startswith(MAGIC):
        raise ReadError(f"{name} is compressed with gzip twice; unpack it once")
    return contents


def _member(data: bytes, place: int, whole: io.BytesIO, name: str) -> int:
    """Unpack one member; return where the next one begins."""
    member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    while not member.eof:
        fed = data[place : place + _FED]
        try:
            piece = member.decompress(fed, _PIECE)
        except zlib.error:
            raise ReadError(
                f"{name} is compressed with gzip but damaged; compress the table again"
            ) from None
        used = len(fed) - len(member.unconsumed_tail) - len(member.unused_data)
        if not piece and not used and not member.eof:
            raise ReadError(
                f"{name} is compressed with gzip but cut off; copy or download it again"
            )
        place += used
        size = whole.tell() + whole.write(piece)
        if size > limits.MOST_BYTES:
            raise ReadError(
                f"{name} unpacks to more than {limits.MOST_BYTES >> 20} MiB; reduce it to counts "
                "(columns system, rank, count), or split it"
            )
        if size > _PLAIN and size > RATIO * len(data):
            raise ReadError(
                f"{name} unpacks to more than {RATIO} times its size, which no table of ranks "
                "does; unpack it and give the table itself"
            )
    return place


def plain(name: str) -> str:
    """The name that the contents have: without the ending of gzip."""
    return name[:-3] if name.lower().endswith(".gz") and len(name) > 3 else name
