"""Audits of lists of negatives: find faults, and find out how the negatives were drawn.

:data:`FINDINGS` lists the faults that an audit looks for, the worst first. For a new check, add a
row to this list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import bdtrc, binom, gammainc, pdtr, pdtrc

from sampledash.auditing.lists import Lists, lists_of
from sampledash.auditing.tenths import tenths
from sampledash.auditing.weights import LEVEL, Draws, Fitted, fit
from sampledash.comparison.means import expected_mean, mean
from sampledash.metrics import Metric, as_metric
from sampledash.rank_sets import RankSet, require_several
from sampledash.report.templates import Sentences
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme, check_weights
from sampledash.types import Flags, Floats

say = Sentences(Path(__file__).with_name("words.jinja"))

ONCE, AGAIN = "without replacement", "with replacement"
EITHER = f"with or {ONCE}"


class Pool(NamedTuple):
    """Items that seem to be excluded when negatives are drawn.

    ``never`` is the number of items that are never drawn, and ``expected`` is how many items would
    never be drawn by chance alone, on average.
    """

    never: int
    expected: float
    # First and last label of a drawn item, in the order of labels, if the only excluded items have
    # labels outside this range. Otherwise None.
    ends: tuple[Any, Any] | None


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of :func:`audit`: faults in lists of negatives, and how these were drawn.

    Attributes
    ----------
    lists
        The lists of negatives, with items and instances as indices.
    groups
        For each distinct list, the indices of all lists with the same items. If such lists are no
        more frequent than by chance, as for lists of one item, every list is a group of its own.
    repeated, holds_positive, holds_seen
        Whether each draw is a duplicate in its list, is the relevant item of its list, or is in the
        history of its instance.
    seen_out
        Whether lists leave out the history of their instance, apart from a few faults. None if most
        lists are shared: a list cannot leave out the histories of all its instances.
    drawn
        How the negatives seem to have been drawn, such as ``"without replacement"``.
    uniform_p
        p-value of the test that draws are uniform over the tenths of the items, which are sorted by
        popularity; NaN without interactions.
    fit_p
        p-value of the same test, if items are drawn by popularity^α with the most likely power α.
        Equal to ``uniform_p`` if this power is not significantly different from 0.
    deciles
        A row for each tenth of the items, the least popular first: ``popularity_low``,
        ``popularity_high``, ``items`` (their number), ``drawn`` (number of draws), ``uniform`` (the
        expected number of draws if they were uniform among the candidates of each list), and
        ``uniform_std``, its standard deviation. ``fitted`` and ``fitted_std`` are the same two
        numbers for items drawn as in the test of ``fit_p``.
    pool
        Items that are never drawn, if more than by chance; otherwise None.
    fitted
        The most likely power α of popularity, if items are drawn with weights popularity^α.
    """

    lists: Lists
    groups: list[list[int]]
    repeated: Flags
    holds_positive: Flags
    holds_seen: Flags
    seen_out: bool | None
    drawn: str
    uniform_p: float
    fit_p: float
    deciles: pd.DataFrame
    pool: Pool | None
    fitted: Fitted

    @property
    def alpha(self) -> float:
        """Most likely power α, if items are drawn with weights popularity^α.

        0 means uniform draws. NaN if there are no interactions, so that the popularity is unknown,
        or if all items have the same popularity.
        """
        return self.fitted.alpha

    @property
    def alpha_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of :attr:`alpha`, the power of popularity."""
        return self.fitted.interval

    @property
    def uneven(self) -> bool:
        """Whether negatives were not drawn uniformly from the candidates, as a test shows."""
        return self.fitted.popular or self.uniform_p < LEVEL

    @cached_property
    def findings(self) -> pd.DataFrame:
        """A table of the faults that were found, the worst first; no rows if there are none.

        The columns are ``finding``, ``severity``, ``count`` (number of cases), ``cases`` (what is
        counted: lists, items or draws), ``of`` (number of all lists, items or draws) and
        ``detail``, a sentence.
        """
        rows = []
        sizes = {"lists": self.lists.lengths, "items": self.lists.items, "draws": self.lists.item}
        for x in FINDINGS:
            if count := int(x.count(self)):
                of = len(sizes[x.of])
                rows.append((x.name, x.severity, count, of, x.of, x.sentence(self, count, of)))
        return pd.DataFrame(rows, columns=["finding", "severity", "count", "of", "cases", "detail"])

    @property
    def sentence(self) -> str:
        """A sentence on the lists of negatives and their worst fault."""
        return say.sentence(self, next(iter(self.findings["detail"]), ""))

    @property
    def scheme(self) -> Scheme | None:
        """The sampling scheme by which negatives seem to be drawn.

        None if the draws are neither uniform nor by a power of popularity.
        """
        if self.fit_p < LEVEL:
            return None
        drawn = not self.fitted.popular, self.drawn != AGAIN
        # The scheme "strata" has the same properties (not uniform, distinct) as the scheme
        # "popularity-without-replacement". It is never chosen, because it comes later in SCHEMES.
        known = ((name, x) for name, x in SCHEMES.items() if not x.varies)
        return cast(Scheme, next(name for name, x in known if (x.uniform, x.distinct) == drawn))

    def effect(
        self, metric: Metric | str, sets: Sequence[RankSet], claimed: Scheme = DEFAULT_SCHEME
    ) -> pd.DataFrame:
        """Compare the expected metric for two ways of drawing negatives: as claimed, and as found.

        Parameters
        ----------
        metric
            Metric or text such as ``"Recall@10"``.
        sets
            True ranks of each system. If the draws follow popularity, the rank sets need
            ``classes`` (candidates grouped by popularity), as from
            ``rank(..., weights="popularity")`` with the interactions that were audited.
        claimed
            The scheme by which negatives are said to be drawn.

        Returns
        -------
        A row per system: ``system``; the metric on all items, ``exact``; and its expected value
        with m negatives, drawn as ``claimed`` and as ``found`` by the audit; m is the median length
        of the lists. ``found`` is NaN if :attr:`scheme` is None.

        Raises
        ------
        ValueError
            If a rank set lacks what a scheme needs; the message names the system and the remedy.
        """
        require_several(sets)
        check_weights(claimed, sets)
        asked, m, rows = as_metric(metric), int(np.median(self.lists.lengths)), []
        for ranks in sets:
            means = [mean(asked, ranks), expected_mean(asked, ranks, m, scheme=claimed), np.nan]
            if self.scheme is not None:
                drawn = ranks.with_power(self.alpha) if self.fitted.popular else ranks
                means[2] = expected_mean(asked, drawn, m, scheme=self.scheme)
            rows.append((ranks.system, *means))
        return pd.DataFrame(rows, columns=["system", "exact", "claimed", "found"])

    def lists_with(self, draws: Flags) -> int:
        """Return how many lists hold at least one of the negatives that are True in ``draws``."""
        return len(np.unique(self.lists.row[draws]))

    def at_an_end(self) -> int:
        """Return how many relevant items are at the same end, first or last, of their lists.

        A list holds a relevant item and its negatives. Count the relevant items that are first, and
        those that are last. Return the larger count, or 0 if both may be due to chance.
        """
        places, lengths = self.lists.places, self.lists.lengths
        counts = [] if places is None else [(places == end).sum() for end in (1, lengths + 1)]
        chance = np.mean(1 / (lengths + 1))
        odd = [x for x in counts if x and bdtrc(x - 1, len(lengths), chance) < LEVEL / 2]
        return int(max(odd, default=0))


class Finding(NamedTuple):
    """A fault that an audit of lists of negatives looks for.

    ``count`` returns the number of lists, items or draws with this fault; ``of`` says which of the
    three are counted.
    """

    name: str
    severity: str
    of: str
    count: Callable[[Audit], int]
    sentence: Callable[..., str]


FINDINGS = (
    Finding("relevant item among its negatives", "error", "lists",
            lambda a: a.lists_with(a.holds_positive), say.positive),
    Finding("duplicates in a list", "error", "lists",
            lambda a: a.lists_with(a.repeated), say.duplicates),
    Finding("instance given again", "error", "lists", lambda a: a.lists.positive.nnz
            - len({*zip(a.lists.instance, a.lists.positive.indices, strict=False)}), say.again),
    Finding("items of the history", "warning", "lists",
            lambda a: a.lists_with(a.holds_seen), say.seen),
    Finding("pool smaller than the catalogue", "warning", "items",
            lambda a: a.pool.never if a.pool else 0, say.pool),
    Finding("not drawn uniformly", "warning", "draws",
            lambda a: a.uneven * len(a.lists.item), say.weights),
    Finding("relevant item always at one place", "warning", "lists", Audit.at_an_end, say.places),
    Finding("lists that are shared", "note", "lists",
            lambda a: sum(len(x) for x in a.groups if np.ptp(a.lists.instance[x])), say.shared),
    Finding("lists of different length", "note", "lists",
            lambda a: (a.lists.lengths != np.bincount(a.lists.lengths).argmax()).sum(),
            say.lengths),
)  # fmt: skip


def effects(audit: Audit, metric: object, rows: pd.DataFrame, claimed: Scheme) -> str:
    """Return a sentence on what the way of drawing negatives does to a metric.

    It compares the ``claimed`` sampling scheme with the scheme that the audit found. ``rows`` is
    the result of :meth:`Audit.effect`.
    """
    return say.effects(audit, metric, rows.to_dict("records"), SCHEMES[claimed].paper)


def audit(
    negatives: Any,
    positives: ArrayLike | None,
    interactions: Any = None,
    *,
    instances: ArrayLike | None = None,
    places: ArrayLike | None = None,
) -> Audit:
    """Audit lists of sampled negatives: find faults, and how the negatives were drawn.

    Parameters
    ----------
    negatives
        Labels of items: an array of shape (P, m) for P instances, or P lists of any lengths, or one
        list that all instances share.
    positives
        Label of the relevant item of each of the P instances, or None if unknown.
    interactions
        The training part: :class:`Interactions`, or pairs (instance, item) of shape (size, 2). The
        popularity of items and the history of instances are taken from it. The catalogue consists
        of its items, the negatives and the relevant items.
    instances
        Label of each instance, as in ``interactions``; by default 0..P-1.
    places
        Position (from 1) of each relevant item in the list of the item and its negatives, or None
        if the position is unknown.

    Raises
    ------
    ValueError
        If shapes differ, a list is empty, a label is neither text nor a whole number, or labels of
        the lists and of ``interactions`` have nothing in common.

    Notes
    -----
    The tests together raise a false alarm in one of 300 audits of clean lists. The power α of draws
    by popularity^α is estimated by maximum likelihood, for draws with or without replacement; the
    order of a list is not used. The items, sorted by popularity, are divided into tenths. A χ² test
    compares the number of draws from each tenth with its expectation for the estimated α, or for
    uniform draws if α is not significantly different from 0. The candidates of a list are all items
    except the relevant item and, if lists leave it out, the history. A shared list counts once.
    Items without an interaction are known only because a list names them; therefore neither the
    estimate nor the tests use them.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> train = [(user, item) for user in range(300) for item in rng.integers(0, 50, 8)]
    >>> lists = [rng.choice(50, 20, replace=False) for _ in range(300)]
    >>> result = audit(lists, rng.integers(0, 50, 300), train)
    >>> result.drawn, result.findings["finding"].tolist()
    ('without replacement', ['relevant item among its negatives', 'items of the history'])
    """
    lists = lists_of(negatives, positives, interactions, instances, places)
    size, row = len(lists.items), lists.row
    popularity = np.ones(size) if lists.popularity is None else lists.popularity
    keys = row * size + lists.item  # two draws have the same key if list and item are the same
    repeated = np.append(False, keys[1:] == keys[:-1])
    groups = _groups(lists)
    first = [rows[0] for rows in groups]
    counts = np.isin(row, first)  # whether a draw counts: only the first list of a group does
    marks = lists.positive, lists.seen  # relevant items, and items of the history, by list
    holds = [np.isin(keys, np.ravel_multi_index(x.nonzero(), x.shape)) for x in marks]
    # The estimate and the tests ignore the relevant items of a list, because many lists include or
    # exclude these items on purpose. If no item of the history is drawn, or significantly fewer
    # than with uniform draws from all items, assume that the lists exclude the history. The
    # estimate and the tests then ignore the history, too.
    fair, excluded = counts & (popularity[lists.item] > 0) & ~holds[0], lists.positive.copy()
    hits = int((holds[1] & counts).sum())
    chance = lists.lengths[first] @ np.diff(lists.seen.indptr)[first] / size
    left_out = not hits or bool(pdtr(hits, chance) < LEVEL)
    if left_out:
        fair, excluded = fair & ~holds[1], excluded + lists.seen
    excluded.data = np.minimum(excluded.data, 1)
    number = np.searchsorted(first, row)
    draws = Draws(len(first), number[fair], lists.item[fair], csr_array(excluded[first]))
    # Count the pairs of draws in a list that are the same item. Compare their number with its
    # expectation for draws with replacement: fewer pairs show that items were drawn without
    # replacement.
    quick = fit(draws, popularity, once=False)
    weight, m = np.maximum(draws.totals(quick.weights), 1e-99), draws.lengths
    chance = m * (m - 1) / 2 @ (draws.totals(quick.weights**2) / weight**2)
    times = np.unique(keys[fair], return_counts=True)[1]
    pairs = times @ (times - 1) / 2
    drawn = ONCE if pdtr(pairs, chance) < LEVEL else AGAIN if pairs else EITHER
    if once := drawn != AGAIN:
        fair &= ~repeated
        draws = draws._replace(row=number[fair], item=lists.item[fair])
    guess = float(np.nan_to_num(quick.alpha))
    pool, fitted, popularity = _model(draws, popularity, lists.items, once, guess)
    models = {"uniform": (popularity > 0).astype(np.float64), "fitted": fitted.weights}
    deciles, (uniform_p, fit_p) = pd.DataFrame(), (np.nan, np.nan)
    if lists.popularity is not None:
        deciles, (uniform_p, fit_p) = tenths(draws, popularity, once, models)
    seen_out = left_out if 2 * len(groups) > len(lists.lengths) else None
    faults = repeated, holds[0], holds[1], seen_out, drawn
    return Audit(lists, groups, *faults, uniform_p, fit_p, deciles, pool, fitted)


def _groups(lists: Lists) -> list[list[int]]:
    """Return groups of lists with the same items; all other lists are groups of one list.

    Lists of m items are grouped only if more of them have the same items than by chance. Let 1 / N
    be the probability that two draws, taken at random from all lists, are the same item. By chance,
    two lists then have the same items with probability 1 / C(N, m), where C is the binomial
    coefficient. Two exceptions are always grouped: the same list for several relevant items of one
    instance, and all lists if they all have the same items.
    """
    parts = np.split(lists.item, np.cumsum(lists.lengths)[:-1])
    table = pd.DataFrame({"m": lists.lengths, "who": lists.instance})
    table["items"] = [part.tobytes() for part in parts]
    sizes = table.drop_duplicates().groupby(["m", "items"]).size()
    every, drawn = sizes.groupby("m").sum(), np.bincount(lists.item)
    m, equal = every.index, (sizes * (sizes - 1)).groupby("m").sum() / 2
    ways = binom(np.maximum(drawn.sum() ** 2 / (drawn @ drawn), m), m)
    by_chance = (pdtrc(equal - 1, every * (every - 1) / 2 / ways) >= LEVEL) & (len(sizes) > 1)
    alone = table["who"] * table["m"].map(by_chance)
    return sorted(np.asarray(x).tolist() for x in table.groupby(["items", alone]).indices.values())


def _model(
    draws: Draws, popularity: Floats, labels: Any, once: bool, alpha: float
) -> tuple[Pool | None, Fitted, Floats]:
    """Return the attributes ``pool`` and ``fitted`` of :class:`Audit`, and the items' popularity.

    The returned popularity is ``popularity``, but 0 for items that seem to be excluded from the
    draws. ``once`` says whether draws are without replacement. ``alpha`` is a first guess of the
    power of popularity.
    """
    fitted = fit(draws, popularity, once, alpha)
    if not fitted.popular:
        uniform = (popularity > 0).astype(np.float64)
        times = draws.lengths / np.maximum(draws.totals(uniform), 1)
        times = -np.log1p(-np.minimum(times, 1 - 1e-9)) if once else times
        fitted = fitted._replace(weights=uniform, times=times)
    # For each item, exp(-``rings``) is the probability that no list holds the item: see
    # :class:`Fitted`. With replacement, ``rings`` is the expected number of draws of the item.
    rings = fitted.weights * (fitted.times.sum() - draws.excluded.T @ fitted.times)
    drawn = np.bincount(draws.item, minlength=len(rings)) > 0
    never, expected = int((~drawn & (rings > 0)).sum()), float(np.exp(-rings[rings > 0]).sum())
    low, high = np.flatnonzero(drawn)[[0, -1]] if drawn.any() else (0, len(rings) - 1)
    cut = max(rings[:low].sum(), rings[high + 1 :].sum()) > -np.log(LEVEL / 2)
    if not cut and not (never and gammainc(never, expected) < LEVEL):
        return None, fitted, popularity
    # Some items seem to be excluded from the draws. Repeat the fit without them.
    reach = np.isin(np.arange(len(rings)), np.arange(low, high + 1)) if cut else drawn
    inner, fitted, popularity = _model(draws, popularity * reach, labels, once, alpha)
    ends = (labels[low], labels[high]) if cut and inner is None else None
    return Pool(never, expected, ends), fitted, popularity
