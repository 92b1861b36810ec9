"""Recommenders: each has a name, hyperparameters ("knobs"), a text form and a training function."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sampledash import checks
from sampledash.lab.factors import WeightedLoss, dense_svd, logistic, weighted_als
from sampledash.lab.interactions import Interactions, require_interactions
from sampledash.lab.models import Chance, Factors, OneList, Part, Training, TrainingProgress
from sampledash.lab.neighbours import ease, item_cosine, with_data
from sampledash.types import Floats

KRICHENE = "Krichene & Rendle, KDD 2020, section 9"
STECK = "Steck, KDD 2010"


@dataclass(frozen=True)
class Knob:
    """A hyperparameter of a recommender.

    Attributes
    ----------
    name, default, about
        Name in the recommender's text; default value, from the paper; short description.
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
        """Return the value if it is valid; otherwise raise a ValueError with the knob's name."""
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
    rated: bool = False  # whether the family learns from the values of ratings


@dataclass(frozen=True)
class Recommender:
    """An untrained recommender: the name of its family, and a value for each knob.

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
        return {k.name: x for k, x in zip(self.kind.knobs, self.values, strict=True)}

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
            Immediately if the recommender learns from ratings and there are none; during training
            if the weights between all items do not fit into memory.
        """
        require_interactions(interactions)
        seed = checks.integer("seed", seed, low=0)
        if self.kind.rated and interactions.rating is None:
            raise ValueError(
                f"{self.name} learns from ratings, and these interactions have none: take one that "
                "learns from who took what, as iALS, itemCF, EASE or bestsellers-count"
            )
        return self.kind.train(interactions, seed, **self.knobs)


def recommender(name: str, **knobs: float) -> Recommender:
    """Return a recommender by its name; knobs that are not given have their default values.

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
    """Return the recommender that a text describes; knobs left out have their default values.

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


def _ials(
    data: Interactions, seed: int, d: float, alpha: float, reg: float, sweeps: float
) -> Training:
    # iALS adds α ŷ² to the loss of every pair, so the loss of an observed pair is
    # (ŷ - 1)² + α ŷ² = (1 + α)(ŷ - 1 / (1 + α))² + constant.
    matrix = with_data(data.matrix, np.full(data.matrix.nnz, 1 / (1 + alpha)))
    loss = WeightedLoss(1 + alpha, alpha, reg, False)
    return weighted_als(matrix, loss, d=int(d), sweeps=int(sweeps), seed=seed)


def regression(
    data: Interactions,
    seed: int,
    d: float,
    rm: float,
    reg: float,
    sweeps: float,
    wm: float = 0.0,
    start: Factors | None = None,
) -> Part[Factors]:
    """Train AllRank-Regression, optionally from given factors; predicted rating: rm + score."""
    matrix = with_data(data.matrix, data.matrix.data - rm)
    loss = WeightedLoss(1.0, wm, reg, True)
    return weighted_als(matrix, loss, d=int(d), sweeps=int(sweeps), seed=seed, start=start)


def _relevant(data: Interactions) -> Any:
    """Return ones (CSR) at pairs with the highest rating; without ratings, at all taken pairs."""
    if data.rating is None:
        return with_data(data.matrix, np.ones(data.matrix.nnz))
    pairs = data.matrix.tocoo()
    top = pairs.data >= data.rating.max()
    user, item = (code[top] for code in pairs.coords)
    return csr_array((np.ones(len(user), np.float32), (user, item)), shape=pairs.shape)


def _binary(
    data: Interactions, seed: int, d: float, wm: float, reg: float, sweeps: float
) -> Training:
    loss = WeightedLoss(1.0, wm, reg, True)
    return weighted_als(_relevant(data), loss, d=int(d), sweeps=int(sweeps), seed=seed)


def _logistic(
    data: Interactions, seed: int, d: float, wm: float, reg: float, steps: float
) -> Training:
    return logistic(_relevant(data), missing=wm, ridge=reg, d=int(d), steps=int(steps), seed=seed)


def _svd(data: Interactions, seed: int, d: float, rm: float, reg: float) -> Training:
    return dense_svd(with_data(data.matrix, data.matrix.data - rm), ridge=reg, d=int(d), seed=seed)


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


# Knobs of several families, to be called with the default of the family.
_d = partial(Knob, "d", about="length of the factors", low=1, high=1000, whole=True)
_wm = partial(Knob, "wm", about="weight of a pair without a rating; one with has 1", high=1)
_rm = partial(Knob, "rm", about="rating that stands for a missing one", low=-1e6)
_reg = partial(Knob, "reg", about="ridge λ", low=1e-9)
_sweeps = partial(
    Knob, "sweeps", about="times that both sides are solved", low=1, high=1000, whole=True
)


#: All families of recommenders, by name.
FAMILIES = {
    kind.name: kind
    for kind in (
        Family(
            "iALS", "matrix factorisation of who took what, every pair counted",
            f"{KRICHENE}: recommender X", _ials, (
                _d(16), Knob("alpha", 0.2, "weight of the pairs not taken", 1e-6), _reg(10),
                _sweeps(5)),
        ),
        Family(
            "itemCF", "what a user took votes for items often taken along with it",
            f"{KRICHENE}, eq. 27-30: recommenders Y (q=3 k=all) and Z (q=1 k=10)",
            lambda data, seed, q, k: item_cosine(data.matrix, q=q, k=k),
            (Knob("q", 1, "exponent of the cosine", 0.01, 100),
             Knob("k", np.inf, "neighbours that an item votes for", 1, whole=True, unlimited=True)),
        ),
        Family(
            "AllRank-Regression",
            "matrix factorisation of ratings, the missing ones imputed and given a small weight",
            f"{STECK}, eq. 13", regression, (_d(50), _wm(0.05), _rm(2), _reg(0.05), _sweeps(6)),
            rated=True,
        ),
        Family(
            "AllRank-Binary-Logistic",
            "logistic factorisation: the highest rating against everything else",
            f"{STECK}, eq. 10", _logistic,
            (_d(50), _wm(0.02), _reg(0.02),
             Knob("steps", 20, "steps of L-BFGS", 1, 1000, whole=True)),
        ),
        Family(
            "AllRank-Binary-Regression",
            "least squares: the highest rating against everything else", f"{STECK}, eq. 11",
            _binary, (_d(50), _wm(0.01), _reg(0.03), _sweeps(15)),
        ),
        Family(
            "dense-SVD", "matrix factorisation of ratings, the missing ones imputed at full weight",
            f"{STECK}, eq. 13 with w_m = 1", _svd, (_d(50), _rm(2), _reg(0.03)), rated=True,
        ),
        Family(
            "observed-only", "matrix factorisation of ratings that ignores what is missing",
            f"{STECK}, eq. 13 with w_m = 0", regression, (_d(50), _rm(0), _reg(0.06), _sweeps(12)),
            rated=True,
        ),
        Family(
            "bestsellers-mean", "the same list for all: by mean rating",
            f"{STECK}, bestseller list 1", _one_list(_mean), rated=True,
        ),
        Family(
            "bestsellers-count", "the same list for all: by number of interactions",
            f"{STECK}, bestseller list 2", _one_list(_count),
        ),
        Family(
            "bestsellers-top", "the same list for all: by number of highest ratings",
            f"{STECK}, bestseller list 3", _one_list(_top),
        ),
        Family(
            "EASE", "linear item weights that rebuild each history without its own item",
            "Steck, WWW 2019, eq. 8", lambda data, seed, reg: ease(data.matrix, ridge=reg),
            (_reg(500),),
        ),
        Family("random", "uniform random scores: the floor", "", _chance),
    )
}  # fmt: skip

#: Texts of the recommenders of Krichene & Rendle, by the names X, Y and Z of the paper.
OF_THE_PAPERS = {"X": "iALS d=16 alpha=0.2 reg=10", "Y": "itemCF q=3 k=all", "Z": "itemCF q=1 k=10"}
