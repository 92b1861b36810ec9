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
from sampledash.comparison import chance
from sampledash.comparison.order import TIED
from sampledash.dashboard import cache, page
from sampledash.dashboard.cache import Key
from sampledash.dashboard.consistency import pictures_plan as planning
from sampledash.dashboard.consistency import words_sure as words
from sampledash.dashboard.consistency.closer import Part
from sampledash.dashboard.consistency.result import Scene
from sampledash.dashboard.words import escaped, outside, plain, system_name
from sampledash.report.numbers import count, percent
from sampledash.types import Floats

REPEATS = {count(runs): runs for runs in (100, 200, 500, 1_000)}
DEFAULTS: dict[str, Any] = {"repeats": "200", "seed": 1}
_RUN = "_consistency_runs"


@dataclass
class Runs:
    """Repeated runs of one question; they grow until all are there or the reader stops them."""

    key: Key
    repeats: int
    blocks: list[list[Floats]]  # per system: arrays (runs, metrics)
    work: list[Iterator[Floats]] = field(repr=False)
    going: bool = True
    lock: Any = field(default_factory=Lock, repr=False)

    @classmethod
    def of(cls, part: Part, repeats: int, seed: int) -> Runs:
        """Every system with negatives of its own, from a stream of its own."""
        asked = part.scene.asked
        work = [
            simulation.batches(
                asked.metrics, ranks, asked.m, repeats, np.random.default_rng([seed, i]),
                asked.protocol,
            )
            for i, ranks in zip(part.systems, part.sets, strict=True)
        ]  # fmt: skip
        return cls(_key(part), repeats, [[] for _ in work], work)

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

    def values(self) -> Floats:
        """Means of the runs: (systems, runs, metrics)."""
        return np.array([np.concatenate(blocks)[: self.runs] for blocks in self.blocks])


def _key(part: Part) -> Key:
    return part.scene.asked.key, part.scene.asked.m, part.systems


def tab(scene: Scene, x: int, pair: int) -> None:
    """Seed, number of runs, start and stop; then what the runs show."""
    part = Part.of(scene, x, pair)
    if part.note:
        st.caption(part.note)
    held: Runs | None = st.session_state.get(_RUN)
    if held is not None and held.key != _key(part):
        held = st.session_state[_RUN] = None
    going = held is not None and held.going
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.segmented_control(
            "Runs", list(REPEATS), default=DEFAULTS["repeats"], required=True, key="repeats",
            bind="query-params",
        )  # fmt: skip
        seed = st.number_input(
            "Seed", min_value=0, value=DEFAULTS["seed"], step=1, key="seed", bind="query-params",
            width=120, help="The same seed draws the same negatives.",
        )  # fmt: skip
        repeats = REPEATS[label or DEFAULTS["repeats"]]
        if going:
            st.button("Stop", icon=":material/stop:", key="repeat_stop", on_click=_stop)
        else:
            st.button(
                f"Repeat it {count(repeats)} times", icon=":material/play_arrow:",
                type="primary", key="repeat_start", on_click=_start,
                args=(part, repeats, int(seed or 0)),
            )  # fmt: skip
    if held is None:
        st.info(
            f"Draws {count(scene.asked.m)} negatives for each of the instances again and again, "
            "as if the evaluation were repeated, and sets what comes out beside its exact law.",
            icon=":material/casino:",
        )
        return
    _draw_on(held)
    if held.runs:
        _result(part, held)


def _start(part: Part, repeats: int, seed: int) -> None:
    try:
        st.session_state[_RUN] = Runs.of(part, repeats, seed)
    except ValueError as error:  # counts that are no whole numbers
        st.session_state[_RUN] = None
        st.toast(str(error))


def _stop() -> None:
    held: Runs | None = st.session_state.get(_RUN)
    if held is not None:
        held.going = False


def _draw_on(held: Runs) -> None:
    """Go on drawing; each look at the bar is where a click can stop it."""
    if not held.going:
        return
    bar = st.progress(0.0)
    while held.going:
        bar.progress(held.runs / held.repeats, f"{count(held.runs)} of {count(held.repeats)} runs")
        held.step()
    bar.empty()
    st.rerun()  # the button says Start again


def _result(part: Part, held: Runs) -> None:
    scene, values = part.scene, held.values()
    names = [scene.systems[i] for i in part.systems]
    laws = [_law(part, i) for i in range(len(part.systems))]
    if scene.pair(part.x, part.pair).truth:
        st.markdown(_seen_sentence(part, values))
    page.picture(
        planning.histogram(
            str(part.metric), [plain(name) for name in names],
            [values[i, :, part.x] for i in range(len(names))], laws, part.systems,
            dark=page.is_dark(),
        ),
        key="consistency_runs",
        alt=f"Means of {count(held.runs)} runs beside their exact law, {part.metric}.",
    )  # fmt: skip
    table = runs_table(part, values)
    here = table[table["metric"] == str(part.metric)]
    rows = pd.concat([here, table.drop(here.index)])
    printed = pd.DataFrame(
        {
            "Metric": rows["metric"],
            "System": rows["system"].map(system_name),
            f"{count(held.runs)} runs": [
                f"{percent(a)[:-2]} ± {percent(b)}"
                for a, b in zip(rows["mean_of_runs"], rows["std_of_runs"], strict=True)
            ],
            "Exact law": [
                f"{percent(a)[:-2]} ± {percent(b)}"
                for a, b in zip(rows["expected_sampled"], rows["std_of_mean"], strict=True)
            ],
        }
    )
    page.table(printed, table, "runs")
    beyond = {
        f"{metric} of {system}": list(both)
        for metric, system, *both in zip(
            table["metric"], table["system"], table["mean_of_runs"], table["expected_sampled"],
            strict=True,
        )
    }  # fmt: skip
    for note in outside(beyond):
        st.caption(escaped(note))
    st.markdown("Runs that show the true order, beside the exact chance:")
    orders = orders_table(part, values)
    here = orders[orders["metric"] == str(part.metric)]
    rows = pd.concat([here, orders.drop(here.index)])
    printed = pd.DataFrame(
        {
            "Metric": rows["metric"],
            "True order": [
                f"{system_name(a)} > {system_name(b)}"
                for a, b in zip(rows["better"], rows["worse"], strict=True)
            ],
            "Runs": rows["share_of_runs"].map(percent),
            "Exact chance": rows["probability"].map(percent),
        }
    )
    page.table(printed, orders, "orders")


def _seen_sentence(part: Part, values: Floats) -> str:
    i, j, _ = part.scene.pair(part.x, part.pair)
    a, b = part.systems.index(i), part.systems.index(j)
    seen = float(np.mean(values[a, :, part.x] - values[b, :, part.x] > TIED))
    return words.repeated(
        system_name(part.scene.systems[i]), system_name(part.scene.systems[j]), seen,
        values.shape[1], float(part.scene.chances[part.x, part.pair]),
    )  # fmt: skip


def _stds(part: Part) -> Floats:
    asked = part.scene.asked
    try:
        return cache.scatter(
            asked.metrics, part.sets, asked.m, asked.protocol,
            shared=asked.source.bundled,
        )  # fmt: skip
    except ValueError:  # several tied relevant items in one instance
        return np.full((len(part.systems), len(asked.metrics)), np.nan)


def _law(part: Part, place: int) -> planning.Law:
    """The exact law of the mean of one run, for the metric in focus."""
    asked, system = part.scene.asked, part.systems[place]
    mean = float(part.scene.sampled()[system, part.x])
    exact = part.get(
        "law",
        part.x,
        system,
        make=lambda: chance.law_of_mean(
            part.metric, part.sets[place], asked.m, asked.protocol, stream=system
        ),
    )
    values, mass = exact if exact is not None else (None, None)
    return planning.Law(mean, float(np.nan_to_num(_stds(part)[place, part.x])), values, mass)


def runs_table(part: Part, values: Floats) -> pd.DataFrame:
    """Mean and standard deviation over the runs beside the exact ones, as Tables 2 and 3 print."""
    scene, stds = part.scene, _stds(part)
    ddof = 1 if values.shape[1] > 1 else 0
    return pd.DataFrame(
        [
            {
                "metric": str(metric),
                "system": scene.systems[system],
                "mean_of_runs": values[i, :, x].mean(),
                "std_of_runs": values[i, :, x].std(ddof=ddof),
                "expected_sampled": scene.sampled()[system, x],
                "std_of_mean": stds[i, x],
            }
            for x, metric in enumerate(scene.asked.metrics)
            for i, system in enumerate(part.systems)
        ]
    )


def orders_table(part: Part, values: Floats) -> pd.DataFrame:
    """Share of the runs that show the true order of each pair beside its exact chance."""
    scene, rows = part.scene, []
    for x, metric in enumerate(scene.asked.metrics):
        for pair in part.pairs:
            i, j, truth = scene.pair(x, pair)
            a, b = part.systems.index(i), part.systems.index(j)
            seen = float(np.mean(values[a, :, x] - values[b, :, x] > TIED))
            rows.append(
                {
                    "metric": str(metric),
                    "better": scene.systems[i],
                    "worse": scene.systems[j],
                    "share_of_runs": seen if truth else np.nan,
                    "probability": float(scene.chances[x, pair]),
                }
            )
    return pd.DataFrame(rows)
