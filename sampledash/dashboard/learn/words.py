"""What a lesson of the course says: one question, its answers, and the reason, with numbers.

A lesson is data. Screen, projector and exercise sheet are made from the same one, and every number
in it is computed when it is made, or quoted with its source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sampledash.dashboard.words import ranking
from sampledash.report.numbers import count

PAPER = "Krichene & Rendle, KDD 2020"


@dataclass(frozen=True)
class Choice:
    """One answer to choose from, and what to say to whoever chooses it."""

    text: str
    right: bool
    reply: str
    number: int = 0  # where the answer is one


@dataclass(frozen=True)
class Link:
    """Another page in the state that the lesson is about: page, label, query of its address."""

    page: str
    label: str
    query: Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class Exercise:
    """One exercise for the sheet, with its solution."""

    task: str
    solution: str


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Attributes
    ----------
    title
        What is learnt.
    setup, question, choices
        What is given, and what is asked before anything is shown; exactly one choice is right.
    sentence, formula
        The answer with its numbers, and why, as TeX.
    why
        Why it matters, in two lines.
    source
        Where it is in the paper.
    link
        The same state on another page.
    minutes, misconceptions, exercises
        For the teacher.
    points
        A list to take away, where there is one.
    most
        Where the answer is a number: the largest one that can be guessed, from 0 on.
    """

    title: str
    setup: str
    question: str
    choices: tuple[Choice, ...]
    sentence: str
    formula: tuple[str, ...]
    why: str
    source: str
    link: Link
    minutes: int
    misconceptions: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    points: tuple[str, ...] = field(default=())
    most: int | None = None

    @property
    def answer(self) -> Choice:
        """The right choice."""
        return next(choice for choice in self.choices if choice.right)

    def judged(self, guess: int) -> Choice:
        """A guessed number as a choice: how far off it is, and the reason of the nearest choice."""
        off = guess - self.answer.number
        if not off:
            return self.answer
        wrong = [choice for choice in self.choices if not choice.right]
        nearest = min(wrong, key=lambda choice: abs(choice.number - guess))
        said = f"{count(abs(off))} too {'many' if off > 0 else 'few'}. {nearest.reply}"
        return Choice(count(guess), False, said, guess)


def points(value: float) -> str:
    """A difference of shares, in percentage points.

    Examples
    --------
    >>> points(0.5), points(-0.5864), points(1e-6)
    ('50.00 points', '−58.64 points', '< 0.01 points')
    """
    if 0 < value < 5e-5:
        return "< 0.01 points"
    return f"{100 * value:.2f} points".replace("-", "−")


def order(systems: Sequence[str], means: Sequence[float]) -> str:
    """Systems from best to worst, not to be broken over two lines."""
    return ranking(systems, means).replace(" ", "\u00a0")


def nth(value: int, of: int) -> str:
    """How many of how many: ``20 of 20``."""
    return f"{count(value)} of {count(of)}"
