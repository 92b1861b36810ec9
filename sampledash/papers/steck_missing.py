"""Steck's theorem (eq. 6-7): TOPK and ATOP from ratings that are missing not at random.

If the relevant ratings are missing at random, the measures of the observed relevant items, ranked
among *all* items, estimate those of all relevant items without bias. The control breaks that
assumption: well-ranked relevant items are observed more often, as popular ones are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.papers.steck import shares

Floats = NDArray[np.float64]


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


def theorem(rng: np.random.Generator, *, repeats: int = 4000) -> pd.DataFrame:
    """A small world in which the theorem can be watched, and its control.

    One user has 20 relevant items among 1,000, at the ranks 1, 3, 7, 13, ...; on average a third
    is observed.

    Returns
    -------
    DataFrame with one row per case and measure: columns ``case``, ``measure``, ``complete`` (from
    all relevant items), ``observed`` (mean over the repetitions) and ``error`` (its standard
    error).
    """
    n, share = 1000, 0.05
    i = np.arange(20)
    ranks = 1 + i + i**2
    complete = float(np.mean(shares(ranks, n) <= share)), float(1 - np.mean(shares(ranks, n)))
    cases = {
        "missing at random": np.full(20, 1 / 3),
        "well-ranked items observed more often": np.linspace(0.6, 1 / 15, 20),
    }
    rows = []
    for case, chance in cases.items():
        found = observed_measures(ranks, n, chance, share, repeats, rng)
        for measure, truth, values in zip(
            (f"TOPK({share:.0%})", "ATOP"), complete, found, strict=True
        ):
            kept = values[~np.isnan(values)]
            error = float(np.std(kept, ddof=1) / np.sqrt(len(kept)))
            rows.append((case, measure, truth, float(np.mean(kept)), error))
    return pd.DataFrame(rows, columns=["case", "measure", "complete", "observed", "error"])
