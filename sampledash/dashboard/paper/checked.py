"""What is checked, computed once for everybody."""

from __future__ import annotations

from collections.abc import Sequence

from sampledash.dashboard import cache, page
from sampledash.papers import Finding, Match, check_steck, check_text, match
from sampledash.ranksets import RankSet
from sampledash.readers import example

TABLES = (1, 2, 3, 4)


def load(name: str) -> Sequence[RankSet]:
    """Bundled rank sets by name, read once."""
    sets: Sequence[RankSet] = cache.cached(("bundled", name), lambda: example(name), shared=True)
    return sets


def tables() -> dict[int, list[Match]]:
    """Every printed cell of Tables 1-4 with ours."""

    def make() -> dict[int, list[Match]]:
        with page.progress("Computing every cell of the tables") as report:
            return {
                table: match(table, load, lambda share, t=table: report((t - 1 + share) / 4))  # type: ignore[misc]
                for table in TABLES
            }

    return cache.cached(("paper", "tables"), make, shared=True)


def statements() -> list[Finding]:
    """What the text and the figures state, each with ours."""

    def make() -> list[Finding]:
        with page.progress("Checking what the text states") as report:
            return check_text(load, tables(), report)

    return cache.cached(("paper", "text"), make, shared=True)


def steck() -> list[Finding]:
    """The same of Steck's paper."""
    return cache.cached(("paper", "steck"), lambda: check_steck(load), shared=True)
