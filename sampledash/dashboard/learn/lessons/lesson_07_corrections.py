"""Corrections buy less bias with variance."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import plotly.graph_objects as go

import sampledash as sd
from sampledash.dashboard import sliding, theme
from sampledash.dashboard.explore.result import rank_grid
from sampledash.dashboard.learn.lesson import WITHOUT, M, N, Numbers, movielens
from sampledash.dashboard.sliding import Curve
from sampledash.report.numbers import gamma, percent

TEXT = r"""
title: Corrections buy less bias with variance
setup: n = $n, m = $m. A correction is free to choose a value for each sampled rank. γ says how much
    it minds variance; at γ = 0 only bias counts.
question: A smaller γ makes the bias smaller. What does that cost?
choice: Nothing | A draw scatters by $std at γ = $gamma and by $small_std at γ = $small_gamma.
choice: More scatter | From $std at γ = $gamma to $small_std at γ = $small_gamma for one draw.
choice: More negatives | m stays $m. The values swing wildly instead, and a draw scatters by
    $small_std at γ = $small_gamma.
right: More scatter
sentence: Corrected with γ = $gamma AP is off by $bias instead of $raw_bias, in root mean square
    over all ranks; one draw scatters by $std, a mean over $users users by $mean_std.
formula: \min_{\hat M} \sum_r p(r)\,\big(b_r^2 +
    \gamma\,\mathrm{Var}[\hat M_{\tilde r}\,|\,r]\big),\qquad
    b_r = E[\hat M_{\tilde r}\,|\,r] - M(r)
formula: \gamma = $gamma:\quad \text{bias} = $bias,\qquad
    \frac{\text{scatter}}{\sqrt{|D|}} = \frac{$std}{\sqrt{$users}} = $mean_std
why: Averaged over many users the scatter shrinks, the bias does not: with many users take a small
    γ, about 1/|D|. A correction needs no new experiment, only the sampled ranks.
source: Section 5.3 and 5.4, Figure 4, eq. 24-25
link: correct | gamma=$gamma&metric=AP&take=BV&what=A metric | AP with γ = $gamma in Correct
minutes: 8
misconception: “An unbiased correction exists.” m + 1 values cannot match n ranks; the bias can be
    made small, not zero.
misconception: “At rank 1 it is $short:points too low, so it is useless.” It weighs all $n ranks
    alike, and rank 1 is one of them; what the sample cannot tell apart no correction restores
    (lesson 8).
misconception: “Negative corrected values are an error.” They are how the bias is cancelled; the
    mean over users is what counts.
exercise: At γ = $small_gamma the bias is $small_bias and a draw scatters by $small_std. By how much
    does a mean over $users users scatter? | $small_mean_std.
"""

GAMMA = 0.01
GAMMAS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0001)


@lru_cache(maxsize=32)
def fit(weight: float | None) -> sd.Fit:
    """Average precision corrected with this γ; None is uncorrected."""
    name = "uncorrected" if weight is None else "bias-variance"
    recipe = sd.correction(name, gamma=weight)
    return recipe.fit(sd.parse_metric("AP"), sd.Sampling(N, M, WITHOUT))


def errors(weight: float | None) -> tuple[float, float]:
    """Root mean squared bias and scatter of one draw, over equally likely ranks."""
    bias2, variance = fit(weight).risk()
    return float(bias2**0.5), float(variance**0.5)


def numbers(look: str) -> Numbers:
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


def picture(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Expected corrected AP against the exact one, γ from 1 down (Figure 4)."""
    ranks = rank_grid(N)
    raw_line = theme.correction_line("uncorrected", dark)
    line = theme.correction_line("bias-variance", dark) | {"width": 3.5}
    exact = Curve("exact", sd.parse_metric("AP")(ranks, N), theme.exact_line(dark, 2.5))
    raw = Curve("uncorrected", fit(None).expected(ranks), raw_line)
    head = f"╌╌ all items   {sliding.colored('━ uncorrected', raw.color)}"
    layout: dict[str, Any] = {"revision": "corrections", "dark": dark}
    layout["xaxis"] = theme.rank_axis(N, title="true rank (log scale)", most=5)
    layout["yaxis"] = theme.percent_axis(title="expected AP")
    if not revealed:
        return sliding.before(ranks, [exact, raw], head, **layout)
    steps = []
    for weight in GAMMAS:
        curve = Curve("corrected", fit(weight).expected(ranks), line)
        bias, std = errors(weight)
        said = f"━ γ = {gamma(weight)}: bias {percent(bias)}, scatter {percent(std)}"
        title = f"{head}<br><b>{sliding.colored(said, curve.color)}</b>"
        steps.append(sliding.Step(gamma(weight), sliding.lines(ranks, [curve]), title))
    fixed = sliding.lines(ranks, [exact, raw])
    return sliding.sliding(fixed, steps, GAMMAS.index(GAMMA), prefix="γ = ", **layout)
