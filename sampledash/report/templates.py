"""Texts in files beside the modules that use them: by name, or as templates.

The templates are for Jinja2, which comes with Streamlit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sampledash.report.numbers import count, gamma, listed, span, tex_count, tex_equals, tex_number

if TYPE_CHECKING:
    from jinja2 import Template

_FILTERS: dict[str, Callable[..., str]] = {
    "count": count,
    "gamma": gamma,
    "listed": listed,
    "repr": repr,
    "span": lambda ends: span(*ends),
    "tex_count": tex_count,
    "tex_equals": tex_equals,
    "tex_number": tex_number,
}


def texts(file: Path) -> Mapping[str, str]:
    """The texts of a file by name, from blocks ``[name] text`` whose wrapped lines are indented."""
    blocks = re.split(r"\n(?=\[)", file.read_text(encoding="utf-8").strip())
    lines = (re.sub(r"\n +", " ", block.removeprefix("[")).split("] ", 1) for block in blocks)
    return {name: text for name, text in lines}


def template(file: Path, **filters: Callable[..., str]) -> Template:
    """The template in a file, with more filters than the common ones if it needs them."""
    return inline(file.read_text(encoding="utf-8"), **filters)


@cache
def inline(text: str, **filters: Callable[..., str]) -> Template:
    """The template of a text. A name that is not given is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= _FILTERS | filters
    return environment.from_string(text)
