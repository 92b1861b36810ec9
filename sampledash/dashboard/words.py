"""What sentences of several pages share: names of systems, their order, what to beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sampledash.estimation.estimate import OVERSHOOT
from sampledash.estimation.estimate import outside as reason
from sampledash.report import numbers
from sampledash.report.numbers import shortened
from sampledash.report.sentences import MOST_NAMED

LONGEST_NAME = 24


def escaped(text: str) -> str:
    """Text of a user for Markdown: shown as it is, also what looks like an address."""
    text = text.replace("://", ":\u2060//").replace("www.", "www\u2060.")
    for sign in "\\`*_{}[]<>#|~$:":
        text = text.replace(sign, "\\" + sign)
    return text


def system_name(name: str) -> str:
    """A system's name in a sentence: short, and as it is."""
    return escaped(short_name(name))


def short_name(name: str) -> str:
    """The same as text that is not Markdown."""
    return shortened(name, LONGEST_NAME)


def plain(name: str, longest: int = 24) -> str:
    """A system's name as text for a picture: Plotly would read tags in it."""
    short = shortened(name, longest)
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unbroken(text: str) -> str:
    """The same text, with no number torn from its percent or equals sign."""
    return text.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")


def outside(values: Mapping[str, Sequence[float]], method: str = "") -> list[str]:
    """Why estimates lie outside 0 to 100 %, in a sentence; none where they do not.

    ``values`` by the name of their system, then with ``method``, or of their estimator.

    Examples
    --------
    >>> outside({"A": [-0.06], "B": [0.1]}, "BV")
    ['A by BV is outside 0 to 100 %, as no metric is: entries of a corrected vector lie outside 0 \
to 100 % where that lessens its bias, and then so may their mean.']
    """
    found = [name for name, some in values.items() if any(map(reason, some))]
    if not found:
        return []
    by, verb = f" by {method}" if method else "", "is" if len(found) == 1 else "are"
    return [f"{listed(found)}{by} {verb} outside 0 to 100 %, as no metric is: {OVERSHOOT}."]


def listed(names: Sequence[str]) -> str:
    """A few names in a sentence, three at most."""
    return numbers.listed([*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])])
