"""Sentences of the page "Correct": what a correction repairs, what it costs, and its formula."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sampledash.correction import Correction, Fit
from sampledash.report.numbers import SAME, percent
from sampledash.report.templates import Sentences, inline, template, texts

_HERE = Path(__file__).parent
TEXTS = texts(_HERE / "words.txt")


def size(value: float) -> str:
    """Format a share in percent, even one far beyond 100 %, such as ``5.8e11 %``."""
    if abs(value) < 10:
        return f"−{percent(-value)}" if value < 0 else percent(value)
    sign, value = "−" if value < 0 else "", abs(value)
    return f"{sign}{100 * value:,.0f} %" if value < 1e4 else f"{sign}{_power(100 * value)} %"


def _power(value: float) -> str:
    """Format a large number in scientific notation: ``5.8e11``."""
    return f"{value:.1e}".replace("e+0", "e").replace("e+", "e")


def root(square: float) -> str:
    """Format the square root of a squared bias or of a variance, given in squared percent."""
    value = float(np.sqrt(square))
    return _power(value) if value >= 1000 else "<0.01" if 1e-9 < value < 0.005 else f"{value:.2f}"


say = Sentences(_HERE / "words.jinja", size=size, SAME=SAME)


def risks(errors: Mapping[Correction, tuple[float, float]], instances: int) -> str:
    """Return bias and standard deviation of each corrected metric as text, for a screen reader.

    ``errors`` holds squared bias and variance for one instance; the text is about a mean over
    ``instances``.
    """
    return say.risks([(x, b**0.5, (v / instances) ** 0.5) for x, (b, v) in errors.items()])


def vector_note(fit: Fit) -> str:
    """Return sentences on a corrected metric's vector, which has a value for each sampled rank.

    They say how to use the vector, and how often its values change between falling and rising.
    """
    values, smallest = fit.values, float(fit.values.min())
    steps = np.diff(values)
    moves = np.sign(steps[np.abs(steps) > 1e-12 * np.abs(values).max()])
    return say.vector_note(fit, int(np.sum(moves[1:] != moves[:-1])), smallest)


def formula(fit: Fit, bias2: float, variance: float, *, prior: str = r"\propto 1") -> list[str]:
    """Return in TeX, with numbers, how the corrected values are computed.

    ``bias2`` is the squared bias. ``prior`` is the TeX that follows "p(r)" in the formula of the
    prior distribution of the true rank r.
    """
    facts = {"formula": inline(fit.correction.kind.tex), "prior": prior}
    text = template(_HERE / "formula.tex.jinja")
    steps = text.render(vars(fit) | facts, bias2=bias2, variance=variance)
    return [step for step in steps.splitlines() if step]


def script(fit: Fit) -> str:
    """Return a Python script that computes the corrected values of ``fit`` with this package."""
    return template(_HERE / "script.py.jinja").render(fit=fit).strip()


def function(fit: Fit) -> str:
    """Return Python code of a function that returns the corrected value of a sampled rank."""
    return (
        f"values = {fit.values.tolist()}\n"
        f"def corrected(sampled_rank):  # {fit.metric}, {fit.correction}\n"
        "    return values[sampled_rank - 1]"
    )
