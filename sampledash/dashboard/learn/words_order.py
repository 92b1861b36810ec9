"""Lessons 5 and 6: the order flips, and repeating does not show it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from pandas import DataFrame

from sampledash.comparison import counterexample, expected_mean, mean, right_from, std_of_mean
from sampledash.dashboard.learn.words import Choice, Exercise, Lesson, Link, nth, order, points
from sampledash.expectation import expected
from sampledash.metrics import Metric, parse_metric
from sampledash.ranksets import RankSet
from sampledash.readers import EXAMPLES, example
from sampledash.report.numbers import count, in_runs, percent
from sampledash.sampling import Sampling, Scheme
from sampledash.simulation import simulate
from sampledash.types import Floats

TABLE_M = 99  # negatives in Table 2
M, RUNS, SEED = 100, 20, 1
METRIC = "Recall@10"
WITHOUT: Scheme = "without-replacement"
CHIPS = {"AP": "AP", "NDCG": "NDCG", "Recall@10": "Recall@k", "AUC": "AUC"}


def _of(names: list[str], values: list[float]) -> str:
    return ", ".join(f"{n} {percent(v)}" for n, v in zip(names, values, strict=True))


def _pair() -> str:
    """Two small rank sets whose order flips."""
    found = counterexample(METRIC, Sampling(10_000, M, WITHOUT))
    return " and ".join(
        f"{rs.system} at ranks {', '.join(count(r) for r in rs.ranks)}" for rs in found or ()
    )


def _times(values: Floats) -> str:
    high, low = values
    return f"{high / low:.3g} times"


def flips(look: str) -> Lesson:
    """Lesson 5: the order flips."""
    sets, metric = example("paper-abc"), parse_metric(look or "AP")
    names = [rs.system for rs in sets]
    exact = [mean(metric, rs) for rs in sets]
    sampled = [expected_mean(metric, rs, TABLE_M) for rs in sets]
    ap = parse_metric("AP")
    true_ap = [mean(ap, rs) for rs in sets]
    shown_ap = [expected_mean(ap, rs, TABLE_M) for rs in sets]
    best, n = int(np.argmax(shown_ap)), int(sets[0].n.max())
    c = np.array([sets[2].ranks.min(), sets[0].ranks.max()])
    replies = {
        name: f"{percent(shown_ap[i])} on the sample, {percent(true_ap[i])} on all items"
        for i, name in enumerate(names)
    }
    told = {
        "A": "It is never terrible; that it is never good the sample cannot see.",
        "B": "Its two ranks of 40 look excellent in a sample, its three bad ones do not.",
        "C": (
            f"Its rank {c[0]} is worth {_times(ap(c, n))} rank {c[1]} on all items, on the sample "
            f"only {_times(np.asarray(expected(ap, c, Sampling(n, TABLE_M))))}."
        ),
    }
    same = order(names, exact) == order(names, sampled)
    end = "as on all items" if same else f"on all items {order(names, exact)}"
    return Lesson(
        title="The order flips",
        setup="; ".join(
            f"**{rs.system}**: {', '.join(count(r) for r in rs.ranks)}" for rs in sets
        ) + f" — five ranks each, n = {count(n)}.",
        question=f"Which recommender has the highest expected AP on {count(TABLE_M)} negatives?",
        choices=tuple(
            Choice(name, i == best, f"{name}: {replies[name]}. {told.get(name, '')}")
            for i, name in enumerate(names)
        ),
        sentence=(
            f"With {count(TABLE_M)} negatives the expected {metric} is {_of(names, sampled)}: "
            f"{order(names, sampled)}; {end}."
        ),
        formula=(
            r"E\Big[\tfrac15\sum_x M(\tilde R(x))\Big],\qquad "
            + r",\quad ".join(rf"{n} = {v:.3f}" for n, v in zip(names, sampled, strict=True)),
            r"\tfrac15\sum_x M(R(x)),\qquad "
            + r",\quad ".join(rf"{n} = {v:.3f}" for n, v in zip(names, exact, strict=True)),
        ),
        why=(
            "A metric is consistent if sampling keeps every order in expectation. AUC is; no "
            "top-heavy metric is. Which recommender wins can then be decided by m."
        ),
        source="Definition 1, Tables 1-2, Figure 2; with replacement",
        link=Link(
            "consistency", f"{metric} of A, B and C in Consistency",
            {"source": EXAMPLES["paper-abc"].title, "m": str(TABLE_M),
             "scheme": "with replacement", "metrics": [CHIPS[str(metric)]]},
        ),
        minutes=10,
        misconceptions=(
            "“The numbers are too high, but the order is right.” The bias depends on where a "
            "recommender has its ranks, so it differs between recommenders.",
            "“More negatives always bring the order closer to the truth.” It can change several "
            "times on the way: move m.",
        ),
        exercises=(
            Exercise(
                "Compute AP of A, B and C on all items from the ranks above. Which order results?",
                f"{_of(names, true_ap)}: {order(names, true_ap)}.",
            ),
            Exercise(
                "Find two recommenders with two ranks each whose order by Recall@10 flips with 100 "
                "of 9,999 negatives. Check them on the Consistency page.",
                f"For example {_pair()}.",
            ),
        ),
    )  # fmt: skip


@lru_cache(maxsize=16)
def runs(m: int) -> Floats:
    """Repeated sampled evaluations of the bundled recommenders: shape (systems, RUNS)."""
    found = [
        simulate(METRIC, rs, m, RUNS, np.random.default_rng([SEED, place, m]), scheme=WITHOUT)
        for place, rs in enumerate(example("movielens-xyz"))
    ]
    result = np.array(found)
    result.setflags(write=False)
    return result


@lru_cache(maxsize=1)
def right() -> DataFrame:
    """From which m each pair of the bundled recommenders is right."""
    return right_from(METRIC, example("movielens-xyz"), scheme=WITHOUT)


def _worst(sets: list[RankSet], metric: Metric) -> int:
    return int(np.argmin([mean(metric, rs) for rs in sets]))


def steadiness(look: str) -> Lesson:
    """Lesson 6: steady is not right."""
    sets, metric = example("movielens-xyz"), parse_metric(METRIC)
    worst = _worst(sets, metric)
    name, exact = sets[worst].system, mean(metric, sets[worst])
    seen = int((runs(M).argmax(axis=0) == worst).sum())
    center = expected_mean(metric, sets[worst], M, scheme=WITHOUT)
    std = std_of_mean(metric, sets[worst], M, scheme=WITHOUT)
    bias = center - exact
    options = (0, RUNS // 2, RUNS)
    right = min(options, key=lambda o: abs(o - seen))
    why = {
        0: "its true place is the last, but every run shows the expectation of the sample.",
        RUNS // 2: f"the runs scatter by {points(std)} only: chance has no say here.",
        RUNS: f"the runs agree, to {points(std)}, on a wrong order.",
    }
    users = len(sets[worst].ranks)
    return Lesson(
        title="Steady is not right",
        setup=(
            f"{METRIC} of three recommenders on MovieLens 1M. On all movies {name} is the worst. "
            f"Each run draws {count(M)} new negatives for each of {count(users)} users."
        ),
        question=(
            f"In how many of {RUNS} runs with {count(M)} negatives does {name}, the worst of the "
            "three, come first?"
        ),
        choices=tuple(
            Choice(nth(o, RUNS), o == right, f"In {nth(seen, RUNS)}: {why[o]}", o) for o in options
        ),
        most=RUNS,
        sentence=(
            f"In {nth(seen, RUNS)} runs {name} comes first. It scatters by {points(std)} around "
            f"{percent(center)}; the truth, {percent(exact)}, is {points(bias)} away."
        ),
        formula=(
            r"\text{error}^2 = \text{bias}^2 + \text{variance}",
            rf"({100 * bias:.2f})^2 + ({100 * std:.2f})^2 = ({100 * np.hypot(bias, std):.2f})^2"
            r"\quad\text{points}^2",
        ),
        why=(
            "Repeating with new seeds and reporting a small deviation shows that the sample is "
            "large enough for its own expectation. It says nothing about the metric."
        ),
        source="Section 6.2, Table 3",
        link=Link(
            "consistency", "The three recommenders in Consistency",
            {"m": str(M), "metrics": ["Recall@k"], "answers": "Repeat it"},
        ),
        minutes=7,
        misconceptions=(
            "“Five seeds with a small deviation make it reliable.” Reliable and wrong.",
            "“A significance test between the sampled values would reveal it.” It would confirm "
            "the wrong order with great confidence.",
        ),
        exercises=(
            Exercise(
                f"One run scatters by {points(std)}, the bias is {points(bias)}. How much of the "
                f"squared error remains if {RUNS} runs are averaged?",
                f"{in_runs((bias**2 + std**2 / RUNS) / (bias**2 + std**2))} of it.",
            ),
        ),
    )  # fmt: skip
