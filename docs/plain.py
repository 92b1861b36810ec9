"""Turn the docstrings of sampledash into Markdown, and formulas into MathML, which needs no script.

MkDocs loads this file as a hook, griffe as an extension.
"""

import html
import re
from textwrap import indent
from typing import Any

import griffe
from latex2mathml.converter import convert

_ROLE = re.compile(r":(?:class|func|meth|attr|data|mod):`~?([^`]+)`")
_FORMULA = re.compile(r"^( *)\.\. math::((?:.*\n?)(?:(?:\1 +.*)?\n)*)", re.M)

_RETURNED = re.compile(
    r"^((?:Returns|Yields)\n-+\n)((?:(?!\n {4}).)+?)(?=\n\n[A-Z]\w+\n---|\Z)", re.M | re.S
)


def _block(match: re.Match[str]) -> str:
    indent, body = match.groups()
    return f"{indent}$$\n{indent}{' '.join(body.split())}\n{indent}$$\n\n"


def markdown(text: str) -> str:
    """Return a docstring with roles and formulas as Markdown has them."""
    # A colon stands for the type of the annotation; else the description would be read as a type.
    text = _RETURNED.sub(lambda match: f"{match[1]}:\n{indent(match[2], '    ')}", text)
    text = re.sub(r":math:`([^`]+)`", r"$\1$", _FORMULA.sub(_block, text))
    return _ROLE.sub(lambda match: f"`{match[1].rpartition('.')[2]}`", text)


class Roles(griffe.Extension):
    """Rewrite each docstring before griffe parses it."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def on_page_content(written: str, **_: Any) -> str:
    r"""Replace \(…\) and \[…\], which arithmatex marks, by MathML."""
    for tag, shown in (("span", "inline"), ("div", "block")):
        pattern = rf'<{tag} class="arithmatex">\\[(\[](.*?)\\[)\]]</{tag}>'
        written = re.sub(
            pattern,
            lambda match, shown=shown: convert(html.unescape(match[1]), display=shown),
            written,
            flags=re.S,
        )
    return written
