"""What the course is made of: words and a picture for each lesson."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go

from sampledash.dashboard.learn.words import Lesson

Words = Callable[[str], Lesson]
Picture = Callable[[str, bool, bool], go.Figure]


@dataclass(frozen=True)
class Entry:
    """One lesson of the course.

    Attributes
    ----------
    words
        What it says, for one of ``looks``.
    picture
        Its picture: for one of ``looks``, whether the answer is out, and whether the page is dark.
    looks
        Metrics to choose from once the answer is out, the one of the question first.
    extra
        Draws what the lesson offers beside its picture, for one of ``looks``.
    """

    words: Words
    picture: Picture
    looks: tuple[str, ...] = ()
    extra: Callable[[str], None] | None = None
