"""Corrections as data: how to read a metric off a sampled rank (section 5 of the paper)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks, least_squares, spectral
from sampledash.expectation import prior_weights, resize_prior
from sampledash.metrics import Metric, as_metric
from sampledash.sampling import Sampling, mean_and_variance, moments, require_sampling
from sampledash.types import Floats

CorrectionName = Literal[
    "uncorrected", "rank-estimate", "least-squares", "monotone", "bias-variance"
]
Rounding = Literal["floor", "linear"]

_ALIASES = {
    "none": "uncorrected",
    "re": "rank-estimate",
    "ls": "least-squares",
    "cls": "monotone",
    "constrained-least-squares": "monotone",
    "bv": "bias-variance",
}


@dataclass(frozen=True, eq=False)
class Correction:
    """A recipe that turns a metric and a sampling into a vector over the sampled rank.

    Make one with :func:`correction`; ``str`` gives its name in the paper and
    :func:`parse_correction` reads it back (a prior does not travel in the name).

    Attributes
    ----------
    name
        ``"uncorrected" "rank-estimate" "least-squares" "monotone" "bias-variance"``.
    gamma
        Weight γ of the variance in eq. 24; bias-variance only.
    rounding
        How the rank estimate, a fraction, is read: ``"floor"`` or ``"linear"`` interpolation.
    nonnegative
        Whether the monotone vector must also be at least 0, as in the paper's tables.
    prior
        Weights of the ranks 1..n (read-only), or ``None`` for uniform.

    Notes
    -----
    Relevant items are ranked among fewer candidates where there are several of them, or where
    instances have their own n: there rank r of n stands for the part (r-1)/n..r/n of the list, and
    its weight is spread over that part evenly (:func:`~sampledash.expectation.resize_prior`).
    """

    name: CorrectionName = "uncorrected"
    gamma: float | None = None
    rounding: Rounding = "floor"
    nonnegative: bool = True
    prior: Floats | None = None

    def __post_init__(self) -> None:
        checks.choice("correction", self.name, get_args(CorrectionName))
        checks.choice("rounding", self.rounding, get_args(Rounding))
        if self.name == "bias-variance":
            gamma = 0.1 if self.gamma is None else self.gamma
            object.__setattr__(self, "gamma", checks.real("gamma", gamma, low=0, high=1))
        elif self.gamma is not None:
            raise ValueError(f"gamma = {self.gamma} applies to 'bias-variance', not {self.name!r}")
        if self.rounding != "floor" and self.name != "rank-estimate":
            raise ValueError(f"rounding applies to 'rank-estimate', not {self.name!r}")
        if not checks.flag("nonnegative", self.nonnegative) and self.name != "monotone":
            raise ValueError(f"nonnegative applies to 'monotone', not {self.name!r}")
        if self.prior is not None:
            if self.name in ("uncorrected", "rank-estimate"):
                raise ValueError(f"prior has no effect on {self.name!r}: leave it out")
            prior = prior_weights(self.prior)
            prior.setflags(write=False)
            object.__setattr__(self, "prior", prior)

    @property
    def _key(self) -> tuple[object, ...]:
        prior = None if self.prior is None else self.prior.tobytes()
        return self.name, self.gamma, self.rounding, self.nonnegative, prior

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Correction) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        prior = "" if self.prior is None else " (own prior)"
        if self.name == "bias-variance":
            return f"BV {checks.exact(self.gamma or 0.0)}{prior}"
        if self.name == "monotone":
            return ("CLS" if self.nonnegative else "CLS (any sign)") + prior
        if self.name == "rank-estimate":
            return "rank estimate" + (" (linear)" if self.rounding == "linear" else "")
        return ("LS" if self.name == "least-squares" else self.name) + prior

    @property
    def by_rank(self) -> bool:
        """Whether it needs the law of the sampled rank given the true rank."""
        return self.name != "uncorrected"

    def fit(self, metric: Metric | str, sampling: Sampling) -> Fit:
        """Compute the vector for a metric and a sampling.

        Raises
        ------
        ValueError
            If the prior does not have n weights or leaves a sampled rank impossible.
        """
        metric = as_metric(metric)
        require_sampling(sampling)
        if self.prior is not None:
            prior_weights(self.prior, sampling.n)  # of these ranks
        values, note = vector(self, metric, sampling, 1)
        return Fit(self, metric, sampling, _read_only(values * metric.scale(1)), note)


@dataclass(frozen=True, eq=False)
class Fit:
    """A corrected metric: one value for each sampled rank.

    Attributes
    ----------
    values
        Shape (m + 1,), read-only: ``values[t - 1]`` is reported when the sampled rank is t.
    note
        What to beware of, or ``None``.
    """

    correction: Correction
    metric: Metric
    sampling: Sampling
    values: Floats
    note: str | None = None

    def __call__(self, sampled_rank: ArrayLike) -> Floats:
        """Corrected metric of each sampled rank, integers in 1..m+1; any shape."""
        t = checks.integers("sampled_rank", sampled_rank, low=1, high=self.sampling.m + 1)
        return np.asarray(self.values[t - 1])

    def expected(self, rank: ArrayLike) -> Floats:
        """Expected corrected metric at each true rank; the shape of ``rank``."""
        return mean_and_variance(self.values, self.sampling, *self.sampling.weights(rank))[0]

    def variance(self, rank: ArrayLike) -> Floats:
        """Variance over the draw of negatives at each true rank; the shape of ``rank``."""
        return mean_and_variance(self.values, self.sampling, *self.sampling.weights(rank))[1]

    def risk(self, prior: ArrayLike | None = None) -> tuple[float, float]:
        """Squared bias and variance of one draw, averaged over the prior (the terms of eq. 24).

        ``prior``: weights of the ranks 1..n to average over, in place of the correction's own.

        The mean over |D| instances has variance / |D|, but the bias stays. Both are averages over
        *all* ranks: a good system has its ranks at the top, where the bias is largest.
        """
        own = self.correction.prior if prior is None else prior
        weights = None if own is None else prior_weights(own, self.sampling.n)
        at = least_squares.nodes(self.metric, self.sampling, 1, weights)
        target = at.target * self.metric.scale(1)
        bias2 = variance = 0.0
        for rows, p in at.grid.laws():
            mean, spread = moments(p, self.values)
            bias2 += float(at.grid.weights[rows] @ (mean - target[rows]) ** 2)
            variance += float(at.grid.weights[rows] @ spread)
        return bias2, variance


@lru_cache(maxsize=1024)
def vector(
    recipe: Correction, metric: Metric, sampling: Sampling, position: int
) -> tuple[Floats, str | None]:
    """Read-only vector (m + 1,) before ``metric.scale``, and a note on what to beware of.

    ``position`` j is that of a relevant item among several: its count above takes the part of
    the rank, in a population without the other relevant items. A prior for lists of another
    length is fitted to these.
    """
    values, note = _vector(recipe, metric, sampling, position)
    return _read_only(values), note


def _vector(
    recipe: Correction, metric: Metric, sampling: Sampling, position: int
) -> tuple[Floats, str | None]:
    n, m, gamma = sampling.n, sampling.m, recipe.gamma or 0.0
    if recipe.name == "rank-estimate":
        # eq. 20 in integers: the float form lands below the integer for some ranks.
        whole, part = divmod(n - 1, m)
        above, rest = np.divmod(part * np.arange(m + 1), m)  # (n - 1) t might be too large
        above += whole * np.arange(m + 1)
        low = metric.of_above(above, n - 1, position)
        if recipe.rounding == "floor":
            return low, None
        high = metric.of_above(np.minimum(above + 1, n - 1), n - 1, position)
        return low + (high - low) * rest / m, None
    prior = None if recipe.prior is None else resize_prior(recipe.prior, n)
    distinct = prior is None and sampling.design.distinct
    # Sampled AUC is unbiased (section 4.4.1): it attains the minimum, 0, of eq. 21.
    unbiased = metric.linear and not sampling.design.weighted and not gamma
    if recipe.name == "uncorrected" or unbiased or (distinct and m == n - 1):  # all are drawn
        return metric.of_above(np.arange(m + 1), m, position), None
    gamma = gamma if gamma >= least_squares.SMALLEST_GAMMA else 0.0
    cutoff = least_squares.SINGULAR_CUTOFF
    by_degree = prior is None and n <= spectral.LARGEST and not sampling.design.weighted
    if by_degree and recipe.name == "monotone":
        columns, target = spectral.cumulative(metric, sampling, position)
        return least_squares.non_increasing(columns, target, recipe.nonnegative), None
    if by_degree and distinct:
        values, kept = spectral.filtered(metric, sampling, position, gamma, cutoff)
    elif by_degree and not gamma:
        values, kept = spectral.minimum_norm(metric, sampling, position, cutoff)
    else:
        steps = recipe.name == "monotone"  # no small singular value is divided by
        at = least_squares.nodes(metric, sampling, position, prior, 1.0 if steps else gamma)
        if prior is not None:
            least_squares.require_reachable(at.grid)
        if recipe.name == "monotone":
            return least_squares.monotone(at, recipe.nonnegative), None
        if gamma:
            return least_squares.bias_variance(at, gamma), None
        values, kept = least_squares.minimum_norm(at)
    largest = float(np.abs(values).max())
    if gamma or (kept == m + 1 and largest < 100):
        return values, None
    zero = f"γ = {recipe.gamma:g} counts as 0 and" if recipe.gamma else "γ = 0"
    return values, (
        f"{zero} is ill-conditioned here: {kept} of {m + 1} directions can be resolved, the "
        f"largest entry is {largest:.3g}, and one instance can be off by as much"
    )


def _read_only(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


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
    plain = re.sub(r"[\s_]+", "-", checks.text("correction", name).strip().lower())
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
    body = checks.text("correction", text).strip()
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
