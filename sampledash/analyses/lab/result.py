"""State of the Lab page: recommenders to choose from, trainings to do, and their results."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.analyses.consistency.result import Result
from sampledash.analyses.sliding import ALL
from sampledash.comparison.means import exact_means, expected_means, mean
from sampledash.lab.experiments import EXPERIMENTS, Point, Sweep, ranked, sweep
from sampledash.lab.marks import Bits, with_overlaps
from sampledash.lab.models import Part, TrainingProgress, shown_as
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender, recommender
from sampledash.lab.splits import Split
from sampledash.metrics import metric
from sampledash.protocol import Protocol
from sampledash.rank_sets import RankSet
from sampledash.schemes import SCHEMES, possible
from sampledash.types import Progress

#: Menu entry -> description of a recommender and its hyperparameters, which the user can edit.
OFFERED = {
    **{f"{x}: {y.split()[0]}": str(parse_recommender(y)) for x, y in OF_THE_PAPERS.items()},
    "EASE": str(recommender("EASE")),
    **{name: str(parse_recommender(x)) for name, x in EXPERIMENTS["steck"].recommenders.items()},
    "Random": str(recommender("random")),
}
#: Menu entries that are chosen at first: X, Y and Z, as Krichene & Rendle call their recommenders.
FIRST = list(OFFERED)[:3]
#: Menu entry -> rule that splits the interactions into training and test items.
SPLITS = {
    "last": "last 1",
    "random": "random 1 seed=0",
    "last 5 halved": "last 5 halved seed=0",
    "last 10 %": "latest 10%",
}
#: Menu entry -> suffix of a rule in ``SPLITS``: whether training items belong to the candidates.
SEEN = {"left out": "", "kept in": " seen=kept"}
#: Hyperparameter of Steck's AllRank-Regression whose values a sweep tries: name on the page -> name
#: in the code.
SWEEPS: dict[str, Literal["wm", "rm"]] = {"w_m": "wm", "r_m": "rm"}
#: Part of the ranked list that Steck's Figure 3 enlarges, and cutoffs of the metric TOPK. TOPK is
#: the recall in the first part of the list; its cutoff is a fraction (0 to 1) of the list.
TOP = 0.02
SHARES = [*np.linspace(0, TOP, 41).round(6).tolist(), *np.linspace(0.04, 1, 49).round(6).tolist()]
# Marks are two bits for each pair of a relevant item and another item. They say whether the other
# item is ranked above the relevant item, and whether the two items are tied. Marks are stored only
# if there are at most this many pairs (64 MiB).
_MOST_MARKED = 2**28
# A call of Job.advance works for ``_STEP`` seconds, after waiting for at most ``_PATIENCE`` seconds
# until an earlier call ends.
_STEP, _PATIENCE = 0.02, 5.0


class Wanted(NamedTuple):
    """A recommender to be trained: its name as a system, and a text such as ``iALS d=32``."""

    system: str
    text: str


def wanted(chip: str, text: str) -> Wanted:
    """Return the recommender that ``text`` describes, with a name for its system.

    The name is the start of the menu entry ``chip`` and the hyperparameters that the user changed.

    Examples
    --------
    >>> wanted("X: iALS", "iALS d=32 alpha=0.2").system
    'X d=32'

    Raises
    ------
    ValueError
        If the text is not a recommender.
    """
    mine, usual = parse_recommender(text), parse_recommender(OFFERED[chip])
    if mine.name != usual.name:
        return Wanted(str(mine), str(mine))
    pairs = zip(str(mine).split(), str(usual).split(), strict=True)
    changed = [now for now, before in pairs if now != before]
    return Wanted(" ".join([chip.partition(":")[0], *changed]), str(mine))


def swept(knob: str, points: Sequence[Point], k: int) -> pd.DataFrame:
    """Return a table of ATOP, Recall@k and RMSE for each value of the hyperparameter ``knob``.

    TOPK is the share of the relevant items that are in the first part of the list. ATOP is the mean
    of TOPK over the length of this part.
    """
    rows = [
        (point.value, mean("ATOP", point.ranks), mean(f"Recall@{k}", point.ranks), point.rmse)
        for point in points
    ]
    table = pd.DataFrame(rows, columns=[knob, "ATOP", f"Recall@{k}", "RMSE"])
    return table.sort_values(knob, ignore_index=True)


def top_shares(knob: str, points: Sequence[Point]) -> pd.DataFrame:
    """Return a table of TOPK over k for the best values of the hyperparameter ``knob``.

    TOPK is the share of the relevant items that are in the first part of the list. k is the length
    of this part, as a share (0 to 1) of the list. The table has a column for the value of ``knob``
    with the highest ATOP and one for the value with the lowest RMSE, or a single column if both
    values are the same.
    """
    ordered = sorted(points, key=lambda point: point.value)
    best = max(ordered, key=lambda point: mean("ATOP", point.ranks))
    least = min(ordered, key=lambda point: point.rmse)
    chosen = {f"{knob} = {point.value:g}": point.ranks for point in (best, least)}
    at = [metric("topk", k=share) for share in SHARES]
    means = exact_means(at, list(chosen.values()), Protocol.of({}))
    return pd.DataFrame({"k": SHARES, **dict(zip(chosen, means, strict=True))})


def by_design(verdict: Result, x: int, sets: Sequence[RankSet], progress: Progress) -> pd.DataFrame:
    """Return a metric on all items, and its expectation with each sampling scheme.

    ``x`` is the index of the metric. A row is a scheme, a column a system. Schemes in which items
    differ in sampling weight are left out unless all ``sets``, the rank sets of ``verdict``, hold
    the popularity of the candidates.
    """
    weighed, metrics = all(ranks.classes is not None for ranks in sets), verdict.metrics
    names = [name for name in possible(sets) if SCHEMES[name].uniform or weighed]
    table = pd.DataFrame({ALL: verdict.exact[:, x]}, index=list(verdict.systems))
    for place, name in enumerate(names):
        drawn = Protocol.of({**verdict.question.options, "scheme": name, "correction": None})
        means = []
        for i, ranks in enumerate(verdict.question.sets if SCHEMES[name].uniform else sets):
            make = partial(expected_means, metrics, [ranks], [verdict.m], drawn)
            key = "by_design", ranks.digest, metrics, verdict.m, drawn
            means.append(memory.cached(key, make, shared=False)[0, 0, x])
            progress((place + (i + 1) / len(sets)) / len(names))
        table[SCHEMES[name].label] = means
    return table.T


class Trained(NamedTuple):
    """The ranks of a trained recommender, and its marks, which can be None.

    Marks are bits that say which items are above each relevant item, and which are tied with it.
    """

    ranks: RankSet
    marks: Bits | None


def together(trained: Sequence[Trained]) -> tuple[RankSet, ...]:
    """Return the rank sets of recommenders that were trained with the same settings.

    If all have marks (which items are above each relevant item), add overlaps. An overlap is the
    number of items that two recommenders both rank above a relevant item.
    """
    sets = tuple(x.ranks for x in trained)
    marks = [x.marks for x in trained if x.marks is not None]
    if len(marks) < len(sets):
        return sets
    # Two recommenders with the same ranks may rank different items above the relevant items. So the
    # key also holds where the ranks come from.
    key = "together", memory.digests(sets), *(ranks.provenance for ranks in sets)
    return memory.cached(key, lambda: tuple(with_overlaps(sets, marks)), shared=False)


class Task(NamedTuple):
    """A task (training): its name, the key of its result, and a generator that does its steps."""

    name: str
    key: Hashable
    steps: Generator[TrainingProgress | Sweep, None, Any]


@dataclass(frozen=True, eq=False)
class Setup:
    """Settings of a training: the training and test items, the least rating, the random seed.

    Test items with a rating below ``least_rating`` are not relevant.
    """

    parts: Split
    least_rating: float | None
    seed: int

    def key(self, what: Wanted | str) -> Hashable:
        """Return the cache key of a result.

        ``what`` is the recommender to train, or the name of the hyperparameter whose values a sweep
        tries.
        """
        return self.parts.data, self.parts.text, self.least_rating, self.seed, what

    def training(self, wanted: Wanted) -> Task:
        """Return a task that trains a recommender and ranks the test items."""
        return Task(wanted.system, self.key(wanted), self._trained(wanted))

    def _trained(self, wanted: Wanted) -> Part[Trained]:
        marks, test = list[Bits](), self.parts.test.matrix
        options: dict[str, Any] = {"least_rating": self.least_rating, "seed": self.seed}
        # Sampling weights and marks (see ``Trained``) are possible only if each user has a single
        # relevant item.
        if np.max(np.diff(test.indptr)) == 1:
            options["weights"] = "popularity"
            options["marks"] = marks if test.nnz * test.shape[1] <= _MOST_MARKED else None
        ranks = yield from ranked(self.parts, *wanted, **options)
        return Trained(ranks, np.concatenate(marks, axis=1) if marks else None)

    def sweep(self, knob: str) -> Task:
        """Return a task that trains a recommender with several values of a hyperparameter.

        The recommender is Steck's AllRank-Regression; ``knob`` is the hyperparameter.
        """
        options: dict[str, Any] = {"least_rating": self.least_rating, "seed": self.seed}
        return Task(f"Sweep of {knob}", self.key(knob), sweep(self.parts, SWEEPS[knob], **options))


#: Results of the user's session by key: a trained recommender, or the results of a sweep, which
#: trains a recommender with several values of a hyperparameter.
Made = dict[Hashable, Any]


class Job:
    """A queue of tasks (trainings), which are done in short steps so that the work can pause.

    The results of tasks are put into ``made``, and the errors of failed tasks into ``failed``.
    """

    def __init__(self, tasks: Sequence[Task], made: Made) -> None:
        self.tasks, self.made = tuple(tasks), made
        self.failed: dict[Hashable, ValueError] = {}
        # Results so far of unfinished sweeps, which train with several values of a hyperparameter.
        self.points: dict[Hashable, tuple[Point, ...]] = {}
        self.halted = False
        self.shares = [0.0] * len(self.tasks)
        self._seconds = 0.0  # seconds of work on the current task
        self._work = self._all()
        self._going_on, self.done = Lock(), False

    def advance(self, seconds: float = _STEP) -> None:
        """Work on the tasks for about this many seconds, and for at least one step.

        If an earlier run of the page's script still works on this job after ``_PATIENCE`` seconds,
        do nothing.
        """
        if not self._going_on.acquire(timeout=_PATIENCE):
            return
        try:
            before = monotonic()
            end = before + seconds
            for place in self._work:
                now = monotonic()
                self._seconds = 0.0 if self.shares[place] == 1 else self._seconds + now - before
                if now >= end:
                    return
                before = now
            self.done = True
        finally:
            self._going_on.release()

    @property
    def place(self) -> int | None:
        """Index of the current task in ``tasks``, or None once all tasks are done."""
        return next((place for place, share in enumerate(self.shares) if share < 1), None)

    @property
    def left(self) -> float | None:
        """Estimated seconds until the current task ends; None if it has hardly begun or is done."""
        share = 1.0 if self.place is None else self.shares[self.place]
        return self._seconds * (1 - share) / share if 0.02 < share < 1 else None

    def _all(self) -> Generator[int]:
        """Do all tasks; yield the index of the current task after each step."""
        for place, task in enumerate(self.tasks):
            try:
                self.made[task.key] = yield from self._followed(task, place)
            except ValueError as error:
                self.failed[task.key] = error
            self.shares[place] = 1.0
            yield place

    def _followed(self, task: Task, place: int) -> Generator[int, None, Any]:
        def noted(progress: TrainingProgress | Sweep) -> int:
            if isinstance(progress, Sweep):
                self.points[task.key] = progress.points
            self.shares[place] = min(progress.share, 0.999)
            return place

        return shown_as(task.steps, noted)
