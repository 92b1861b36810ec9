"""Rows of a table as it was typeset, without the commands of LaTeX."""

from __future__ import annotations

import re

_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_OPTION = r"(?:\[[^]]*\])?"
_ENDS = re.compile(rf"\\\\{_OPTION}")  # of a row
_COMMENT = re.compile(r"(?<!\\)%.*")
# Commands that leave nothing, with what belongs to them.
_NOTHING = re.compile(
    rf"\\(?:begin|end)\{{[^}}]*\}}{_OPTION}(?:{_GROUP})*"
    rf"|\\(?:caption|label|cite\w*|ref|footnote\w*|rowcolor|cellcolor|vspace|hspace|cline|cmidrule"
    rf"|setlength|renewcommand|resizebox|scalebox|color)\*?{_OPTION}(?:\([^)]*\))?(?:\s*{_GROUP})*"
)
_ACROSS = re.compile(rf"\\multicolumn\s*\{{(\d+)\}}\s*{_GROUP}\s*({_GROUP})")
_DOWN = re.compile(rf"\\multirow\s*{_OPTION}{_GROUP}\s*{_GROUP}\s*({_GROUP})")
_NAMED = re.compile(r"\\(?!pm\b)[a-zA-Z]+\*?")
_SIGNS = {
    r"\%": "%", r"\_": "_", r"\#": "#", r"\$": "", "~": " ", r"\,": " ", r"\ ": " ",
    r"\Delta": "Δ",
}  # fmt: skip
_AND = "\uff06"  # stands for an ampersand that parts no cells


def typeset_rows(text: str) -> list[tuple[int, str]]:
    r"""Rows of a pasted table, each with the line it begins on.

    With ``\\`` in the text a row ends there, else with its line.

    Examples
    --------
    >>> typeset_rows("\\begin{tabular}{lc}\nModel & HR@10 \\\\ \\hline\n\\textbf{BPR} & 0.5\\\\")
    [(2, 'Model & HR@10'), (3, 'BPR & 0.5')]
    """
    found: list[tuple[int, str]] = []
    latex, begun, held = _ENDS.search(text) is not None, 0, ""
    for place, line in enumerate(text.splitlines(), start=1):
        if not latex:
            found.append((place, _plain(line)))
            continue
        *done, rest = _ENDS.split(_COMMENT.sub("", line))
        for part in [*done, None]:
            more = _plain(rest if part is None else part)
            if more.strip() and not held.strip():
                begun = place
            held = f"{held} {more}".strip()
            if part is not None:
                found.append((begun, held))
                held = ""
    return [row for row in [*found, (begun, held)] if row[1].strip(" ")]


def _plain(line: str) -> str:
    """A piece of a line as it is read."""
    line = _NOTHING.sub(" ", line)
    line = _ACROSS.sub(lambda found: found[2] + " &" * (int(found[1]) - 1), line)
    line = _DOWN.sub(r"\1", line)
    line = line.replace(r"\&", _AND)
    for sign, plain in _SIGNS.items():
        line = line.replace(sign, plain)
    plain = re.sub(r"[${}]", "", _NAMED.sub("", line)).replace(_AND, "and")
    return re.sub(r" +(?=[&|])", " ", plain).strip(" ")
