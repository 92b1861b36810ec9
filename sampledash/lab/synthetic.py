"""A small world of users and items, drawn anew from its seed: something to begin with.

A tenth of the items have nearly half of the interactions, as in MovieLens 1M. What a user takes is
drawn by popularity, by a taste, which moves as time goes by, and by the series that were begun: a
model of factors learns tastes, one of neighbours sees the series.
"""

from __future__ import annotations

import numpy as np

from sampledash import checks
from sampledash.lab.interactions import Interactions

_USERS, _ITEMS, _TASTES, _SERIES = 1500, 1200, 8, 150
_FEWEST, _MORE, _MOST = 10, 40, 300  # interactions of a user: exponential above the fewest
_SKEW = 1.7  # standard deviation of the logarithm of an item's popularity
_TASTE, _DRIFT, _BEGUN = 0.55, 0.2, 5.0  # weights in the logarithm of the chance to be taken
_IN_SERIES = 0.4  # share of the items
_STAGES = 6  # in which tastes stand still


def synthetic(seed: int = 0) -> Interactions:
    """Draw ratings of 1,500 users for 1,200 items, some 75,000, with their places in time.

    Parameters
    ----------
    seed
        The same seed gives the same world.

    Raises
    ------
    ValueError
        If the seed is no whole number from 0.
    """
    rng = np.random.default_rng(checks.integer("seed", seed, low=0))
    popularity = rng.normal(scale=_SKEW, size=_ITEMS)
    kind = rng.normal(size=(_ITEMS, _TASTES))
    series = rng.integers(0, _SERIES, _ITEMS)
    part = rng.random(_ITEMS) < _IN_SERIES  # of a series; the others stand alone
    taste, drift = rng.normal(size=(2, _USERS, _TASTES))
    sizes = np.minimum(_FEWEST + rng.exponential(_MORE, _USERS).astype(int), _MOST)
    begun = np.zeros((_USERS, _SERIES), dtype=bool)
    taken = np.zeros((_USERS, _ITEMS), dtype=bool)
    parts = []
    for stage in range(_STAGES):
        now = _TASTE * taste + _DRIFT * drift * stage / (_STAGES - 1)
        fit = now @ kind.T
        chance = popularity + fit + _BEGUN * part * begun[:, series]
        # The largest of these, one after the other, are draws by exp(chance) without repetition.
        chance += rng.gumbel(size=chance.shape)
        chance[taken] = -np.inf
        many = (sizes * (stage + 1)) // _STAGES - (sizes * stage) // _STAGES
        order = np.argsort(-chance, axis=1)[:, : many.max()]
        user, place = np.nonzero(np.arange(many.max()) < many[:, None])
        item = order[user, place]
        taken[user, item] = begun[user, series[item]] = True
        liked = fit[user, item] + rng.normal(size=len(user))
        when = stage * _MOST + place
        parts.append(np.stack([user, item, np.clip(np.round(2.9 + 0.6 * liked), 1, 5), when]))
    user, item, rating, time = np.concatenate(parts, axis=1)
    return Interactions(
        np.arange(1, _USERS + 1), np.arange(1, _ITEMS + 1), user, item, rating, time
    )
