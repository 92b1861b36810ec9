"""Read ratings of MovieLens, which are not in the repository, for tests and benchmarks."""

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
#: The number of movies in MovieLens 1M, including unrated movies.
MOVIES = 3883


@cache
def movielens(name: str = "ml1m") -> Interactions:
    """Return the ratings of a file; its column ``order``, if present, is used instead of times."""
    table = pd.read_csv(DATA / f"{name}.csv.gz")
    time = table["order" if "order" in table else "timestamp"]
    (users, of_user), (items, of_item) = (numbered(table[x].to_numpy()) for x in ("user", "item"))
    return Interactions(users, items, of_user, of_item, table["rating"], time)


def with_unrated(data: Interactions) -> Interactions:
    """Return the data with the unrated movies added as items, as in Steck's paper."""
    more = -1 - np.arange(MOVIES - data.n_items)  # labels that no movie has
    items = np.append(data.items, more)
    return Interactions(data.users, items, data.user, data.item, data.rating, data.time)


def shipped(system: str) -> pd.DataFrame:
    """Return the recorded ranks, ties and numbers of candidates of X, Y or Z, sorted by user."""
    table = pd.read_csv(DATA / "ranks_with_ties.csv")
    return table[table["system"] == system].sort_values("user")
