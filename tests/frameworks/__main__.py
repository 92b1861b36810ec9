"""Train a model of one framework and rank with it: see the package."""

import os
import sys
import tempfile
from pathlib import Path

from tests.frameworks.world import ITEMS, USERS, check, np, seen, users

pairs = [(int(user), int(item)) for user in users for item in seen[user]]


def cornac():
    from cornac.data import Dataset
    from cornac.models import BPR

    data = Dataset.from_uir([(*pair, 1.0) for pair in pairs], seed=0)
    model = BPR(k=4, max_iter=20, seed=0, verbose=False).fit(data)
    row, column = [data.uid_map[int(user)] for user in users], dict(data.iid_map)
    for item in range(ITEMS):  # items that nobody took have no score: a column of their own
        column.setdefault(item, len(column))

    def scores_of(users):
        known = np.stack([model.score(row[user]) for user in users])
        lacking = np.zeros((len(users), len(column) - known.shape[1]))
        return np.hstack([known, lacking])

    check("Cornac BPR", scores_of, lambda item: column[int(item)])


def implicit():
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import CosineRecommender
    from scipy.sparse import csr_matrix

    ones = np.ones(len(pairs), np.float32)
    user_items = csr_matrix((ones, tuple(zip(*pairs, strict=True))), (USERS, ITEMS))
    als = AlternatingLeastSquares(factors=4, random_state=0, use_gpu=False)
    als.fit(user_items, show_progress=False)
    check("implicit ALS", lambda users: als.user_factors[users] @ als.item_factors.T)
    cosine = CosineRecommender(K=5)
    cosine.fit(user_items, show_progress=False)
    check("implicit cosine", lambda users: (user_items[users] @ cosine.similarity).toarray())


def lenskit():
    import pandas as pd
    from lenskit import score
    from lenskit.als import ImplicitMFScorer
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline

    dataset = from_interactions_df(pd.DataFrame(pairs, columns=["user_id", "item_id"]))
    pipeline = topn_pipeline(ImplicitMFScorer(features=4))
    pipeline.train(dataset)
    known = dataset.items.ids()
    items = np.append(known, np.setdiff1d(np.arange(ITEMS), known))
    column = {item: place for place, item in enumerate(items.tolist())}

    def scores_of(users):
        lists = (score(pipeline, user, items=items).scores() for user in users)
        return np.stack([np.nan_to_num(scores, nan=-9.0) for scores in lists])

    check("LensKit ALS", scores_of, lambda item: column[int(item)])


def recbole():
    """It needs NumPy below 2."""
    import torch
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.data.interaction import Interaction
    from recbole.utils import get_model, get_trainer, init_seed

    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)  # it leaves logs behind
        (folder := Path(name) / "small").mkdir()
        lines = [f"{user}\t{item}" for user, item in pairs]
        (folder / "small.inter").write_text("\n".join(["user_id:token\titem_id:token", *lines]))
        asked = {"data_path": name, "checkpoint_dir": name, "epochs": 3, "embedding_size": 4}
        asked |= {"load_col": {"inter": ["user_id", "item_id"]}, "show_progress": False}
        asked["eval_args"] = {"split": {"RS": [1, 0, 0]}, "order": "RO", "mode": "full"}
        config = Config(model="BPR", dataset="small", config_dict=asked)
        init_seed(0, True)
        dataset = create_dataset(config)
        train, _, _ = data_preparation(config, dataset)
        model = get_model("BPR")(config, train.dataset)
        get_trainer(config["MODEL_TYPE"], "BPR")(config, model).fit(train, saved=False)

    row = {user: dataset.token2id("user_id", str(user)) for user in users.tolist()}
    known = dataset.field2token_id["item_id"]
    lacking = [item for item in range(ITEMS) if str(item) not in known]
    column = {item: known.get(str(item)) for item in range(ITEMS)}
    column.update({item: len(known) + place for place, item in enumerate(lacking)})

    def scores_of(users):
        asked = Interaction({"user_id": torch.tensor([row[int(user)] for user in users])})
        with torch.no_grad():
            scores = model.full_sort_predict(asked).view(len(users), -1).cpu().numpy()
        scores = scores.astype(float)
        scores[:, 0] = -np.inf  # the padding item
        return np.hstack([scores, np.zeros((len(users), len(lacking)))])  # what nobody took

    check("RecBole BPR", scores_of, lambda item: column[int(item)])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
