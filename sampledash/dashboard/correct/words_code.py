"""A corrected metric as lines of Python."""

from __future__ import annotations

from sampledash.correction import Fit


def script(fit: Fit) -> str:
    """Python lines that compute the same vector."""
    s, recipe = fit.sampling, fit.correction
    odds = f", odds={s.odds!r}" if s.scheme == "popularity" else ""
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
