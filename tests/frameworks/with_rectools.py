"""Run with RecTools 0.19.0: ``python -m tests.frameworks.with_rectools FOLDER``."""

import sys

import pandas as pd
from implicit.nearest_neighbours import CosineRecommender
from rectools import Columns
from rectools.dataset import Dataset
from rectools.models import ImplicitItemKNNWrapperModel, PureSVDModel

from tests.frameworks.world import ITEMS, save, seen, users

pairs = [(user, item, 1, "2026-01-01") for user in users for item in seen[user]]
names = [Columns.User, Columns.Item, Columns.Weight, Columns.Datetime]
dataset = Dataset.construct(pd.DataFrame(pairs, columns=names))
for name, model in (
    ("rectools-svd", PureSVDModel(factors=4)),
    ("rectools-knn", ImplicitItemKNNWrapperModel(CosineRecommender(K=5))),
):
    model.fit(dataset)
    found = model.recommend(users=users, dataset=dataset, k=ITEMS, filter_viewed=True)
    save(found, sys.argv[1], name)
