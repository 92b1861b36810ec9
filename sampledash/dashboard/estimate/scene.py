"""What is told of the exact metric: estimates, ranges, and which pairs they decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from sampledash.comparison.means import mean
from sampledash.correction import correction
from sampledash.dashboard import cache, page, state
from sampledash.dashboard.estimate import words
from sampledash.dashboard.estimate.pictures import Range, Row
from sampledash.dashboard.estimate.source import Sampled
from sampledash.dashboard.words import outside, repeated
from sampledash.estimation import compare, fitted_side_by_side, interval, point
from sampledash.metrics import Metric
from sampledash.sampledranks import SampledRankSet

# As shown -> as the core names it; BV takes the γ of the sidebar.
TOGETHER, SHAPED = "side by side", "shape-constrained MLE"
METHODS = {
    TOGETHER: TOGETHER, SHAPED: "monotone-mle", "MLE": "mle", "MES": "mes",
    "BV-MLE": "bv-mle", "BV-MES": "bv-mes", "MN": "mn", "BV": "BV", "CLS": "CLS",
    "rank estimate": "rank estimate", "uncorrected": "uncorrected",
}  # fmt: skip
PLAINER = (TOGETHER, SHAPED, "MLE")  # each assumes less than the one before
DEFAULTS: dict[str, Any] = {"estimator": next(iter(METHODS)), "metric": "Recall@k"}
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
        return self.source.sets

    @property
    def adaptive(self) -> bool:
        """Whether what was drawn decided m, of some system."""
        return any(one.is_adaptive for one in self.sets)

    def value(self, place: int, method: str) -> float:
        """Estimate of one system by one of :data:`METHODS`."""
        if METHODS[method] == TOGETHER:
            values: list[float] = self.kept(f"{TOGETHER}|{self.source.key}", self._side_by_side)
            return values[place]
        one = self.sets[place]
        found: float = self.kept(
            f"point|{one.digest}|{method}|{self.gamma if method == 'BV' else ''}",
            lambda: point(self.metric, one, as_method(method, self.gamma)),
        )
        return found

    def free(self, i: int, j: int) -> Range:
        """What one system's samples allow, or those of two of their difference."""
        one, other = self.sets[i], self.sets[j]
        found: Range = self.kept(
            f"span|{one.digest}|{other.digest}", lambda: _span(self.metric, one, other, None)
        )
        return found

    def falling(self, i: int, j: int) -> Range | None:
        """The same if no rank is more frequent than a better one.

        None if they contradict it, or if what was drawn decided m.
        """
        one, other = self.sets[i], self.sets[j]
        if one.is_adaptive or other.is_adaptive:
            return None

        def make() -> Range | None:
            try:
                return _span(self.metric, one, other, FALLING)
            except ValueError:
                return None

        found: Range | None = self.kept(f"span|{one.digest}|{other.digest}|{FALLING}", make)
        return found

    def _side_by_side(self) -> list[float]:
        """Estimates that begin from one distribution, learned from all systems together."""
        return [float(each.expected(self.metric)) for each in fitted_side_by_side(self.sets)]

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """A result about this metric, kept.

        All of one source and metric are one entry of the cache: eight systems have more results
        than the cache has entries, and with one entry each they would push one another out.
        """
        key = "estimate", self.metric, self.source.whole
        held: dict[str, Any] = cache.cached(key, dict, shared=self.source.bundled)
        if name not in held:
            held[name] = make()
        return held[name]


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
    def methods(self) -> list[str]:
        """Estimators that are valid and differ for these systems."""
        offered = PLAINER if self.asked.adaptive else METHODS
        return [name for name in offered if len(self.rows) > 1 or name != TOGETHER]

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
    total = size * (size + 1) // 2
    notes = [note for note in (_cutoff(asked), *_unlike(asked), _repeated(asked)) if note]
    spans: dict[tuple[int, int], tuple[Range, Range | None]] = {}
    with page.progress("What these samples leave open") as report:
        for i in range(size):
            for j in range(i, size):
                free = asked.free(i, j)
                report((len(spans) + 0.5) / total)
                spans[i, j] = free, asked.falling(i, j)
                report(len(spans) / total)
                if i == j and spans[i, j][1] is None and not sets[i].is_adaptive:
                    notes.append(words.contradicts(sets[i].system))
    method, why = _allowed_method(asked, [spans[i, i] for i in range(size)])
    if method != asked.method and (size > 1 or method != SHAPED):
        notes.append(words.instead(asked.method, method, why))
    values = [asked.value(i, method) for i in range(size)]
    found = {one.system: [value] for one, value in zip(sets, values, strict=True)}
    notes += outside(found, method)
    rows = tuple(
        Row(
            one.system, *spans[i, i], values[i],
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


def _span(metric: Metric, one: SampledRankSet, other: SampledRankSet, shape: Any) -> Range:
    if one is other:
        return interval(metric, one, shape=shape)
    told = compare(metric, one, other, shape)
    return told.low, told.high


def _allowed_method(
    asked: Asked, spans: list[tuple[Range, Range | None]]
) -> tuple[str, words.Reason]:
    """The estimator asked for or, where it assumes too much, a plainer one; and why."""
    why: words.Reason = "range"
    method, plainest = asked.method, PLAINER[-1]
    if method not in PLAINER:
        if not asked.adaptive:
            return method, why
        method, why = PLAINER[0], "adaptive"
    elif any(
        falling is None and not one.is_adaptive
        for one, (_, falling) in zip(asked.sets, spans, strict=True)
    ):
        return plainest, "contradicted"
    n = [one.population for one in asked.sets]
    plainer = list(PLAINER[PLAINER.index(method) : -1])
    if TOGETHER in plainer and (len(n) == 1 or max(n) > 1.1 * min(n)):
        plainer.remove(TOGETHER)
        why = "n" if why == "range" else why
    off = 1e-9  # of rounding, where a range is a single value
    for method in plainer:
        values = [asked.value(i, method) for i in range(len(spans))]
        ranges = [free if falling is None else falling for free, falling in spans]
        inside = zip(values, ranges, strict=True)
        if all(low - off <= value <= high + off for value, (low, high) in inside):
            return method, why
    return plainest, why if why == "adaptive" else "range"


def _cutoff(asked: Asked) -> str:
    """What to know where the cutoff holds all candidates, of every system or of one."""
    least, *_ = sorted(asked.sets, key=lambda one: one.population)
    said = words.cutoff_holds_all(
        asked.metric, least.population, max(draws.m for draws in least.draws)
    )
    alone = any(one.population != least.population for one in asked.sets)
    return f"{least.system}: {said}" if said and alone else said


def _unlike(asked: Asked) -> list[str]:
    """What to know where candidates or negatives differ between systems, not only within them."""
    negatives = {
        one.system: round(float(np.average(one.m, weights=one.counts))) for one in asked.sets
    }
    return words.unlike(
        str(asked.metric), {one.system: one.population for one in asked.sets}, negatives
    )


def _repeated(asked: Asked) -> str:
    """What to know where an instance has several sampled ranks."""
    for one in asked.sets:
        if one.instances is not None and len(np.unique(one.instances)) < len(one):
            return repeated(len(one), len(np.unique(one.instances)))
    return ""


def remembered() -> Asked | None:
    """What was shown last without an error."""
    return st.session_state.get(_GOOD)


def remember(asked: Asked) -> None:
    """Note what is shown, for the next error."""
    st.session_state[_GOOD] = asked
