"""What the tests of the readers share: files of a few words, and what a complaint must be."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from sampledash.readers import ReadError, read_rank_sets

LEAKS = re.compile("Traceback|pandas|Arrow|tokeniz|dtype|Error")


def read(content: str | bytes, name: str = "ranks.csv", **options: Any):
    data = content.encode() if isinstance(content, str) else content
    return read_rank_sets(io.BytesIO(data), name=name, **options)


def refused(call: Callable[[], Any], facts: str = "", kind: type[Exception] = ReadError) -> str:
    """One clean sentence that holds all facts, which are written with `` … `` between them."""
    with pytest.raises(kind) as info:
        call()
    said = str(info.value)
    assert isinstance(info.value, ValueError)
    assert "\n" not in said
    assert len(said) < 400
    assert not LEAKS.search(said)
    for fact in facts.split(" … "):
        assert fact in said
    return said


def complaint(content: str | bytes, name="ranks.csv", facts="", kind=ReadError, **options) -> str:
    """The same of a file, which it names."""
    said = refused(lambda: read(content, name, **options), facts, kind)
    assert name in said
    return said
