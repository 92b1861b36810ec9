"""Folders of unfinished work, which must not outlive the process, however it ends."""

from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import WeakSet

_FOLDERS: WeakSet[TemporaryDirectory[str]] = WeakSet()


def scratch(parent: Path | None = None) -> TemporaryDirectory[str]:
    """Return a new folder, which goes with its object, with the process, or by remove_all."""
    folder = TemporaryDirectory(prefix=".sampledash-", dir=parent, ignore_cleanup_errors=True)
    _FOLDERS.add(folder)
    return folder


def remove_all() -> None:
    """Remove every folder, as the process is being stopped."""
    for folder in 2 * tuple(_FOLDERS):  # threads of an engine may still be at work in one
        folder.cleanup()
