"""gzip, unpacked piece by piece so that a small file cannot fill the memory."""

from __future__ import annotations

import zlib

from sampledash.readers.errors import ReadError

MAGIC = b"\x1f\x8b"
LIMIT = 512 * 2**20  # bytes a file may unpack to
RATIO = 100  # ranks pack about 3 to 20 times; a bomb a thousand times
_PLAIN = 16 * 2**20  # so much may be as regular as it likes
_PIECE = 2**20


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
        If it is cut off or damaged, unpacks to more than ``LIMIT`` bytes or to more than ``RATIO``
        times its size, or holds gzip again.
    """
    if not data.startswith(MAGIC):
        return data
    pieces: list[bytes] = []
    size = 0
    rest = data
    while rest:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not member.eof:
            try:
                piece = member.decompress(rest, _PIECE)
            except zlib.error:
                raise ReadError(
                    f"{name} is compressed with gzip but damaged; compress the table again"
                ) from None
            rest = member.unconsumed_tail
            if not piece and not rest and not member.eof:
                raise ReadError(
                    f"{name} is compressed with gzip but cut off; copy or download it again"
                )
            pieces.append(piece)
            size += len(piece)
            if size > LIMIT:
                raise ReadError(
                    f"{name} unpacks to more than {LIMIT >> 20} MiB; reduce it to counts "
                    "(columns system, rank, count), or split it"
                )
            if size > _PLAIN and size > RATIO * len(data):
                raise ReadError(
                    f"{name} unpacks to more than {RATIO} times its size, which no table of ranks "
                    "does; unpack it and give the table itself"
                )
        # gunzip ignores zeros that pad the last member.
        rest = member.unused_data.lstrip(b"\0")
        if rest and not rest.startswith(MAGIC):
            raise ReadError(
                f"{name} is compressed with gzip but followed by something else; "
                "compress the table again"
            )
    whole = b"".join(pieces)
    if whole.startswith(MAGIC):
        raise ReadError(f"{name} is compressed with gzip twice; unpack it once")
    return whole


def plain(name: str) -> str:
    """The name that the contents have: without the ending of gzip."""
    return name[:-3] if name.lower().endswith(".gz") and len(name) > 3 else name
