"""Texts as Jinja templates: files beside the modules that fill them in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sampledash.report.numbers import count, gamma, listed, span, tex_count, tex_number, tex_percent

if TYPE_CHECKING:
    from jinja2 import Template

_FILTERS: dict[str, Callable[..., str]] = {
    "count": count,
    "gamma": gamma,
    "listed": listed,
    "repr": repr,
    "span": lambda ends: span(*ends),
    "tex_count": tex_count,
    "tex_number": tex_number,
    "tex_percent": tex_percent,
}


@cache
def template(file: Path, **filters: Callable[..., str]) -> Template:
    """The template in a file, with more filters than the common ones if it needs them.

    A name that is not given is an error.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= _FILTERS | filters
    return environment.from_string(file.read_text(encoding="utf-8"))
