"""Run with RePlay 0.22.0 and PySpark: ``python -m tests.frameworks.with_replay FOLDER``."""

import sys

import pandas as pd
from replay.data import Dataset, FeatureHint, FeatureInfo, FeatureSchema, FeatureType
from replay.models import ItemKNN
from replay.utils.session_handler import get_spark_session

from tests.frameworks.world import ITEMS, save, seen, users

pairs = [(int(user), int(item), 1.0) for user in users for item in seen[user]]
table = get_spark_session().createDataFrame(
    pd.DataFrame(pairs, columns=["query_id", "item_id", "rating"])
)
schema = FeatureSchema(
    [
        FeatureInfo("query_id", FeatureType.CATEGORICAL, FeatureHint.QUERY_ID),
        FeatureInfo("item_id", FeatureType.CATEGORICAL, FeatureHint.ITEM_ID),
        FeatureInfo("rating", FeatureType.NUMERICAL, FeatureHint.RATING),
    ]
)
dataset = Dataset(feature_schema=schema, interactions=table)
model = ItemKNN(num_neighbours=5)
model.fit(dataset)
save(model.predict(dataset, k=ITEMS).toPandas(), sys.argv[1], "replay-knn")
