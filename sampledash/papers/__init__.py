"""What two papers print, as data, and each number held against the core."""

from sampledash.papers.krichene_text import check_text
from sampledash.papers.printed import cells, match
from sampledash.papers.steck import check_steck

__all__ = ["cells", "check_steck", "check_text", "match"]
