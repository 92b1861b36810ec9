"""Lesson 7: corrections reduce the bias but increase the variance."""

from functools import lru_cache
from typing import Any

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import WITHOUT, M, N, Numbers, movielens
from sampledash.grids import rank_grid
from sampledash.report.numbers import gamma, percent

GAMMA = 0.01
GAMMAS = (0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@lru_cache(maxsize=32)
def fit(weight: float | None) -> sd.Fit:
    """Return AP with the bias-variance correction, in which the variance has this ``weight`` γ.

    If ``weight`` is None, return uncorrected AP.
    """
    name = "uncorrected" if weight is None else "bias-variance"
    return sd.correction(name, gamma=weight).fit(sd.parse_metric("AP"), sd.Sampling(N, M, WITHOUT))


def errors(weight: float | None) -> tuple[float, float]:
    """Return bias and standard deviation of corrected AP, as root mean squares over all ranks.

    ``weight`` is γ, the weight of the variance in the correction. If None, AP is not corrected.
    """
    bias2, variance = fit(weight).risk()
    return float(bias2**0.5), float(variance**0.5)


def numbers(variant: str) -> Numbers:
    users = len(movielens().sets[0])
    (bias, std), (small_bias, small_std) = errors(GAMMA), errors(GAMMA / 10)
    return {
        "users": users,
        "gamma": gamma(GAMMA),
        "small_gamma": gamma(GAMMA / 10),
        "raw_bias": errors(None)[0],
        "bias": bias,
        "std": std,
        "mean_std": std / users**0.5,
        "small_bias": small_bias,
        "small_std": small_std,
        "small_mean_std": small_std / users**0.5,
        "short": 1 - float(fit(GAMMA).expected([1])[0]),
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw exact and expected sampled AP over the true rank; if ``revealed``, also corrected AP."""
    ranks = rank_grid(N)
    raw_line = theme.correction_line("uncorrected", dark)
    line = theme.correction_line("bias-variance", dark) | {"width": 3.5}
    exact = sliding.Curve("exact", sd.parse_metric("AP")(ranks, N), theme.exact_line(dark, 2.5))
    raw = sliding.Curve("uncorrected", fit(None).expected(ranks), raw_line)
    head = f"╌╌ all items   {sliding.colored('━ uncorrected', raw.color)}"
    layout: dict[str, Any] = {"xaxis": theme.rank_axis(N, most=5), "dark": dark}
    layout["yaxis"] = theme.percent_axis(title="expected AP")
    if not revealed:
        return sliding.before(ranks, [exact, raw], head, **layout)
    steps = {}
    for weight in GAMMAS:
        curve = sliding.Curve("corrected", fit(weight).expected(ranks), line)
        bias, std = errors(weight)
        legend = f"━ γ = {gamma(weight)}: bias {percent(bias)}, scatter {percent(std)}"
        title = f"{head}<br><b>{sliding.colored(legend, curve.color)}</b>"
        steps[gamma(weight)] = sliding.lines(ranks, [curve]), title
    fixed = sliding.lines(ranks, [exact, raw])
    return sliding.sliding(fixed, steps, gamma(GAMMA), prefix="γ = ", **layout)
