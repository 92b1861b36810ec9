"""Corrections by their names, as the paper and the field write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.correction.recipes import Correction, CorrectionName, Rounding
from sampledash.expectation import prior_weights

_ALIASES = {
    "none": "uncorrected", "re": "rank-estimate", "ls": "least-squares", "cls": "monotone",
    "constrained-least-squares": "monotone", "bv": "bias-variance",
}  # fmt: skip


def correction(
    name: str,
    *,
    gamma: float | None = None,
    rounding: Rounding = "floor",
    nonnegative: bool = True,
    prior: ArrayLike | None = None,
) -> Correction:
    """Make a correction.

    Parameters
    ----------
    name
        ``"uncorrected"``; ``"rank-estimate"`` (eq. 20); ``"least-squares"`` or ``"LS"`` (eq. 22);
        ``"monotone"`` or ``"CLS"`` (section 5.2); ``"bias-variance"`` or ``"BV"`` (eq. 25).
    gamma
        Bias-variance only: weight of the variance, in 0..1; 0.1 unless given.
    rounding
        Rank estimate only: ``"floor"`` as in the paper, or ``"linear"`` interpolation.
    nonnegative
        Monotone only: whether values must be at least 0.
    prior
        n non-negative weights of the true ranks 1..n; ``None`` is uniform.

    Notes
    -----
    Lower γ means less bias and more variance; γ = 1/|D| weighs both as they enter the mean over
    |D| instances. γ = 0 is least squares, whose vector explodes beyond m of about 20;
    γ below 1e-16 counts as 0, and ``note`` of the fit says so where it matters.

    References
    ----------
    Krichene & Rendle, KDD 2020, section 5.

    Examples
    --------
    >>> str(correction("bias-variance", gamma=0.1))
    'BV 0.1'
    """
    plain = re.sub(r"[\s_]+", "-", str(name).strip().lower())
    known = _ALIASES.get(plain, plain)
    weights = None if prior is None else prior_weights(prior)
    return Correction(cast(CorrectionName, known), gamma, rounding, nonnegative, weights)


def parse_correction(text: str) -> Correction:
    """Read a correction from its text, the inverse of ``str``: ``"BV 0.1"``, ``"CLS"``, ``"LS"``.

    Raises
    ------
    ValueError
        If the name is unknown or γ is not a number in 0..1.
    """
    body = str(text).strip()
    if match := re.fullmatch(
        r"(?i)(?:bv|bias-variance)\s*[,:]?\s*(?:γ\s*=|gamma\s*=)?\s*(\S*)", body
    ):
        gamma = checks.written("gamma", match[1], low=0, high=1) if match[1] else None
        return correction("bias-variance", gamma=gamma)
    if re.fullmatch(r"(?i)(cls|monotone) \(any sign\)", body):
        return correction("monotone", nonnegative=False)
    if match := re.fullmatch(r"(?i)rank[ -]estimate \((linear|floor)\)", body):
        return correction("rank-estimate", rounding=cast(Rounding, match[1].lower()))
    return correction(body)


def as_correction(value: Correction | str | None) -> Correction:
    """Let public functions take a correction, its text, or None for uncorrected."""
    if value is None:
        return Correction()
    return value if isinstance(value, Correction) else parse_correction(value)


def as_corrections(values: Sequence[Correction | str]) -> list[Correction]:
    """The same for several; a single one is not taken letter by letter."""
    return [as_correction(value) for value in checks.several("corrections", values, "correction")]
