"""Temporary folders for unfinished work, which are removed when the process ends or is stopped."""

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import WeakSet, finalize


class Scratch:
    """A new temporary folder, removed with this object, at exit, or by :func:`remove_all`."""

    def __init__(self, parent: Path | None = None) -> None:
        self.name = mkdtemp(prefix=".sampledash-", dir=parent)
        self.remove = finalize(self, rmtree, self.name, ignore_errors=True)
        _FOLDERS.add(self)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.remove()


_FOLDERS: WeakSet[Scratch] = WeakSet()


def remove_all() -> None:
    """Remove every temporary folder while the process is being stopped."""
    # Remove each folder twice, because a database engine may write a file during the first removal.
    for folder in 2 * tuple(_FOLDERS):
        rmtree(folder.name, ignore_errors=True)
