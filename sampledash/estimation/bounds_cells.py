"""Shares of sampled ranks, joined into cells that hold enough instances to scatter normally."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtri

from sampledash.sampledranks import SampledRankSet
from sampledash.types import Floats, Ints

_LEAST = 5.0  # instances in a cell, so that a squared error is nearly chi-square
_CELLS = 200  # at most, for each number of negatives
_ALL_CELLS = 4000  # for all of them together, about
_RARE = 0.025  # chance of more than the limit of a rare event


def cells(counts: Floats, least: float = _LEAST) -> Ints:
    """First sampled rank (from 0) of each cell: neighbours until ``least`` instances are in.

    Rare sampled ranks have squared errors far from chi-square. A stretch that no instance fell into
    is a cell of its own: it tells which true ranks there are not. At most 200 cells; what is joined
    is lost to the bounds, which grow a little and stay valid.
    """
    finest = np.arange(len(counts))
    if len(counts) > _CELLS:  # as a law's width, which grows with the square root of p(1-p)
        wide = len(counts) * np.sin(np.linspace(0, np.pi / 2, _CELLS + 1)[:-1]) ** 2
        finest = np.unique(wide.astype(np.int64))
    totals = np.add.reduceat(counts, finest)
    starts, held = [0], 0.0
    for start, before, total in zip(finest[1:], totals, totals[1:], strict=False):
        held += before
        if held >= least or (held == 0.0 and total > 0):
            starts.append(int(start))
            held = 0.0
    held += totals[-1]
    if 0.0 < held < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)


@dataclass(frozen=True, eq=False)
class Part:
    """What the instances with one number of negatives show.

    Attributes
    ----------
    column, width
        Where the law stands in the rows of a grid.
    starts
        First sampled rank of each cell.
    share
        Observed, shape (cells,).
    size
        How many instances they are worth.
    """

    column: int
    width: int
    starts: Ints
    share: Floats
    size: float

    @property
    def floor(self) -> Floats:
        """Least variance of a share, shape (cells,).

        Where few instances are in a cell, so much that two standard errors reach as far as the
        exact limit of a rare event.
        """
        seen = self.share * self.size
        error = (chdtri(2 * seen + 2, _RARE) / 2 - seen) / ndtri(1 - _RARE)
        return np.where(seen < _LEAST, (error / self.size) ** 2, 0.0)

    def joined(self, table: Floats) -> Floats:
        """Sums over the sampled ranks of each cell: shape (places, cells)."""
        own = table[:, self.column : self.column + self.width]
        return np.asarray(np.add.reduceat(own, self.starts, axis=1))


def parts_of(srs: SampledRankSet) -> list[Part]:
    """What a sample shows, for each number of negatives."""
    found = []
    column = 0
    room = _ALL_CELLS / len(srs.draws)
    for draws in srs.draws:
        total = float(draws.counts.sum())
        starts = cells(draws.counts, _LEAST if room >= _CELLS else max(_LEAST, total / room))
        share = np.add.reduceat(draws.counts, starts) / total
        found.append(Part(column, draws.m + 1, starts, share, total / srs.repetition))
        column += draws.m + 1
    return found
