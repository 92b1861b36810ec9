"""Write all lessons as one HTML file, which needs no server and no network.

The texts and pictures are those of the dashboard. The template ``html.jinja`` arranges them, and
the script ``html.js`` shows one lesson at a time. ``python -m tests.formulas`` writes the formulas.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from sampledash.analyses import sliding
from sampledash.analyses.learn import lesson as lessons
from sampledash.report.escape import html_text
from sampledash.report.html import document
from sampledash.report.sentences import negatives
from sampledash.report.templates import template
from sampledash.types import Progress

TITLE = "Lessons on sampled metrics"
# MathML of each line of TeX in the lessons; browsers draw MathML without a library.
FORMULAS = Path(__file__).with_name("formulas.json")


def page(progress: Progress) -> str:
    """Return the HTML file with all lessons; ``progress`` is called after each lesson."""
    here, sections = Path(__file__), []
    functions: list[Any] = [offer, picture, formula, as_html, html_text, negatives]
    names = {function.__name__: function for function in functions}
    macros: Any = template(here.with_suffix(".jinja"), lessons=lessons, **names).module
    for number in range(1, len(lessons.course()) + 1):
        sections.append(macros.section(number))
        progress(number / len(lessons.course()))
    scripts = get_plotlyjs(), lessons.KEYS, here.with_suffix(".js").read_text(encoding="utf-8")
    body = macros.body(sections, lessons.sheet(), scripts)
    return document(TITLE, body, here.with_suffix(".css").read_text(encoding="utf-8"))


def picture(number: int, look: str, revealed: bool) -> str:
    """Return a lesson's picture as JSON with the keys "light", "dark" and "large".

    "light" is the whole picture. "dark" (for a dark page) and "large" (for a projector) hold only
    what differs from "light". ``look`` is the metric or picture that the reader chose.
    """

    def written(fig: Any) -> Any:
        # Round to five digits, because no screen shows a position more precisely.
        return json.loads(fig.to_json(), parse_float=lambda x: float(f"{float(x):.5g}"))

    draw = lessons.course()[number - 1].picture
    fig = draw(look, revealed, False)
    light, dark = written(fig), written(draw(look, revealed, True))
    large = changes(light, written(sliding.large(fig)))
    whole = {"light": light, "dark": changes(light, dark), "large": large}
    return json.dumps(whole, separators=(",", ":")).replace("<", "\\u003c")


def changes(old: Any, new: Any) -> Any:
    """Return the parts of ``new`` that differ from ``old``.

    Dictionaries are compared key by key, and lists of equal length index by index.
    """
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return {key: changes(old.get(key), x) for key, x in new.items() if old.get(key) != x}


def offer(number: int, look: str) -> tuple[str, dict[int, str]] | None:
    """Return a request that the reader can make in a lesson, and the answer for each m.

    An example is "Find me a counterexample for Recall@10 with m negatives", if ``look`` is
    "Recall@10". Return None if the lesson's module has no constant ``OFFER``.
    """
    if not (given := getattr(lessons.course()[number - 1], "OFFER", None)):
        return None
    ask, m_values, answer = given
    return ask.format(look=look), {m: answer(look, m)[0] for m in m_values}


@cache
def _formulas() -> dict[str, str]:
    return dict(json.loads(FORMULAS.read_text(encoding="utf-8")))


def formula(line: str) -> str:
    """Return the MathML of a line of TeX."""
    if line not in _formulas():
        raise ValueError(f"{FORMULAS.name} lacks {line}: run python -m tests.formulas")
    return _formulas()[line]


def as_html(markdown: str) -> str:
    """Return HTML of Markdown with bold and italic type, lists and paragraphs."""
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html_text(markdown))
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    text = re.sub(r"(^- .+\n?)+", lambda items: f"\n<ul>\n{items[0]}</ul>\n", text, flags=re.M)
    text = re.sub(r"^- (.+)$", r"<li>\1</li>", text, flags=re.M)
    return re.sub(r"^(?!</?ul>|<li>)(.+)$", r"<p>\1</p>", text, flags=re.M)
