"""How a paper's paragraph is written: as plain text or as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sampledash.report.escape import one_line, tex
from sampledash.report.numbers import count, gamma, tex_count, tex_number

LONGEST = 60  # characters of a name in running text

PAPER, MOVIELENS, SOFTWARE = "krichene2020sampled", "harper2015movielens", "sampledash"
_AUTHORS: Mapping[str, str] = {
    PAPER: "(Krichene & Rendle, 2020)",
    MOVIELENS: "(Harper & Konstan, 2015)",
}


@dataclass(frozen=True)
class Style:
    """Names, numbers and citations in one of two languages.

    Attributes
    ----------
    latex
        Whether the text is LaTeX.
    """

    latex: bool

    def name(self, text: str) -> str:
        """Write what a user wrote, on one line and not too long."""
        line = one_line(text) or "(no name)"
        line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
        return tex(line).replace("…", r"\dots{}") if self.latex else line

    def share(self, value: float) -> str:
        """Write a share in percent; something small never reads as zero."""
        if 0 < abs(value) < 5e-5:
            bound = self._percent(0.01)
            return f"less than {bound}" if value > 0 else f"just below {self._percent(0)}"
        return self._percent(100 * value)

    def chance(self, value: float) -> str:
        """Write a probability; neither impossible nor certain is claimed."""
        if value < 5e-5:
            return f"less than {self._percent(0.01)}"
        return f"more than {self._percent(99.99)}" if value >= 0.99995 else self.share(value)

    def bound(self, value: float) -> str:
        """Write a round share, such as 95 %."""
        return rf"{100 * value:g}\,\%" if self.latex else f"{100 * value:g} %"

    def _percent(self, value: float) -> str:
        if not self.latex:
            return f"{value:.2f} %"
        return rf"${value:.2f}$\,\%" if value < 0 else rf"{value:.2f}\,\%"

    def symbol(self, name: str, value: float | None = None) -> str:
        """Write m, or what m is; γ takes any number."""
        letter = {"γ": r"\gamma"}.get(name, name) if self.latex else name
        if value is None:
            return f"${letter}$" if self.latex else letter
        if name == "γ":
            number = tex_number(value) if self.latex else gamma(value)
        else:
            number = tex_count(value) if self.latex else count(value)
        return f"${letter} = {number}$" if self.latex else f"{letter} = {number}"

    @property
    def software(self) -> str:
        """The citation of sampledash, where its name alone is not one."""
        return self.cite(SOFTWARE) if self.latex else ""

    def cite(self, key: str) -> str:
        """Write a citation, with the space before it."""
        return rf"~\cite{{{key}}}" if self.latex else f" {_AUTHORS[key]}"


def listed(parts: Sequence[str]) -> str:
    """Join with commas and "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def phrases(parts: Sequence[str]) -> str:
    """Join phrases; where one of them has an "and" of its own, a comma sets the last apart.

    Examples
    --------
    >>> phrases(["one by AP", "none by AUC"]), phrases(["one by AP and RR", "none by AUC"])
    ('one by AP and none by AUC', 'one by AP and RR, and none by AUC')
    """
    if len(parts) == 1 or not any(" and " in part for part in parts):
        return listed(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def all_of(number: int, noun: str) -> str:
    """Write all of some things.

    Examples
    --------
    >>> all_of(2, "pairs"), all_of(1200, "pairs")
    ('both pairs', 'all 1,200 pairs')
    """
    return f"both {noun}" if number == 2 else f"all {count(number)} {noun}"
