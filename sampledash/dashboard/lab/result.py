"""What the Lab page keeps: the recommenders it offers, those wanted, and training under way."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import NamedTuple

from sampledash.lab.experiments import EXPERIMENTS, ranked
from sampledash.lab.models import Progress
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender, recommender
from sampledash.lab.splits import Split
from sampledash.ranksets import RankSet

_KIND = {"X": "iALS", "Y": "itemCF", "Z": "itemCF"}
#: Chip -> text with the values of the papers, which can be changed.
OFFERED = {
    **{f"{name}: {_KIND[name]}": str(parse_recommender(x)) for name, x in OF_THE_PAPERS.items()},
    "EASE": str(recommender("EASE")),
    **{name: str(parse_recommender(x)) for name, x in EXPERIMENTS["steck"].recommenders.items()},
    "Random": str(recommender("random")),
}
#: Begun with: X, Y and Z.
FIRST = list(OFFERED)[:3]
#: Choice -> rule of splitting, and what is done with seen items.
SPLITS = {
    "last": "last 1",
    "random": "random 1 seed=0",
    "last 5 halved": "last 5 halved seed=0",
    "last 10 %": "latest 10%",
}
SEEN = {"left out": "", "kept in": " seen=kept"}
_STEP, _PATIENCE = 0.1, 5.0  # seconds of work between two looks at the page, and of waiting


class Wanted(NamedTuple):
    """A recommender to be trained: the name of its system, and its text."""

    system: str
    text: str


def wanted(chip: str, text: str) -> Wanted:
    """The recommender of a chip and a text; its name says what is not as in the paper.

    Examples
    --------
    >>> wanted("X: iALS", "iALS d=32 alpha=0.2").system
    'X d=32'

    Raises
    ------
    ValueError
        If the text is none.
    """
    mine, usual = parse_recommender(text), parse_recommender(OFFERED[chip])
    if mine.name != usual.name:
        return Wanted(str(mine), str(mine))
    pairs = zip(str(mine).split(), str(usual).split(), strict=True)
    changed = [now for now, before in pairs if now != before]
    return Wanted(" ".join([chip.partition(":")[0], *changed]), str(mine))


@dataclass(frozen=True, eq=False)
class Setup:
    """What recommenders are trained on, and the seed."""

    parts: Split
    seed: int

    def key(self, wanted: Wanted) -> Hashable:
        """The same only for the same ranks."""
        return self.parts.data, self.parts.text, self.seed, wanted


Trained = dict[Hashable, RankSet]


class Job:
    """Recommenders that are trained one after the other, in steps between which all can wait.

    What it makes is put into ``trained``; why one cannot be trained into ``failed``.
    """

    def __init__(self, setup: Setup, wanted: Sequence[Wanted], trained: Trained) -> None:
        self.setup, self.wanted, self.trained = setup, tuple(wanted), trained
        self.failed: dict[Wanted, ValueError] = {}
        self.halted = False
        self.shares = [0.0] * len(self.wanted)
        self._seconds = 0.0  # of work on the present one
        self._work = self._all()
        self._going_on, self.done = Lock(), False

    def advance(self, seconds: float = _STEP) -> None:
        """Go on for so long, a step at least.

        The run of the page before this one may still be inside; nothing happens then.
        """
        if not self._going_on.acquire(timeout=_PATIENCE):
            return
        try:
            end = monotonic() + seconds
            while not self.done:
                before = monotonic()
                place = next(self._work, None)
                now = monotonic()
                if place is None:
                    self.done = True
                else:
                    self._seconds = 0.0 if self.shares[place] == 1 else self._seconds + now - before
                if now >= end:
                    break
        finally:
            self._going_on.release()

    @property
    def place(self) -> int | None:
        """Which one is being trained."""
        return next((place for place, share in enumerate(self.shares) if share < 1), None)

    @property
    def left(self) -> float | None:
        """Seconds that the present one takes yet, as it went so far; None: too early to tell."""
        share = 1.0 if self.place is None else self.shares[self.place]
        return self._seconds * (1 - share) / share if 0.02 < share < 1 else None

    def _all(self) -> Generator[int]:
        """Train all; yields the place of the one that went on."""
        for place, wanted in enumerate(self.wanted):
            work = ranked(self.setup.parts, *wanted, seed=self.setup.seed)
            try:
                self.trained[self.setup.key(wanted)] = yield from self._followed(work, place)
            except ValueError as error:
                self.failed[wanted] = error
            self.shares[place] = 1.0
            yield place

    def _followed(
        self, work: Generator[Progress, None, RankSet], place: int
    ) -> Generator[int, None, RankSet]:
        while True:
            try:
                share = next(work).share
            except StopIteration as end:
                found: RankSet = end.value
                return found
            self.shares[place] = min(share, 0.999)
            yield place
