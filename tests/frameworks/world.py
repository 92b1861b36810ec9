"""A small world, the lines that people copy, and ranks found by counting one item at a time."""

import io
import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "sampledash" / "data" / "templates" / "from_frameworks.md"
USERS, ITEMS = 60, 40

rng = np.random.default_rng(0)
taste, kind = rng.normal(size=(USERS, 3)), rng.normal(size=(ITEMS, 3))
taken = np.argsort(-(taste @ kind.T + rng.gumbel(size=(USERS, ITEMS))), axis=1)[:, :9]
seen, test = list(taken[:, :8]), taken[:, 8]
test[0] = seen[0][0]  # a test item that was seen before
users = np.arange(USERS)


def copied():
    """The function of the first block of the page."""
    space = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)[0], space)
    return space["write_ranks"]


def check(system, scores_of, number=lambda item: item):
    """Write the ranks and compare each with a count; ``number`` is the column of an item."""
    file, columns = io.StringIO(), [[number(item) for item in items] for items in seen]
    wanted = [number(item) for item in test]
    copied()(file, system, list(users), scores_of, wanted, columns, block=7)
    head, *lines = file.getvalue().splitlines()
    assert (head, len(lines)) == ("system,instance,rank,ties,n_candidates", USERS)
    for line, user in zip(lines, users, strict=True):
        own = scores_of([user])[0]
        left = [i for i in range(len(own)) if i != wanted[user] and i not in columns[user]]
        others, at = [float(own[i]) for i in left if own[i] > -np.inf], float(own[wanted[user]])
        close = [x for x in others if x != at and abs(x - at) < 1e-6]
        found = [int(x) for x in line.split(",")[2:]]
        expected = [1 + sum(x > at for x in others), sum(x == at for x in others), len(others) + 1]
        # Sums may round otherwise in another block.
        assert close or found == expected, (line, expected)
    mean = np.mean([int(x.split(",")[2]) for x in lines])
    print(f"{system}: {USERS} ranks as counted, mean {mean}")
