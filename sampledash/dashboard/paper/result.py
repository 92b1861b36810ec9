"""What the Paper page holds against the core, computed once for everybody."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from sampledash.dashboard import cache, page
from sampledash.papers.krichene_text import check_text
from sampledash.papers.printed import match
from sampledash.papers.steck import check_steck, theorem
from sampledash.readers import example
from sampledash.types import Progress

TABLES = (1, 2, 3, 4)
MOST_TIMES = 20  # the best-ranked relevant item is observed as often as the worst


def tables() -> dict[int, pd.DataFrame]:
    """Every printed cell of Tables 1-4 with ours."""

    def part(report: Progress, table: int, share: float) -> None:
        report((table - 1 + share) / len(TABLES))

    def make() -> dict[int, pd.DataFrame]:
        with page.progress("Computing every cell of the tables") as report:
            return {table: match(table, example, partial(part, report, table)) for table in TABLES}

    return cache.cached(("paper", "tables"), make, shared=True)


def statements() -> pd.DataFrame:
    """What the text and the figures state, each with ours."""

    def make() -> pd.DataFrame:
        with page.progress("Checking what the text states") as report:
            return check_text(example, tables(), report)

    return cache.cached(("paper", "text"), make, shared=True)


def steck() -> pd.DataFrame:
    """The same of Steck's paper."""
    return cache.cached(("paper", "steck"), lambda: check_steck(example), shared=True)


def missing() -> pd.DataFrame:
    """His theorem at work, and violated: TOPK and ATOP by how unevenly items are observed."""

    def make() -> pd.DataFrame:
        times = range(1, MOST_TIMES + 1)
        parts = [theorem(t, np.random.default_rng(2010)).assign(times=t) for t in times]
        return pd.concat(parts, ignore_index=True)

    return cache.cached(("paper", "missing"), make, shared=True)
