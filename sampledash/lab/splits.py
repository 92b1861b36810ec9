"""Splits of interactions into training, validation and test parts, by rules written as text."""

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sampledash import checks
from sampledash.lab.interactions import Interactions, require_interactions
from sampledash.types import Flags, Ints

How = Literal["last", "random", "latest"]
_KEPT = "seen=kept"
_FORM = re.compile(
    rf"(?P<how>last|random) (?P<each>\d+)(?P<halved> halved)?(?: seed=(?P<seed>\d+))?"
    rf"(?P<kept> {_KEPT})?|latest (?P<share>{checks.NUMERAL}) ?%(?P<late_kept> {_KEPT})?"
)


@dataclass(frozen=True)
class SplitRule:
    """A rule by which interactions are split; :func:`parse_split` reads it from text.

    Attributes
    ----------
    how
        ``"last"``: the last interactions in time of each user are held out. ``"random"``: random
        interactions of each user are held out. ``"latest"``: the last interactions in time of all
        users together are held out.
    amount
        The number of held-out interactions of each user, or the percentage for ``"latest"``.
    halved
        Whether held-out interactions are divided at random into halves, for validation and test.
    seed
        Seed of the random choices. It is None if the rule makes no random choices.
    exclude_seen
        Whether a user's training items are excluded from the user's candidates.
    """

    how: How
    amount: float
    halved: bool = False
    seed: int | None = None
    exclude_seen: bool = True

    def __post_init__(self) -> None:
        checks.choice("how", self.how, get_args(How))
        if self.how == "latest":
            if checks.real("amount", self.amount, low=0, high=100, above=True) == 100:
                raise ValueError("amount must be below 100 percent, got 100: some must be learned")
            if self.halved:
                raise ValueError("halved goes with last and random, not with latest: leave it out")
        else:
            checks.integer("amount", self.amount, low=1)
        if self.how == "random" or self.halved:
            object.__setattr__(self, "seed", checks.integer("seed", self.seed or 0, low=0))
        elif self.seed is not None:
            raise ValueError(f"seed goes with random and halved, got {self.seed}: leave it out")

    def __str__(self) -> str:
        words = [self.how, f"{checks.exact(self.amount)}{'%' * (self.how == 'latest')}"]
        words += ["halved"] * self.halved
        words += [f"seed={self.seed}"] * (self.seed is not None)
        return " ".join(words + [_KEPT] * (not self.exclude_seen))


@dataclass(frozen=True, eq=False)
class Split:
    """Interactions in two or three parts with the same labels of users and items.

    Attributes
    ----------
    training, validation, test
        Interactions for training, for the choice of parameters, and for the test. ``validation`` is
        None if there is no such part.
    text
        Text of the split rule, such as ``"random 1 seed=0"``.
    exclude_seen
        Whether a user's training items are excluded from the user's candidates (Krichene & Rendle,
        section 9) or not (Steck, section 6).
    data
        Digest (hash as text) of the interactions that were split.
    """

    training: Interactions
    validation: Interactions | None
    test: Interactions
    text: str
    exclude_seen: bool
    data: str = ""


def parse_split(text: str) -> SplitRule:
    """Return the rule that a text describes.

    Parameters
    ----------
    text
        A rule such as ``"last 1"``, ``"random 1 seed=0"``, ``"last 5 halved seed=0"`` or
        ``"latest 10%"``. With ``seen=kept`` at the end, a user's training items are candidates too.

    Raises
    ------
    ValueError
        If the text does not describe a rule.

    Examples
    --------
    >>> str(parse_split("last 5 halved seen=kept"))
    'last 5 halved seed=0 seen=kept'
    """
    match = _FORM.fullmatch(" ".join(text.split())) if isinstance(text, str) else None
    if match is None:
        rules = "last 1, random 1 seed=0, last 5 halved seed=0, latest 10%"
        needed = f"one of {rules} (each with seen=kept or without)"
        raise ValueError(f"split must be {needed}, got {checks.shown(text)}")
    if share := match["share"]:
        return SplitRule("latest", float(share), exclude_seen=not match["late_kept"])
    kind: Any = match["how"]
    seed = None if match["seed"] is None else int(match["seed"])
    seen_stay = match["kept"] is not None
    return SplitRule(kind, int(match["each"]), match["halved"] is not None, seed, not seen_stay)


def split(interactions: Interactions, rule: SplitRule | str) -> Split:
    """Split interactions by a rule.

    Parameters
    ----------
    interactions
        The interactions to split.
    rule
        A rule, or its text in the form that :func:`parse_split` reads.

    Returns
    -------
    The parts. In every part, the interactions are in the order of the file.

    Raises
    ------
    ValueError
        If the rule is invalid, or holds out no interactions that can be tested.

    Notes
    -----
    A user with no more interactions than the number held out stays in training and is not tested.
    With ``latest``, users without a training interaction are not tested, because nothing is known
    about them. Interactions at equal times are in the order of the file; ``latest`` may hold out
    only some of them. With ``halved``, a random half of all held-out interactions is for
    validation, and the other half for the test, as in section 6.1 of Steck (2010). A user whose
    held-out interactions are all in the half for validation is not tested.
    """
    require_interactions(interactions)
    rule = rule if isinstance(rule, SplitRule) else parse_split(rule)
    rng = np.random.default_rng(rule.seed)
    if rule.how == "latest":
        held = np.zeros(interactions.size, dtype=bool)
        held[interactions.in_time[_kept(interactions.size, rule.amount) :]] = True
        known = np.bincount(interactions.user[~held], minlength=interactions.n_users) > 0
        test = np.flatnonzero(held & known[interactions.user])
    else:
        held = _held_out(interactions, rule, rng)
        test = np.flatnonzero(held)
    validation = None
    if rule.halved:
        mine = np.zeros(len(test), dtype=bool)
        mine[rng.permutation(len(test))[: len(test) // 2]] = True
        validation, test = interactions.take(test[mine]), test[~mine]
    if not len(test):
        most = int(np.bincount(interactions.user).max())
        none = f"no user, with {most} interactions at most, keeps one to learn from"
        advice = f"{none}; hold out fewer, or a larger share"
        raise ValueError(f"split {str(rule)!r} holds out nothing that can be tested: {advice}")
    training, tested = interactions.take(~held), interactions.take(test)
    return Split(training, validation, tested, str(rule), rule.exclude_seen, interactions.digest)


def _kept(size: int, percent: float) -> int:
    """Return how many of ``size`` interactions are not in the last ``percent`` %: at least one."""
    return max(size - max(round(size * percent / 100), 1), 1)


def _held_out(interactions: Interactions, rule: SplitRule, rng: np.random.Generator) -> Flags:
    """Return a mask of the interactions that a rule with ``last`` or ``random`` holds out."""
    order: Ints = interactions.in_time if rule.how == "last" else rng.permutation(interactions.size)
    user = interactions.user[order]
    by_user = np.argsort(user, kind="stable")
    sizes = np.bincount(user, minlength=interactions.n_users)
    # Number the interactions of each user backwards in ``order``: the last interaction has
    # ``left`` = 1.
    left = np.repeat(np.cumsum(sizes), sizes) - np.arange(interactions.size)
    held = np.zeros(interactions.size, dtype=bool)
    held[order[by_user]] = (left <= rule.amount) & np.repeat(sizes > rule.amount, sizes)
    return held
