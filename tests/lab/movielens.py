"""MovieLens for tests and benchmarks; no rating is part of the repository."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sampledash.lab.interactions import Interactions, numbered

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_ratings = pytest.mark.skipif(
    not (DATA / "ml1m.csv.gz").is_file(), reason="the ratings of MovieLens are not here"
)
#: Movies of MovieLens 1M, those that nobody rated included.
MOVIES = 3883


@cache
def movielens(name: str = "ml1m") -> Interactions:
    """Ratings in the order of their file; the place in time is complete, timestamps are not."""
    table = pd.read_csv(DATA / f"{name}.csv.gz")
    time = table["order" if "order" in table else "timestamp"]
    (users, of_user), (items, of_item) = (numbered(table[x].to_numpy()) for x in ("user", "item"))
    return Interactions(users, items, of_user, of_item, table["rating"], time)


def with_unrated(data: Interactions) -> Interactions:
    """The same with all movies as candidates, as Steck has them."""
    more = -1 - np.arange(MOVIES - data.n_items)  # labels of their own
    items = np.append(data.items, more)
    return Interactions(data.users, items, data.user, data.item, data.rating, data.time)


def shipped(system: str) -> pd.DataFrame:
    """Ranks, ties and candidates of one recommender, by user."""
    table = pd.read_csv(DATA / "ranks_with_ties.csv")
    return table[table["system"] == system].sort_values("user")
