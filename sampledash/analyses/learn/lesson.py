"""Lessons: each has a text with placeholders, functions that compute the numbers, and a picture.

Every module in the folder ``lessons`` is a lesson; the names of the modules give the order.

The text of the lesson is in a text file beside the module. Each line is ``name: text``, and its
continuation lines are indented. ``$x`` is replaced by the number x: an integer is written with
thousands separators, any other number in percent. ``$x:points`` and ``$x:2f`` name another format.
Some lines have parts separated by `` | ``: a ``choice`` has an answer and a reply, an ``exercise``
has a task and a solution, and a ``link`` has a page, its query and a label. The line ``right``
repeats the right answer. The module defines

``numbers(variant)``, ``picture(variant, revealed, dark)``
    ``numbers`` returns a dictionary of numbers and texts for the placeholders (a tuple stands for
    several lines). Constants of the module need no entry in this dictionary: ``$rank`` stands for
    the constant ``RANK``. ``picture`` returns the Plotly figure before or after the answer is
    ``revealed``. ``variant`` is one of ``LOOKS``, or "" if the module has no ``LOOKS``.
``LOOKS``, ``OFFER``
    Both optional. ``LOOKS`` lists metrics or pictures that the user can choose once the answer is
    shown; the first entry is shown with the question. ``OFFER`` is something to try beside the
    picture: a text, values of m to choose from, and a function that returns a sentence and a link.

The Learn page, its view for a projector and the exercise sheet are made from these lessons.
"""

import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import sampledash as sd
from sampledash.analyses.learn import lessons
from sampledash.report.numbers import count, decimal, in_runs, percent, points, rounded, unbroken
from sampledash.report.sentences import ranking
from sampledash.report.templates import template
from sampledash.schemes import Scheme

PAPER = "Krichene & Rendle, KDD 2020"
LOCKED = "Answer first: then the picture can be moved."
# JavaScript by which keys change the lesson, for the dashboard and the file of all lessons.
KEYS = Path(__file__).with_name("keys.js").read_text(encoding="utf-8")
# Most lessons use the same example: N candidates, and M negatives drawn without replacement.
N, M = 10_000, 100
WITHOUT: Scheme = "without-replacement"
METRIC = "Recall@10"
# Metric in a lesson -> label of this metric in the menus of the other pages.
CHIPS = {"Recall@10": "Recall@k", "NDCG": "NDCG", "AP": "AP", "AUC": "AUC"}
Numbers = Mapping[str, str | float | tuple[str, ...]]
# Name of a format in a placeholder of a lesson, such as "points" in ``$x:points`` -> function that
# formats x. Other formats are Python's.
WRITTEN: Mapping[str, Callable[[float], str]] = {
    "points": points,
    "chance": in_runs,
    "decimal": decimal,
    "bare": lambda share: rounded(share)[1],
}


class Recommenders(NamedTuple):
    """The recommenders on MovieLens 1M whose true ranks are bundled, and their exact ``METRIC``."""

    sets: list[sd.RankSet]
    names: list[str]
    exact: list[float]
    most: int  # largest number of negatives of a user
    # The two systems that need the most negatives to be in the right order: the better one, the
    # worse one, and this number of negatives.
    settled: tuple[str, str, int]

    def visited(self, *m_values: int) -> list[int]:
        """Return numbers of negatives m for a slider, in increasing order.

        They are ``m_values``, the m from which every pair of systems is in the right order, and the
        largest possible m.
        """
        return sorted({*m_values, self.settled[-1], self.most})


@cache
def movielens() -> Recommenders:
    """Return the bundled recommenders X, Y and Z on MovieLens; the file is read only once."""
    sets = sd.example("movielens-xyz")
    exact, most = [sd.mean(METRIC, rs) for rs in sets], max(int(rs.n.max()) for rs in sets) - 1
    last = sd.right_from(METRIC, sets, scheme=WITHOUT).nlargest(1, "m").iloc[0]
    settled = last["better"], last["worse"], int(last["m"])
    return Recommenders(sets, [rs.system for rs in sets], exact, most, settled)


class Choice(NamedTuple):
    """A possible answer to a lesson's question, and the reply to a user who chooses it."""

    text: str
    right: bool
    reply: str

    @property
    def response(self) -> str:
        """The reply to a user who chooses this answer, preceded by "Yes." or "Not quite."."""
        return f"{'Yes.' if self.right else 'Not quite.'} {unbroken(self.reply)}"


class Link(NamedTuple):
    """A link to another page: the page, its settings as the query of the address, and a label."""

    page: str
    query: Mapping[str, str | list[str]]
    label: str


@dataclass(frozen=True)
class Lesson:
    """The texts of a lesson; exactly one of the ``choices`` (possible answers) is right.

    ``minutes`` (the duration), ``misconceptions`` and ``exercises`` are for the teacher; ``points``
    are the conclusions of the lesson.
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
    exercises: list[list[str]]  # [task, solution] of each exercise
    points: tuple[str, ...]

    @property
    def answer(self) -> Choice:
        """The right one of the possible answers."""
        return next(choice for choice in self.choices if choice.right)

    @property
    def lines(self) -> list[str]:
        """The formula in TeX, in short lines, because the column beside the picture is narrow."""
        return [line for step in self.formula for line in step.split(r",\qquad ")]

    def described(self, revealed: bool) -> str:
        """Return the text that a screen reader reads in place of the lesson's picture.

        ``revealed`` says whether the answer is shown.
        """
        return self.sentence if revealed else f"{self.question} Before the answer."


def names() -> list[str]:
    """Return the module names of the lessons, in order."""
    return sorted(module.name for module in pkgutil.iter_modules(lessons.__path__))


@cache
def course() -> tuple[ModuleType, ...]:
    """Return the modules of all lessons, in order."""
    return tuple(import_module(f"{lessons.__name__}.{name}") for name in names())


def looks(number: int) -> tuple[str, ...]:
    """Return the metrics or pictures offered in lesson ``number``, counted from 1."""
    return getattr(course()[number - 1], "LOOKS", ("",))


@lru_cache(maxsize=64)
def words(number: int, variant: str = "") -> Lesson:
    """Return the texts of lesson ``number``, counted from 1; they are cached for all users.

    ``variant`` is the metric or picture that the user chose.
    """
    module = course()[number - 1]
    text = Path(str(module.__file__)).with_suffix(".txt").read_text(encoding="utf-8")
    constants = {name.lower(): x for name, x in vars(module).items() if name.isupper()}
    return read(text, constants | module.numbers(variant or looks(number)[0]))


_BESIDE = ThreadPoolExecutor(max_workers=1, thread_name_prefix="learn")


@cache
def ahead(number: int) -> Future[object]:
    """Compute in another thread what the user of lesson ``number`` will need soon.

    The user will need the picture with the answer, and the texts of the next lesson. Return the
    future of the picture.
    """
    picture = course()[number - 1].picture
    drawn: Future[object] = _BESIDE.submit(picture, looks(number)[0], True, False)
    _BESIDE.submit(words, min(number + 1, len(course())))
    return drawn


def read(text: str, numbers: Mapping[str, Any]) -> Lesson:
    """Return the lesson that ``text`` describes, with its placeholders replaced by ``numbers``."""
    texts: dict[str, list[str]] = {}
    for line in re.split(r"\n(?! )", text.strip()):
        name, _, content = re.sub(r"\s*\n\s+", " ", line).partition(": ")
        several = numbers.get(content.removeprefix("$"))
        if not isinstance(several, tuple):
            put = partial(_written, numbers, name == "formula")
            several = (re.sub(r"\$(\w+)(?::(\w+))?", put, content),)
        texts.setdefault(name, []).extend(several)

    def parts(name: str) -> list[list[str]]:
        return [content.split(" | ") for content in texts[name]]

    page, query, label = parts("link")[0]
    alone = ("title", "setup", "question", "sentence", "why", "source")
    (right,), (minutes,) = texts["right"], texts["minutes"]
    return Lesson(
        **{name: texts[name][0] for name in alone},
        choices=tuple(Choice(text, text == right, why) for text, why in parts("choice")),
        formula=tuple(texts["formula"]),
        link=Link(page, parse_qs(query), label),
        minutes=int(minutes),
        misconceptions=tuple(texts["misconception"]),
        exercises=parts("exercise"),
        points=tuple(texts.get("point", ())),
    )


def _written(numbers: Mapping[str, Any], tex: bool, match: re.Match[str]) -> str:
    """Return the text that replaces a placeholder, such as ``$x`` or ``$x:points``, of a lesson.

    ``numbers`` maps names such as x to values. If ``tex``, the text is TeX.
    """
    value, form = numbers[match[1]], match[2]
    if isinstance(value, str | tuple):
        return str(value)
    if form is None:
        number = percent(value) if isinstance(value, float) else count(value)
    else:
        number = WRITTEN[form](value) if form in WRITTEN else f"{value:.{form}}"
    return re.sub(r"(?<=\d),", "{,}", number).replace(" %", r"\,\%") if tex else number


def order(systems: Sequence[str], means: Sequence[float]) -> str:
    """Return the systems from best to worst by their ``means``, as text that stays on one line."""
    return ranking(systems, means).replace(" ", "\u00a0")


def notes(lesson: Lesson) -> str:
    """Return the teacher's notes on one lesson, as Markdown."""
    return str(_for_teachers().notes(lesson, PAPER))


def sheet() -> str:
    """Return the exercise sheet of all lessons as Markdown: tasks, then solutions and notes."""
    every = [words(number) for number in range(1, len(course()) + 1)]
    return str(_for_teachers().sheet(every, PAPER))


def _for_teachers() -> Any:
    return template(Path(__file__).with_name("teachers.md.jinja")).module
