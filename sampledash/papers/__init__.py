"""What two papers print, as data, and each number held against the core."""

from sampledash.papers.findings import Finding, count_holding, findings_as_table
from sampledash.papers.printed import Cell, cells
from sampledash.papers.tables import Match, count_matched, match, matches_as_table
from sampledash.papers.text import check_text
from sampledash.papers.text_steck import check_steck

__all__ = [
    "Cell",
    "Finding",
    "Match",
    "cells",
    "check_steck",
    "check_text",
    "count_holding",
    "count_matched",
    "findings_as_table",
    "match",
    "matches_as_table",
]
