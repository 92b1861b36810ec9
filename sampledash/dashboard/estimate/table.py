"""The Correct page on a printed table: what it tells of the metric on all items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import pandas as pd
import streamlit as st

from sampledash.comparison.means import expected_mean
from sampledash.dashboard import cache, page, state
from sampledash.dashboard.estimate import pictures as figures
from sampledash.dashboard.estimate import scene as scenes
from sampledash.dashboard.estimate import words
from sampledash.dashboard.estimate.pictures import Range, Row
from sampledash.dashboard.words import escaped, system_name
from sampledash.estimation import bounds_from_table
from sampledash.metrics import Metric
from sampledash.readers import PrintedRow, PrintedTable, example, read_printed
from sampledash.report.numbers import percent
from sampledash.sampling import Sampling

PRINTED = ("HR@1", "HR@5", "HR@10", "NDCG@10")  # of the example
MOST_SYSTEMS = 20
_DECIMALS, _M = 4, 100


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


def defaults() -> dict[str, Any]:
    """Keys of the page with their defaults."""
    return {"printed": example_table(), "table_instances": 0}


def ask_table() -> str:
    """Draw the field in which the table stands, and that for its instances."""
    left, right = st.columns([4, 1])
    typed = left.text_area(
        "The printed table", value=example_table(), key="printed", height=150,
        bind="query-params",
        help=(
            "As printed, also from LaTeX or a PDF: a line of names (HR@10, NDCG@10, MRR, AUC …), "
            "then one system a line. The digits say how far the values were rounded. A line "
            "'m = 99, n = 1000' tells both."
        ),
    )  # fmt: skip
    right.number_input(
        "Instances, if known", min_value=0, value=0, step=1, key="table_instances",
        bind="query-params",
        help="Over how many users the values are means: each may then be off by two standard "
        "errors besides its rounding. 0: taken as expectations, off by rounding alone.",
    )  # fmt: skip
    return str(typed or "")


@dataclass(frozen=True)
class Scene:
    """What the table tells, and of which evaluation."""

    metric: Metric
    sampling: Sampling
    rows: tuple[Row, ...]
    pairs: tuple[scenes.Pair, ...]
    best: str | None
    word: str
    notes: tuple[str, ...]
    instances: int


def read(text: str) -> PrintedTable:
    """The table, checked.

    Raises
    ------
    ValueError
        If it cannot be read or has too many systems, or one without a value.
    """
    found = read_printed(text)
    if len(found.rows) > MOST_SYSTEMS:
        raise ValueError(
            f"the table has {len(found.rows)} systems, more than {MOST_SYSTEMS}: keep those that "
            "are compared"
        )
    if bare := [one.system for one in found.rows if not one.values]:
        raise ValueError(
            f"the table gives no value for {bare[0]!r}: give it at least one, or remove its line"
        )
    return found


def look(printed: PrintedTable) -> Scene:
    """Bounds of every system, and with them of every pair: nothing ties one to the other."""
    settings, table = state.current(), printed.rows
    metric = state.chip_metric(state.value("metric", scenes.DEFAULTS), settings.k, settings.n)
    sampling = Sampling(settings.n, printed.m or settings.m, settings.scheme)
    note = words.cutoff_holds_all(metric, sampling.n, sampling.m)
    told = [*printed.notes, *([note] if note else [])]
    found: list[tuple[Range, Range | None]] = []
    with page.progress("What this table leaves open") as report:
        for place, one in enumerate(table):
            free, falling = _span(metric, one, None, sampling), None
            report((place + 0.5) / len(table))
            try:
                falling = _span(metric, one, scenes.FALLING, sampling)
            except ValueError:
                told.append(words.contradicts(one.system))
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
    return Scene(metric, sampling, rows, pairs, name, word, tuple(told), _instances())


def _instances() -> int:
    return int(state.value("table_instances", defaults()))


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


def _span(metric: Metric, one: PrintedRow, shape: Any, s: Sampling) -> Range:
    size = _instances()
    key = "table", metric, str(one), str(shape), s, size

    def make() -> Range:
        return bounds_from_table(
            metric, one.values, s.n, s.m, one.decimals, shape=shape, scheme=s.scheme,
            instances=size or None,
        )  # fmt: skip

    try:
        found: Range = cache.cached(key, make, shared=False)
    except ValueError as error:
        raise ValueError(f"{one.system}: {str(error).removeprefix('observed ')}") from None
    return found


def headline(scene: Scene) -> None:
    """The verdict."""
    icon, color = words.VERDICTS[scene.word]
    badge = f":{color}-badge[{icon} {scene.word}] " if scene.pairs else ""
    best = None if scene.best is None else system_name(scene.best)
    first = scene.rows[0]
    said = (
        words.table_sentence(str(scene.metric), scene.word, best, len(scene.rows))
        if scene.pairs
        else words.alone(str(scene.metric), system_name(first.name), first.free)
    )
    st.markdown(f"### {badge}{said}")
    for note in scene.notes:
        st.caption(escaped(note))


def picture(scene: Scene, *, dim: bool) -> None:
    """The ranges, one row a system."""
    page.picture(
        figures.ranges(str(scene.metric), scene.rows, dark=page.is_dark()),
        key="table_ranges", dim=dim,
        alt="; ".join(
            f"{row.name}: {percent(row.free[0])} to {percent(row.free[1])}" for row in scene.rows
        ),
    )  # fmt: skip
    if not dim:
        st.caption(words.printed(scene.instances, scene.sampling))


def numbers(scene: Scene) -> None:
    """The ranges as a table to read and to take away."""
    rows = _ranges(scene)
    printed = pd.DataFrame(
        {
            "System": [system_name(a) + (f" − {system_name(b)}" if b else "") for a, b, *_ in rows],
            "No assumption": [_range(free, bool(b)) for _, b, free, _ in rows],
            "If ranks fall off": [_range(falling, bool(b)) for _, b, _, falling in rows],
        }
    )
    page.table(printed, bounds_table(scene), "table-bounds")


def bounds_table(scene: Scene) -> pd.DataFrame:
    """Every range with all that it follows from; none where the shape contradicts the table."""
    s = scene.sampling
    known = {"n": s.n, "m": s.m, "scheme": s.scheme, "instances": scene.instances or None}
    rows: list[dict[str, Any]] = []
    for system, minus, *spans in _ranges(scene):
        for shape, span in zip(("any", scenes.FALLING), spans, strict=True):
            low, high = span or (None, None)
            rows.append(
                {"system": system, "minus": minus, "metric": str(scene.metric), **known,
                 "shape": shape, "low": low, "high": high}
            )  # fmt: skip
    return pd.DataFrame(rows)


def _ranges(scene: Scene) -> list[tuple[str, str, Range, Range | None]]:
    """Those of every system, then of every difference of two."""
    return [
        *((r.name, "", r.free, r.falling) for r in scene.rows),
        *((p.first, p.second, p.free, p.falling) for p in scene.pairs),
    ]


def _range(span: Range | None, difference: bool) -> str:
    if span is None:
        return "contradicted"
    if difference:
        return words.span(*span)
    return f"{percent(span[0])} to {percent(span[1])}"
