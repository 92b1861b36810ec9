"""For the teacher: timing, misconceptions and an exercise sheet, made from the lessons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sampledash.dashboard.learn.words import PAPER, Lesson


def timetable(lessons: Sequence[Lesson]) -> str:
    """The course in one line of time.

    Examples
    --------
    >>> timetable([])
    '0 lessons, 0 minutes.'
    """
    return f"{len(lessons)} lessons, {sum(one.minutes for one in lessons)} minutes."


def notes(lesson: Lesson) -> str:
    """What to do with one lesson in class, as Markdown."""
    heard = "\n".join(f"- {said}" for said in lesson.misconceptions)
    tasks = "\n".join(f"- {one.task} *{one.solution}*" for one in lesson.exercises)
    return (
        f"**{lesson.minutes} minutes.** Read the question aloud, let the class vote by hand, "
        "choose the answer with most votes, then move the slider before you explain.\n\n"
        f"**Expect to hear**\n{heard}\n\n**Exercises**, with solutions\n{tasks}\n\n"
        f"*{PAPER}: {lesson.source}.*"
    )


def sheet(lessons: Sequence[Lesson]) -> str:
    """Exercise sheet and teacher's notes as Markdown: tasks first, solutions after them."""
    tasks = ["# Sampled metrics: exercises", "", f"After {PAPER}. {timetable(lessons)}", ""]
    keys = ["# Solutions and notes for the teacher", ""]
    for place, lesson in enumerate(lessons, 1):
        # The title would tell the answer: it waits for the solutions.
        tasks += [f"## {place}. {lesson.question} ({lesson.minutes} minutes)", ""]
        tasks += [_plain(lesson.setup), ""]
        tasks += [f"- [ ] {choice.text}" for choice in lesson.choices]
        tasks += [""]
        tasks += [f"{place}.{i} {one.task}\n" for i, one in enumerate(lesson.exercises, 1)]
        keys += [f"## {place}. {lesson.title}", ""]
        keys += [f"**{lesson.answer.text}.** {lesson.answer.reply}", "", lesson.sentence, ""]
        keys += [f"$$ {step} $$" for step in lesson.formula]
        keys += [""]
        keys += [f"- {said}" for said in lesson.misconceptions]
        keys += [""]
        keys += [f"{place}.{i} {one.solution}\n" for i, one in enumerate(lesson.exercises, 1)]
        keys += [f"Source: {lesson.source}.", ""]
    return "\n".join([*tasks, "---", "", *keys])


def _plain(text: str) -> str:
    return re.sub(r":material/\w+:", "", text).strip()
