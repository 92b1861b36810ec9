"""Steck's theorem (eq. 6-7): TOPK and ATOP from ratings that are missing not at random.

If the relevant ratings are missing at random, the measures of the observed relevant items, ranked
among *all* items, estimate those of all relevant items without bias. A control breaks that
assumption: well-ranked relevant items are observed more often, as popular ones are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.papers.steck import shares
from sampledash.types import Floats


def observed_measures(
    ranks: ArrayLike,
    n: int,
    chance: ArrayLike,
    share: float,
    repeats: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """TOPK_u and ATOP_u of one user from the relevant items that happen to be observed.

    Parameters
    ----------
    ranks
        True ranks of all relevant items among n.
    n
        Number of items.
    chance
        Chance that a relevant item's rating is observed: one, or one per item, above 0.
    share
        His normalised k, in 0..1.
    repeats
        How often the ratings go missing anew.
    rng
        Source of randomness.

    Returns
    -------
    TOPK_u and ATOP_u of each repetition, shape (repeats,) each; NaN where nothing was observed,
    for such a user is not in the test set.

    Notes
    -----
    Whether irrelevant ratings are observed plays no part: ranks are among all items. So his second
    assumption, that they go missing more often, is not needed for the theorem.
    """
    above = shares(ranks, n).ravel()
    repeats = checks.integer("repeats", repeats, low=1)
    share = checks.real("share", share, low=0, high=1)
    odds = np.broadcast_to(np.asarray(chance, dtype=np.float64), above.shape)
    if not np.all((odds > 0) & (odds <= 1)):
        raise ValueError(f"chance must be above 0 and at most 1, got {checks.shown(chance)}")
    seen = (rng.random((repeats, len(above))) < odds).astype(np.float64)
    number = seen.sum(axis=1)
    size = np.where(number > 0, number, np.nan)
    return seen @ (above <= share) / size, 1 - seen @ above / size


#: A user with 20 relevant items among 1,000; TOPK counts the first 5 %.
ITEMS, SHARE = 1000, 0.05
_I = np.arange(20)
RANKS = 1 + _I + _I**2
_OBSERVED = 1 / 3  # of the relevant items, on average


class Watched(NamedTuple):
    """A measure from all relevant items and from the observed ones, with its standard error."""

    measure: str
    complete: float
    observed: float
    error: float

    @property
    def off(self) -> float:
        """How many standard errors the observed items are too high."""
        return (self.observed - self.complete) / self.error


def theorem(times: float, rng: np.random.Generator, *, repeats: int = 4000) -> list[Watched]:
    """A small world in which the theorem can be watched, or its assumption be violated.

    The user's relevant items stand at the ranks 1, 3, 7, 13, ... of 1,000; on average a third is
    observed.

    Parameters
    ----------
    times
        How many times as often the best-ranked relevant item is observed as the worst, from 1, at
        random, to 20; in between evenly.
    rng
        Source of randomness.
    repeats
        How often the ratings go missing anew.

    Returns
    -------
    TOPK and ATOP; what is observed as the mean over the repetitions.
    """
    times = checks.real("times", times, low=1, high=20)
    worst = 2 * _OBSERVED / (1 + times)
    chance = np.linspace(times * worst, worst, len(RANKS))
    above = shares(RANKS, ITEMS)
    found = observed_measures(RANKS, ITEMS, chance, SHARE, repeats, rng)
    rows = []
    for measure, truth, values in zip(
        (f"TOPK@{SHARE:g}", "ATOP"), (np.mean(above <= SHARE), 1 - np.mean(above)), found,
        strict=True,
    ):  # fmt: skip
        kept = values[~np.isnan(values)]
        error = float(np.std(kept, ddof=1) / np.sqrt(len(kept)))
        rows.append(Watched(measure, float(truth), float(np.mean(kept)), error))
    return rows
