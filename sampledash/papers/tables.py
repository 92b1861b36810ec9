"""Tables 1-4 of Krichene & Rendle (KDD 2020) beside what the core computes for them.

Ours are expectations, not runs: the mean, the standard deviation and the chance of the right order
follow from the laws of the sampled ranks. The print holds the scatter of 1,000 or 100 runs, which
is what a difference is measured against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sampledash.comparison.chance import pair_chances
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import exact_means, variances_of_means
from sampledash.correction import parse_correction
from sampledash.metrics import parse_metric
from sampledash.papers.printed import Cell, cells
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Progress

Load = Callable[[str], Sequence[RankSet]]

#: A number counts as matched up to this many standard errors, and the print's rounding.
ERRORS = 2.0

RERUN = (
    "X is another training run: the paper's, stopped early with an unknown seed, cannot be had "
    "exactly"
)
RANK_ESTIMATE = (
    "the paper's number comes out with ranks scaled by (n − 1)/(m + 1) instead of eq. 20's "
    "(n − 1)/m"
)
TIES_OF_Z = (
    "2,623 users of Z have ties, which the paper redrew: its numbers come out, to 2.5 standard "
    "errors, if a tied item is never put last among the sampled items it ties with"
)
SCALED_AND_TIED = f"{RANK_ESTIMATE}; and {TIES_OF_Z}"


@dataclass(frozen=True)
class Match:
    """A printed cell and ours.

    Attributes
    ----------
    ours, our_spread
        In the units of the cell; ``our_spread`` is the exact standard deviation of one run.
    error
        Standard error of the printed number: of the mean over its runs, of a count of right runs,
        or, for an exact mean, of one random order of the ties.
    reason
        Why it does not match, empty if it does.
    """

    cell: Cell
    ours: float
    our_spread: float | None
    error: float
    reason: str = ""

    @property
    def difference(self) -> float:
        """Ours minus the printed number."""
        return self.ours - self.cell.value

    @property
    def allowed(self) -> float:
        """Largest difference that counts as matched: rounding and two standard errors."""
        return self.cell.half_unit + ERRORS * self.error + 1e-9

    @property
    def mean_matched(self) -> bool:
        """Whether the number matches."""
        return abs(self.difference) <= self.allowed

    @property
    def spread_matched(self) -> bool:
        """Whether the standard deviation matches; True where none is printed.

        One from that many runs of a nearly normal mean is good to ours / sqrt(2 (runs - 1)).
        """
        if self.cell.spread is None or self.our_spread is None or self.cell.runs is None:
            return True
        error = self.our_spread / np.sqrt(2 * (self.cell.runs - 1))
        return bool(abs(self.our_spread - self.cell.spread) <= self.cell.half_unit + ERRORS * error)

    @property
    def matched(self) -> bool:
        """Whether every number of the cell matches."""
        return self.mean_matched and self.spread_matched


def match(table: int, load: Load, progress: Progress | None = None) -> list[Match]:
    """Compute every cell of a table exactly and hold it against the print.

    Parameters
    ----------
    table
        1 to 4.
    load
        Gives the bundled rank sets by name: :func:`sampledash.example`.
    progress
        Called with the share of the work that is done, in 0..1.

    Returns
    -------
    One :class:`Match` per cell, in the order of print.
    """
    todo = cells(table)
    if not todo:
        raise ValueError(f"table must be 1, 2, 3 or 4, got {table!r}")
    columns = list(dict.fromkeys(cell.column for cell in todo))
    found: dict[Cell, Match] = {}
    for done, column in enumerate(columns, start=1):
        here = [cell for cell in todo if cell.column == column]
        found |= {match.cell: match for match in _column(here, load(here[0].example))}
        if progress is not None:
            progress(done / len(columns))
    return [found[cell] for cell in todo]


def _column(here: Sequence[Cell], sets: Sequence[RankSet]) -> Iterator[Match]:
    """The cells of one column: they share the setting."""
    first = here[0]
    names = list(dict.fromkeys(cell.metric for cell in here))
    metrics = [parse_metric(name) for name in names]
    protocol = Protocol.of({"scheme": first.scheme, "fit_scheme": first.fit_scheme})
    scale = 100.0 if first.table == 3 else 1.0
    if first.m is None:
        means = scale * exact_means(metrics, sets, protocol)
        # Beyond all negatives only the order of the ties is left to chance.
        last = max(ranks.max_negatives for ranks in sets) + 1
        tied = any(ranks.has_ties for ranks in sets)
        scatter = variances_of_means(metrics, sets, last, protocol) if tied else 0 * means
    else:
        correction = parse_correction(first.column)
        protocol = Protocol.of(
            {"scheme": first.scheme, "fit_scheme": first.fit_scheme, "correction": correction}
        )
        means = scale * expected_means(metrics, sets, [first.m], protocol)[0]
        if first.table == 4:
            yield from _counts(here, sets, names, first.m, means, protocol)
            return
        scatter = variances_of_means(metrics, sets, first.m, protocol)
    spreads = scale * np.sqrt(scatter)
    systems = [ranks.system for ranks in sets]
    for cell in here:
        at = systems.index(cell.row), names.index(cell.metric)
        spread = float(spreads[at])
        if cell.runs is None:
            found = Match(cell, float(means[at]), None, spread)
        else:
            error = 0.0 if cell.spread is None else cell.spread / np.sqrt(cell.runs)
            found = Match(cell, float(means[at]), spread, float(error))
        yield _explained(found)


def _counts(
    here: Sequence[Cell],
    sets: Sequence[RankSet],
    names: Sequence[str],
    m: int,
    means: Floats,
    protocol: Protocol,
) -> Iterator[Match]:
    """Table 4: in how many of the runs a pair is in its true order."""
    metrics = [parse_metric(name) for name in names]
    exact = exact_means(metrics, sets, protocol)
    systems = [ranks.system for ranks in sets]
    rows = list(dict.fromkeys(cell.row for cell in here))
    places = [tuple(map(systems.index, row)) for row in rows]
    pairs = [
        [(i, j, 1) if exact[i, x] > exact[j, x] else (j, i, 1) for i, j in places]
        for x in range(len(metrics))
    ]
    chances = pair_chances(metrics, sets, m, pairs, means, protocol)
    for cell in here:
        chance = chances[names.index(cell.metric)][rows.index(cell.row)]
        runs = cell.runs or 0
        error = float(np.sqrt(runs * chance * (1 - chance)))
        yield _explained(Match(cell, runs * chance, None, error))


def _explained(found: Match) -> Match:
    """Add the reason to what does not match."""
    if found.matched:
        return found
    cell, reason = found.cell, ""
    if cell.table == 3 and cell.column == "exact" and cell.row == "X":
        reason = RERUN
    elif cell.table == 3 and cell.metric == "AUC":
        scaled = cell.column == "rank estimate"
        reason = TIES_OF_Z if cell.row == "Z" else RANK_ESTIMATE
        reason = SCALED_AND_TIED if scaled and cell.row == "Z" else reason
    return Match(cell, found.ours, found.our_spread, found.error, reason)


def matches_as_table(found: Sequence[Match]) -> pd.DataFrame:
    """Cells as a table: what is printed, what is ours, and why they differ if they do."""
    return pd.DataFrame(
        {
            "cell": [match.cell.name for match in found],
            "printed": [match.cell.value for match in found],
            "printed_std": [match.cell.spread for match in found],
            "ours": [match.ours for match in found],
            "our_std": [match.our_spread for match in found],
            "difference": [match.difference for match in found],
            "allowed": [match.allowed for match in found],
            "matched": [match.matched for match in found],
            "reason": [match.reason for match in found],
        }
    )
