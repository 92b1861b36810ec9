"""What two papers print, as data, and each number held against the core."""

from sampledash.papers.findings import Finding, findings_as_table
from sampledash.papers.krichene import check_text
from sampledash.papers.printed import Cell, cells
from sampledash.papers.steck import check_steck
from sampledash.papers.tables import Match, match, matches_as_table

__all__ = [
    "Cell",
    "Finding",
    "Match",
    "cells",
    "check_steck",
    "check_text",
    "findings_as_table",
    "match",
    "matches_as_table",
]
