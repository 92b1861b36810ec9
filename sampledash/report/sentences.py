"""Write verdicts: the sampled and true order of systems, and the m from which the two agree."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.checks import counted
from sampledash.comparison.order import TIED
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.verdict import CODES, Pairs
from sampledash.correction import UNCORRECTED
from sampledash.estimation.estimate import OVERSHOOT
from sampledash.estimation.estimate import outside as reason
from sampledash.metrics import Metric
from sampledash.protocol import Options
from sampledash.report.numbers import MOST_NAMED, count, percent
from sampledash.report.templates import Sentences
from sampledash.types import Floats

NOTHING = "Nothing to order: the exact values are equal, and a run that shows a winner is wrong."
say = Sentences(Path(__file__).with_suffix(".jinja"), NOTHING=NOTHING, TIED=TIED)


def ranking(systems: Sequence[str], means: Sequence[float] | Floats) -> str:
    """Return the best three systems in order, as ``X > Y = Z``; differences up to 1e-12 are ties.

    Examples
    --------
    >>> ranking(["A", "B", "C"], [0.1, 0.3, 0.1])
    'B > A = C'
    """
    order = sorted(range(len(systems)), key=lambda i: -round(float(means[i]), 12))[:MOST_NAMED]
    parts = [systems[order[0]]]
    for before, now in pairwise(order):
        sign = "=" if abs(means[before] - means[now]) <= TIED else ">"
        parts.append(f"{sign} {systems[now]}")
    return " ".join(parts) + (" > …" if len(systems) > MOST_NAMED else "")


def negatives(m: int, kind: str = "") -> str:
    """Return text such as ``100 negatives`` or, with a ``kind``, ``1 sampled negative``."""
    return counted(m, f"{kind} negative".strip())


def metric_name(metric: str, correction: str = UNCORRECTED) -> str:
    """Return the name of a metric and its correction, if it has one: ``Recall@10 (CLS)``."""
    return metric if correction == UNCORRECTED else f"{metric} ({correction})"


def settled(verdict: Sequence[Mapping[str, Any]], m_max: int) -> str:
    """Return a sentence: from how many negatives m is the expected order of all systems right?

    ``m_max`` is the largest m that was computed.
    """
    right = [row["right_from"] for row in verdict if row["state"] != "tied"]
    return say.settled(None if None in right else max(right), m_max) if right else NOTHING


def drawn_negatives(findings: Pairs) -> str:
    """Return text such as ``100 negatives``, or ``all 3,686 negatives`` if all are drawn."""
    high = max(ranks.max_negatives for ranks in findings.sets)
    if not findings.protocol.design.distinct or findings.m < high or high == 1:
        return negatives(findings.m)
    same = all(np.ptp(ranks.counted().negatives) == 0 for ranks in findings.sets)
    return f"all {count(high)} negatives" if same else "all negatives"


def headline(findings: Pairs, x: int, name: Callable[[str], str] = str) -> str:
    """Return the main sentence: whether the sampled metric ``x`` orders the systems correctly.

    ``x`` is the metric's index in ``findings.metrics``.
    ``name`` formats the name of a system.
    """
    metric = metric_name(str(findings.metrics[x]), str(findings.protocol.correction))
    few, drawn = len(findings.systems) <= MOST_NAMED, drawn_negatives(findings)
    listed = findings.rows(x, range(findings.pairs) if few else [findings.worst_pair(x)])
    rows = [row | {side: name(row[side]) for side in ("better", "worse")} for row in listed]
    if few:
        names = [name(system) for system in findings.systems]
        orders = (ranking(names, means[:, x]) for means in (findings.sampled, findings.exact))
        return say.few_systems(metric, drawn, *orders, rows, settled(rows, findings.m_max))
    states = dict(Counter(CODES[code] for code in findings.states[x].tolist()))
    last = max(1.0, findings.last_right(x))
    right_from = int(last) if np.isfinite(last) else None
    return say.many_systems(metric, drawn, rows[0], states, right_from, findings.m_max)


def if_shared(findings: Pairs, options: Options) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return chances of the true order if systems share their negatives, and sentences on them.

    The chances need overlaps: counts of items that two systems both rank above a relevant item. The
    table "shared" has a column ``metric`` and the columns of :func:`probability_if_shared`; if the
    chances cannot be computed, there is no table. With more than three systems, the table has only
    the pair :meth:`Pairs.worst_pair` of each metric. For each metric, a sentence gives the pair of
    systems with the lowest chance. Other sentences warn of overlaps with systems that are not in
    ``findings``.
    """
    named = {other for ranks in findings.sets for other in ranks.overlaps}
    if not named or not findings.protocol.design.by_degree:
        return {}, []
    unknown = [say.unknown_overlap(x) for x in sorted(named - {*findings.systems})]
    tables, sentences = [], unknown.copy()
    few = len(findings.systems) <= MOST_NAMED
    for x, metric in enumerate(findings.metrics):
        sets = [findings.sets[i] for i in findings.ends[findings.worst_pair(x)]]
        sets = [*findings.sets] if few else sets
        try:
            chances = probability_if_shared(metric, sets, findings.m, **options)
        except ValueError as error:  # for example if systems have different instances
            return {}, [*unknown, f"No chance with shared negatives: {error}."]
        tables.append(chances.assign(metric=str(metric))[["metric", *chances.columns]])
        if chances["low"].notna().any():
            better, worse, *ends = chances.iloc[int(chances["low"].argmin())]
            sentences.append(say.if_shared(metric, better, worse, ends))
    return {"shared": pd.concat(tables, ignore_index=True)}, sentences


def other_metrics(findings: Pairs, x: int) -> str:
    """Return the verdicts on all other metrics, such as ``Also wrong: NDCG.``.

    ``x`` is the index of the metric to leave out.
    """
    worst, sentences = findings.states.min(axis=1), []
    for code, state in enumerate(CODES):
        names = [str(findings.metrics[y]) for y in np.flatnonzero(worst == code) if y != x]
        if names:
            sentences.append(say.other_metrics(state, names, also=worst[x] == code))
    return " ".join(sentences)


def beware(findings: Pairs, name: Callable[[str], str] = str) -> list[str]:
    """Return warnings on the data and the settings.

    A warning is about an instance whose number of candidates differs between systems, instances
    with fewer than m negatives, strata that do not fit m or the way of drawing, or a metric whose
    cutoff leaves no item out.
    """
    first, *others = findings.sets
    notes, atoms = list[str](), first.counted()
    for other in others:
        if np.array_equal(other.instances, first.instances) and any(other.n != first.n):
            i = int(np.flatnonzero(other.n != first.n)[0])
            pair = name(first.system), name(other.system), name(str(other.instances[i]))
            notes.append(say.other_candidates(*pair, first.n[i], other.n[i]))
            break

    def instances(where: NDArray[np.bool_]) -> float:
        return float(atoms.count[(atoms.position == 1) & where].sum())

    short = instances(atoms.negatives < findings.m)
    if findings.protocol.design.distinct and short:
        notes.append(say.fewer_negatives(short, atoms.instances, findings.m))
    if atoms.strata is not None and (needs := findings.protocol.design.needs) != "classes":
        drawn = atoms.strata[:, 2:].min(axis=1).sum(axis=1)  # at most the size of a stratum
        notes += filter(None, [say.strata(drawn.min(), drawn.max(), findings.m, bool(needs))])
    largest = max(int(ranks.n.max()) for ranks in findings.sets)
    relevant = max(ranks.max_relevant for ranks in findings.sets)
    for metric in findings.metrics:
        k = metric.k or 0
        held = instances(atoms.negatives + atoms.relevant <= k)
        some = [say.none_beyond(held, atoms.instances, k)] if held else []
        notes += cutoff_holds_all(metric, largest, findings.m, relevant) or some
    return notes


def cutoff_holds_all(metric: Metric, n: int, m: int, relevant: int = 1) -> list[str]:
    """Return a warning if the cutoff includes all n candidates, or all ranked items of a sample.

    A sample has ``m`` negatives; only metrics that are ``on_lattice`` get the warning about it.
    ``relevant`` is the largest number of relevant items of an instance. Without a warning, the list
    is empty.
    """
    of_all, of_sample = metric.cut(n - 1), metric.cut(m)
    if of_all is None or of_sample is None:
        return []
    size = m + (relevant if metric.sums_items else 1)
    value = percent(float(metric(1, n))) if size == m + 1 else "the same"
    if of_all >= n:
        value = f"{value} at every rank" if metric.on_lattice else metric.label
        return [say.cutoff_holds_candidates(metric, n, value)]
    if metric.on_lattice and of_sample >= size:
        return [say.cutoff_holds_sample(metric, size, value)]
    return []


def outside(values: Mapping[str, Sequence[float]], method: str = "") -> list[str]:
    """Return a sentence on why estimates of a metric are below 0 or above 100 %, if some are.

    ``values`` maps names of estimators to estimates, or names of systems to estimates by the
    estimator ``method``. If all estimates are in 0 to 100 %, the list is empty.

    Examples
    --------
    >>> outside({"A": [-0.06], "B": [0.1]}, "BV")
    ['A by BV is outside 0 to 100 %, as no metric is: entries of a corrected vector lie outside 0 \
to 100 % where that lessens its bias, and then so may their mean.']
    """
    names = [name for name, some in values.items() if any(map(reason, some))]
    return [say.outside(names, method, OVERSHOOT)] if names else []
