"""Run with sampledash on what was saved: ``python -m tests.frameworks.read_lists FOLDER``."""

import sys
from pathlib import Path

import pandas as pd

import sampledash as sd
from tests.frameworks.world import ITEMS, USERS, test

N = ITEMS - 7  # of one user the test item was seen, and is a candidate all the same
folder = Path(sys.argv[1])
for path in sorted(folder.glob("*-*.csv")):
    (found,) = sd.read_rank_sets([path, folder / "test.csv"], n=N, censored="tied")
    pairs = zip(found.ranks, found.ties, strict=True)
    ranks = dict(zip(map(int, found.instances), pairs, strict=True))
    table, score = pd.read_csv(path), 2
    for user in range(USERS):
        own = table[table.iloc[:, 0] == user]
        scores, here = own.iloc[:, score], own.iloc[:, 1] == test[user]
        rank, ties = len(own) + 1, N - len(own) - 1  # tied behind the list
        if here.any():
            at = scores[here].item()
            rank, ties = 1 + (scores > at).sum(), (scores == at).sum() - 1
        assert ranks[user] == (rank, ties), (path, user, ranks[user], rank, ties)
    print(f"{path.name}: {len(ranks)} ranks as counted, mean {found.ranks.mean():.2f}")
