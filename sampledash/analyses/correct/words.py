"""Correct in words: what a correction repairs, what it costs, and its formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampledash.correction import Correction, Fit
from sampledash.metrics import Metric
from sampledash.report.numbers import SAME, count, gamma, percent
from sampledash.report.templates import inline, template, texts
from sampledash.sampling import Sampling

_HERE = Path(__file__).parent
TEXTS = texts(_HERE / "words.txt")


def size(value: float) -> str:
    """Write a share that may be far beyond 100 %: ``5.8e11 %``."""
    if abs(value) < 10:
        return f"−{percent(-value)}" if value < 0 else percent(value)
    sign, value = "−" if value < 0 else "", abs(value)
    return f"{sign}{100 * value:,.0f} %" if value < 1e4 else f"{sign}{_power(100 * value)} %"


def _power(value: float) -> str:
    """A large number in powers of ten: ``5.8e11``."""
    return f"{value:.1e}".replace("e+0", "e").replace("e+", "e")


def root(square: float) -> str:
    """The root of a square in percent, as short as a bar's label needs."""
    value = float(np.sqrt(square))
    if value >= 1000:
        return _power(value)
    return "<0.01" if 1e-9 < value < 0.005 else f"{value:.2f}"


def sentence(
    metric: Metric,
    m: int,
    recipe: Correction,
    before: float,
    after: float,
    scatter: float,
    instances: int,
) -> str:
    """The page in at most 25 words.

    ``before``, ``after``: root mean squared bias over the ranks, uncorrected and corrected;
    ``scatter``: standard deviation of the mean over that many instances.
    """
    name, negatives = str(metric), f"{count(m)} negative{'s' if m > 1 else ''}"
    if before < SAME:
        end = f"{recipe} leaves it so" if after < SAME else f"{recipe} adds a bias of {size(after)}"
        return _kept(
            f"{name} from {negatives} is unbiased: there is nothing to correct, and {end}."
        )
    if size(after) == size(before):
        change = f"leaves the average bias of {name} at {size(after)}"
    else:
        verb = "cuts" if after < before else "raises"
        change = f"{verb} the average bias of {name} from {size(before)} to {size(after)}"
    over = "one draw" if instances == 1 else f"a mean over {count(instances)}"
    if after < before < scatter:  # less bias, but what is reported is noise
        return _kept(
            f"With {negatives}, {recipe} is useless for {name}: {over} scatters by "
            f"{size(scatter)}, more than the bias of {size(before)} it repairs."
        )
    return _kept(f"With {negatives}, {recipe} {change}; {over} scatters by {size(scatter)}.")


def _kept(sentence: str) -> str:
    """Keep a number and its percent sign on one line."""
    return sentence.replace(" %", "\u00a0%")


def picture(metric: Metric, sampling: Sampling, recipes: Sequence[Correction]) -> str:
    """The large picture for a screen reader."""
    return (
        f"{metric} against the true rank of the relevant item, n = {count(sampling.n)}, "
        f"m = {count(sampling.m)}: exact, and expected under {', '.join(map(str, recipes))}."
    )


def risks(found: Mapping[Correction, tuple[float, float]], instances: int) -> str:
    """Squared biases and variances for a screen reader."""
    return "; ".join(
        f"{x}: bias {size(b**0.5)}, scatter of the mean {size((v / instances) ** 0.5)}"
        for x, (b, v) in found.items()
    )


def vector_note(fit: Fit) -> str:
    """What the vector looks like and what to do with it."""
    values, smallest = fit.values, float(fit.values.min())
    steps = np.diff(values)
    moves = np.sign(steps[np.abs(steps) > 1e-12 * np.abs(values).max()])
    shape = "It falls with the sampled rank."
    if turns := int(np.sum(moves[1:] != moves[:-1])):
        shape = (
            f"It changes direction {count(turns)} times: one value says little, "
            "the mean over many instances does."
        )
    if smallest < 0:
        shape += f" Its smallest value, {size(smallest)}, is below any exact one."
    return (
        f"Where the relevant item has sampled rank t among {count(fit.sampling.m + 1)}, report the "
        f"t-th value instead of {fit.metric}(t); then average over the instances. {shape}"
    )


def gamma_meaning(recipe: Correction, instances: int) -> str:
    """What γ weighs, and which γ suits |D| instances."""
    suggested = gamma(float(f"{1 / instances:.2g}"))
    here = (
        "This correction has no γ." if recipe.gamma is None else f"Here γ = {gamma(recipe.gamma)}."
    )
    return (
        "γ weighs the variance of one draw against the squared bias. With |D| = "
        f"{count(instances)} instances, γ = 1/|D| = {suggested} weighs both as they enter the "
        f"mean. {here}"
    )


def formula(fit: Fit, bias2: float, variance: float, *, prior: str = r"\propto 1") -> list[str]:
    """How the vector is made, as TeX with the numbers; ``prior`` is that of p(r)."""
    steps = template(_HERE / "formula.tex.jinja").render(
        n=fit.sampling.n,
        m=fit.sampling.m,
        metric=fit.metric,
        correction=fit.correction,
        formula=inline(fit.correction.kind.tex),
        values=fit.values,
        bias2=bias2,
        variance=variance,
        prior=prior,
    )
    return [step for step in steps.splitlines() if step]


def tradeoff(recipe: Correction, instances: int) -> str:
    """How to read the pictures of section 5.5."""
    remedy = "a smaller γ or a larger m" if recipe.gamma else "a larger m"
    return (
        f"Solid: average bias. Dotted: scatter of a mean over {count(instances)} instances. "
        f"Where the dotted line of {recipe} is below its solid one, bias decides: {remedy} would "
        "help. Above it, more instances would."
    )


class Settled(NamedTuple):
    """From which m a pair is in its true order, uncorrected and corrected; None: not at the end."""

    pair: str
    plain: int | None
    corrected: int | None


def real_ranks(recipe: Correction, pairs: Sequence[Settled], m_max: int) -> str:
    """What the correction does for the pair that the uncorrected metric gets right last."""
    if not pairs:
        return "Nothing to order: the exact values are equal."
    late = m_max * 1e6
    hard = max(pairs, key=lambda x: (x.plain or late, x.corrected or late))
    if hard[1:] == (1, 1):
        return f"Uncorrected and {recipe} order all pairs right at every m."
    start = (
        f"{recipe} does not settle on the right order of {hard.pair} up to m = {count(m_max)}"
        if hard.corrected is None
        else f"{recipe} orders {hard.pair} right from m = {count(hard.corrected)}"
    )
    end = (
        f"uncorrected not at any m up to {count(m_max)}"
        if hard.plain is None
        else f"uncorrected from m = {count(hard.plain)}"
    )
    return f"{start}; {end}."


def resolved(sampling: Sampling, weight: float, degree: int, width: float) -> str:
    """Up to which degree at least half is kept at γ = ``weight``, and how fine that is in ranks."""
    start = f"With {count(sampling.m)} negatives and γ = {gamma(weight)}"
    if degree == 0:
        return f"{start} not even a straight line over the {count(sampling.n)} ranks is half kept."
    return (
        f"{start} components up to degree {count(degree)} are at least half kept: the finest "
        f"detail at the top is about {count(round(width))} of {count(sampling.n)} ranks wide."
    )


def reading(metric: str, k: int, sampling: Sampling, linear: float, uniform: float) -> str:
    """How an uncorrected cutoff reads on all items, by two mappings (Li et al., KDD 2020)."""
    name = metric.split("@")[0]
    return (
        f"Read uncorrected, {metric} on {count(sampling.m)} negatives behaves like {name}@"
        f"{count(linear)} to {name}@{count(round(uniform))} on all {count(sampling.n)} items, not "
        f"like {name}@{count(k)}: linear mapping, and the one for equally likely ranks."
    )


def script(fit: Fit) -> str:
    """Python lines that compute the same vector."""
    s, recipe = fit.sampling, fit.correction
    odds = f", odds={s.odds!r}" if s.design.weighted else ""
    own = f", gamma={recipe.gamma!r}" if recipe.gamma is not None else ""
    prior = ""
    if recipe.prior is not None:
        own += ", prior=prior"
        prior = "prior = ...  # n weights of the ranks; these are in the JSON file\n"
    return (
        f"import sampledash as sd\n{prior}"
        f'sampling = sd.Sampling({s.n}, {s.m}, "{s.scheme}"{odds})\n'
        f'correction = sd.correction("{recipe.name}"{own})\n'
        f'fit = correction.fit("{fit.metric}", sampling)\n'
        "fit([1, 5, 2])  # corrected values of sampled ranks"
    )


def function(fit: Fit) -> str:
    """Three lines of Python that need nothing else."""
    values = ", ".join(map(repr, fit.values.tolist()))
    return (
        f"values = [{values}]\ndef corrected(sampled_rank):  # {fit.metric}, {fit.correction}\n"
        "    return values[sampled_rank - 1]"
    )
