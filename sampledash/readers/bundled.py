"""The rank sets that come with the package."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sampledash.rank_sets import RankSet
from sampledash.readers.files import read_rank_sets
from sampledash.readers.upload_limits import ReadError


class Example(NamedTuple):
    """A bundled rank set: what a page shows about it, and its file in ``assets/``."""

    title: str
    about: str
    file: str


#: ``assets/README.md`` tells where they come from, and what to cite when using them.
EXAMPLES = {
    "paper-abc": Example(
        "Three toy recommenders",
        "A, B and C rank one relevant item in each of five instances.",
        "paper_abc.csv",
    ),
    "movielens-xyz": Example(
        "MovieLens 1M: X, Y, Z",
        "Three real recommenders rank the movie each of 6,040 users rated last.",
        "movielens_xyz.csv",
    ),
    "movielens-xyz-ties": Example(
        "MovieLens 1M with ties",
        "The same three, with the ties kept: Z leaves 2,623 users' movie tied with others.",
        "movielens_xyz_ties.csv",
    ),
    "movielens-steck": Example(
        "MovieLens 1M: Table 2 of Steck",
        "Nine recommenders rank 3,648 movies with 5 stars among all 3,883.",
        "movielens_steck.csv.gz",
    ),
}


def assets_folder() -> Path:
    """Folder of the bundled files: in the checkout, or where an installation puts data."""
    places = (
        Path(__file__).resolve().parents[2] / "assets",
        Path(sysconfig.get_path("data")) / "share" / "sampledash" / "assets",
    )
    for place in places:
        if (place / EXAMPLES["paper-abc"].file).is_file():
            return place
    raise ReadError(
        "the bundled rank sets are not installed: run sampledash from a clone of its repository, "
        "or install the clone with pip install -e ."
    )


def example(name: str) -> list[RankSet]:
    """Return one of the bundled examples.

    Parameters
    ----------
    name
        ``"paper-abc"``, ``"movielens-xyz"``, ``"movielens-xyz-ties"`` or ``"movielens-steck"``;
        ``assets/README.md`` tells what they are and what to cite.

    Raises
    ------
    ValueError
        If there is no such example, or the files are not installed.

    Examples
    --------
    >>> example("paper-abc")[2].ranks.tolist()
    [212, 2, 743, 5342, 1548]
    """
    if name not in EXAMPLES:
        raise ValueError(f"unknown example {name!r}: known are {', '.join(EXAMPLES)}")
    with _READING:
        return list(_example(name))


_READING = Lock()  # thirty readers who ask at once read the file once


@cache
def _example(name: str) -> list[RankSet]:
    return read_rank_sets(assets_folder() / EXAMPLES[name].file)
