"""The rank sets that come with the package, and where they come from."""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from sampledash.ranksets import RankSet
from sampledash.readers.errors import ReadError
from sampledash.readers.files import read_rank_sets

_PAPER = (
    "Walid Krichene and Steffen Rendle. 2020. On Sampled Metrics for Item Recommendation. "
    "KDD '20. https://doi.org/10.1145/3394486.3403226"
)
_MOVIELENS = (
    "F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19. "
    "https://doi.org/10.1145/2827872"
)


@dataclass(frozen=True)
class Example:
    """A bundled rank set: what a page shows about it.

    Attributes
    ----------
    name
        What :func:`example` takes.
    title, about
        A short title and one line of description.
    n
        The number of candidates, as text.
    provenance
        Where the ranks come from.
    citations
        What to cite when using them.
    file
        Its file in ``assets/``.
    """

    name: str
    title: str
    about: str
    n: str
    provenance: str
    citations: tuple[str, ...]
    file: str


EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        e.name: e
        for e in (
            Example(
                "paper-abc",
                "Three toy recommenders",
                "A, B and C rank one relevant item in each of five instances.",
                "10,000",
                "Table 1 of Krichene & Rendle (KDD 2020), as printed.",
                (_PAPER,),
                "paper_abc.csv",
            ),
            Example(
                "movielens-xyz",
                "MovieLens 1M: X, Y, Z",
                "Three real recommenders rank the movie each of 6,040 users rated last.",
                "1,393 to 3,687, each user's own",
                "A run of the three recommenders of section 6 of Krichene & Rendle (KDD 2020): "
                "X is matrix factorization (iALS), Y and Z are item-based collaborative filtering. "
                "Ties were broken by one random draw.",
                (_MOVIELENS, _PAPER),
                "movielens_xyz.csv",
            ),
            Example(
                "movielens-xyz-ties",
                "MovieLens 1M with ties",
                "The same three, with the ties kept: Z leaves 2,623 users' movie tied with others.",
                "1,393 to 3,687, each user's own",
                "The same run. The rank is the best of the tied block, and ties counts the others "
                "in it.",
                (_MOVIELENS, _PAPER),
                "movielens_xyz_ties.csv",
            ),
        )
    }
)


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
        ``"paper-abc"``, ``"movielens-xyz"`` or ``"movielens-xyz-ties"``; ``EXAMPLES`` tells what
        they are and what to cite.

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
def _example(name: str) -> tuple[RankSet, ...]:
    return tuple(read_rank_sets(assets_folder() / EXAMPLES[name].file))
