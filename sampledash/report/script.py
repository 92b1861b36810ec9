"""Write a Python script that prints the numbers of a page, with the public API of the package.

The templates are ``script.py.jinja`` and ``exact_script.py.jinja``.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import sampledash
from sampledash.comparison.order import EVERY
from sampledash.comparison.verdict import Pairs
from sampledash.correction import Correction
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.report.templates import template

_HERE = Path(__file__).parent


def python_script(findings: Pairs) -> str:
    """Write a Python script that prints the numbers of ``findings``.

    The script prints exact mean metrics, expected sampled means with their standard deviation over
    runs, and the verdict on each pair of systems. It reads files from the folder in which it runs.
    The names of systems cannot inject code: they occur only in ``findings.python``, quoted.
    """
    protocol = findings.protocol
    # The script gives the sampling scheme, and each other option that differs from its default.
    default = Protocol.of({"scheme": protocol.scheme})
    fields = ("odds", "fit_scheme", "ties", "weighting")
    changed = [name for name in fields if getattr(protocol, name) != getattr(default, name)]
    options = {name: getattr(protocol, name) for name in ("scheme", *changed)}
    reading = {name: options[name] for name in ("ties", "weighting") if name in options}
    return template(_HERE / "script.py.jinja").render(
        version=sampledash.__version__,
        f=findings,
        options=options,
        reading="".join(f", {name}={value!r}" for name, value in reading.items()),
        correction=_correction(protocol.correction),
        scatter=bool(np.isfinite(findings.std).all()),
        m_values=_m_values(findings),
    )


def exact_script(source: str, python: str, metrics: Sequence[Metric]) -> str:
    """Write a script that prints mean metrics, or ranges of them if some ranks are unknown."""
    facts = {"version": sampledash.__version__, "source": source, "python": python}
    return template(_HERE / "exact_script.py.jinja").render(facts, metrics=metrics)


def _correction(recipe: Correction) -> str:
    """Return a correction as a Python expression: its name, or a call if it has a prior.

    The prior holds a weight for each true rank.
    """
    if recipe.prior is None:
        return repr(str(recipe))
    more = "" if recipe.gamma is None else f"gamma={recipe.gamma!r}, "
    more += "" if recipe.nonnegative else "nonnegative=False, "
    return f"sd.correction({recipe.name!r}, {more}prior={recipe.prior.tolist()!r})"


def _m_values(findings: Pairs) -> list[str]:
    """Return the numbers of negatives m that were evaluated, as lines of code.

    Return no lines if the script would evaluate these m by default.
    """
    values, protocol = findings.orders.m_values, findings.protocol
    default = findings.every_m and (findings.m_max <= EVERY or not protocol.anew)
    if default or not (protocol.correction.by_rank or protocol.anew):
        return []
    return textwrap.wrap(", ".join(map(str, values.tolist())), 72)
