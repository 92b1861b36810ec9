"""Folders for unfinished work; they are removed whichever way the process ends."""

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import WeakSet, finalize


class Scratch:
    """A new folder, removed with this object, with the process, or by :func:`remove_all`."""

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
    """Remove every folder while the process is being stopped."""
    for folder in 2 * tuple(_FOLDERS):  # twice: a database engine may still be writing
        rmtree(folder.name, ignore_errors=True)
