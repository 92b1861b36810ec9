"""Temporary folders for unfinished work, which are removed when the process ends or is stopped."""

from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from weakref import WeakSet


class Scratch(TemporaryDirectory[str]):
    """A new temporary folder, removed with this object, at exit, or by :func:`remove_all`."""

    def __init__(self, parent: Path | None = None) -> None:
        super().__init__(prefix=".sampledash-", dir=parent, ignore_cleanup_errors=True)
        _FOLDERS.add(self)


_FOLDERS: WeakSet[Scratch] = WeakSet()


def remove_all() -> None:
    """Remove every temporary folder while the process is being stopped."""
    # Remove each folder twice, because a database engine may write a file during the first removal.
    for folder in 2 * tuple(_FOLDERS):
        rmtree(folder.name, ignore_errors=True)
