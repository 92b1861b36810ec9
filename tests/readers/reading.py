"""Helpers for the tests of the readers: files from short texts, and checks of error messages."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from sampledash.readers.files import open_sources, read_rank_sets, read_sampled_ranks
from sampledash.readers.upload_limits import ReadError

LEAKS = re.compile("Traceback|pandas|Arrow[A-Z]|tokeniz|dtype|Error")


def buffer(content: str | bytes, name: str = "") -> io.BytesIO:
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    stream.name = name
    return stream


def files(**texts: str | bytes) -> dict[str, Any]:
    """Return the arguments that give a reader several files; ``a_csv=text`` is the file a.csv."""
    names = [name.replace("_", ".") for name in texts]
    return {"source": [buffer(text) for text in texts.values()], "name": names}


def read(content: str | bytes, name: str = "ranks.csv", **options: Any):
    if options.get("qrels"):
        options["qrels"] = buffer(options["qrels"], "my.qrels")
    return read_rank_sets(buffer(content), name=name, **options)


def together(options: dict[str, Any] | None = None, **texts: str | bytes):
    return read_rank_sets(**files(**texts), **(options or {}))


def sampled(content: str | bytes, **options: Any):
    return read_sampled_ranks(buffer(content, "s.csv"), **options)


def summary(content: str, name: str = "r.csv", **options: Any):
    return open_sources(buffer(content), name=name).read(**options)


def ranks_of(sets):
    return {s.system: s.ranks.tolist() for s in sets}


def labels_of(sets):
    return [s.instances.tolist() for s in sets]


def refused(call: Callable[[], Any], facts: str = "", kind: type[Exception] = ReadError) -> str:
    """Check that an error is one line with all ``facts`` (split at `` … ``); return its text."""
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


def outcome(call: Callable[[], Any], said: str) -> Any:
    """Return the result of a call; if ``said`` is given, the call must raise an error with it."""
    return refused(call, said) if said else call()


def complaint(content: str | bytes, name="ranks.csv", facts="", kind=ReadError, **options) -> str:
    said = refused(lambda: read(content, name, **options), facts, kind)
    assert name in said or "my.qrels" in said
    return said
