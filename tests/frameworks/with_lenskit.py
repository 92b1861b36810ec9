"""Run with LensKit 2025.8.1."""

import pandas as pd
from lenskit import score
from lenskit.als import ImplicitMFScorer
from lenskit.data import from_interactions_df
from lenskit.pipeline import topn_pipeline

from tests.frameworks.world import ITEMS, check, np, seen, users

table = pd.DataFrame([(u, i) for u in users for i in seen[u]], columns=["user_id", "item_id"])
dataset = from_interactions_df(table)
pipeline = topn_pipeline(ImplicitMFScorer(features=4))
pipeline.train(dataset)
known = dataset.items.ids()
items = np.append(known, np.setdiff1d(np.arange(ITEMS), known))


def one(user):
    return np.nan_to_num(score(pipeline, user, items=items).scores(), nan=-9.0)


column = {item: place for place, item in enumerate(items.tolist())}
check("LensKit ALS", lambda users: np.stack([one(u) for u in users]), lambda i: column[int(i)])
