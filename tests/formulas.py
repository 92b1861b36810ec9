"""Write the formulas of the lessons as MathML, for a page without a server:
``python -m tests.formulas``. The package needs only the file, not latex2mathml."""

import json
import re

from latex2mathml.converter import convert

from sampledash.analyses.learn import html
from sampledash.analyses.learn.lesson import course, looks, words


def mathml(line):
    """Return TeX as MathML. Words are words, and the comma in 1,000 does not end the number."""
    line = re.sub(r"\d+(\{,\}\d{3})+", r"\\text{\g<0>}", line.replace(r"\mathrm", r"\text"))
    made = convert(line.replace("{,}", ","), display="block")
    # latex2mathml writes \sim as a letter, without the room of a sign between two terms.
    return made.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")


def formulas():
    """Return the MathML of every line of every lesson, by its TeX."""
    numbers = range(1, len(course()) + 1)
    every = (words(number, look) for number in numbers for look in looks(number))
    return {line: mathml(line) for lesson in every for line in lesson.lines}


if __name__ == "__main__":
    html.FORMULAS.write_text(json.dumps(formulas(), indent=0) + "\n", encoding="utf-8")
