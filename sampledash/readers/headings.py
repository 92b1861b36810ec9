"""Names as a printed table has them: of its metrics, and of lines that are no systems."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sampledash.metrics import Metric, parse_metric

_ARROWS = re.compile(r"\(\s*[↑↓⬆⬇]\s*\)|[↑↓⬆⬇]\ufe0f?")
_PERCENT = re.compile(r"(?i)\s*[(\[]\s*(?:in\s+)?(?:%|percent)\s*[)\]]")
_AT = re.compile(r"\s*@\s*")
_SHORT = {"h": "HR", "n": "NDCG"}  # with a cutoff
_NO_SIGN = re.compile(r"([A-Za-z]{2,})(\d+)")  # HR10
_LONGEST = 4  # words of a name: mean average precision 10
# "Improv.", "Rel. Imp. (%)", "Gain over SASRec", "Δ", "p-value": what is computed from the others.
_COMPARED = re.compile(
    r"""(?ix) [%\s(]*
    (?: (?:rel|abs|avg|relative|absolute|average|max|min|maximum|minimum|overall)\b\.?\s* )* %?\s*
    (?: (?: improv(?:e|e?ments?)? | impr? | gains? | delta )\b \.? \s*
        (?: [^a-z]* | (?:over|vs|versus|to|w\.?r\.?t|against|of|on|above|from)\b.* )
      | [Δ∆] .*
      | p [\s-]? val(?:ues?)?\b .* | t-?test\b .* | sig\.
      | (?:statistical\s+)? significance\b .* )"""
)


@dataclass(frozen=True)
class Heading:
    """The name of a column.

    Attributes
    ----------
    printed, name
        As it is printed, and a name of the metric that is known elsewhere too.
    metric
        What it means; None for no metric.
    percent
        Whether the name says that the values are in percent.
    """

    printed: str
    name: str
    metric: Metric | None
    percent: bool = False


def heading(printed: str) -> Heading:
    """What the name of a column means.

    Examples
    --------
    >>> [heading(name).name for name in ("HR@1 ↑", "N@10", "hr10", "Hit Ratio @ 5 (%)")]
    ['HR@1', 'NDCG@10', 'hr@10', 'Hit Ratio@5']
    """
    plain = _AT.sub("@", _ARROWS.sub(" ", printed)).strip()
    name, signs = _PERCENT.subn("", plain)
    names = [name.strip()]
    short, _, cutoff = names[0].partition("@")
    if cutoff and short.lower() in _SHORT:
        names.append(f"{_SHORT[short.lower()]}@{cutoff}")
    if without := _NO_SIGN.fullmatch(names[0]):
        names.append(f"{without[1]}@{without[2]}")
    for known in names:
        try:
            return Heading(plain, known, parse_metric(known), bool(signs))
        except ValueError:
            continue
    return Heading(plain, plain, None)


def headings_of_words(line: str) -> list[Heading]:
    """Names parted by spaces, the first that of the systems: those of metrics may be of several.

    Examples
    --------
    >>> [each.name for each in headings_of_words("Method Hit Ratio@5 NDCG @ 5 (%) F1@5 MRR")]
    ['Method', 'Hit Ratio@5', 'NDCG@5', 'F1@5', 'MRR']
    """
    words = _PERCENT.sub("(%)", _AT.sub("@", _ARROWS.sub(" ", line))).split()
    found, place = [], 0
    while place < len(words):
        parts = [" ".join(words[place : place + size]) for size in range(_LONGEST, 0, -1)]
        tried = [heading(part) for part in parts]
        sizes = [i for i, each in enumerate(tried) if each.metric is not None]
        taken = sizes[0] if sizes else _LONGEST - 1
        found.append(tried[taken])
        place += _LONGEST - taken
    return systems_first(found)


def systems_first(found: list[Heading]) -> list[Heading]:
    """With one name for all that stands before the first metric."""
    before = next((i for i, each in enumerate(found) if each.metric is not None), 1)
    name = " ".join(each.printed for each in found[:before])
    return [Heading(name, name, None), *found[before:]]


def compares(name: str) -> bool:
    """Whether a line of this name compares systems and is none itself.

    Examples
    --------
    >>> [compares(name) for name in ("%Improv.", "Rel. Imp.", "Gain vs. BPR", "Δ", "GainRec")]
    [True, True, True, True, False]
    """
    return _COMPARED.fullmatch(name.strip()) is not None
