"""Scores of two models of a framework, as arrays: is a comparison with 100 negatives right?"""

import numpy as np

import sampledash as sd

USERS, ITEMS = 500, 2_000
rng = np.random.default_rng(3)

# What a framework holds: a score of each user for each item, what the user took in training (no
# candidate), and the held-out item of each user. Here the scores are made up.
taste = rng.normal(size=(USERS, 16)) @ rng.normal(size=(16, ITEMS))
held_out = np.argpartition(-taste, 20, axis=1)[np.arange(USERS), rng.integers(0, 20, USERS)]
taken = rng.random((USERS, ITEMS)) < 0.01
steady = taste + rng.normal(0, 5, taste.shape)  # never far off
uneven = np.where(rng.random((USERS, 1)) < 0.5, taste, rng.normal(size=taste.shape))  # or lost


def scores_of(start: int, stop: int) -> np.ndarray:
    """Return the scores of some users for all items, such as ``predict`` of a framework."""
    return steady[start:stop]


ranks = [
    sd.ranks_from_scores(scores_of, held_out, taken, system="steady"),
    sd.ranks_from_scores(uneven, held_out, taken, system="uneven"),
]
for rs in ranks:
    exact, sampled = sd.mean("Recall@10", rs), sd.expected_mean("Recall@10", rs, 100)
    print(f"{rs.system}: Recall@10 {exact:.1%} on all items, {sampled:.1%} with 100 negatives")
verdict = sd.verdict(["Recall@10"], ranks, 100).iloc[0]
print(f"With 100 negatives the order is {verdict.state}; right from m = {verdict.right_from} on.")
