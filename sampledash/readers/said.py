"""What a text says of all its values at once: ``m = 100, n = 3706``."""

from __future__ import annotations

import re

from sampledash.checks import LARGEST_N
from sampledash.readers.columns import ALIASES, Role, role_of
from sampledash.readers.errors import ReadError

# What may be said of all at once -> its symbol, what it counts, the least and most it can be.
SAID: dict[Role, tuple[str, str, int, int]] = {
    "n_candidates": ("n", "candidates", 2, LARGEST_N),
    "negatives": ("m", "sampled negatives", 1, 10**18 - 1),
}
#: Their names as a pattern, the longest first.
NAMES = "|".join(
    sorted((a.replace("_", "[ _-]?") for role in SAID for a in ALIASES[role]), key=len)[::-1]
)
_WHOLE = r"-?\d{1,3}(?:[,_ ]\d{3})+|-?\d+"
_OF = r"(?:\s+(?:sampled\s+)?(?:negatives?|candidates?|items?))?"
_END = rf"{_OF}\s*(?:[,;.]|\band\b|$|(?=\s(?:{NAMES})\s*[=:]))"
_ONE = re.compile(rf"(?i)\s*({NAMES})\s*[=:]\s*({_WHOLE})\s*{_END}\s*")


def one_value(role: Role, given: list[str], where: str) -> int | None:
    """The one number given for n or m; None for none."""
    symbol, _, least, most = SAID[role]
    values = {re.sub(r"[,_ ]", "", value) for value in given}
    if not values:
        return None
    if len(values) > 1:
        raise ReadError(f"{where} gives {symbol} twice, {given[0]} and {given[1]}: keep one")
    value = values.pop()
    right = re.fullmatch("[0-9]{1,18}", value) is not None
    if not right or not least <= int(value) <= most:
        to = f" to {most:,}" if right and int(value) > most else ""
        digits = "" if value.isascii() else " with the digits 0 to 9"
        raise ReadError(
            f"{where} says {symbol} = {given[0]}: write a whole number from {least}{to}{digits}"
        )
    return int(value)


def lines_aside(text: str, where: str) -> tuple[str, int | None, int | None]:
    r"""The text with the lines that say nothing but n and m left blank, and what they say.

    Examples
    --------
    >>> lines_aside("m = 99, n = 1,000\nA 0.5", "the table")
    ('\nA 0.5', 1000, 99)
    """
    said: dict[Role, list[str]] = {role: [] for role in SAID}
    kept = []
    for line in text.splitlines():
        found = _alone(re.sub(r"[$#]|\\\\", "", line))
        for role, value in found:
            said[role].append(value)
        kept.append("" if found else line)
    n, m = (one_value(role, said[role], where) for role in SAID)
    return "\n".join(kept), n, m


def _alone(line: str) -> list[tuple[Role, str]]:
    """What a line says of n and m if it says nothing else."""
    found: list[tuple[Role, str]] = []
    while line.strip():
        part = _ONE.match(line)
        role = None if part is None else role_of(part[1])
        if part is None or role is None:
            return []
        found.append((role, part[2]))
        line = line[part.end() :]
    return found
