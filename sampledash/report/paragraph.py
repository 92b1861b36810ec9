"""A paragraph for the evaluation section of a paper, written from what was computed."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

import sampledash
from sampledash.comparison.findings import Findings
from sampledash.comparison.order import TIED
from sampledash.report import paragraph_order as paper_order
from sampledash.report.numbers import count
from sampledash.report.style import MOVIELENS, PAPER, Style, listed, phrases
from sampledash.types import Floats

_NAMED = 4  # systems that are named one by one, with their values
_VALUES = 6  # values that are written out
_TIED = 3  # tied systems that are named


def uses_movielens(findings: Findings) -> bool:
    """Whether the ranks are those of MovieLens that come with sampledash."""
    return re.search(r"\bexample\(\s*['\"]movielens", findings.python) is not None


def paragraph(findings: Findings, *, latex: bool = False) -> str:
    r"""Write four or five sentences for a paper's evaluation section.

    They give the setting with the values of the full ranking, what the sampled metric would be in
    expectation, from which m the order is right, the chance that one run shows it, and what these
    numbers do not say. Every number is one of the findings.

    Parameters
    ----------
    findings
        What was computed.
    latex
        Plain text, or LaTeX with escaped names, ``\cite`` and the keys of
        :func:`sampledash.report.bibtex.bibtex`.
    """
    say = Style(latex)
    tables = [findings.rows(x) for x in range(len(findings.metrics))]
    ordered = [rows[rows["state"] != "tied"] for rows in tables]
    sentences = [_full_ranking(findings, say), _sampled(findings, ordered, say)]
    if any(len(rows) for rows in ordered):
        sentences.append(paper_order.right_from(findings, ordered, say))
        sentences.append(paper_order.one_run(findings, ordered, say))
    else:
        sentences.append(
            "As the systems are equal on the full ranking, there is no order to compare."
        )
    return " ".join([*sentences, _limits(findings, say)])


def _full_ranking(f: Findings, say: Style) -> str:
    """The setting and the values that a paper should report."""
    sizes = sorted(ranks.n_instances for ranks in f.sets)
    most = max(ranks.max_relevant for ranks in f.sets)
    if sizes[0] != sizes[-1]:
        instances = f"each of {count(sizes[0])} to {count(sizes[-1])} test instances per system"
    else:
        instances = f"each of {count(sizes[0])} test instances" if sizes[0] > 1 else "one instance"
    if uses_movielens(f):
        instances += f" of MovieLens 1M{say.cite(MOVIELENS)}"
    low = min(int(ranks.n.min()) for ranks in f.sets)
    high = max(int(ranks.n.max()) for ranks in f.sets)
    n = count(low) if low == high else f"{count(low)} to {count(high)}"
    ties, mean = "", ""
    if any(ranks.has_ties for ranks in f.sets):
        ties = {
            "expected": ", ties in random order",
            "optimistic": ", relevant items first among ties",
            "pessimistic": ", relevant items last among ties",
        }[f.protocol.ties]
    if most > 1:
        micro = f.protocol.weighting == "relevant-items"
        mean = ", weighted by relevant items," if micro else ", averaged over instances,"
    items = "item" if most == 1 else f"items (up to {count(most)})"
    return (
        f"We rank the relevant {items} of {instances} among all its {n} candidates{ties}; on this "
        f"full ranking{mean} {_values(f, f.exact, 'is', 'is', say)}."
    )


def _listing(f: Findings) -> bool:
    """Whether every value is written out."""
    return len(f.sets) <= _NAMED and f.exact.size <= _VALUES


def _values(f: Findings, means: Floats, first: str, then: str, say: Style) -> str:
    """Every value from the best to the worst, or only the best; two verbs for the metrics."""
    if not _listing(f):
        return _best(f, means, say)
    parts: list[str] = []
    for x, metric in enumerate(f.metrics):
        column, verb = means[:, x], then if x else first
        if np.ptp(column) <= TIED:
            who = "both systems" if len(f.sets) == 2 else f"all {len(f.sets)} systems"
            parts.append(f"{metric} {verb} {say.share(column[0])} for {who}")
            continue
        each = [
            f"{say.share(column[i])} for {say.name(f.systems[i])}"
            for i in np.argsort(-column, kind="stable")
        ]
        parts.append(f"{metric} {verb} {listed(each)}")
    return phrases(parts)


def _best(f: Findings, means: Floats, say: Style) -> str:
    """The best system of each metric, metrics with the same best together."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for x, metric in enumerate(f.metrics):
        top = tuple(np.flatnonzero(means[:, x].max() - means[:, x] <= TIED).tolist())
        groups.setdefault(top, []).append(f"{metric} ({say.share(means[:, x].max())})")
    size = count(len(f.sets))
    equal = groups.pop(tuple(range(len(f.sets))), None)
    if not groups and equal:
        return f"the {size} systems are equal by {listed(equal)}"
    parts: list[str] = []
    for top, metrics in groups.items():
        names = [say.name(f.systems[i]) for i in top]
        who = names[0] if len(top) == 1 else f"{count(len(top))} tied systems"
        who = f"{listed(names)} (tied)" if 1 < len(top) <= _TIED else who
        verb = f" {'is' if len(top) == 1 else 'are'} the best of {size} systems"
        parts.append(f"{who}{'' if parts else verb} by {listed(metrics)}")
    best = phrases(parts)
    return f"{best}; by {listed(equal)} the systems are equal" if equal else best


def _sampled(f: Findings, ordered: list[pd.DataFrame], say: Style) -> str:
    """What the sampled metric is in expectation, and the pairs that it orders otherwise."""
    negatives = "negative" if f.m == 1 else "negatives"
    short = f.protocol.without and any(np.any(x.atoms().negatives < f.m) for x in f.sets)
    fewer = " (all of them where there are fewer)" if short else ""
    start = f"With {count(f.m)} {negatives} per instance instead{fewer}, {_drawn(f)}"
    recipe = f.protocol.correction
    if recipe.name != "uncorrected":
        label = {
            "rank-estimate": "the rank estimate",
            "least-squares": "the least-squares correction",
            "monotone": "the constrained least-squares correction",
            "bias-variance": "the bias-variance correction",
        }[recipe.name]
        if recipe.gamma is not None:
            label += f" with {say.symbol('γ', recipe.gamma)}"
        if f.protocol.fit_scheme != f.protocol.scheme:
            fitted = f.protocol.fit_scheme.replace("-", " ")
            label += f" fitted to sampling {'by ' if fitted == 'popularity' else ''}{fitted}"
        start += f", and {label}"
    start += f"{say.cite(PAPER)},"
    kept = paper_order.kept(f, ordered, say)
    if _listing(f):
        said = _values(f, f.expected, "would in expectation be", "would be", say)
        return f"{start} {said}{f'; this would {kept}' if kept else ''}."
    if not kept:
        differ = bool((f.verdict["sampled"].abs() > TIED).any())
        kept = "differ although the systems do not" if differ else "be equal too"
    return f"{start} the expected values would {kept}."


def _drawn(f: Findings) -> str:
    if f.protocol.scheme != "popularity":
        return f"sampled uniformly {f.protocol.scheme.replace('-', ' ')}"
    drawn = "sampled with replacement by popularity"
    if any(ranks.mass_above is not None for ranks in f.sets):
        return drawn
    return (
        f"{drawn} (items ranked above the relevant one drawn {f.protocol.odds:g} times as often as "
        "those below it)"
    )


def _limits(f: Findings, say: Style) -> str:
    """What the numbers rest on, and what they do not say."""
    recipe = f.protocol.correction
    prior = ""
    if recipe.by_rank and recipe.name != "rank-estimate":
        prior = f" with {'a uniform' if recipe.prior is None else 'our own'} prior over the ranks"
    return (
        f"These numbers, computed by sampledash {sampledash.__version__}{say.software}{prior}, "
        "take the instances as given and the negatives of each system as drawn independently; they "
        "do not say whether the differences would hold on other instances."
    )
