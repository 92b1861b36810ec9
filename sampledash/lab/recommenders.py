"""Recommenders: their names, hyperparameters ("knobs"), text form and training functions."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sampledash import checks
from sampledash.lab.factors import WeightedLoss, dense_svd, logistic, weighted_als
from sampledash.lab.interactions import Interactions, require_interactions
from sampledash.lab.models import Chance, Factors, OneList, Part, Training, TrainingProgress
from sampledash.lab.neighbours import ease, item_cosine, with_data
from sampledash.types import Floats


@dataclass(frozen=True)
class Knob:
    """A hyperparameter of a recommender.

    Attributes
    ----------
    name, default, about
        Name in the recommender's text; default value; short description.
    low, high
        Smallest and largest allowed value.
    whole
        Whether the value is a whole number.
    unlimited
        Whether the value may also be ``all``, which means infinite.
    """

    name: str
    default: float
    about: str
    low: float = 0.0
    high: float = 1e6
    whole: bool = False
    unlimited: bool = False

    def read(self, text: str) -> float:
        """Return the value that a text stands for; raise a ValueError if it is invalid."""
        if self.unlimited and text.lower() == "all":
            return np.inf
        return self.check(float(text) if checks.is_numeral(text) else text)

    def check(self, value: Any) -> float:
        """Return the value if it is valid; otherwise raise a ValueError that contains ``name``."""
        if self.unlimited and value == np.inf:
            return np.inf
        number = checks.real(self.name, value, low=self.low, high=self.high)
        return checks.integer(self.name, number, low=int(self.low)) if self.whole else number

    def write(self, value: float) -> str:
        """Return the text from which :meth:`read` returns the value."""
        return "all" if value == np.inf else checks.exact(value)


@dataclass(frozen=True)
class Family:
    """A kind of recommender: its description, source, hyperparameters and training function."""

    name: str
    about: str
    source: str
    train: Callable[..., Training]  # called with interactions, a seed, and the knobs by name
    knobs: tuple[Knob, ...] = ()
    rated: bool = False  # whether the family cannot be trained without ratings


@dataclass(frozen=True)
class Recommender:
    """An untrained recommender: the name of its family, and a value for each hyperparameter.

    Make a recommender with :func:`recommender`, or from its ``str`` with :func:`parse_recommender`.
    """

    name: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        knobs = zip(self.kind.knobs, self.values, strict=True)
        return " ".join([self.name, *(f"{knob.name}={knob.write(x)}" for knob, x in knobs)])

    @property
    def kind(self) -> Family:
        """The family of the recommender."""
        return FAMILIES[self.name]

    @property
    def knobs(self) -> Mapping[str, float]:
        """The value of each knob (hyperparameter), by the name of the knob."""
        pairs = zip(self.kind.knobs, self.values, strict=True)
        return {k.name: int(x) if k.whole and x < np.inf else x for k, x in pairs}

    def train(self, interactions: Interactions, seed: int = 0) -> Training:
        """Train on interactions, as a generator that can be abandoned at any step.

        Parameters
        ----------
        interactions
            Training data. Items and users without an interaction get scores too.
        seed
            Seed of all random numbers: the same seed gives the same model.

        Yields
        ------
        :class:`~sampledash.lab.models.TrainingProgress`, about ten times a second or more often.

        Returns
        -------
        A :class:`~sampledash.lab.models.Model`: ``scores(start, stop)`` for a block of users.

        Raises
        ------
        ValueError
            Immediately if the recommender needs ratings and there are none; during training if the
            weights between all items take more than 1 GiB, or if ``reg`` is too small.
        """
        require_interactions(interactions)
        seed = checks.integer("seed", seed, low=0)
        if self.kind.rated and interactions.rating is None:
            others = "learns from who took what, as iALS, itemCF, EASE or bestsellers-count"
            none = f"{self.name} learns from ratings, and these interactions have none"
            raise ValueError(f"{none}: take one that {others}")
        return self.kind.train(interactions, seed, **self.knobs)


def recommender(name: str, **knobs: float) -> Recommender:
    """Return a recommender by its name; ``knobs`` are hyperparameters that differ from the default.

    Raises
    ------
    ValueError
        If the name or a knob is unknown, or a value is out of range.

    Examples
    --------
    >>> str(recommender("itemCF", k=10))
    'itemCF q=1 k=10'
    """
    known = {kind.lower(): kind for kind in FAMILIES}
    plain = checks.text("recommender", name).strip().lower()
    if plain not in known:
        names = ", ".join(FAMILIES)
        raise ValueError(f"unknown recommender {checks.shown(name)}: known are {names}")
    kind = FAMILIES[known[plain]]
    knob_names = [knob.name for knob in kind.knobs]
    for knob in knobs:
        if knob not in knob_names:
            has = f"has {', '.join(knob_names)}" if knob_names else "has no knobs"
            raise ValueError(f"unknown knob {knob!r}: {kind.name} {has}")
    values = (knob.check(knobs.get(knob.name, knob.default)) for knob in kind.knobs)
    return Recommender(kind.name, tuple(map(float, values)))


def parse_recommender(text: str) -> Recommender:
    """Return the recommender that a text describes.

    Hyperparameters that the text leaves out have their default values.

    Raises
    ------
    ValueError
        The message names the part of the text that is wrong.

    Examples
    --------
    >>> str(parse_recommender("iALS d=32"))
    'iALS d=32 alpha=0.2 reg=10 sweeps=5'
    """
    name, *parts = re.sub(r"\s*=\s*", "=", checks.text("recommender", text)).split() or [""]
    plain, knobs = recommender(name), {}
    for part in parts:
        knob, sign, value = part.partition("=")
        if not sign or not value:
            raise ValueError(f"cannot read {part!r}: knobs are written as in {plain}")
        if knob in knobs:
            raise ValueError(f"knob {knob!r} is given twice: give it once")
        known = {k.name: k for k in plain.kind.knobs}
        knobs[knob] = known[knob].read(value) if knob in known else np.nan
    return recommender(name, **knobs)


def _ials(data: Interactions, seed: int, alpha: float, reg: float, **size: Any) -> Training:
    # Let ŷ be the predicted score of a pair. iALS adds α ŷ² to the loss of every pair, so the loss
    # of an observed pair is (ŷ - 1)² + α ŷ² = (1 + α)(ŷ - 1 / (1 + α))² + constant.
    matrix = with_data(data.matrix, np.full(data.matrix.nnz, 1 / (1 + alpha)))
    return weighted_als(matrix, WeightedLoss(1 + alpha, alpha, reg, False), seed=seed, **size)


def regression(
    data: Interactions, seed: int, rm: float, reg: float, wm: float = 0.0, **options: Any
) -> Part[Factors]:
    """Train AllRank-Regression, whose predicted rating is ``rm`` plus the score.

    ``options`` are those of :func:`~sampledash.lab.factors.weighted_als`.
    """
    matrix = with_data(data.matrix, data.matrix.data - rm)
    return weighted_als(matrix, WeightedLoss(1.0, wm, reg, True), seed=seed, **options)


def _relevant(data: Interactions) -> Any:
    """Return a CSR matrix with ones at the user-item pairs that have the highest rating.

    Without ratings, the ones are at all observed pairs.
    """
    if data.rating is None:
        return with_data(data.matrix, np.ones(data.matrix.nnz))
    pairs = data.matrix.tocoo()
    top = pairs.data >= data.rating.max()
    user, item = (code[top] for code in pairs.coords)
    return csr_array((np.ones(len(user), np.float32), (user, item)), shape=pairs.shape)


def _binary(data: Interactions, seed: int, wm: float, reg: float, **size: Any) -> Training:
    return weighted_als(_relevant(data), WeightedLoss(1.0, wm, reg, True), seed=seed, **size)


def _logistic(data: Interactions, seed: int, wm: float, reg: float, **size: Any) -> Training:
    return logistic(_relevant(data), missing=wm, ridge=reg, seed=seed, **size)


def _svd(data: Interactions, seed: int, d: int, rm: float, reg: float) -> Training:
    return dense_svd(with_data(data.matrix, data.matrix.data - rm), ridge=reg, d=d, seed=seed)


def _one_list(of: Callable[[Interactions], Floats]) -> Callable[[Interactions, int], Training]:
    def train(data: Interactions, seed: int) -> Training:
        yield TrainingProgress(1.0)
        return OneList(of(data))

    return train


def _count(data: Interactions) -> Floats:
    return np.bincount(data.item, minlength=data.n_items).astype(np.float64)


def _mean(data: Interactions) -> Floats:
    count = _count(data)
    mean = np.bincount(data.item, data.rating, data.n_items) / np.maximum(count, 1)
    mean[count == 0] = mean[count > 0].min() - 1  # unrated items are ranked last
    return mean


def _top(data: Interactions) -> Floats:
    return _count(data if data.rating is None else data.take(data.rating == data.rating.max()))


def _chance(data: Interactions, seed: int) -> Training:
    yield TrainingProgress(1.0)
    return Chance(data.n_items, seed)


# Training function of each family of recommenders. The file recommenders.json describes the
# families and their hyperparameters.
_TRAIN: dict[str, Callable[..., Training]] = {
    "iALS": _ials,
    "itemCF": lambda data, seed, q, k: item_cosine(data.matrix, q=q, k=k),
    "AllRank-Regression": regression,
    "AllRank-Binary-Logistic": _logistic,
    "AllRank-Binary-Regression": _binary,
    "dense-SVD": _svd,
    "observed-only": regression,
    "bestsellers-mean": _one_list(_mean),
    "bestsellers-count": _one_list(_count),
    "bestsellers-top": _one_list(_top),
    "EASE": lambda data, seed, reg: ease(data.matrix, ridge=reg),
    "random": _chance,
}


def _families() -> Iterator[Family]:
    written = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    for name, row in written["families"].items():
        defaults = row.pop("knobs", {}).items()
        knobs = tuple(Knob(x, float(usual), **written["knobs"][x]) for x, usual in defaults)
        yield Family(name, train=_TRAIN[name], knobs=knobs, **row)


#: All families of recommenders, by name.
FAMILIES = {kind.name: kind for kind in _families()}
#: Texts of the recommenders of Krichene & Rendle, by the names X, Y and Z of the paper.
OF_THE_PAPERS = {"X": "iALS d=16 alpha=0.2 reg=10", "Y": "itemCF q=3 k=all", "Z": "itemCF q=1 k=10"}
