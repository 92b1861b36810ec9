"""Files to rank sets; every complaint names file, row and column."""

from sampledash.readers.assemble import Opened, Reading, Summary, describe
from sampledash.readers.bundled import EXAMPLES, Example, assets_folder, example
from sampledash.readers.errors import (
    CensoredItems,
    DifferentInstances,
    MissingCandidates,
    MissingNegatives,
    ReadError,
    ZeroBasedRanks,
)
from sampledash.readers.files import (
    lacks,
    open_sources,
    read_rank_sets,
    read_sampled_ranks,
    sampled_sets,
)
from sampledash.readers.frame import Facts
from sampledash.readers.pasted import open_text, parse_rank_text
from sampledash.readers.printed_table import PrintedRow, PrintedTable, read_printed

__all__ = [
    "EXAMPLES",
    "CensoredItems",
    "DifferentInstances",
    "Example",
    "Facts",
    "MissingCandidates",
    "MissingNegatives",
    "Opened",
    "PrintedRow",
    "PrintedTable",
    "ReadError",
    "Reading",
    "Summary",
    "ZeroBasedRanks",
    "assets_folder",
    "describe",
    "example",
    "lacks",
    "open_sources",
    "open_text",
    "parse_rank_text",
    "read_printed",
    "read_rank_sets",
    "read_sampled_ranks",
    "sampled_sets",
]
