"""How negatives are drawn: the sampling as a value, and its law of the sampled rank."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks, laws
from sampledash.types import Floats, Ints

Scheme = Literal["with-replacement", "without-replacement", "popularity"]
SCHEMES: tuple[str, ...] = get_args(Scheme)


@dataclass(frozen=True)
class Sampling:
    """How the negatives of one instance with one relevant item are drawn.

    Attributes
    ----------
    n
        Candidates, the relevant item included; 2 to 10^12.
    m
        Sampled negatives; at least 1, without replacement at most n - 1.
    scheme
        ``"with-replacement"``, ``"without-replacement"`` or ``"popularity"`` (with replacement,
        not uniform).
    odds
        Popularity only: how many times as often an item above the relevant one is drawn as an
        item below it. 1 is uniform.

    Notes
    -----
    The odds model is a full law of the sampled rank, but a model: real popularity-weighted sampling
    depends on which items are above, which the rank alone does not tell. Give ``mass_above`` to a
    :class:`~sampledash.RankSet` where it is known.

    References
    ----------
    Krichene & Rendle, KDD 2020, section 4.3.
    """

    n: int
    m: int
    scheme: Scheme = "with-replacement"
    odds: float = 1.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "n", int(checks.candidates("n", self.n, scalar=True)))
        set_(self, "m", checks.integer("m", self.m, low=1))
        checks.choice("scheme", self.scheme, SCHEMES)
        set_(self, "odds", checks.real("odds", self.odds, low=0, above=True))
        if self.scheme == "without-replacement" and self.m > self.n - 1:
            raise ValueError(
                f"m = {self.m} is too large without replacement: n = {self.n} leaves "
                f"{self.n - 1} negatives; take m <= {self.n - 1} or sample with replacement"
            )
        if self.scheme != "popularity" and self.odds != 1.0:
            raise ValueError(f"odds = {self.odds:g} applies to scheme 'popularity' only")

    def __str__(self) -> str:
        odds = f", odds = {self.odds!r}" if self.scheme == "popularity" else ""
        return f"n = {self.n}, m = {self.m}, {self.scheme}{odds}"

    def weights(self, rank: ArrayLike) -> tuple[Floats, Floats]:
        """Sampling weight above and below each rank, validated."""
        ranks = checks.ranks("rank", rank, np.asarray(self.n))
        return laws.weights(self.scheme, ranks - 1, self.n - ranks, self.odds)

    def share_above(self, rank: ArrayLike) -> Floats:
        """Chance that one drawn item is ranked above the relevant one (eq. 15), per rank."""
        above, below = self.weights(rank)
        return np.asarray(above / (above + below))

    def pmf(self, rank: ArrayLike) -> Floats:
        """Law of the sampled rank.

        Parameters
        ----------
        rank
            True ranks, integers in 1..n, shape (r,) or any other.

        Returns
        -------
        Array of shape (r, m + 1): column t holds P(sampled rank = t + 1 | rank). A scalar rank
        gives shape (m + 1,).
        """
        above, below = self.weights(rank)
        rows = laws.pmf(self.scheme, self.m, above.ravel(), below.ravel())
        return rows.reshape(*above.shape, self.m + 1)

    def draw(self, rank: ArrayLike, rng: np.random.Generator) -> Ints:
        """Draw one sampled rank in 1..m+1 for each true rank; the shape of ``rank``."""
        checks.generator(rng)
        above, below = self.weights(rank)
        return laws.draw_above(self.scheme, self.m, above, below, rng) + 1


def require_sampling(value: object) -> None:
    """Refuse anything but a sampling."""
    if not isinstance(value, Sampling):
        raise ValueError(
            f"sampling must be a Sampling, got {checks.shown(value)}: make one with "
            "sampledash.Sampling(n, m)"
        )


def parse_sampling(text: str) -> Sampling:
    """Read a sampling from its text: the inverse of ``str``.

    Examples
    --------
    >>> parse_sampling("n = 10000, m = 99, without-replacement").m
    99
    """
    pattern = (
        r"\s*n\s*=\s*([0-9]+)\s*,\s*m\s*=\s*([0-9]+)\s*,\s*([a-z-]+)\s*(?:,\s*odds\s*=\s*(\S+)\s*)?"
    )
    match = re.fullmatch(pattern, str(text))
    if match is None:
        raise ValueError(
            f"sampling {text!r} is not understood: write 'n = 10000, m = 99, with-replacement'"
        )
    n, m, scheme, odds = match.groups()
    weight = 1.0 if odds is None else checks.written("odds", odds, low=0, above=True)
    return Sampling(int(n), int(m), cast(Scheme, scheme), weight)
