"""What is told of the exact metric: estimates, ranges, and which pairs they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from sampledash.comparison.means import mean
from sampledash.correction import correction
from sampledash.dashboard import cache, controls, state
from sampledash.dashboard.estimate.source import Sampled
from sampledash.estimation import compare, fitted_side_by_side, interval, point
from sampledash.explain import estimate as words
from sampledash.figures.estimate import Range, Row
from sampledash.metrics import Metric
from sampledash.sampledranks import SampledRankSet

# As shown -> as the core names it; BV takes the γ of the sidebar.
TOGETHER, SHAPED = "side by side", "shape-constrained MLE"
METHODS = {
    TOGETHER: TOGETHER, SHAPED: "monotone-mle", "MLE": "mle", "MES": "mes",
    "BV-MLE": "bv-mle", "BV-MES": "bv-mes", "MN": "mn", "BV": "BV", "CLS": "CLS",
    "rank estimate": "rank estimate", "uncorrected": "uncorrected",
}  # fmt: skip
DEFAULTS: dict[str, Any] = {"estimator": next(iter(METHODS)), "metric": "Recall@k"}
MOST_SYSTEMS = 8
FALLING = "non-increasing"
_GOOD = "_estimate_good"


@dataclass(frozen=True)
class Asked:
    """Everything that is shown depends on this."""

    source: Sampled
    metric: Metric
    method: str
    gamma: float

    @property
    def sets(self) -> tuple[SampledRankSet, ...]:
        """The sampled ranks."""
        return self.source.sets[:MOST_SYSTEMS]

    @property
    def systems(self) -> list[str]:
        """Their names."""
        return [one.system for one in self.sets]

    def value(self, place: int, method: str) -> float:
        """Estimate of one system by one of :data:`METHODS`."""
        if METHODS[method] == TOGETHER:
            values: list[float] = self.kept(TOGETHER, self._side_by_side)
            return values[place]
        found: float = self._kept(
            f"point|{place}|{method}|{self.gamma if method == 'BV' else ''}",
            lambda: point(self.metric, self.sets[place], as_method(method, self.gamma)),
        )
        return found

    def _side_by_side(self) -> list[float]:
        """Estimates that begin from one distribution, learned from all systems together."""
        return [float(each.expected(self.metric)) for each in fitted_side_by_side(self.sets)]

    def kept(self, name: str, make: Any) -> Any:
        """A result about these sets and this metric, kept."""
        return self._kept(name, make)

    def _kept(self, name: str, make: Any) -> Any:
        key = f"{name}|{self.metric}|{self.source.key}"
        return cache.kept(key, make, shared=self.source.bundled)


@dataclass(frozen=True)
class Pair:
    """What is known of the difference of two systems, without and with the assumption."""

    first: str
    second: str
    free: Range
    falling: Range | None


@dataclass(frozen=True)
class Scene:
    """What is shown."""

    asked: Asked
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    method: str  # of the estimates, one of METHODS
    notes: tuple[str, ...]

    @property
    def decided(self) -> int:
        """Pairs decided without an assumption."""
        return sum(map(decides, (pair.free for pair in self.pairs)))

    @property
    def decided_if_falling(self) -> int:
        """Pairs decided if no rank is more frequent than a better one."""
        return sum(decides(pair.falling) for pair in self.pairs)

    @property
    def word(self) -> str:
        """The verdict on all pairs."""
        return words.verdict(self.decided, self.decided_if_falling, len(self.pairs))


def decides(span: Range | None) -> bool:
    """Whether 0 is outside."""
    return span is not None and (span[0] > 0 or span[1] < 0)


def as_method(method: str, gamma: float) -> Any:
    """The estimator behind a choice."""
    name = METHODS[method]
    return correction("bias-variance", gamma=gamma) if name == "BV" else name


def ask(source: Sampled) -> Asked:
    """Check the choices."""
    settings = state.current()
    metric = state.chip_metric(state.value("metric", DEFAULTS), settings.k, settings.n)
    method = state.value("estimator", DEFAULTS)
    if method == "BV" and settings.gamma == 0:
        raise ValueError("gamma = 0 has no usable vector beyond m of about 20: take gamma above 0")
    return Asked(source, metric, method, settings.gamma)


def look(asked: Asked) -> Scene:
    """Compute, or take from the cache, what is shown."""
    sets, size = asked.sets, len(asked.sets)
    total = 2 * (size + size * (size - 1) // 2)
    done = 0
    notes = [note for note in (_repeated(asked),) if note]
    spans: dict[tuple[int, int], tuple[Range, Range | None]] = {}
    with controls.progress("What these samples leave open") as report:
        for i in range(size):
            for j in range(i, size):
                found: list[Range | None] = []
                for shape in (None, FALLING):
                    try:
                        found.append(asked.kept(f"span|{i}|{j}|{shape}", _span(asked, i, j, shape)))
                    except ValueError:
                        if shape is None:
                            raise
                        if i == j:
                            notes.append(words.contradicts(sets[i].system))
                        found.append(None)
                    done += 1
                    report(done / total)
                assert found[0] is not None
                spans[i, j] = found[0], found[1]
    method = asked.method
    if method == TOGETHER and not _fits_together(asked, [spans[i, i] for i in range(size)]):
        method = SHAPED
        notes.append(words.NOT_TOGETHER)
    rows = tuple(
        Row(
            one.system, *spans[i, i], asked.value(i, method),
            mean(asked.metric, asked.source.true[i]) if asked.source.true else None,
        )
        for i, one in enumerate(sets)
    )  # fmt: skip
    pairs = tuple(
        Pair(sets[i].system, sets[j].system, *spans[i, j])
        for i in range(size)
        for j in range(i + 1, size)
    )
    return Scene(asked, rows, pairs, method, tuple(notes))


def _fits_together(asked: Asked, spans: list[tuple[Range, Range | None]]) -> bool:
    """Whether estimates that lean on each other agree with what each system's samples allow."""
    n = [one.population for one in asked.sets]
    if max(n) > 1.1 * min(n):
        return False
    allowed = [free if falling is None else falling for free, falling in spans]
    values = [asked.value(i, TOGETHER) for i in range(len(spans))]
    return all(low <= x <= high for x, (low, high) in zip(values, allowed, strict=True))


def _repeated(asked: Asked) -> str:
    """What to know where an instance has several sampled ranks."""
    for one in asked.sets:
        if one.instances is not None and len(np.unique(one.instances)) < len(one):
            return words.repeated(len(one), len(np.unique(one.instances)))
    return ""


def _span(asked: Asked, i: int, j: int, shape: Any) -> Any:
    def make() -> Range:
        if i == j:
            return interval(asked.metric, asked.sets[i], shape=shape)
        told = compare(asked.metric, asked.sets[i], asked.sets[j], shape)
        return told.low, told.high

    return make


def remembered() -> Asked | None:
    """What was shown last without an error."""
    return st.session_state.get(_GOOD)


def remember(asked: Asked) -> None:
    """Note what is shown, for the next error."""
    st.session_state[_GOOD] = asked
