"""The order of the systems in a paper's paragraph: in expectation, over m, and in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sampledash.comparison.findings import Findings
from sampledash.comparison.order import TIED
from sampledash.comparison.verdict import CONFIDENT
from sampledash.report.numbers import count
from sampledash.report.style import Style, all_of, listed, phrases
from sampledash.types import Floats

_PAIRS = 3  # pairs that are named
_METRICS = 5  # metrics that are told apart


def kept(f: Findings, ordered: Sequence[pd.DataFrame], say: Style) -> str:
    """What becomes of the order in expectation, as an infinitive; "" where there is no order.

    ``ordered`` holds, for each metric, the rows of the verdict whose exact values differ.
    """
    said = _kept(f, ordered, say)
    if said and len(f.sets) > 2 and sum(map(len, ordered)) < len(f.verdict):
        said += ", pairs that are equal on the full ranking left out"
    return said


def _kept(f: Findings, ordered: Sequence[pd.DataFrame], say: Style) -> str:
    turned = [rows[rows["sampled"] < -TIED] for rows in ordered]
    level = [int((rows["sampled"].abs() <= TIED).sum()) for rows in ordered]
    if not any(map(len, ordered)):
        return ""
    if not any(map(len, turned)) and not any(level):
        compared = [x for x, rows in enumerate(ordered) if len(rows)]
        return f"keep the order of the full ranking{_by(f, compared)}"
    if len(f.metrics) == 1:
        return _by_one_metric(len(ordered[0]), turned[0], level[0], say)
    if len(f.sets) == 2:
        return _of_two_systems(f, ordered, turned, level)
    groups: dict[str, list[str]] = {}
    for metric, rows, back in zip(f.metrics, ordered, turned, strict=True):
        if len(rows):
            some = f"{count(len(back))} of {count(len(rows))} pairs"
            key = all_of(len(rows), "pairs") if len(back) == len(rows) else some
            groups.setdefault(key if len(back) else "none", []).append(str(metric))
    tied = sum(level)
    tie = f"tie {count(tied)} {'pair' if tied == 1 else 'pairs'}"
    if set(groups) == {"none"}:
        return f"reverse no pair but {tie}"
    keys = sorted(groups, key=lambda key: key == "none")
    said = f"reverse {phrases([f'{key} by {_metrics(groups[key])}' for key in keys])}"
    return f"{said}, and {tie}" if tied else said


def _by_one_metric(pairs: int, turned: pd.DataFrame, level: int, say: Style) -> str:
    back = len(turned)
    if pairs == 1:
        return "reverse their order" if back else "tie them"
    if pairs in (back, level):
        return f"{'reverse' if back else 'tie'} {all_of(pairs, 'pairs')}"
    said = []
    if back:
        names = ""
        if back <= _PAIRS:
            named = (
                f"{say.name(row['worse'])} ahead of {say.name(row['better'])}"
                for _, row in turned.iterrows()
            )
            names = f" ({', '.join(named)})"
        said.append(f"reverse {count(back)} of {count(pairs)} pairs{names}")
    if level:
        said.append(f"tie {count(level)}{'' if said else f' of {count(pairs)} pairs'}")
    return " and ".join(said)


def _of_two_systems(
    f: Findings,
    ordered: Sequence[pd.DataFrame],
    turned: Sequence[pd.DataFrame],
    level: Sequence[int],
) -> str:
    reverse: list[str] = []
    keep: list[str] = []
    tie: list[str] = []
    for metric, rows, back, tied in zip(f.metrics, ordered, turned, level, strict=True):
        if len(rows):
            (reverse if len(back) else tie if tied else keep).append(str(metric))
    said = [f"reverse their order by {_metrics(reverse)}"] if reverse else []
    if keep:
        said.append(f"keep {'it' if reverse else 'their order'} by {_metrics(keep)}")
    if tie:
        said.append(f"tie them by {_metrics(tie)}")
    return phrases(said)


def _by(f: Findings, places: Sequence[int], every: str = "all {} metrics") -> str:
    """`` by AP and AUC``, or by all metrics; "" where there is only one."""
    if len(f.metrics) == 1:
        return ""
    if len(places) < len(f.metrics):
        return f" by {_metrics([str(f.metrics[x]) for x in places])}"
    if len(places) == 2:
        return f" by {'both metrics' if every.startswith('all') else 'either metric'}"
    return f" by {every.format(len(places))}"


def _metrics(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= _METRICS else f"{len(names)} metrics"


def right_from(f: Findings, ordered: Sequence[pd.DataFrame], say: Style) -> str:
    """From which m on the expected order is that of the full ranking."""
    end = say.symbol("m", f.m_max)
    selected = not f.every_m
    seen = f"evaluated at {'selected' if selected else 'all'} values up to {end}"
    largest = f"the largest {'of the values ' if selected else ''}evaluated"
    compared = [x for x, rows in enumerate(ordered) if len(rows)]
    last = {x: _last(ordered[x]) for x in compared}
    late = [x for x in compared if last[x] is None]
    one_pair = len(f.sets) == 2 or max(map(len, ordered)) == 1
    subject = "Their order is that" if one_pair else "All pairs are in the order"
    if not late:
        return f"{subject} of the full ranking {_from(f, last, say)} ({seen})."
    if len(late) == len(compared):
        return _never(f, ordered, late, f"Even at {end}, {largest},", say)
    there = {x: m for x, m in last.items() if m is not None}
    names = listed([str(f.metrics[x]) for x in late]) if len(late) <= _METRICS else "the others"
    still = "it is" if one_pair else "some pairs are"
    return (
        f"{subject} of the full ranking {_from(f, there, say)}; by {names} {still} not even at "
        f"{end}, {largest}."
    )


def _last(rows: pd.DataFrame) -> int | None:
    return None if rows["right_from"].isna().any() else int(rows["right_from"].max())


def _from(f: Findings, last: Mapping[int, int | None], say: Style) -> str:
    """``from m = 12 on by AP and from m = 7 on by AUC``; the values of m differ or are one."""
    groups: dict[int, list[str]] = {}
    for x, m in sorted(last.items(), key=lambda item: item[1] or 0):
        groups.setdefault(m or 0, []).append(str(f.metrics[x]))

    def start(m: int) -> str:
        if m == 1 < f.m_max:
            return f"for every {say.symbol('m')}"
        if m == f.m_max:
            return f"only at {say.symbol('m', m)}"
        only = "only " if m > f.m and len(groups) == 1 else ""
        return f"{only}from {say.symbol('m', m)} on"

    if len(groups) == 1:
        (m,) = groups
        return f"{start(m)}{_by(f, sorted(last))}"
    if len(groups) > _METRICS:
        return f"by {len(last)} metrics {start(max(groups))}"
    return phrases([f"{start(m)} by {_metrics(names)}" for m, names in groups.items()])


def _never(
    f: Findings, ordered: Sequence[pd.DataFrame], late: Sequence[int], even: str, say: Style
) -> str:
    """Where no metric orders every pair rightly, even at the largest m."""
    order = "the order of the full ranking"
    if len(f.sets) == 2:
        return f"{even} they are not in {order}{_by(f, late, 'any of the {} metrics')}."
    if len(late) > 1:
        return f"{even} some pairs are not in {order}{_by(f, late)}."
    rows = ordered[late[0]]
    wrong = rows[rows["right_from"].isna()]
    named = ""
    if len(wrong) <= _PAIRS:
        pairs = (
            f"{say.name(row['better'])} and {say.name(row['worse'])}" for _, row in wrong.iterrows()
        )
        named = f" ({', '.join(pairs)})"
    verb = "is" if len(wrong) == 1 else "are"
    share = f"{count(len(wrong))} of {count(len(rows))} pairs"
    if len(wrong) == len(rows) > 1:
        share = all_of(len(rows), "pairs")
    return f"{even} {share}{named} {verb} not in {order}{_by(f, late)}."


def one_run(f: Findings, ordered: Sequence[pd.DataFrame], say: Style) -> str:
    """The chance that a single sampled run shows the true order."""
    rows = pd.concat([part.assign(place=x) for x, part in enumerate(ordered) if len(part)])
    chance = rows["probability"].to_numpy(dtype=np.float64)
    settled = (chance >= CONFIDENT) | (chance <= 1 - CONFIDENT)
    start = f"At {say.symbol('m', f.m)} a single run would show the true order with a probability"
    if len(rows) > _PAIRS:
        return f"{start} of {_three_ways(f, rows, chance, say)}."
    groups: dict[str, list[str]] = {}
    for (_, row), p in zip(rows.iterrows(), chance, strict=True):
        groups.setdefault(say.chance(p), []).append(_comparison(f, row, say))
    if len(rows) == 1:
        metric = "" if len(f.metrics) == 1 else f" by {f.metrics[int(rows['place'].iloc[0])]}"
        said = f"of {say.chance(chance[0])}{metric}"
    elif len(groups) == 1:
        each = "by both metrics" if len(f.sets) == 2 and len(rows) == 2 else "in every comparison"
        each = "for every pair" if len(f.metrics) == 1 else each
        said = f"of {say.chance(chance[0])} {each}"
    else:
        said = f"of {phrases([f'{p} {listed(who)}' for p, who in groups.items()])}"
    if settled.all():
        return f"{start} {said}."
    if not settled.any():
        return f"{start} {said}, so the order in one run is a matter of chance."
    low, high = say.bound(1 - CONFIDENT), say.bound(CONFIDENT)
    return (
        f"{start} {said}; where it is between {low} and {high}, the order in one run is a matter "
        "of chance."
    )


def _comparison(f: Findings, row: pd.Series, say: Style) -> str:
    """``for Y over X``, ``by AP`` or both."""
    pair = f"for {say.name(row['better'])} over {say.name(row['worse'])}"
    metric = f"by {f.metrics[int(row['place'])]}"
    if len(f.metrics) == 1:
        return pair
    return metric if len(f.sets) == 2 else f"{pair} {metric}"


def _three_ways(f: Findings, rows: pd.DataFrame, chance: Floats, say: Style) -> str:
    """How many comparisons one run shows rightly, wrongly, or as chance has it."""
    low, high = say.bound(1 - CONFIDENT), say.bound(CONFIDENT)
    kind = "pairs" if len(f.metrics) == 1 else "metrics" if len(f.sets) == 2 else "comparisons"
    parts = [
        (f"at least {high}", chance >= CONFIDENT),
        (f"between {low} and {high}", (chance > 1 - CONFIDENT) & (chance < CONFIDENT)),
        (f"at most {low}", chance <= 1 - CONFIDENT),
    ]
    told = [(text, int(these.sum())) for text, these in parts if these.any()]
    if len(told) == 1:
        said = f"{told[0][0]} for {all_of(len(rows), kind)}"
    else:
        first = f"{told[0][0]} for {count(told[0][1])} of {count(len(rows))} {kind}"
        said = listed([first, *(f"{text} for {count(number)}" for text, number in told[1:])])
    lowest = rows[[say.chance(p) == say.chance(chance.min()) for p in chance]]
    if len(lowest) > 1:
        return said
    where = _comparison(f, lowest.iloc[0], say)
    return f"{said}; it is lowest {where} ({say.chance(chance.min())})"
