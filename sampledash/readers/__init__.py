"""Files to rank sets; every complaint names file, row and column."""

from sampledash.readers.bundled import EXAMPLES, Example, assets_folder, example
from sampledash.readers.errors import (
    DifferentInstances,
    MissingCandidates,
    ReadError,
    ZeroBasedRanks,
)
from sampledash.readers.files import read_rank_sets
from sampledash.readers.pasted import parse_rank_text
from sampledash.readers.summary import Summary, describe

__all__ = [
    "EXAMPLES",
    "DifferentInstances",
    "Example",
    "MissingCandidates",
    "ReadError",
    "Summary",
    "ZeroBasedRanks",
    "assets_folder",
    "describe",
    "example",
    "parse_rank_text",
    "read_rank_sets",
]
