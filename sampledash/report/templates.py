"""Texts in files beside the modules that use them: sentences as templates, or texts by name.

The templates are for Jinja2, which comes with Streamlit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from sampledash.checks import counted
from sampledash.report import numbers

if TYPE_CHECKING:
    from jinja2 import Template

# Every way of writing a number is a filter; a span is that of a pair.
_FILTERS: dict[str, Callable[..., Any]] = {
    **{name: value for name, value in vars(numbers).items() if isinstance(value, FunctionType)},
    "counted": counted,
    "repr": repr,
    "span": lambda ends: numbers.span(*ends),
}


class Sentences:
    """The sentences of a file: a function for each macro, which gives the text on one line.

    Lines of the file may end anywhere between two words.
    """

    def __init__(self, file: Path, **names: Any) -> None:
        self._module = cache(lambda: template(file, **names).module)

    def __getattr__(self, name: str) -> Callable[..., str]:
        macro = getattr(self._module(), name)
        return lambda *facts, **more: on_one_line(macro(*facts, **more))


def on_one_line(text: str) -> str:
    """A text without its line breaks; a space that does not break stays."""
    return re.sub(r" *\n[ \n]*", " ", text.strip(" \n"))


def texts(file: Path) -> Mapping[str, str]:
    """The texts of a file by name, from blocks ``[name] text`` whose wrapped lines are indented."""
    blocks = re.split(r"\n(?=\[)", file.read_text(encoding="utf-8").strip())
    lines = (re.sub(r"\n +", " ", block.removeprefix("[")).split("] ", 1) for block in blocks)
    return {name: text for name, text in lines}


def template(file: Path, **names: Any) -> Template:
    """The template in a file, with more names than the common ones if it needs them."""
    return inline(file.read_text(encoding="utf-8"), **names)


@cache
def inline(text: str, **names: Any) -> Template:
    """The template of a text, with filters and constants. A name that is not given is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= _FILTERS | {x: value for x, value in names.items() if callable(value)}
    environment.globals |= {x: value for x, value in names.items() if not callable(value)}
    return environment.from_string(text)
