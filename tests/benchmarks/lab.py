"""The Lab: what the papers print, time, memory, silence, files; X beside implicit's.

Without the ratings of MovieLens, which are not part of the repository, only what is synthetic runs.
"""

import io
import itertools
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

import sampledash as sd
from sampledash.lab.experiments import EXPERIMENTS, Experiment
from sampledash.lab.models import Part, within
from sampledash.papers.steck import TABLE_2
from sampledash.types import Floats
from tests.benchmarks.frame import Result, alone, timed
from tests.lab.movielens import DATA, movielens, shipped, with_unrated

SIZE, USERS, ITEMS = 1_000_000, 6_040, 3_706  # as MovieLens 1M
X = EXPERIMENTS["krichene"].recommenders["X"]
#: X, Y, Z, today's linear baseline and a bestseller list; and Steck's nine.
BASELINES = {"E": "EASE", "B": "bestsellers-count"}
PAIRS = tuple(itertools.combinations(range(9), 2))  # of Steck's
WITH_BASELINES = Experiment("last 1", EXPERIMENTS["krichene"].recommenders | BASELINES)


def there(name: str) -> bool:
    """Whether the ratings are; says so if they are not."""
    if (DATA / f"{name}.csv.gz").is_file():
        return True
    print(f"the ratings of MovieLens ({name}) are not here: left out")
    return False


def every_recommender(name: str) -> Callable[[Any], Any]:
    """Train and rank all, one after the other; the data are read before."""
    data = movielens(name)
    candidates = with_unrated(data) if name == "ml1m" else data

    def work(progress: Any) -> float:
        begun = time.process_time()
        half(WITH_BASELINES.run(data), progress, 0.0)
        half(EXPERIMENTS["steck"].run(candidates), progress, 0.5)
        return time.process_time() - begun

    return work


def half(part: Part[Any], progress: Callable[[float], None], low: float) -> Any:
    """Do a half of a work, telling the share done."""
    work = within(part, low, low + 0.5)
    while True:
        try:
            progress(next(work).share)
        except StopIteration as end:
            return end.value


def time_and_memory(quick: bool) -> Iterator[Result]:
    """All on ML-1M within 45 s and 600 MiB, on ML-100K within 8 s; silent for 1 s at most."""
    for name, limit in (("ml1m", 45.0), ("ml100k", 8.0)):
        if not quick and there(name):
            run = alone(every_recommender, name)
            note = f"{run.result:.1f} s of processor time, {run.told(600, 1)}"
            yield Result(f"the Lab, all on {name}", run.seconds, None, None, 0, None, limit, note)


def papers(quick: bool) -> Iterator[Result]:
    """Ranks of Y and Z as shipped; X over five seeds; Steck's Table 2."""
    if quick or not there("ml1m"):
        return
    start = time.perf_counter()

    def result(name: str, off: float, allowed: float, note: str = "") -> Result:
        """With the time since the last of another name."""
        return Result(name, time.perf_counter() - start, None, off, allowed, note=note)

    for ranks in sd.finish(EXPERIMENTS["krichene"].run(movielens())):
        table = shipped(ranks.system)
        columns = {"best_rank": ranks.ranks, "n_tied_others": ranks.ties, "n_candidates": ranks.n}
        other = np.any([table[name] != values for name, values in columns.items()], axis=0)
        if ranks.system != "X":  # which starts at random
            name, allowed = f"{ranks.system}: users whose rank is another one", {"Y": 0, "Z": 105}
            yield result(name, int(np.count_nonzero(other)), allowed[ranks.system])
    parts, start = sd.split(movielens(), "last 1"), time.perf_counter()
    seeds = [sd.finish(sd.parse_recommender(X).train(parts.training, seed)) for seed in range(5)]
    sets = [sd.finish(sd.rank(model.scores, parts, system="X")) for model in seeds]
    for metric, printed, allowed in (("Recall@10", 7.78, 0.15), ("AUC", 89.1, 0.2)):
        ours = 100 * np.mean([sd.mean(metric, ranks) for ranks in sets])
        yield result(f"X, 5 seeds: {metric} {ours:.2f}", abs(ours - printed), allowed)
    start = time.perf_counter()
    sets = sd.finish(EXPERIMENTS["steck"].run(with_unrated(movielens())))
    ours = [sd.mean("ATOP", ranks) for ranks in sets]
    for row, value in zip(TABLE_2, ours, strict=True):
        name = f"Steck's Table 2, {row.objective}: ATOP {value:.4f}"
        yield result(name, abs(value - row.test), 0.011, f"printed {row.test}")
    # What is printed further apart than both may differ is in the printed order.
    gaps = ((ours[i] - ours[j], TABLE_2[i].test - TABLE_2[j].test) for i, j in PAIRS)
    wrong = sum(mine * printed < 0 for mine, printed in gaps if abs(printed) > 0.022)
    yield result("Steck's Table 2: pairs in another order", wrong, 0)


def ials_loss(matrix: Any, users: Floats, items: Floats, alpha: float, ridge: float) -> float:
    """The loss of X, as section 9 of Krichene & Rendle has it."""
    users, items = users.astype(np.float64), items.astype(np.float64)
    user = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    taken = np.einsum("ij,ij->i", users[user], items[matrix.indices])
    everywhere = np.sum((users.T @ users) * (items.T @ items))
    squares = np.sum(users**2) + np.sum(items**2)
    return float(np.sum((taken - 1) ** 2) + alpha * everywhere + ridge * squares)


def beside_implicit(quick: bool) -> Iterator[Result]:
    """X with the settings of implicit's ALS: as fast, and the same loss after 40 sweeps."""
    try:
        from implicit.als import AlternatingLeastSquares
        from threadpoolctl import threadpool_limits
    except ImportError:
        print("implicit is not installed: left out")
        return
    if quick or not there("ml1m"):
        return
    from scipy.sparse import csr_matrix

    training, alpha, ridge = sd.split(movielens(), "last 1").training, 0.2, 10.0
    confidence = csr_matrix(training.matrix > 0).astype(np.float32) * ((1 + alpha) / alpha)

    def theirs(sweeps: int, cg: bool, confidence: Any = confidence) -> Any:
        how = {"regularization": ridge * (1 + alpha) / alpha, "iterations": sweeps, "use_cg": cg}
        model = AlternatingLeastSquares(16, random_state=0, **how)
        with threadpool_limits(1, "blas"):  # as it asks for
            model.fit(confidence, show_progress=False)
        scale = np.float32(np.sqrt(1 + alpha))
        return model.user_factors / scale, model.item_factors / scale

    def ours(sweeps: int) -> Any:
        model = sd.finish(sd.recommender("iALS", sweeps=sweeps).train(training))
        return model.users, model.items

    for sweeps, cg in ((5, False), (5, True), (40, False)):
        # In turn, so that what else runs slows both down; the best of each.
        both = partial(ours, sweeps), partial(theirs, sweeps, cg)
        runs = [[timed(train) for train in both] for _ in range(3 if sweeps == 5 else 1)]
        spent = [min(run[at][0] for run in runs) for at in (0, 1)]
        losses = [ials_loss(training.matrix, *run[1], alpha, ridge) for run in runs[-1]]
        apart = abs(losses[0] / losses[1] - 1) if sweeps == 40 else None
        name = f"X against implicit, {sweeps} sweeps" + ", conjugate gradients" * cg
        note = f"losses {losses[0]:,.0f} and {losses[1]:,.0f}"
        yield Result(name, *spent, apart, 1e-4, at_least=1.0, note=note)


def ten_million_interactions() -> Callable[[Any], Any]:
    """100,000 users, 20,000 items, popularity as of a power of the place."""
    rng, popularity = np.random.default_rng(0), np.cumsum(np.arange(10, 20_010) ** -0.8)
    item = np.searchsorted(popularity, popularity[-1] * rng.random(10**7)).astype(np.int32)
    user = rng.integers(0, 100_000, 10**7, dtype=np.int32)
    parts = sd.split(sd.Interactions(np.arange(100_000), np.arange(20_000), user, item), "last 1")

    def work(progress: Any) -> list[float]:
        train = sd.parse_recommender(X).train(parts.training)
        trained, model = timed(lambda: half(train, progress, 0.0))
        ranked, _ = timed(lambda: half(sd.rank(model.scores, parts, system="X"), progress, 0.5))
        return [trained, ranked]

    return work


def large_lab(quick: bool) -> Iterator[Result]:
    """Ten million interactions: X trains and ranks within 2 GiB."""
    if not quick:
        run = alone(ten_million_interactions)
        note = "trained {:.1f} s, ranked {:.1f} s, ".format(*run.result) + run.told(2048, 1)
        yield Result("X of 10,000,000 interactions", run.seconds, None, None, 0, note=note)


def columns() -> list[np.ndarray]:
    """Users, items, ratings and times."""
    rng = np.random.default_rng(0)
    user, item = np.divmod(rng.choice(USERS * ITEMS, SIZE, replace=False), ITEMS)
    time = 978_300_000 + rng.permutation(SIZE)
    return [user, item, rng.integers(1, 6, SIZE), time]


def files_are_understood(quick: bool) -> Iterator[Result]:
    """Against the columns that were written."""
    user, item, rating, time = columns()
    np.savetxt(text := io.StringIO(), np.transpose([user, item, rating, time]), "%d", "::")
    commas = text.getvalue().replace("::", ",")
    files = {"ratings.dat": text.getvalue(), "u.data": text.getvalue().replace("::", "\t")}
    files["ratings.csv"] = "userId,movieId,rating,timestamp\n" + commas
    files["text.csv"] = "user,item,rating,ts\n" + re.sub("(?m)^(?=.)", "u", commas)
    for name, content in files.items():
        stream = io.BytesIO(content.encode())
        ours, read = timed(partial(sd.read_interactions, stream, name=name))
        users = np.array([int(str(label).removeprefix("u")) for label in read.users.tolist()])
        back = users[read.user], read.items[read.item].astype(int), read.time
        wrong = max(np.abs(a - b).max() for a, b in zip(back, (user, item, time), strict=True))
        yield Result(f"1,000,000 interactions, {name}", ours, None, float(wrong), 0, within=3)


def all_items_are_ranked(quick: bool) -> Iterator[Result]:
    """Against ``scipy.stats.rankdata``, user by user."""
    rng = np.random.default_rng(1)
    parts = sd.split(sd.Interactions(range(USERS), range(ITEMS), *columns()), "last 1")
    # Of whole numbers sums are exact, however many users are multiplied at a time.
    mine = rng.integers(-9, 10, (USERS, 16)).astype(np.float64)
    theirs = rng.integers(-9, 10, (16, ITEMS)).astype(np.float64)

    def scores(start: int, stop: int) -> Floats:
        return mine[start:stop] @ theirs

    def off(row: int) -> int:
        own = scores(row, row + 1)[0]
        wanted = int(parts.test.matrix[[row]].indices[0])
        left = np.setdiff1d(np.arange(ITEMS), parts.training.matrix[[row]].indices)
        at = int(np.searchsorted(left, wanted))
        low, high = (int(rankdata(-own[left], how)[at]) for how in ("min", "max"))
        return abs(low - ranks.ranks[row]) + abs(high - low - ranks.ties[row])

    ours, ranks = timed(lambda: sd.finish(sd.rank(scores, parts, system="R")))
    some = rng.choice(USERS, 50 if quick else 500, replace=False).tolist()
    obvious, wrong = timed(lambda: sum(map(off, some)))
    scaled = obvious * USERS / len(some)
    yield Result("6,040 users × 3,706 items ranked", ours, scaled, float(wrong), 0, at_least=5)


BENCHMARKS = (time_and_memory, papers, beside_implicit, large_lab)
BENCHMARKS += (files_are_understood, all_items_are_ranked)
