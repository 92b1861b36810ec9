"""The Correct page on a printed table: what it tells of the metric on all items."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Any, overload

import pandas as pd
import streamlit as st

from sampledash.comparison.means import expected_mean
from sampledash.dashboard import cache, charts, controls, state, takeaway
from sampledash.dashboard.estimate import scene as scenes
from sampledash.dashboard.ranks.trouble import Trouble, escaped
from sampledash.dashboard.ranks.trouble import shown as shown_name
from sampledash.estimation import bounds_from_table
from sampledash.explain import estimate as words
from sampledash.explain.text import percent
from sampledash.figures import estimate as figures
from sampledash.figures.estimate import Range, Row
from sampledash.metrics import Metric
from sampledash.readers import example

PRINTED = ("HR@1", "HR@5", "HR@10", "NDCG@10")  # of the example
DEFAULTS: dict[str, Any] = {"printed": ""}
MOST_SYSTEMS = 6
_DECIMALS, _M = 4, 100
_IN_PERCENT = "_printed_in_percent"


@dataclass(frozen=True)
class Printed:
    """One line of a printed table: values with their decimals."""

    system: str
    values: dict[str, float]
    decimals: dict[str, int]


@st.cache_data(max_entries=1, show_spinner=False)
def example_table() -> str:
    """Sampled metrics of X, Y, Z as a paper would print them."""
    lines = [", ".join(["system", *PRINTED])]
    for ranks in example("movielens-xyz"):
        values = [
            expected_mean(name.replace("HR", "Recall"), ranks, _M, scheme="without-replacement")
            for name in PRINTED
        ]
        lines.append(", ".join([ranks.system, *(f"{value:.{_DECIMALS}f}" for value in values)]))
    return "\n".join(lines)


def ask_table() -> str:
    """Draw the field in which the table stands."""
    typed = st.text_area(
        "The printed table", value=state.value("printed", DEFAULTS) or example_table(),
        key="printed_text", height=150,
        help=(
            "First line: system and the names of the metrics (HR@10, NDCG@10, MRR, AUC …); then "
            "one system a line, values as printed. Their decimals say how far they were rounded."
        ),
    )  # fmt: skip
    own = typed.strip() and typed != example_table()
    st.session_state["printed"] = typed if own else ""
    return str(typed)


def parsed(text: str, *, in_percent: bool) -> list[Printed]:
    """Read a pasted table; its digits say how many decimals were printed.

    Raises
    ------
    ValueError
        Naming the line, the column, the value and the remedy.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        raise ValueError("the table has no values: write a line of names and one line per system")
    joined = "\n".join(lines)
    mark = max("\t;|,", key=lines[0].count)
    rows = [
        [cell.strip() for cell in row] for row in csv.reader(io.StringIO(joined), delimiter=mark)
    ]
    header, found = rows[0], []
    for place, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(
                f"the table has in line {place} {len(row)} cells, but the first line names "
                f"{len(header)} columns: complete it"
            )
        values, decimals = {}, {}
        for name, cell in zip(header[1:], row[1:], strict=True):
            if not cell or cell in "-–":
                continue
            digits = re.fullmatch(r"([+-]?\d*)[.]?(\d*)\s*(%?)", cell)
            if digits is None or not (digits[1].strip("+-") or digits[2]):
                raise ValueError(
                    f"the table, line {place}, column {name!r}: {cell!r} is not a number; write "
                    "it as printed, such as 0.6624"
                )
            percents = in_percent or bool(digits[3])
            values[name] = float(cell.rstrip(" %")) / (100 if percents else 1)
            decimals[name] = len(digits[2]) + (2 if percents else 0)
        found.append(Printed(row[0] or f"line {place}", values, decimals))
    return found


@dataclass(frozen=True)
class Scene:
    """What the table tells."""

    metric: Metric
    rows: tuple[Row, ...]
    pairs: tuple[scenes.Pair, ...]
    best: str | None
    word: str
    contradicted: str


def asked() -> tuple[Metric, list[Printed]]:
    """The metric and the table, checked."""
    settings = state.current()
    metric = state.chip_metric(state.value("metric", scenes.DEFAULTS), settings.k)
    text = st.session_state.get("printed") or example_table()
    table = parsed(text, in_percent=st.session_state.get(_IN_PERCENT) == text)
    if len(table) > MOST_SYSTEMS:
        raise ValueError(
            f"the table has {len(table)} systems, more than {MOST_SYSTEMS}: keep those that are "
            "compared"
        )
    return metric, table


def look(metric: Metric, table: list[Printed], n: int) -> Scene:
    """Bounds of every system, and with them of every pair: nothing ties one to the other."""
    found: list[tuple[Range, Range | None]] = []
    contradicted = ""
    with controls.progress("What this table leaves open") as report:
        for place, one in enumerate(table):
            free, falling = _span(metric, one, None, n), None
            report((place + 0.5) / len(table))
            try:
                falling = _span(metric, one, scenes.FALLING, n)
            except ValueError as error:
                contradicted = contradicted or f"{one.system}: {state.spelled(error)}"
            found.append((free, falling))
            report((place + 1) / len(table))
    pairs = tuple(
        scenes.Pair(
            table[i].system, table[j].system, _minus(found[i][0], found[j][0]),
            _minus(found[i][1], found[j][1]),
        )
        for i in range(len(table))
        for j in range(i + 1, len(table))
    )  # fmt: skip
    free_best, falling_best = (_best([span[x] for span in found]) for x in (0, 1))
    best = falling_best if free_best is None else free_best
    word = "cannot tell" if best is None else "if falling" if free_best is None else "decided"
    rows = tuple(Row(one.system, *spans) for one, spans in zip(table, found, strict=True))
    name = None if best is None else table[best].system
    return Scene(metric, rows, pairs, name, word, contradicted)


@overload
def _minus(a: Range, b: Range) -> Range: ...
@overload
def _minus(a: Range | None, b: Range | None) -> Range | None: ...
def _minus(a: Range | None, b: Range | None) -> Range | None:
    return None if a is None or b is None else (a[0] - b[1], a[1] - b[0])


def _best(spans: list[Range | None]) -> int | None:
    """Place of the system whose range lies above all others, if there is one."""
    known = [span for span in spans if span is not None]
    if len(known) < max(2, len(spans)):
        return None
    first = max(range(len(known)), key=lambda i: known[i][0])
    ahead = all(known[first][0] > span[1] for i, span in enumerate(known) if i != first)
    return first if ahead else None


def _span(metric: Metric, one: Printed, shape: Any, n: int) -> Range:
    settings = state.current()
    key = f"table|{metric}|{one}|{shape}|{n}|{settings.m}|{settings.scheme}"

    def make() -> Range:
        return bounds_from_table(
            metric, one.values, n, settings.m, one.decimals, shape=shape, scheme=settings.scheme
        )

    found: Range = cache.kept(key, make, shared=False)
    return found


def trouble(error: ValueError) -> Trouble:
    """Why there are no bounds; values in percent are put right with a click."""
    said, text = state.spelled(error), st.session_state.get("printed") or example_table()
    if "percent" in said and st.session_state.get(_IN_PERCENT) != text:
        return Trouble(
            said, "They are in percent", lambda: st.session_state.update({_IN_PERCENT: text})
        )
    return Trouble(said)


def headline(scene: Scene) -> None:
    """The verdict."""
    icon, color = words.VERDICTS[scene.word]
    badge = f":{color}-badge[{icon} {scene.word}] " if scene.pairs else ""
    best = None if scene.best is None else shown_name(scene.best)
    said = words.table_sentence(str(scene.metric), scene.word, best, len(scene.rows))
    st.markdown(f"### {badge}{said}")
    if scene.contradicted:
        st.caption(escaped(scene.contradicted))


def picture(scene: Scene, *, dim: bool) -> None:
    """The ranges, one row a system."""
    charts.show(
        figures.ranges(str(scene.metric), scene.rows, dark=charts.is_dark()),
        key="table_ranges", dim=dim,
        alt="; ".join(
            f"{row.name}: {percent(row.free[0])} to {percent(row.free[1])}" for row in scene.rows
        ),
    )  # fmt: skip
    st.caption(words.PRINTED)


def numbers(scene: Scene) -> pd.DataFrame:
    """The ranges as a table to read and to take away."""
    rows = [(r.name, "", r.free, r.falling) for r in scene.rows]
    rows += [(p.first, p.second, p.free, p.falling) for p in scene.pairs]
    table = pd.DataFrame(
        [
            (a, b, str(scene.metric), *free, *(falling or (float("nan"),) * 2))
            for a, b, free, falling in rows
        ],
        columns=["system", "minus", "metric", "low", "high", "low_falling", "high_falling"],
    )
    printed = pd.DataFrame(
        {
            "System": [shown_name(a) + (f" − {shown_name(b)}" if b else "") for a, b, *_ in rows],
            "No assumption": [_range(free, bool(b)) for _, b, free, _ in rows],
            "If ranks fall off": [_range(falling, bool(b)) for _, b, _, falling in rows],
        }
    )
    takeaway.show(printed, table, "table-bounds")
    return table


def _range(span: Range | None, difference: bool) -> str:
    if span is None:
        return "contradicted"
    if difference:
        return words.span(*span)
    return f"{percent(span[0])} to {percent(span[1])}"
