"""What lists of negatives give away: faults, and how the negatives were drawn.

:data:`FINDINGS` lists what is looked for, the worst first. To look for more, add a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import bdtrc, chdtrc, gammainc, ndtr, ndtri, pdtr

from sampledash.auditing.lists import Lists, Negatives, lists_of
from sampledash.auditing.weights import Draws, Fitted, fit
from sampledash.report.templates import Sentences
from sampledash.types import Flags, Floats, Ints

say = Sentences(Path(__file__).with_name("words.jinja"))

#: Chance with which each test of a clean list raises a false alarm; there are at most six tests.
LEVEL = 5e-4
BINS = 10
_SAMPLE = 64  # lists whose lengths are foretold for collapsed duplicates
_ALIKE = 0.25  # largest total variation between these lengths and what is foretold
ONCE, AGAIN, EITHER, COLLAPSED = (
    "without replacement",
    "with replacement",
    "with or without replacement (too few to tell)",
    "with replacement, and duplicates removed",
)


Pool = tuple[int, float, tuple[Any, Any] | None]  # items never drawn, expected so; drawn range


class Evidence(NamedTuple):
    """What the lists show, from which :data:`FINDINGS` are made."""

    lists: Lists
    repeated: Flags  # whether a draw repeats the draw before it in its list
    holds_positive: Flags  # whether a draw is the relevant item of its list
    holds_seen: Flags  # whether a draw is in the history of its instance
    shared: int  # number of lists that another instance has too
    groups: int  # number of different lists
    positive_out: bool  # whether the relevant item was left out, but for faults
    seen_out: bool
    drawn: str
    collapsed: int  # size before duplicates were removed; 0 if they were not
    pool: Pool | None
    fitted: Fitted
    uniform_p: float
    deciles: pd.DataFrame

    @property
    def popular(self) -> bool:
        """Whether α differs from 0."""
        return differs_from_0(self.fitted)

    @property
    def uneven(self) -> bool:
        """Whether the draws are not uniform over the candidates."""
        return self.popular or self.uniform_p < LEVEL


class Finding(NamedTuple):
    """What may be wrong: its name, how bad it is, and a function that detects it.

    The function returns None, or in how many cases, of how many, and a sentence.
    """

    name: str
    severity: str
    detect: Callable[[Evidence], tuple[int, int, str] | None]


def _positive(e: Evidence) -> tuple[int, int, str] | None:
    lists = e.lists
    count, of = len(np.unique(lists.row[e.holds_positive])), int((lists.positive >= 0).sum())
    return (count, of, say.positive(count, of, _by_chance(lists))) if count else None


def _by_chance(lists: Lists) -> float:
    """Return how many draws would be the relevant item if draws were uniform over all items."""
    return float(lists.lengths[lists.positive >= 0].sum() / len(lists.items))


def _duplicates(e: Evidence) -> tuple[int, int, str] | None:
    count, of = len(np.unique(e.lists.row[e.repeated])), len(e.lists.lengths)
    return (count, of, say.duplicates(count, of, e.drawn == AGAIN)) if count else None


def _places(e: Evidence) -> tuple[int, int, str] | None:
    places, lengths = e.lists.places, e.lists.lengths
    if places is None:
        return None
    last, chance = places == lengths + 1, float(np.mean(1 / (lengths + 1)))
    for name, at in (("first", places == 1), ("last", last)):
        count, of = int(at.sum()), len(places)
        if count and bdtrc(count - 1, of, chance) < LEVEL / 2:
            return count, of, say.places(count, of, name)
    return None


def _seen(e: Evidence) -> tuple[int, int, str] | None:
    count, of = len(np.unique(e.lists.row[e.holds_seen])), len(e.lists.lengths)
    return (count, of, say.seen(count, of, e.seen_out)) if count else None


def _pool(e: Evidence) -> tuple[int, int, str] | None:
    if e.pool is None:
        return None
    size = len(e.lists.items)
    return e.pool[0], size, say.pool(e.pool[0], size, *e.pool[1:])


def _weights(e: Evidence) -> tuple[int, int, str] | None:
    if not e.uneven:
        return None
    worst = e.deciles.loc[(e.deciles["drawn"] / e.deciles["expected"] - 1).abs().idxmax()]
    alpha, *ends = interval(e.fitted)
    return int(worst["drawn"]), len(e.lists.row), say.weights(e.popular, alpha, ends, worst, e.uniform_p)


def _shared(e: Evidence) -> tuple[int, int, str] | None:
    of = len(e.lists.lengths)
    return (e.shared, of, say.shared(e.shared, of, e.groups)) if e.shared else None


def _lengths(e: Evidence) -> tuple[int, int, str] | None:
    sizes = e.lists.lengths
    usual = int(np.bincount(sizes).argmax())
    count, ends = int((sizes != usual).sum()), (int(sizes.min()), int(sizes.max()))
    return (count, len(sizes), say.lengths(ends, e.collapsed)) if count else None


FINDINGS = (
    Finding("relevant item among its negatives", "wrong", _positive),
    Finding("relevant item always at one place", "wrong", _places),
    Finding("duplicates in a list", "wrong", _duplicates),
    Finding("items of the history", "unfair", _seen),
    Finding("pool smaller than the catalogue", "unlike uniform", _pool),
    Finding("not uniform", "unlike uniform", _weights),
    Finding("lists that are shared", "unlike uniform", _shared),
    Finding("lists of different length", "unlike uniform", _lengths),
)
_COLUMNS = ("finding", "severity", "count", "of", "detail")
_DECILES = ("popularity_low", "popularity_high", "items", "drawn", "expected", "std")
_NONE = pd.DataFrame(columns=list(_DECILES))


@dataclass(frozen=True, eq=False)
class Audit:
    """What lists of negatives give away, as :func:`audit` returns it.

    Attributes
    ----------
    sentence
        What the lists are, and the worst finding.
    findings
        A row for each finding, the worst first: ``finding``, ``severity``, ``count`` (the cases),
        ``of`` (how many could be) and ``detail``, a sentence. No rows if nothing was found.
    lengths
        Number of negatives of each list, of shape (P,).
    drawn
        How the negatives seem to have been drawn, such as ``"without replacement"``.
    alpha, alpha_interval
        Most likely power of popularity by which items were drawn, and its 95 % interval. 0 is
        uniform. NaN without interactions.
    uniform_p
        p-value of the test that draws are uniform over the deciles of popularity; NaN without
        interactions.
    deciles
        A row for each tenth of the items, the least popular first: ``popularity_low``,
        ``popularity_high``, ``items``, ``drawn``, ``expected`` (if draws were uniform over the
        candidates of each list) and its standard deviation ``std``.
    """

    sentence: str
    findings: pd.DataFrame
    lengths: Ints
    drawn: str
    alpha: float
    alpha_interval: tuple[float, float]
    uniform_p: float
    deciles: pd.DataFrame


def audit(
    negatives: Negatives,
    positives: ArrayLike | None,
    interactions: Any = None,
    *,
    instances: ArrayLike | None = None,
    places: ArrayLike | None = None,
) -> Audit:
    """Return what lists of sampled negatives give away: faults, and how they were drawn.

    Parameters
    ----------
    negatives
        Labels of items: an array of shape (P, m), P lists, or one list that all instances share.
    positives
        Label of the relevant item of each of the P instances, or None if unknown.
    interactions
        The training part: :class:`Interactions`, or pairs (instance, item) of shape (size, 2).
        They give the popularity of items, the history of instances, and the catalogue, to which
        negatives and relevant items also belong.
    instances
        Label of each instance, as in ``interactions``; by default 0..P-1.
    places
        Place of each relevant item in a list that holds it with its negatives, from 1; None if
        the file does not say.

    Raises
    ------
    ValueError
        If shapes differ, a label is neither text nor a whole number, or the labels of the lists
        and of ``interactions`` have nothing in common.

    Notes
    -----
    Tests raise a false alarm on clean lists once in 200 audits. α is estimated from the unordered
    lists by maximum likelihood, exactly for draws with and without replacement, over the candidates
    of each list: without the history and the relevant item, if lists leave them out. Equal lists
    count once. Items without an interaction have no weight popularity^α and are left out of α, but
    not of the test of uniformity.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> train = [(user, item) for user in range(300) for item in rng.integers(0, 50, 8)]
    >>> lists = [rng.choice(50, 20, replace=False) for user in range(300)]
    >>> sd_audit = audit(lists, rng.integers(0, 50, 300), train)
    >>> sd_audit.drawn, sd_audit.findings["finding"].tolist()[:1]
    ('without replacement', ['relevant item among its negatives'])
    """
    evidence = _evidence(lists_of(negatives, positives, interactions, instances, places))
    rows = []
    for row in FINDINGS:
        if (case := row.detect(evidence)) is not None:
            rows.append((row.name, row.severity, *case))
    findings = pd.DataFrame(rows, columns=list(_COLUMNS))
    alpha, low, high = interval(evidence.fitted)
    sizes = evidence.lists.lengths
    ends = int(sizes.min()), int(sizes.max())
    worst = findings["detail"].iloc[0] if rows else ""
    sentence = say.sentence(len(sizes), ends, evidence, alpha, (low, high), worst)
    return Audit(
        *(sentence, findings, sizes, evidence.drawn, alpha, (low, high)),
        evidence.uniform_p,
        evidence.deciles,
    )


def interval(fitted: Fitted) -> tuple[float, float, float]:
    """Return α and the ends of its 95 % interval."""
    half = float(ndtri(0.975)) * fitted.error
    return fitted.alpha, fitted.alpha - half, fitted.alpha + half


def differs_from_0(fitted: Fitted) -> bool:
    """Return whether α differs from 0, as it would in uniform draws with the chance ``LEVEL``."""
    return bool(abs(fitted.alpha) > -ndtri(LEVEL / 2) * fitted.error)


def _evidence(lists: Lists) -> Evidence:
    size, rows = len(lists.items), len(lists.lengths)
    keys, (row, item) = lists.keys, (lists.row, lists.item)
    repeated = np.append(False, keys[1:] == keys[:-1])
    holds_positive = item == lists.positive[row]
    taken = np.diff(lists.seen.indptr)
    of_seen = np.repeat(np.arange(rows), taken) * size + lists.seen.indices
    at = np.minimum(np.searchsorted(of_seen, keys), len(of_seen) - 1)
    holds_seen = of_seen[at] == keys if len(of_seen) else np.zeros(len(keys), dtype=bool)
    groups: dict[bytes, list[int]] = {}
    for place, part in enumerate(np.split(item, np.cumsum(lists.lengths)[:-1])):
        groups.setdefault(part.tobytes(), []).append(place)
    of_instances = [len(set(lists.instances[group].tolist())) for group in groups.values()]
    shared = sum(len(g) for g, many in zip(groups.values(), of_instances, strict=True) if many > 1)
    first = np.array([group[0] for group in groups.values()])
    renumbered = np.full(rows, -1)
    renumbered[first] = np.arange(len(first))
    # Items were left out if the draws hold fewer of them than uniform draws from all items would.
    seen_out, positive_out = (
        bool(hits == 0 or pdtr(hits, lists.lengths[first] @ many / size) < LEVEL)
        for hits, many in (
            (holds_seen[renumbered[row] >= 0].sum(), taken[first]),
            (holds_positive[renumbered[row] >= 0].sum(), lists.positive[first] >= 0),
        )
    )
    excluded = lists.seen if seen_out else csr_array(lists.seen.shape)
    if positive_out and (lists.positive >= 0).all():
        ends = np.arange(rows), lists.positive
        excluded = excluded + csr_array((np.ones(rows), ends), shape=excluded.shape)
        excluded.data = np.minimum(excluded.data, 1)
    fair = (renumbered[row] >= 0) & ~(holds_seen & seen_out) & ~(holds_positive & positive_out)
    draws = Draws(len(first), renumbered[row[fair]], item[fair], csr_array(excluded[first]))
    popularity = np.ones(size) if lists.popularity is None else lists.popularity
    at = popularity[draws.item] > 0
    draws = draws._replace(row=draws.row[at], item=draws.item[at])
    # Which share of the pairs of draws are equal tells whether items were drawn anew.
    quick = fit(draws, popularity, once=False)
    sizes, weight = draws.lengths(), draws.totals(quick.weights)
    equal = draws.totals(quick.weights**2) / np.maximum(weight, 1e-300) ** 2
    chance = float(sizes * (sizes - 1) / 2 @ equal)
    times = np.unique(draws.row * size + draws.item, return_counts=True)[1]
    pairs = float(times @ (times - 1) / 2)
    drawn = ONCE if pdtr(pairs, chance) < LEVEL else AGAIN if pairs else EITHER
    once = drawn != AGAIN
    if once:
        new = np.append(True, (np.diff(draws.row) != 0) | (np.diff(draws.item) != 0))[: len(at)]
        draws = draws._replace(row=draws.row[new], item=draws.item[new])
    pool, fitted, uniform_p, deciles, weights = _model(lists, draws, once, quick.alpha)
    collapsed = _collapsed(draws, weights) if once and not repeated.any() else 0
    return Evidence(
        *(lists, repeated, holds_positive, holds_seen, shared, len(first)),
        *(positive_out, seen_out, COLLAPSED if collapsed else drawn, collapsed),
        *(pool, fitted, uniform_p, deciles),
    )


def _model(
    lists: Lists, draws: Draws, once: bool, start: float
) -> tuple[Pool | None, Fitted, float, pd.DataFrame, Floats]:
    """Return pool, α, the test of uniformity, deciles, and the weights that explain the draws."""
    known = lists.popularity is not None
    popularity = lists.popularity if known else np.ones(len(lists.items))
    reached = np.bincount(draws.item, minlength=len(lists.items)) > 0
    ends = [int(reached.argmax()), len(reached) - int(reached[::-1].argmax())]
    alive, pool = popularity > 0, None
    while True:
        fitted = fit(draws, np.where(alive, popularity, 0), once, start)
        p, deciles = _evenness(draws, popularity, alive, once) if known else (np.nan, _NONE)
        weights, times = fitted.weights, fitted.times
        if not differs_from_0(fitted):
            weights = alive.astype(np.float64)
            times = draws.lengths() / np.maximum(draws.totals(weights), 1)
            times = -np.log1p(-np.minimum(times, 1 - 1e-9)) if once else times
        # The number of times that the clock of each item is expected to have rung.
        rings = weights * (times.sum() - draws.excluded.T @ times)
        none = np.exp(-rings[rings > 0])
        never = int((~reached & (rings > 0)).sum())
        beyond = [rings[: ends[0]].sum(), rings[ends[1] :].sum()]
        within = np.zeros(len(reached), dtype=bool)
        within[slice(*ends)] = True
        if max(beyond) > -np.log(LEVEL / 2):
            left = within
        elif never and gammainc(never, none.sum()) < LEVEL:
            left = reached
        else:
            return pool, fitted, p, deciles, weights
        labels = (lists.items[ends[0]], lists.items[ends[1] - 1]) if left is within else None
        pool = pool or (never, float(none.sum()), labels)
        alive &= left


def _evenness(
    draws: Draws, popularity: Floats, alive: Flags, once: bool
) -> tuple[float, pd.DataFrame]:
    """Return the p-value of uniform draws by decile of popularity, and the deciles."""
    items = np.flatnonzero(alive)
    items = items[np.argsort(popularity[items], kind="stable")]
    bins = np.array_split(items, int(np.clip(min(len(draws.row) // 5, len(items)), 1, BINS)))
    member = np.zeros((len(popularity), len(bins)))
    for place, part in enumerate(bins):
        member[part, place] = 1
    share = draws.totals(member)
    many = np.maximum(share.sum(axis=1), 1)
    share, sizes = share / many[:, None], draws.lengths()
    spread = sizes * ((many - sizes) / np.maximum(many - 1, 1) if once else 1.0)
    covariance = np.diag(spread @ share) - (share * spread[:, None]).T @ share
    drawn, expected = member[draws.item].sum(axis=0), sizes @ share
    off = drawn - expected
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    p = float(chdtrc(rank, off @ np.linalg.pinv(covariance, hermitian=True) @ off))
    ends = [(popularity[part[0]], popularity[part[-1]], len(part)) for part in bins]
    rows = zip(ends, drawn, expected, np.sqrt(np.diag(covariance).clip(0)), strict=True)
    table = pd.DataFrame([(*end, *row) for end, *row in rows], columns=list(_DECILES))
    counts = ["popularity_low", "popularity_high", "items", "drawn"]
    return p if rank else np.nan, table.astype(dict.fromkeys(counts, int))


def _collapsed(draws: Draws, weights: Floats) -> int:
    """Return from how many draws with replacement the lengths of the lists come, or 0.

    The number of different items is compared, as a normal variable, with the lengths of the lists.
    """
    sizes = draws.lengths()
    if not np.ptp(sizes):
        return 0
    some = np.linspace(0, draws.size - 1, min(_SAMPLE, draws.size)).astype(int)
    p = weights * (1 - draws.excluded[some].toarray())
    p = np.minimum(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300), 1 - 1e-9)
    many = np.arange(int(sizes.max()), 2 * int(sizes.max()) + 1)

    def missed(size: int) -> Floats:
        return np.asarray(np.exp(size * np.log1p(-p)))

    means = [float((1 - missed(int(size))).sum(axis=1).mean()) for size in many]
    off = np.abs(means - sizes.mean())
    size = int(many[off.argmin()])
    out = missed(size)
    variance = (out * (1 - out)).sum(axis=1) - size * (p * out).sum(axis=1) ** 2
    steps = np.arange(size + 2) - 0.5
    normal = np.diff(ndtr((steps - means[off.argmin()]) / max(variance.mean(), 1e-12) ** 0.5))
    there = np.bincount(sizes.astype(int), minlength=size + 1) / len(sizes)
    return size if np.abs(there[: size + 1] - normal).sum() / 2 < _ALIKE else 0
