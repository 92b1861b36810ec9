"""Files and folders of unfinished work, which must not outlive the process, however it ends."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

_PATHS: set[Path] = set()


def watch(path: Path) -> Path:
    """Note a file or folder that goes where the process is stopped before :func:`remove`."""
    _PATHS.add(path)
    return path


def remove(path: Path) -> None:
    """Remove a file or folder, if it is still there; threads of an engine may be at work in it."""
    for _ in range(3):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink(missing_ok=True)
    _PATHS.discard(path)


def remove_all() -> None:
    """Remove all that is noted: the process is being stopped."""
    for path in tuple(_PATHS):
        remove(path)
