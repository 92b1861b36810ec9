"""Run with RecBole 1.2.1, which needs NumPy below 2."""

import os
import tempfile
from pathlib import Path

import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.utils import get_model, get_trainer, init_seed

from tests.frameworks.world import check, np, seen, users

with tempfile.TemporaryDirectory() as name:
    os.chdir(name)  # it leaves logs behind
    folder = Path(name) / "small"
    folder.mkdir()
    lines = [f"{user}\t{item}" for user in users for item in seen[user]]
    (folder / "small.inter").write_text("\n".join(["user_id:token\titem_id:token", *lines]))
    asked = {
        "data_path": name,
        "checkpoint_dir": name,
        "load_col": {"inter": ["user_id", "item_id"]},
        "epochs": 3,
        "embedding_size": 4,
        "eval_args": {"split": {"RS": [1, 0, 0]}, "order": "RO", "mode": "full"},
        "show_progress": False,
    }
    config = Config(model="BPR", dataset="small", config_dict=asked)
    init_seed(0, True)
    dataset = create_dataset(config)
    train, _, _ = data_preparation(config, dataset)
    model = get_model("BPR")(config, train.dataset)
    get_trainer(config["MODEL_TYPE"], "BPR")(config, model).fit(train, saved=False)

row = {user: dataset.token2id("user_id", str(user)) for user in users.tolist()}
known = dataset.field2token_id["item_id"]
lacking = [item for item in range(40) if str(item) not in known]
column = {item: known.get(str(item)) for item in range(40)}
column.update({item: len(known) + place for place, item in enumerate(lacking)})


def copied(users):
    with torch.no_grad():
        found = model.full_sort_predict(Interaction({"user_id": torch.tensor(users)}))
    scores = found.view(len(users), -1).cpu().numpy().astype(float)
    scores[:, 0] = -np.inf  # the padding item
    return scores


def scores_of(users):
    scores = copied([row[int(user)] for user in users])
    return np.hstack([scores, np.zeros((len(users), len(lacking)))])  # what nobody took


check("RecBole BPR", scores_of, lambda item: column[int(item)])
