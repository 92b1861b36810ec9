"""The Lab's data: a file of a million interactions understood, and all items ranked."""

import io
import re
from collections.abc import Iterator

import numpy as np
from scipy.stats import rankdata

import sampledash as sd
from sampledash.types import Floats
from tests.benchmarks.frame import Result, timed

_SIZE, _USERS, _ITEMS = 1_000_000, 6_040, 3_706  # as MovieLens 1M


def _columns() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    pair = rng.choice(_USERS * _ITEMS, _SIZE, replace=False)
    time = 978_300_000 + rng.permutation(_SIZE)
    return [pair // _ITEMS, pair % _ITEMS, rng.integers(1, 6, _SIZE), time]


def files_are_understood(quick: bool) -> Iterator[Result]:
    """Against the columns that were written."""
    columns = _columns()
    rows = np.stack(columns, axis=1)
    text = io.StringIO()
    np.savetxt(text, rows, fmt="%d", delimiter="::")
    commas = text.getvalue().replace("::", ",")
    for name, content in (
        ("ratings.dat", text.getvalue()),
        ("u.data", text.getvalue().replace("::", "\t")),
        ("ratings.csv", "userId,movieId,rating,timestamp\n" + commas),
        ("text.csv", "user,item,rating,ts\n" + re.sub("(?m)^(?=.)", "u", commas)),
    ):
        data = content.encode()
        ours, found = timed(lambda d=data, n=name: sd.read_interactions(io.BytesIO(d), name=n))
        user = [int(str(label).removeprefix("u")) for label in found.users.tolist()]
        back = [np.array(user)[found.user], found.items[found.item].astype(int)]
        wrong = sum(
            np.abs(a - b).max()
            for a, b in zip([*back, found.time], columns[:2] + columns[3:], strict=True)
        )
        yield Result(f"1,000,000 interactions, {name}", ours, None, float(wrong), 0, within=3)


def all_items_are_ranked(quick: bool) -> Iterator[Result]:
    """Against ``scipy.stats.rankdata``, user by user."""
    rng = np.random.default_rng(1)
    user, item, rating, time = _columns()
    data = sd.Interactions(range(_USERS), range(_ITEMS), user, item, rating, time)
    parts = sd.split(data, "last 1")
    # Of whole numbers sums are exact, however many users are multiplied at a time.
    mine = rng.integers(-9, 10, (_USERS, 16)).astype(np.float64)
    theirs = rng.integers(-9, 10, (16, _ITEMS)).astype(np.float64)

    def scores(start: int, stop: int) -> Floats:
        return mine[start:stop] @ theirs

    ours, found = timed(lambda: sd.finish(sd.rank(scores, parts, system="R")))
    some = rng.choice(_USERS, 50 if quick else 500, replace=False)
    training = parts.training.matrix

    def one(row: int) -> int:
        own = scores(row, row + 1)[0]
        wanted = int(parts.test.matrix[[row]].indices[0])
        left = np.setdiff1d(np.arange(_ITEMS), training[[row]].indices)
        at = int(np.searchsorted(left, wanted))
        low, high = (int(rankdata(-own[left], how)[at]) for how in ("min", "max"))
        return abs(low - found.ranks[row]) + abs(high - low - found.ties[row])

    obvious, wrong = timed(lambda: sum(map(one, some.tolist())))
    scaled = obvious * _USERS / len(some)
    yield Result("6,040 users × 3,706 items ranked", ours, scaled, float(wrong), 0, at_least=5)


BENCHMARKS = (files_are_understood, all_items_are_ranked)
