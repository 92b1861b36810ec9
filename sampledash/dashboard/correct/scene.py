"""What the Correct page shows, checked: the choices, the fits, their expectation and risk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from sampledash.correction import Correction, Fit, correction
from sampledash.dashboard import cache, grid, state
from sampledash.dashboard.correct import own, priors, words
from sampledash.dashboard.explore.scene import LIVE, MOST, Problem
from sampledash.dashboard.ranks.trouble import Trouble
from sampledash.metrics import Metric
from sampledash.report.numbers import count
from sampledash.sampling import Sampling
from sampledash.types import Floats

# As shown and as written in a link -> as the core names it. BV takes the γ of the sidebar.
RECIPES = {
    "uncorrected": "uncorrected", "rank estimate": "rank-estimate", "CLS": "monotone",
    "BV": "bias-variance", "LS": "least-squares",
}  # fmt: skip
TAKEN = tuple(list(RECIPES)[1:])
SIZES = {count(d): d for d in (1, 10, 100, 1_000, 6_040, 10_000, 100_000, 1_000_000)}
DEFAULTS: dict[str, Any] = {
    "metric": "Recall@k", "take": "BV", "drawn": ["uncorrected", "rank estimate", "CLS", "BV"],
    "instances": "6,040", "prior": priors.UNIFORM,
}  # fmt: skip
PATIENCE = 0.3  # seconds without a progress bar
SLOW = ("CLS", "LS")  # beyond LIVE negatives they take minutes
LACKING = (
    "Give the weights of the true ranks below: paste them, or choose a file. A link carries only "
    "short ones."
)
_GOOD, _AGREED = "_correct_good", "_correct_agreed"


@dataclass(frozen=True)
class Scene:
    """Everything the page shows, valid by construction.

    Attributes
    ----------
    drawn
        Corrections in the pictures, ``taken`` among them.
    taken
        The one whose vector is taken away.
    instances
        |D|.
    prior
        Name of the prior over the true ranks.
    weights
        Of the ranks 1..n where they are the reader's own; None for a named prior.
    """

    metric: Metric
    sampling: Sampling
    drawn: tuple[Correction, ...]
    taken: Correction
    gamma: float
    instances: int
    prior: str
    ranks: NDArray[np.int64]
    note: str = ""
    weights: Floats | None = None

    def fit(self, recipe: Correction | None = None) -> Fit:
        """The fitted correction, the one taken away unless another is given."""
        return self._fitted(recipe or self.taken)[0]

    def risk(self, recipe: Correction | None = None) -> tuple[float, float]:
        """Squared bias and variance of one draw, averaged over the ranks."""
        return self._fitted(recipe or self.taken)[1:]

    def _fitted(self, recipe: Correction) -> tuple[Fit, float, float]:
        return self.fitted(self.metric, recipe, self.sampling)

    def fitted(
        self, metric: Metric, recipe: Correction, sampling: Sampling
    ) -> tuple[Fit, float, float]:
        """A fit with its risk, to the prior of the page."""
        found: tuple[Fit, float, float]
        if self.weights is None:
            found = cache.fitted(str(metric), str(recipe), str(sampling), self.prior)
            return found
        weights = priors.resized(self.weights, sampling.n)

        def make() -> tuple[Fit, float, float]:
            fit = priors.with_weights(recipe, weights).fit(metric, sampling)
            return fit, *fit.risk(weights)

        key = f"own|{own.digest(weights.tobytes())}|{metric}|{recipe}|{sampling}"
        return cache.kept(key, make, shared=False)

    def expected(self, recipe: Correction) -> Floats:
        """Expectation over :attr:`ranks`."""
        if self.weights is not None:
            fit, ranks = self.fit(recipe), self.ranks
            key = f"own|expected|{own.digest(fit.values.tobytes(), self.sampling)}"
            return cache.kept(key, lambda: fit.expected(ranks), shared=False)
        result: Floats = cache.corrected(
            str(self.metric), str(recipe), str(self.sampling), self.prior, self.ranks.tobytes()
        )
        return result

    def sentence(self) -> str:
        """The page in one sentence."""
        before = self.risk(Correction())[0] ** 0.5
        bias2, variance = self.risk()
        return words.sentence(
            self.metric, self.sampling.m, self.taken, before, bias2**0.5,
            (variance / self.instances) ** 0.5, self.instances,
        )  # fmt: skip

    def work(self) -> Iterator[str]:
        """Fill the cache piece by piece, naming the next piece."""
        for recipe in dict.fromkeys((Correction(), *self.drawn)):
            yield f"{recipe}, m = {count(self.sampling.m)}"
            self.fit(recipe)
            self.expected(recipe)


def scene(given: own.Given | None = None) -> tuple[Scene, Problem | Trouble | None]:
    """The scene to show: the one asked for, or the last good one with what is wrong.

    ``given``: own weights, where that prior is chosen.
    """
    chosen = dict(_now(DEFAULTS))
    if chosen["prior"] == priors.OWN and given is None:
        return _last_good(), Trouble(LACKING, asking=True)
    try:
        asked = ask(state.DEFAULTS | dict(_now(state.DEFAULTS)), chosen, given)
        if asked.sampling.m > LIVE and (wait := _to_agree(asked)) is not None:
            return _last_good(), wait
        with_progress(asked.work(), 1 + len(asked.drawn))
    except ValueError as error:
        return _last_good(), Trouble(state.spelled(error))
    st.session_state[_GOOD] = asked
    return asked, None


def _to_agree(asked: Scene) -> Problem | None:
    """What takes long starts with a click."""
    agreed: set[str] = st.session_state.setdefault(_AGREED, set())
    key = f"{asked.metric}, {asked.sampling}, {', '.join(map(str, asked.drawn))}"
    if key in agreed:
        return None
    m = count(asked.sampling.m)
    return Problem(
        f"m = {m} takes up to a minute for each fit: "
        f"up to m = {count(LIVE)} the picture follows by itself.",
        f"Compute m = {m}",
        lambda: agreed.add(key),
    )


def with_progress(work: Iterator[str], pieces: int) -> None:
    """Run through the pieces of some work; between two a change of mind can stop it.

    A bar appears only once it has taken a moment: it would blink on every change otherwise.
    """
    place, start = st.empty(), time.monotonic()
    for done, name in enumerate(work):
        if time.monotonic() - start > PATIENCE:
            place.progress(min(done / pieces, 1.0), name)
    place.empty()


def ask(
    shared: Mapping[str, Any], chosen: Mapping[str, Any], given: own.Given | None = None
) -> Scene:
    """Check the choices; a ValueError names what is wrong."""
    k, gamma = int(shared["k"]), float(shared["gamma"])
    metric = state.chip_metric(chosen["metric"], k, int(shared["n"]))
    recipes = {
        name: correction(core, gamma=gamma if name == "BV" else None)
        for name, core in RECIPES.items()
    }
    scheme = state.SCHEMES[shared["scheme"]]
    odds = float(shared["odds"]) if scheme == "popularity" else 1.0
    sampling = Sampling(int(shared["n"]), int(shared["m"]), scheme, odds)
    if sampling.m > MOST:
        raise ValueError(
            f"m = {sampling.m} is more than this page fits: take m ≤ {MOST}, "
            "or call sampledash.correction from Python"
        )
    if chosen["prior"] != priors.UNIFORM and sampling.n > priors.MOST_N:
        raise ValueError(
            f"n = {sampling.n} is too large for the prior {chosen['prior']}: take n ≤ "
            f"{priors.MOST_N}, or the uniform prior"
        )
    names = [x for x in RECIPES if x in chosen["drawn"] or x == chosen["take"]]
    note = ""
    if sampling.m > LIVE:
        if chosen["take"] in SLOW:
            raise ValueError(
                f"{chosen['take']} takes minutes beyond m = {LIVE}: take BV away, "
                "or fit it from Python"
            )
        if left_out := [x for x in names if x in SLOW]:
            note = f"{' and '.join(left_out)} left out: drawn up to m = {count(LIVE)}."
            names = [x for x in names if x not in SLOW]
    ranks = grid.rank_grid(sampling.n, keep=grid.jumps(sampling, metric))
    weights = given.of(sampling.n) if given is not None and chosen["prior"] == priors.OWN else None
    return Scene(
        metric, sampling, tuple(recipes[x] for x in names), recipes[chosen["take"]], gamma,
        SIZES[chosen["instances"]], chosen["prior"], ranks, note, weights,
    )  # fmt: skip


def _now(defaults: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in defaults:
        yield key, state.value(key, defaults)


def _last_good() -> Scene:
    good: Scene | None = st.session_state.get(_GOOD)
    return ask(state.DEFAULTS, DEFAULTS) if good is None else good
