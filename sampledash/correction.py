"""Corrections: which value to report for each sampled rank (Krichene & Rendle 2020, section 5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks, least_squares, spectral
from sampledash.expectation import prior_weights, resize_prior
from sampledash.metrics import Metric, as_metric
from sampledash.rows import Live
from sampledash.sampling import Sampling, check_metric, mean_and_variance, moments, require_sampling
from sampledash.types import Floats, frozen

CorrectionName = Literal[
    "uncorrected", "rank-estimate", "least-squares", "monotone", "bias-variance"
]
Rounding = Literal["floor", "linear"]

#: The corrected value of each sampled rank, shape (m + 1,), and a warning or None.
Solution = tuple[Floats, str | None]


UNCORRECTED = "uncorrected"


@dataclass(frozen=True)
class Kind:
    """Properties of a kind of correction: a row of :data:`CORRECTIONS`."""

    label: str  # name on the pages, in tables and in text
    #: Name of the correction in the paragraph that users copy into their paper.
    paper: str
    #: Function that returns the corrected values for the relevant item at a position (1 is the
    #: best-ranked relevant item). They are not yet multiplied by the factor ``metric.scale``.
    solve: Callable[[Correction, Metric, Sampling, int], Solution]
    tex: str  # formula in TeX: a Jinja2 template, which uses the macros of formula.tex.jinja
    aliases: tuple[str, ...] = ()
    #: Whether the corrected values depend on more than the metric and m, for example on n.
    by_rank: bool = True
    #: Whether the corrected values minimise an error averaged over all true ranks under a prior.
    #: Such values have to be computed anew for each m, which is slow.
    fitted: bool = False
    #: Whether the correction has the parameter γ, the weight of variance against bias.
    weighs: bool = False
    slow: bool = False  # whether the fit takes minutes if m is more than a few thousand
    usable: bool = True  # False if corrected values become huge when m is more than about 20
    # Colour and line style of the correction's curve in pictures.
    color: str = "muted"
    dash: str = "solid"


@dataclass(frozen=True, eq=False)
class Correction:
    """A correction: a rule for the value to report at each sampled rank, for any metric.

    Make a correction with :func:`correction`. ``str`` returns a text such as "BV 0.1", which means
    bias-variance with γ = 0.1. If there is no prior, :func:`parse_correction` reads this text.

    Attributes
    ----------
    name
        One of ``"uncorrected" "rank-estimate" "least-squares" "monotone" "bias-variance"``.
    gamma
        Weight γ of the variance in eq. 24 of Krichene & Rendle (2020); bias-variance only.
    rounding
        Value at a fractional rank estimate: ``"floor"``, or ``"linear"`` interpolation.
    nonnegative
        Monotone only: whether values must be at least 0, as in the tables of that paper.
    prior
        Weights of the true ranks 1..n (read-only). If None, the prior is uniform.

    Notes
    -----
    If a candidate list does not have n items, the prior is resized. Rank r of the prior then stands
    for the part (r-1)/n..r/n of the list, and the weight of rank r is spread evenly over this part
    (:func:`~sampledash.expectation.resize_prior`).
    """

    name: CorrectionName = "uncorrected"
    gamma: float | None = None
    rounding: Rounding = "floor"
    nonnegative: bool = True
    prior: Floats | None = None

    def __post_init__(self) -> None:
        checks.choice("correction", self.name, CORRECTIONS)
        checks.choice("rounding", self.rounding, get_args(Rounding))
        if self.kind.weighs:
            gamma = 0.1 if self.gamma is None else self.gamma
            object.__setattr__(self, "gamma", checks.real("gamma", gamma, low=0, high=1))
        elif self.gamma is not None:
            names = " or ".join(repr(name) for name, row in CORRECTIONS.items() if row.weighs)
            raise ValueError(f"gamma = {self.gamma} applies to {names}, not {self.name!r}")
        if self.rounding != "floor" and self.name != "rank-estimate":
            raise ValueError(f"rounding applies to 'rank-estimate', not {self.name!r}")
        if not checks.flag("nonnegative", self.nonnegative) and self.name != "monotone":
            raise ValueError(f"nonnegative applies to 'monotone', not {self.name!r}")
        if self.prior is not None:
            if not self.kind.fitted:
                raise ValueError(f"prior has no effect on {self.name!r}: leave it out")
            object.__setattr__(self, "prior", frozen(prior_weights(self.prior)))

    @property
    def _key(self) -> tuple[object, ...]:
        prior = None if self.prior is None else self.prior.tobytes()
        return self.name, self.gamma, self.rounding, self.nonnegative, prior

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Correction) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        text = self.kind.label + ("" if self.gamma is None else f" {checks.exact(self.gamma)}")
        text += " (any sign)" * (not self.nonnegative) + " (linear)" * (self.rounding == "linear")
        return text + " (own prior)" * (self.prior is not None)

    @property
    def kind(self) -> Kind:
        """Properties of this kind of correction."""
        return CORRECTIONS[self.name]

    @property
    def by_rank(self) -> bool:
        """Whether the corrected values depend on more than the metric and m, for example on n."""
        return self.kind.by_rank

    @property
    def usable(self) -> bool:
        """False if the corrected values become huge when m is more than about 20."""
        return self.kind.usable and self.gamma != 0

    def fit(self, metric: Metric | str, sampling: Sampling) -> Fit:
        """Return the corrected value of a metric for each sampled rank 1..m + 1.

        Raises
        ------
        ValueError
            If the prior does not have n weights, or makes some sampled rank impossible.
        """
        metric = as_metric(metric)
        require_sampling(sampling)
        if self.prior is not None:
            prior_weights(self.prior, sampling.n)  # raises ValueError for a wrong length
        values, note = vector(self, metric, sampling, 1)
        return Fit(self, metric, sampling, frozen(values * metric.scale(1)), note)


@dataclass(frozen=True, eq=False)
class Fit:
    """A corrected metric: one value for each sampled rank.

    Attributes
    ----------
    values
        Shape (m + 1,), read-only: ``values[t - 1]`` is reported when the sampled rank is t.
    note
        A warning about the values, or None.
    """

    correction: Correction
    metric: Metric
    sampling: Sampling
    values: Floats
    note: str | None = None

    def __call__(self, sampled_rank: ArrayLike) -> Floats:
        """Return the corrected metric of each sampled rank; ranks are integers in 1..m+1."""
        t = checks.integers("sampled_rank", sampled_rank, low=1, high=self.sampling.m + 1)
        return np.asarray(self.values[t - 1])

    def expected(self, rank: ArrayLike) -> Floats:
        """Return the expected corrected metric at each true rank, in the shape of ``rank``."""
        return mean_and_variance(self.values, self.sampling, *self.sampling.weights(rank))[0]

    def variance(self, rank: ArrayLike) -> Floats:
        """Return the variance of the corrected metric over draws of negatives at each true rank."""
        return mean_and_variance(self.values, self.sampling, *self.sampling.weights(rank))[1]

    def risk(self, prior: ArrayLike | None = None) -> tuple[float, float]:
        """Return squared bias and variance of one instance's corrected metric.

        These are the terms of eq. 24 of Krichene & Rendle (2020). Both are averages over the true
        ranks 1..n, with the weights ``prior`` or, if None, the prior of the correction. The mean
        over |D| instances has the same bias, and its variance is divided by |D|. A good system
        usually has a larger bias, because its ranks are at the top, where the bias is largest.
        """
        chosen = self.correction.prior if prior is None else prior
        weights = None if chosen is None else prior_weights(chosen, self.sampling.n)
        at = least_squares.nodes(self.metric, self.sampling, 1, weights)
        target = at.target * self.metric.scale(1)
        bias2 = variance = 0.0
        for rows, p in at.grid.laws():
            mean, spread = moments(p, self.values)
            bias2 += float(at.grid.weights[rows] @ (mean - target[rows]) ** 2)
            variance += float(at.grid.weights[rows] @ spread)
        return bias2, variance


@lru_cache(maxsize=1024)
def vector(recipe: Correction, metric: Metric, sampling: Sampling, position: int) -> Solution:
    """Return the corrected value of each sampled rank 1..m + 1, and a warning or None.

    The values have shape (m + 1,), are read-only, and are not yet multiplied by the factor
    ``metric.scale``. They are for the relevant item at ``position`` in its instance (1 is the
    best-ranked relevant item). The number of its candidates, ``sampling.n``, does not include the
    other relevant items. If the correction ``recipe`` has a prior whose length is not
    ``sampling.n``, the prior is resized.
    """
    design = sampling.design
    check_metric(metric, sampling.scheme)
    # Two cases need no fit. First, sampled AUC and ATOP are unbiased under uniform sampling
    # (Krichene & Rendle 2020, section 4.4.1), so they need no correction, unless the variance has a
    # weight γ above 0. Second, a metric that is computed on all n - 1 negatives is exact.
    unbiased = metric.linear and not design.weighted and not recipe.gamma
    complete = recipe.prior is None and design.distinct and sampling.m == sampling.n - 1
    solve = recipe.kind.solve
    if recipe.kind.fitted and (unbiased or complete):
        solve = _as_sampled
    values, note = solve(recipe, metric, sampling, position)
    return frozen(values), note


def _as_sampled(recipe: Correction, metric: Metric, sampling: Sampling, position: int) -> Solution:
    """Return the metric of each sampled rank among the m sampled negatives, uncorrected."""
    return metric.of_above(np.arange(sampling.m + 1), sampling.m, position), None


def _rank_estimate(
    recipe: Correction, metric: Metric, sampling: Sampling, position: int
) -> Solution:
    n, m = sampling.n, sampling.m
    # Compute the rank estimate (Krichene & Rendle 2020, eq. 20) in integers: in floating point,
    # some estimates would be too small by 1. Divide n - 1 by m first, because (n - 1) times the
    # sampled rank might overflow.
    whole, part = divmod(n - 1, m)
    above, rest = np.divmod(part * np.arange(m + 1), m)
    above += whole * np.arange(m + 1)
    low = metric.of_above(above, n - 1, position)
    if recipe.rounding == "floor":
        return low, None
    high = metric.of_above(np.minimum(above + 1, n - 1), n - 1, position)
    return low + (high - low) * rest / m, None


def _nodes(
    recipe: Correction, metric: Metric, sampling: Sampling, position: int, gamma: float
) -> least_squares.Nodes | None:
    """Return the true ranks over which the fit of a correction sums, with their weights.

    Return None if :mod:`~sampledash.spectral` can do the fit without such a sum. This requires a
    uniform prior, few candidates, and a uniform scheme that draws a fixed number of items.
    """
    prior = None if recipe.prior is None else resize_prior(recipe.prior, sampling.n)
    if prior is None and sampling.n <= spectral.LARGEST and sampling.design.by_degree:
        return None
    at = least_squares.nodes(metric, sampling, position, prior, gamma)
    if prior is not None:
        least_squares.require_reachable(at.grid)
    return at


def _monotone(recipe: Correction, metric: Metric, sampling: Sampling, position: int) -> Solution:
    """Return a corrected value for each sampled rank, none larger than that of a better rank.

    Of all such values, these have the least squared bias (Krichene & Rendle 2020, section 5.2).
    """
    # The fit sums over few true ranks, which depend on γ. A monotone fit has no γ: the true ranks
    # for γ = 1 suffice.
    at = _nodes(recipe, metric, sampling, position, 1.0)
    if at is not None:
        return least_squares.monotone(at, recipe.nonnegative), None
    columns, target = spectral.cumulative(metric, sampling, position)
    return least_squares.non_increasing(columns, target, recipe.nonnegative), None


def _weighed(recipe: Correction, metric: Metric, sampling: Sampling, position: int) -> Solution:
    """Return the corrected value of each sampled rank, with the least bias² + γ variance.

    This is eq. 25 of Krichene & Rendle (2020). If γ = 0, it is eq. 22: the least bias².
    """
    gamma, m = recipe.gamma or 0.0, sampling.m
    gamma = gamma if gamma >= least_squares.SMALLEST_GAMMA else 0.0
    cutoff = least_squares.SINGULAR_CUTOFF
    at = _nodes(recipe, metric, sampling, position, gamma)
    if at is None and sampling.design.distinct:
        values, resolved = spectral.filtered(metric, sampling, position, gamma, cutoff)
    elif at is None and not gamma:
        values, resolved = spectral.minimum_norm(metric, sampling, position, cutoff)
    else:
        if at is None:
            at = least_squares.nodes(metric, sampling, position, None, gamma)
        if gamma:
            return least_squares.bias_variance(at, gamma), None
        values, resolved = least_squares.minimum_norm(at)
    largest = float(np.abs(values).max())
    if gamma or (resolved == m + 1 and largest < 100):
        return values, None
    zero = f"γ = {recipe.gamma:g} counts as 0 and" if recipe.gamma else "γ = 0"
    note = f"{zero} is ill-conditioned here: {resolved} of {m + 1} directions can be resolved, "
    note += f"the largest entry is {largest:.3g}, and one instance can be off by as much"
    return values, note


#: The properties of every kind of correction by name; to add a kind, add a row.
CORRECTIONS: dict[str, Kind] = {
    "uncorrected": Kind(
        "uncorrected", "plain value", _as_sampled, r"\hat M(\tilde r) = {{ name }}(\tilde r)",
        ("none",), by_rank=False, color="vermillion",
    ),
    "rank-estimate": Kind(
        "rank estimate", "rank estimate", _rank_estimate, "{{ scaled_rank() }}", ("re",),
        color="orange", dash="dashdot",
    ),
    "least-squares": Kind(
        "LS", "least-squares correction", _weighed, "{{ least_squares() }}",
        fitted=True, slow=True, usable=False, color="purple", dash="dot",
    ),
    "monotone": Kind(
        "CLS", "constrained least-squares correction", _monotone, "{{ falling() }}",
        ("constrained-least-squares",), fitted=True, slow=True, color="green", dash="longdash",
    ),
    "bias-variance": Kind(
        "BV", "bias-variance correction", _weighed, "{{ weighed() }}",
        fitted=True, weighs=True, color="blue",
    ),
}  # fmt: skip


def _labels() -> dict[str, str]:
    names = sorted(CORRECTIONS, key=lambda name: not CORRECTIONS[name].usable)
    return {CORRECTIONS[name].label: name for name in names}


#: The name of each correction by its label (shown on pages and in links). Corrections whose values
#: become huge at large m come last.
LABELS = Live(_labels)
#: :data:`LABELS` without the corrections whose values become huge at large m.
USABLE = Live(lambda: {x: name for x, name in LABELS.items() if CORRECTIONS[name].usable})


def weighs(label: str) -> bool:
    """Return whether the correction with this label has the parameter γ."""
    return label in LABELS and CORRECTIONS[LABELS[label]].weighs


def labelled(label: str, gamma: float) -> Correction:
    """Return the correction with this label; ``gamma`` is ignored if the correction has no γ."""
    return correction(LABELS[label], gamma=gamma if weighs(label) else None)


def usable(label: str, gamma: float) -> Correction:
    """Return the correction with this label; raise ValueError if its values are huge at large m."""
    made = labelled(label, gamma)
    if not made.usable:
        raise ValueError("gamma = 0 has no usable vector beyond m of about 20: take gamma above 0")
    return made


def correction(
    name: str,
    *,
    gamma: float | None = None,
    rounding: Rounding = "floor",
    nonnegative: bool = True,
    prior: ArrayLike | None = None,
) -> Correction:
    """Make a correction from its name and parameters.

    Parameters
    ----------
    name
        ``"uncorrected"``; ``"rank-estimate"`` (eq. 20); ``"least-squares"`` or ``"LS"`` (eq. 22);
        ``"monotone"`` or ``"CLS"`` (section 5.2); ``"bias-variance"`` or ``"BV"`` (eq. 25). The
        numbers are those of Krichene & Rendle.
    gamma
        Bias-variance only: weight of the variance, in 0..1; default 0.1.
    rounding
        Rank estimate only: ``"floor"`` as in the paper, or ``"linear"`` interpolation.
    nonnegative
        Monotone only: whether values must be at least 0.
    prior
        n non-negative weights of the true ranks 1..n. If None, the prior is uniform.

    Notes
    -----
    Lower γ means less bias and more variance. γ = 1/|D| weighs bias² and variance as in the squared
    error of the mean over |D| instances. γ = 0 is least squares, whose values become huge if m is
    more than about 20. γ below 1e-16 counts as 0, and ``note`` of the fit warns if values are
    unreliable.

    References
    ----------
    Krichene & Rendle, KDD 2020, section 5.

    Examples
    --------
    >>> str(correction("bias-variance", gamma=0.1))
    'BV 0.1'
    """
    plain = re.sub(r"[\s_]+", "-", checks.text("correction", name).strip().lower())
    names = {x: known for known, row in CORRECTIONS.items() for x in (row.label, *row.aliases)}
    known = {x.lower().replace(" ", "-"): known for x, known in names.items()}.get(plain, plain)
    weights = None if prior is None else prior_weights(prior)
    return Correction(cast(CorrectionName, known), gamma, rounding, nonnegative, weights)


def parse_correction(text: str) -> Correction:
    """Read a correction from text such as ``"BV 0.1"``, ``"CLS"`` or ``"LS"``, as ``str`` gives it.

    Raises
    ------
    ValueError
        If the name is unknown or γ is not a number in 0..1.
    """
    body = checks.text("correction", text).strip()
    for name, row in CORRECTIONS.items():
        weighed = rf"(?i)(?:{row.label}|{name})\s*[,:]?\s*(?:γ\s*=|gamma\s*=)?\s*(\S*)"
        if row.weighs and (match := re.fullmatch(weighed, body)):
            gamma = checks.written("gamma", match[1], low=0, high=1) if match[1] else None
            return correction(name, gamma=gamma)
    if re.fullmatch(r"(?i)(cls|monotone) \(any sign\)", body):
        return correction("monotone", nonnegative=False)
    if match := re.fullmatch(r"(?i)rank[ -]estimate \((linear|floor)\)", body):
        return correction("rank-estimate", rounding=cast(Rounding, match[1].lower()))
    return correction(body)


def as_correction(value: Correction | str | None) -> Correction:
    """Return a correction from a correction (unchanged), a text, or None (uncorrected)."""
    if value is None:
        return Correction()
    return value if isinstance(value, Correction) else parse_correction(value)
