"""The script that prints what the page shows, with the public API alone."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

import sampledash
from sampledash.comparison.order import EVERY
from sampledash.comparison.verdict import Pairs
from sampledash.correction import Correction
from sampledash.metrics import Metric
from sampledash.protocol import Protocol


def python_script(findings: Pairs) -> str:
    """Write a Python script that prints the numbers of these findings.

    Exact means, expected sampled means with their standard deviation in one run, and the verdict. A
    file is read from the folder that the script is run in. Names of systems reach the script within
    ``findings.python`` only, where they are quoted.
    """
    protocol = findings.protocol
    scatter = bool(np.isfinite(findings.std).all())
    lines = [
        f"# Sampled against exact metrics, for sampledash {sampledash.__version__}.",
        f"# Ranks: {findings.source!r}",
        *(f"# {x.system!r} was made from {x.provenance!r}" for x in findings.sets if x.provenance),
        "import sampledash as sd",
        "",
        f"sets = {findings.python}",
        f"metrics = {[str(metric) for metric in findings.metrics]!r}",
        f"m = {findings.m}  # sampled negatives",
        f"options = {_options(protocol)!r}",
        f"correction = {_correction(protocol.correction)}",
        "how = {**options, 'correction': correction}",
        "",
        "for metric in metrics:",
        "    print(metric)",
        "    for ranks in sets:",
        f"        exact = sd.mean(metric, ranks{_reading(protocol)})",
        "        sampled = sd.expected_mean(metric, ranks, m, **how)",
        *(["        std = sd.std_of_mean(metric, ranks, m, **how)"] if scatter else []),
        '        print(f"  {ranks.system!r}: exact {exact:.2%},", end=" ")',
        '        print(f"sampled {sampled:.2%}' + (' +- {std:.2%}")' if scatter else '")'),
        "",
        "# exact and sampled are differences, better - worse;",
        "# probability is the chance that one run shows the true order.",
        *_verdict(findings),
        "print(verdict.to_string(index=False))",
    ]
    return "\n".join(lines) + "\n"


def exact_script(source: str, python: str, metrics: Sequence[Metric]) -> str:
    """Write a script that prints the exact means of lists that end early, or their ranges."""
    lines = [
        f"# Exact metrics of lists that end early, for sampledash {sampledash.__version__}.",
        f"# Ranks: {source!r}",
        "import sampledash as sd",
        "",
        f"sets = {python}",
        f"for metric in {[str(metric) for metric in metrics]!r}:",
        "    print(metric)",
        "    for ranks in sets:",
        "        low, high = sd.mean_range(metric, ranks)  # equal where the metric is exact",
        '        print(f"  {ranks.system!r}: {low:.2%}" + (f" to {high:.2%}" * (low < high)))',
    ]
    return "\n".join(lines) + "\n"


def _options(protocol: Protocol) -> dict[str, Any]:
    """The scheme, and what is not the default."""
    default = Protocol.of({"scheme": protocol.scheme})
    fields = ("odds", "fit_scheme", "ties", "weighting")
    told = [name for name in fields if getattr(protocol, name) != getattr(default, name)]
    return {name: getattr(protocol, name) for name in ("scheme", *told)}


def _reading(protocol: Protocol) -> str:
    """Arguments of the exact mean: how ties are read and what instances weigh."""
    return "".join(
        f", {name}={value!r}"
        for name, value in _options(protocol).items()
        if name in ("ties", "weighting")
    )


def _correction(recipe: Correction) -> str:
    """Expression that gives the correction: its text, or with its prior."""
    if recipe.prior is None:
        return repr(str(recipe))
    more = "" if recipe.gamma is None else f"gamma={recipe.gamma!r}, "
    more += "" if recipe.nonnegative else "nonnegative=False, "
    return f"sd.correction({recipe.name!r}, {more}prior={recipe.prior.tolist()!r})"


def _verdict(findings: Pairs) -> list[str]:
    """The call of sampledash.verdict, on one line where there is room."""
    given = f"metrics, sets, m, [correction], m_max={findings.m_max}"
    ladder = _ladder(findings)
    if not ladder:
        return [f"verdict = sd.verdict({given}, **options)"]
    return ["verdict = sd.verdict(", f"    {given},", *ladder, "    **options,", ")"]


def _ladder(findings: Pairs) -> list[str]:
    """Argument for the values of m that were evaluated, where they are not the default."""
    values, name = findings.orders.m_values, findings.protocol.correction.name
    default = findings.every_m and (findings.m_max <= EVERY or name == "rank-estimate")
    if default or name == "uncorrected":
        return []
    runs = np.split(values, np.flatnonzero(np.diff(values) > 1) + 1)
    parts = []
    for run in runs:
        if len(run) > 2:
            parts.append(f"*range({run[0]},\xa0{run[-1] + 1})")  # not to be broken
        else:
            parts += [str(m) for m in run]
    lines = textwrap.wrap(", ".join(parts), 72, break_on_hyphens=False)
    body = [f"        {line}".replace("\xa0", " ") for line in lines]
    return ["    m_values=[", *body, "    ],"]
