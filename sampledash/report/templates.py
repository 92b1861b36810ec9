"""Load templates of sentences, and named texts, from files beside the modules that use them.

The templates are written for Jinja2, which is installed with Streamlit.
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

# Filters for templates: each function in the module ``numbers`` is a filter with the function's
# name, but the filter ``span`` takes a pair (low, high).
_FILTERS: dict[str, Callable[..., Any]] = {
    **{name: value for name, value in vars(numbers).items() if isinstance(value, FunctionType)},
    "counted": counted,
    "repr": repr,
    "span": lambda ends: numbers.span(*ends),
}


class Sentences:
    """The sentences of a template file: one method per macro, which returns text on one line.

    The lines of the file may be broken between any two words: a line break becomes a space.
    """

    def __init__(self, file: Path, **names: Any) -> None:
        self._module = cache(lambda: template(file, **names).module)

    def __getattr__(self, name: str) -> Callable[..., str]:
        return lambda *facts, **more: on_one_line(getattr(self._module(), name)(*facts, **more))


def on_one_line(text: str) -> str:
    """Return text without line breaks; non-breaking spaces are not removed."""
    return re.sub(r" *\n[ \n]*", " ", text.strip(" \n"))


def texts(file: Path) -> Mapping[str, str]:
    """Return the texts in a file by name: ``[name]`` begins a text, further lines are indented."""
    blocks = re.split(r"\n(?=\[)", file.read_text(encoding="utf-8").strip())
    lines = (re.sub(r"\n +", " ", block.removeprefix("[")).split("] ", 1) for block in blocks)
    return {name: text for name, text in lines}


def template(file: Path, **names: Any) -> Template:
    """Return the template in a file; ``names`` are further filters and constants it may use."""
    return inline(file.read_text(encoding="utf-8"), **names)


@cache
def inline(text: str, **names: Any) -> Template:
    """Return the template ``text``, in which ``names`` are filters and constants.

    A name in the template that is not defined raises an error.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= _FILTERS | {x: value for x, value in names.items() if callable(value)}
    environment.globals |= {x: value for x, value in names.items() if not callable(value)}
    return environment.from_string(text)
