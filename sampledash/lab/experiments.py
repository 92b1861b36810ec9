"""The experiments of Krichene & Rendle and of Steck, for any data set of interactions.

References
----------
Walid Krichene, Steffen Rendle. On Sampled Metrics for Item Recommendation. KDD 2020.
Harald Steck. Training and Testing of Recommender Systems on Data Missing Not at Random. KDD 2010.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from sampledash import checks
from sampledash.comparison.means import mean
from sampledash.lab.interactions import Interactions
from sampledash.lab.models import Part, shown_as, within
from sampledash.lab.ranking import rank
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender, recommender, regression
from sampledash.lab.splits import Split, split
from sampledash.papers.steck import TABLE_2
from sampledash.rank_sets import RankSet
from sampledash.types import Floats

T = TypeVar("T")


@dataclass(frozen=True)
class Experiment:
    """The settings of a comparison of recommenders.

    Attributes
    ----------
    split
        Text of the rule that splits the interactions.
    recommenders
        Text of each recommender, by the name of the system.
    least_rating
        Lowest rating of a relevant item. If None, every held-out item is relevant.
    each_pair
        Whether each relevant item is an instance by itself, so that means are over relevant items,
        as in section 2.3 of Steck.
    """

    split: str
    recommenders: Mapping[str, str]
    least_rating: float | None = None
    each_pair: bool = False

    def run(self, data: Interactions, seed: int = 0) -> Part[list[RankSet]]:
        """Train each recommender and rank the test items; yield progress, return the rank sets."""
        parts, sets = split(data, self.split), []
        steps = np.linspace(0, 1, len(self.recommenders) + 1).tolist()
        for step, (name, text) in enumerate(self.recommenders.items()):
            work = ranked(parts, name, text, least_rating=self.least_rating, seed=seed)
            ranks = yield from within(work, steps[step], steps[step + 1])
            sets.append(pairs(ranks) if self.each_pair else ranks)
        return sets


def ranked(parts: Split, system: str, text: str, *, seed: int = 0, **options: Any) -> Part[RankSet]:
    """Train the recommender that ``text`` describes, and rank the test items; yield progress.

    ``options`` are those of :func:`~sampledash.rank`.

    Raises
    ------
    ValueError
        If the text describes no recommender, or if the recommender needs ratings and there are
        none.
    """
    mine = parse_recommender(text)
    model = yield from within(mine.train(parts.training, seed), 0, 0.5)
    options |= {"system": system, "recommender": str(mine), "seed": seed}
    return (yield from within(rank(model.scores, parts, **options), 0.5, 1))


_TABLE_2 = dict(zip(TABLE_2["system"], TABLE_2["recommender"], strict=True))
#: The experiments of sections 6 and 9 of Krichene & Rendle, and of Table 2 of Steck.
EXPERIMENTS = {
    "krichene": Experiment("last 1", OF_THE_PAPERS),
    "steck": Experiment("last 5 halved seed=0 seen=kept", _TABLE_2, least_rating=5, each_pair=True),
}


def pairs(ranks: RankSet) -> RankSet:
    """Return a copy of a rank set in which each relevant item is an instance by itself."""
    return RankSet(ranks.system, ranks.ranks, ranks.n, ties=ranks.ties, provenance=ranks.provenance)


class Point(NamedTuple):
    """Results of AllRank-Regression with one value of the hyperparameter that a sweep varies.

    ``ranks`` has one instance per relevant pair of a user and an item. It gives Recall at any
    cutoff, TOPK (share of the relevant items in the first part of the list) at any cutoff, and ATOP
    (area under the TOPK curve). ``rmse`` is the root mean squared error over all ratings of the
    test part.
    """

    value: float
    ranks: RankSet
    rmse: float


class Sweep(NamedTuple):
    """Progress of :func:`sweep`: the share done (0 to 1), and the results so far."""

    share: float
    points: tuple[Point, ...]


#: Values of two hyperparameters in Steck's figures: weight w_m and value r_m of missing ratings.
GRIDS: dict[str, tuple[float, ...]] = {
    "wm": (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    "rm": (-2.0, -1.0, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0),
}


def sweep(
    parts: Split,
    knob: Literal["wm", "rm"],
    values: Sequence[float] = (),
    *,
    knobs: Mapping[str, float] | None = None,
    least_rating: float | None = None,
    seed: int = 0,
) -> Generator[Sweep, None, tuple[Point, ...]]:
    """Train AllRank-Regression with several values of a hyperparameter, as for Steck's Figures 1-3.

    Parameters
    ----------
    parts
        Rated interactions, split into training and test parts; the test part is ranked.
    knob
        ``"wm"``, the weight of missing ratings (Figure 2), or ``"rm"``, their value (Figure 1).
    values
        Values of this hyperparameter, in the order of training; by default :data:`GRIDS`.
    knobs
        Values of the other hyperparameters, by name; by default Steck's values.
    least_rating
        Lowest rating of a relevant item; by default the highest rating in the training part.
    seed
        Seed of the initial factors.

    Yields
    ------
    Progress as a :class:`Sweep`, about ten times a second or more often.

    Returns
    -------
    A :class:`Point` for each value.

    Raises
    ------
    ValueError
        If there are no ratings, a value is invalid, or nothing is relevant.

    Notes
    -----
    For each value r_m of missing ratings after the first, training continues from the previous
    factors for two iterations; ATOP then differs by about 0.001 from the ATOP after a new training.
    For each weight w_m of missing ratings, training starts again.
    """
    plain = recommender("AllRank-Regression", **(knobs or {}))
    made = [recommender(plain.name, **{**plain.knobs, knob: x}) for x in values or GRIDS[knob]]
    training, test = parts.training, parts.test
    if training.rating is None or test.rating is None:
        raise ValueError("a sweep learns from ratings, and these interactions have none")
    top = float(training.rating.max()) if least_rating is None else least_rating
    points: tuple[Point, ...] = ()
    model = None

    def reported(part: Part[T], low: float, high: float) -> Generator[Sweep, None, T]:
        return shown_as(within(part, low, high), lambda at: Sweep(at.share, points))

    for number, mine in enumerate(made):
        knob_values = dict(mine.knobs)
        if knob == "rm" and model is not None:
            knob_values["sweeps"] = 2
        work = regression(training, seed, **knob_values, start=model if knob == "rm" else None)
        low, high = number / len(made), (number + 1) / len(made)
        model = yield from reported(work, low, low + 0.8 * (high - low))
        about: dict[str, Any] = {"recommender": str(mine), "seed": seed}
        about["system"] = f"{knob}={knob_values[knob]:g}"
        ranking = rank(model.scores, parts, least_rating=top, **about)
        ranks = yield from reported(ranking, low + 0.8 * (high - low), high)
        predicted = np.einsum("ij,ij->i", model.users[test.user], model.items[test.item])
        error = predicted + knob_values["rm"] - test.rating
        rmse = float(np.sqrt(np.mean(np.square(error, dtype=np.float64))))
        points = (*points, Point(knob_values[knob], pairs(ranks), rmse))
        yield Sweep(high, points)
    return points


class Toy(NamedTuple):
    """Toy data of users who rate only movies that they like, and the results of a recommender.

    Attributes
    ----------
    ratings
        Users × movies (8, 8): 5 for a rated movie, otherwise NaN. The first four users like the
        first four movies (horror), the other users the other movies (romance). Each user rated
        three of the four movies that the user likes.
    predicted
        Predictions, users × movies (8, 8): 5 for movies that the user seems to like, otherwise 1.
    rmse_observed, rmse_all
        Root mean squared error on the observed ratings, and on all pairs of a user and a movie,
        whose true rating is 5 if the user likes the movie, and 1 otherwise.
    atop
        Mean ATOP of the rated movies among all eight movies, expected over a random order of ties.
    """

    ratings: Floats
    predicted: Floats
    rmse_observed: float
    rmse_all: float
    atop: float


def toy(known: int) -> Toy:
    """Return Table 1 of Steck, with a recommender that knows the favourite genre of some users.

    ``known`` is the number of these users; for the other users, the recommender predicts 5 stars
    for all movies. If ``known`` is 0, the prediction is a useless constant. The error on the
    observed ratings is 0 for any value of ``known``.

    Raises
    ------
    ValueError
        If ``known`` is not a whole number in 0..8.
    """
    known = checks.integer("known", known, low=0, high=8)
    user, movie = np.ogrid[:8, :8]
    liked = (user < 4) == (movie < 4)
    ratings = np.where(liked & ((user + movie) % 4 > 0), 5.0, np.nan)
    # Select the users whose genre is known, alternately from the horror and the romance group.
    order = np.argsort(np.arange(8) % 4, kind="stable")[:known]
    predicted = np.full((8, 8), 5.0)
    predicted[order] = np.where(liked[order], 5.0, 1.0)
    truth = np.where(liked, 5.0, 1.0)
    rated = np.argwhere(~np.isnan(ratings))
    ties = [3 if u in order else 7 for u in rated[:, 0]]
    errors = [float(np.sqrt(np.nanmean(np.square(predicted - x)))) for x in (ratings, truth)]
    atop = mean("ATOP", RankSet("toy", np.ones(len(rated), np.int64), 8, ties=ties))
    return Toy(ratings, predicted, errors[0], errors[1], atop)
