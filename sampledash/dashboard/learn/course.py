"""The nine lessons, in order."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from sampledash.dashboard.learn import counterexample, pictures_order, pictures_rank
from sampledash.dashboard.learn import (
    words_order as learn_order,
)
from sampledash.dashboard.learn import (
    words_rank as learn_rank,
)
from sampledash.dashboard.learn import (
    words_repair as learn_repair,
)
from sampledash.dashboard.learn.lesson import Entry
from sampledash.dashboard.learn.words import Lesson

LESSONS = (
    Entry(learn_rank.weights, pictures_rank.weights),
    Entry(learn_rank.draws, pictures_rank.draws),
    Entry(
        learn_rank.softness, pictures_rank.softness, looks=("Recall@10", "NDCG", "AP", "AUC")
    ),
    Entry(learn_rank.one_negative, pictures_rank.one_negative),
    Entry(
        learn_order.flips, pictures_order.flips, looks=("AP", "NDCG", "Recall@10", "AUC"),
        extra=counterexample.show,
    ),
    Entry(learn_order.steadiness, pictures_order.steadiness),
    Entry(learn_repair.corrections, pictures_order.corrections),
    Entry(learn_repair.limits, pictures_order.limits),
    Entry(learn_repair.your_paper, pictures_order.your_paper),
)  # fmt: skip
MOST_LOOKS = 4
_BESIDE = ThreadPoolExecutor(max_workers=1, thread_name_prefix="learn")


@lru_cache(maxsize=len(LESSONS) * MOST_LOOKS)
def words(number: int, look: str = "") -> Lesson:
    """What lesson 1..9 says; computed once, as it is the same for everybody."""
    entry = LESSONS[number - 1]
    return entry.words(look or next(iter(entry.looks), ""))


@lru_cache(maxsize=len(LESSONS))
def ahead(number: int) -> Future[object]:
    """Compute beside the page, once, what the reader of lesson 1..9 asks for next.

    That is the picture of its answer, which the result waits for, and the words of the lesson
    after it. Both leave their numbers in the caches of ``explain``.
    """
    entry = LESSONS[number - 1]
    drawn: Future[object] = _BESIDE.submit(entry.picture, next(iter(entry.looks), ""), True, False)
    _BESIDE.submit(words, min(number + 1, len(LESSONS)))
    return drawn


def every() -> list[Lesson]:
    """All lessons."""
    return [words(number) for number in range(1, len(LESSONS) + 1)]
