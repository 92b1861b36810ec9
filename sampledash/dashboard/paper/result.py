"""What the Paper page holds against the core, computed once for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sampledash.dashboard import cache, page
from sampledash.papers import Finding, Match, check_steck, check_text, match
from sampledash.papers.steck import Watched, theorem
from sampledash.ranksets import RankSet
from sampledash.readers import example
from sampledash.types import Progress

TABLES = (1, 2, 3, 4)
MOST_TIMES = 20  # the best-ranked relevant item is observed as often as the worst


def load(name: str) -> Sequence[RankSet]:
    """Bundled rank sets by name, read once."""
    sets: Sequence[RankSet] = cache.cached(("bundled", name), lambda: example(name), shared=True)
    return sets


def tables() -> dict[int, list[Match]]:
    """Every printed cell of Tables 1-4 with ours."""

    def part(report: Progress, table: int, share: float) -> None:
        report((table - 1 + share) / len(TABLES))

    def make() -> dict[int, list[Match]]:
        with page.progress("Computing every cell of the tables") as report:
            return {table: match(table, load, partial(part, report, table)) for table in TABLES}

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


def missing() -> dict[int, list[Watched]]:
    """His theorem at work, and violated: TOPK and ATOP by how unevenly items are observed."""

    def make() -> dict[int, list[Watched]]:
        times = range(1, MOST_TIMES + 1)
        return {t: theorem(t, np.random.default_rng(2010)) for t in times}

    return cache.cached(("paper", "missing"), make, shared=True)
