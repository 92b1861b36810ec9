"""Repeat it: the reader's own evaluation, drawn again and again, beside its exact law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash import simulation
from sampledash.dashboard import page, state
from sampledash.dashboard.cache import Key
from sampledash.dashboard.consistency import pictures, words
from sampledash.dashboard.consistency.result import Focus
from sampledash.dashboard.words import escaped, outside, plain, system_name
from sampledash.report.numbers import count, percent
from sampledash.types import Floats

REPEATS = {count(runs): runs for runs in (100, 200, 500, 1_000)}
DEFAULTS: dict[str, Any] = {"repeats": "200", "seed": 1}
_RUNS = "_consistency_runs"


@dataclass
class Runs:
    """Repeated runs of one question; they grow until all are there or the reader stops them."""

    key: Key
    repeats: int
    work: list[Iterator[Floats]] = field(repr=False)
    blocks: list[list[Floats]]  # per system: arrays (runs, metrics)
    going: bool = True
    lock: Any = field(default_factory=Lock, repr=False)

    @classmethod
    def of(cls, focus: Focus, repeats: int, seed: int) -> Runs:
        """Every system with negatives of its own, from a stream of its own."""
        q, work = focus.result.question, []
        for i in focus.systems:
            rng = np.random.default_rng([seed, i])
            work.append(simulation.batches(q.metrics, q.sets[i], q.m, repeats, rng, q.protocol))
        return cls(_key(focus), repeats, work, [[] for _ in work])

    def done(self, system: int) -> int:
        """Runs of one system so far."""
        return sum(map(len, self.blocks[system]))

    @property
    def runs(self) -> int:
        """Runs that all systems have."""
        return min(map(self.done, range(len(self.blocks))))

    def step(self) -> None:
        """Draw one block for the system that is furthest behind: well below a second."""
        # A click starts a new script while the old one still draws its last block.
        with self.lock:
            behind = min(range(len(self.blocks)), key=self.done)
            block = next(self.work[behind], None)
            if block is not None:
                self.blocks[behind].append(block)
            if block is None or self.runs >= self.repeats:
                self.going = False  # and never True again: the reader may have stopped it

    def stop(self) -> None:
        self.going = False

    def values(self) -> Floats:
        """Means of the runs: (systems, runs, metrics)."""
        return np.array([np.concatenate(blocks)[: self.runs] for blocks in self.blocks])


def _key(focus: Focus) -> Key:
    """Runs hold every metric: another one in focus needs no others."""
    return focus.result.question.key, focus.result.m, *focus.systems


def show(focus: Focus) -> None:
    """Draw seed, number of runs, start and stop; then what the runs show."""
    if some := words.some_systems(focus):
        st.caption(some)
    runs: Runs | None = st.session_state.get(_RUNS)
    if runs is not None and runs.key != _key(focus):
        runs = st.session_state[_RUNS] = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = page.segments("Runs", REPEATS, "repeats", default=DEFAULTS["repeats"])
        seed = st.number_input(
            "Seed",
            min_value=0,
            value=DEFAULTS["seed"],
            step=1,
            key="seed",
            bind="query-params",
            width=120,
            help="The same seed draws the same negatives.",
        )
        repeats = REPEATS[label]
        if runs is not None and runs.going:
            st.button("Stop", icon=":material/stop:", key="repeat_stop", on_click=runs.stop)
        else:
            st.button(
                f"Repeat it {count(repeats)} times",
                icon=":material/play_arrow:",
                type="primary",
                key="repeat_start",
                on_click=_start,
                args=(focus, repeats, int(seed or 0)),
            )
    if runs is None:
        st.info(
            f"Draws {count(focus.result.m)} negatives for each of the instances again and again, "
            "as if the evaluation were repeated, and sets what comes out beside its exact law.",
            icon=":material/casino:",
        )
        return
    try:
        _draw_on(runs)
    except ValueError as error:  # counts that are no whole numbers
        st.session_state[_RUNS] = None
        st.info(escaped(state.spelled(error)), icon=":material/info:")
        return
    if runs.runs:
        _show_runs(focus, runs.values())


def _start(focus: Focus, repeats: int, seed: int) -> None:
    st.session_state[_RUNS] = Runs.of(focus, repeats, seed)


def _draw_on(runs: Runs) -> None:
    """Go on drawing; each look at the bar is where a click can stop it."""
    if not runs.going:
        return
    bar = st.empty()
    while runs.going:
        runs.step()
        done = min(runs.runs, runs.repeats)
        bar.progress(done / runs.repeats, f"{count(done)} of {count(runs.repeats)} runs")
    bar.empty()
    st.rerun()  # the button says Start again


def _show_runs(focus: Focus, values: Floats) -> None:
    """The runs (systems, runs, metrics) beside their exact law."""
    r, x, metric, made = focus.result, focus.x, str(focus.metric), values.shape[1]
    stds, laws = np.nan_to_num(r.std(focus.sets)[:, x]).tolist(), []
    for system, std in zip(focus.systems, stds, strict=True):
        exact = focus.law_of_mean(system) or (None, None)
        laws.append(pictures.Law(float(r.sampled[system, x]), std, *exact))
    table, seen = focus.runs(values), focus.seen(values)
    if not focus.tied:
        share = float(focus.rows(_first(seen, metric))["share_of_runs"].iloc[0])
        pair = focus.ordered(focus.pair, system_name)
        st.markdown(words.repeated(*pair, share, made, float(r.chances[x, focus.pair])))
    names, runs = [plain(r.systems[i]) for i in focus.systems], list(values[:, :, x])
    page.picture(
        pictures.histogram(metric, names, runs, laws, focus.systems, dark=page.is_dark()),
        key="consistency_runs",
        alt=f"Means of {count(made)} runs beside their exact law, {metric}.",
    )
    rows = _first(table, metric)
    printed = {
        "Metric": rows["metric"],
        "System": rows["system"].map(system_name),
        f"{count(made)} runs": words.plus_minus(rows["mean_of_runs"], rows["std_of_runs"]),
        "Exact law": words.plus_minus(rows["expected_sampled"], rows["std_of_mean"]),
    }
    page.table(pd.DataFrame(printed), table, "runs")
    named = (table["metric"] + " of " + table["system"]).tolist()
    both = table[["mean_of_runs", "expected_sampled"]].to_numpy().tolist()
    for note in outside(dict(zip(named, both, strict=True))):
        st.caption(escaped(note))
    st.markdown("Runs that show the true order, beside the exact chance:")
    rows = _first(seen, metric)
    sign = rows["share_of_runs"].isna().map({True: " = ", False: " > "})  # no share: a tie
    printed = {
        "Metric": rows["metric"],
        "True order": rows["better"].map(system_name) + sign + rows["worse"].map(system_name),
        "Runs": rows["share_of_runs"].map(percent),
        "Exact chance": rows["probability"].map(percent),
    }
    page.table(pd.DataFrame(printed), seen, "orders")


def _first(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows of a metric before all others."""
    here = table["metric"] == metric
    return pd.concat([table[here], table[~here]])
