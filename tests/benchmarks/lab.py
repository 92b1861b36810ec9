"""The Lab, which trains recommenders: its metrics beside printed ones, its time, memory and files.
MovieLens ratings are not part of the repository; without them only synthetic data are used."""

import io
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.lab.experiments import EXPERIMENTS, Experiment
from sampledash.lab.marks import with_overlaps
from sampledash.lab.models import Part, finish, within
from sampledash.papers.steck import TABLE_2
from sampledash.schemes import possible
from tests.benchmarks.frame import Result, alone, timed
from tests.lab.movielens import DATA, movielens, with_unrated

X = EXPERIMENTS["krichene"].recommenders["X"]
#: Recommenders that are run beside X, Y and Z: a linear model (EASE) and a bestseller list.
BASELINES = {"E": "EASE", "B": "bestsellers-count"}
WITH_BASELINES = Experiment("last 1", EXPERIMENTS["krichene"].recommenders | BASELINES)

RANKED = ("bestsellers-count", "itemCF", "EASE")
#: What a rank set holds besides ranks: the weights of items, and whether overlaps are counted.
NEEDED: dict[str, tuple[str | None, bool]] = {
    "ranks": (None, False),
    "class counts": ("popularity^0.75", False),
    "overlaps": (None, True),
    "class counts and overlaps": ("popularity^0.75", True),
}


def there(name: str) -> bool:
    """Return whether the ratings exist; print a message if they do not."""
    if (DATA / f"{name}.csv.gz").is_file():
        return True
    print(f"the ratings of MovieLens ({name}) are not here: left out")
    return False


def every_recommender(name: str) -> Callable[[Any], Any]:
    """Return a job that trains all recommenders, ranks items, and returns its processor time."""
    data = movielens(name)
    candidates = with_unrated(data) if name == "ml1m" else data

    def work(progress: Any) -> float:
        begun = time.process_time()
        half(WITH_BASELINES.run(data), progress, 0.0)
        half(EXPERIMENTS["steck"].run(candidates), progress, 0.5)
        return time.process_time() - begun

    return work


def half(part: Part[Any], progress: Callable[[float], None], low: float) -> Any:
    """Run the generator ``part``, report progress in ``low``..``low`` + 0.5, return its result."""
    work = within(part, low, low + 0.5)
    while True:
        try:
            progress(next(work).share)
        except StopIteration as end:
            return end.value


def time_and_memory(quick: bool) -> Iterator[Result]:
    """Time all recommenders: up to 45 s on ML-1M, 8 s on ML-100K, 600 MiB, 1 s between reports."""
    for name, limit in (("ml1m", 45.0), ("ml100k", 8.0)):
        if not quick and there(name):
            run = alone(every_recommender, name)
            note = f"{run.result:.1f} s of processor time, {run.told(600, 1)}"
            yield Result(f"the Lab, all on {name}", run.seconds, None, None, 0, None, limit, note)


def papers(quick: bool) -> Iterator[Result]:
    """Compare X (five seeds) and Steck's Table 2 with printed values; tests check Y and Z."""
    if quick or not there("ml1m"):
        return
    start, parts = time.perf_counter(), sd.split(movielens(), "last 1")
    seeds = [sd.finish(sd.parse_recommender(X).train(parts.training, seed)) for seed in range(5)]
    sets = [sd.finish(sd.rank(model.scores, parts, system="X")) for model in seeds]
    spent = time.perf_counter() - start
    for metric, printed, allowed in (("Recall@10", 7.78, 0.15), ("AUC", 89.1, 0.2)):
        ours = 100 * np.mean([sd.mean(metric, ranks) for ranks in sets])
        name = f"X, 5 seeds: {metric} {ours:.2f}"
        yield Result(name, spent, None, abs(ours - printed), allowed)
    spent, sets = timed(lambda: sd.finish(EXPERIMENTS["steck"].run(with_unrated(movielens()))))
    ours = [sd.mean("ATOP", ranks) for ranks in sets]
    for row, value in zip(TABLE_2.itertuples(), ours, strict=True):
        name = f"Steck's Table 2, {row.objective}: ATOP {value:.4f}, printed {row.test}"
        yield Result(name, spent, None, abs(value - row.test), 0.011)
    # If two printed values of ATOP differ by over 2 * 0.011, our values must have the same order.
    pairs = itertools.combinations(zip(ours, TABLE_2["test"], strict=True), 2)
    gaps = (np.subtract(*pair) for pair in pairs)
    wrong = sum(mine * printed < 0 for mine, printed in gaps if abs(printed) > 0.022)
    yield Result("Steck's Table 2: pairs in another order", spent, None, wrong, 0)


def ten_million_interactions() -> Callable[[Any], Any]:
    """Return a job that trains X and ranks items; the job returns the seconds of both steps."""
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
    """Train X on ten million interactions and rank with it: up to 2 GiB, progress every second."""
    if not quick:
        run = alone(ten_million_interactions)
        note = "trained {:.1f} s, ranked {:.1f} s, ".format(*run.result) + run.told(2048, 1)
        yield Result("X of 10,000,000 interactions", run.seconds, None, None, 0, note=note)


def what_designs_need(quick: bool) -> Iterator[Result]:
    """Rank with class counts, overlaps or both: up to 1.3 times as long as without them.

    The times are those of the Lab: scores and ranks of a bestseller list, item-CF and EASE.
    """
    if quick or not there("ml1m"):
        return
    parts, spent = sd.split(movielens("ml1m"), "last 1"), dict[str, list[list[float]]]()
    trained = (sd.parse_recommender(x).train(parts.training) for x in RANKED)
    models = [finish(part) for part in trained]
    for _, (what, (weights, marked)) in itertools.product(range(7), NEEDED.items()):
        times, sets, every = [time.process_time()], list[sd.RankSet](), list[Any]()
        for model, system in zip(models, RANKED, strict=True):
            marks = list[Any]() if marked else None
            options = {"weights": weights, "marks": marks, "system": system}
            sets.append(finish(sd.rank(model.scores, parts, **options)))
            times.append(time.process_time())
            every += [np.concatenate(marks, axis=1)] if marks else []
        if marked:
            with_overlaps(sets, every)
        spent.setdefault(what, []).append([*np.diff(times), time.process_time() - times[0]])
    least = {what: np.min(runs, axis=0) for what, runs in spent.items()}
    for what in [*NEEDED][1:]:
        own = ", ".join(f"{x:.2f}" for x in (least[what] / least["ranks"])[:-1])
        last = least[what][-1], least["ranks"][-1]
        yield Result(f"ranks and {what}", *last, None, 0, 1 / 1.3, note=f"each times {own}")


def every_design(quick: bool) -> Iterator[Result]:
    """Judge three recommenders with each way to draw negatives: up to 3 s of processor time."""
    if quick or not there("ml1m"):
        return
    parts, sets = sd.split(movielens("ml1m"), "last 1"), list[sd.RankSet]()
    for system in RANKED:
        model = finish(sd.parse_recommender(system).train(parts.training))
        ranked = sd.rank(model.scores, parts, system=system, weights="popularity")
        sets.append(finish(ranked))
    sd.verdict(["Recall@10"], sd.example("paper-abc"), 10)  # imports what a verdict needs
    for m in (20, 100):
        spent = dict[str, float]()
        for scheme in possible(sets):
            begun = time.process_time()
            sd.verdict(["Recall@10"], sets, m, m_values=[m], scheme=scheme)
            spent[scheme] = time.process_time() - begun
        note = ", ".join(f"{scheme} {seconds:.2f}" for scheme, seconds in spent.items())
        total = sum(spent.values())
        yield Result(f"all designs at m = {m}", total, None, None, 0, within=3, note=note)


def files_are_understood(quick: bool) -> Iterator[Result]:
    """Read a million interactions within 3 s, and compare them with what was written."""
    rng = np.random.default_rng(0)
    user, item = np.divmod(rng.choice(6_040 * 3_706, 10**6, replace=False), 3_706)
    time = 978_300_000 + rng.permutation(10**6)
    np.savetxt(text := io.StringIO(), np.transpose([user, item, time % 5 + 1, time]), "%d", "::")
    headed = "userId,movieId,rating,timestamp\n" + text.getvalue().replace("::", ",")
    for name, content in (("ratings.dat", text.getvalue()), ("ratings.csv", headed)):
        stream = io.BytesIO(content.encode())
        ours, read = timed(partial(sd.read_interactions, stream, name=name))
        back = read.users[read.user], read.items[read.item], read.time
        wrong = max(np.abs(a - b).max() for a, b in zip(back, (user, item, time), strict=True))
        yield Result(f"1,000,000 interactions, {name}", ours, None, float(wrong), 0, within=3)


BENCHMARKS = (
    time_and_memory,
    papers,
    large_lab,
    what_designs_need,
    every_design,
    files_are_understood,
)
