"""Files of sampled ranks: what is left of an evaluation on sampled negatives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sampledash import checks
from sampledash.readers.choose import Systems, chosen, with_distinct_names
from sampledash.readers.columns import SAMPLED, Role, is_true_rank
from sampledash.readers.errors import (
    MissingCandidates,
    MissingNegatives,
    NoRankColumn,
    ReadError,
    ZeroBasedRanks,
)
from sampledash.readers.files import Opened, Source, open_sources
from sampledash.readers.repetitions import Runs, settled
from sampledash.readers.rows import Rows
from sampledash.sampledranks import SampledRankSet
from sampledash.sampling import Scheme
from sampledash.types import Ints


def read_sampled_ranks(
    source: Source | Sequence[Source],
    *,
    n: int | None = None,
    m: int | None = None,
    scheme: Scheme = "with-replacement",
    name: str | Sequence[str] | None = None,
    zero_based: bool = False,
    runs: Runs = "averaged",
    systems: Systems | None = None,
    adaptive: bool | None = None,
) -> list[SampledRankSet]:
    """Read the sampled ranks of one or several systems from one or several files.

    Parameters
    ----------
    source, name, runs, systems
        As in :func:`read_rank_sets`; the column of ranks may be called ``sampled_rank``.
    n, m
        Candidates, and sampled negatives, of every instance: for files without the columns
        ``n_candidates`` and ``m``.
    scheme
        How the negatives were drawn, ``"with-replacement"`` or ``"without-replacement"``.
    zero_based
        Whether the best sampled rank is written as 0.
    adaptive
        Whether what was drawn decided m, whatever a column ``adaptive`` says; ``None`` leaves it to
        that column, or else to a test (:class:`~sampledash.SampledRankSet`).

    Returns
    -------
    One set per system, in order of appearance.

    Raises
    ------
    ReadError
        A ``ValueError`` of one sentence with file, row, column, value and remedy.
    """
    try:
        opened = open_sources(source, name=name)
    except NoRankColumn as error:
        raise NoRankColumn(error.sampled) from None
    return sampled_sets(
        opened, n=n, m=m, scheme=scheme, zero_based=zero_based, runs=runs, systems=systems,
        adaptive=adaptive,
    )  # fmt: skip


def sampled_sets(
    opened: Opened,
    *,
    n: int | None = None,
    m: int | None = None,
    scheme: Scheme = "with-replacement",
    zero_based: bool = False,
    runs: Runs = "averaged",
    systems: Systems | None = None,
    adaptive: bool | None = None,
) -> list[SampledRankSet]:
    """Sampled ranks of what was parsed; options as in :func:`read_sampled_ranks`."""
    parts = []
    for part in opened.parts:
        if not isinstance(part, Rows):
            raise ReadError(
                f"{part.run.name} is a TREC run, which ranks whole lists: bring it to the "
                "Consistency page, or give sampled ranks as a table with the columns system and "
                "sampled_rank"
            )
        _refuse_true(part)
        parts.append(settled(part, runs))
    others = any(part.n is None for part in parts), any(part.negatives is None for part in parts)
    sets = []
    for part in chosen(with_distinct_names(parts), systems):
        size = _of_file(part, part.n, n, "n", "n_candidates", others[0])
        drawn = _of_file(part, part.negatives, m, "m", "negatives", others[1])
        rank = part.rank + zero_based
        _check(part, rank, drawn, zero_based)
        for name, index in zip(part.systems, part.groups(), strict=True):
            labels = None
            if part.label is not None and part.labels is not None:
                labels = part.labels[part.label[index]]
            counts = None if part.count is None else part.count[index]
            try:
                one = SampledRankSet(
                    name, rank[index], size[index], drawn[index], scheme=scheme, instances=labels,
                    counts=counts,
                    adaptive=_said(part, name, index) if adaptive is None else adaptive,
                )  # fmt: skip
            except ValueError as error:
                raise ReadError(f"{part.name}: {error}") from None
            sets.append(one)
    return sets


def _said(part: Rows, system: str, index: NDArray[np.intp]) -> bool | None:
    """Whether what was drawn decided m, as a column says of all ranks of a system alike."""
    if part.adaptive is None:
        return None
    here = part.adaptive[index]
    if np.any(here != here[0]):
        i = int(index[np.argmax(here != here[0])])
        raise ReadError(
            f"{part.place(i, 'adaptive')}: system {system!r} is said to be adaptive and not to be; "
            "keep one, or give its parts names of their own"
        )
    return bool(here[0])


def lacks(opened: Opened) -> tuple[bool, bool]:
    """Whether some file does not say n, and whether some does not say m."""
    parts = [part for part in opened.parts if isinstance(part, Rows)]
    return any(part.n is None for part in parts), any(part.negatives is None for part in parts)


def _refuse_true(part: Rows) -> None:
    """Ranks that are called true ones are no sampled ranks."""
    named = next((header for header, _ in part.facts.columns if is_true_rank(header)), None)
    if named is not None:
        raise ReadError(
            f"{part.name}, column {named!r}: these are true ranks by their name, which need no "
            f"estimate: bring them to the Consistency page (in Python: read_rank_sets), or rename "
            f"the column to {SAMPLED} if they are sampled"
        )


def _of_file(
    part: Rows, found: Ints | None, given: int | None, symbol: str, role: Role, others: bool
) -> Ints:
    """One number for each entry, from the file or as given; not two that differ.

    ``others``: some file lacks it, so what is given may be meant for that one.
    """
    low, high = (2, checks.LARGEST_N) if symbol == "n" else (1, None)
    if found is None:
        if given is None:
            what = "candidates" if symbol == "n" else "sampled negatives"
            missing = MissingCandidates if symbol == "n" else MissingNegatives
            raise missing(
                f"{part.name} does not say {symbol}, the number of {what}: add a column "
                f"{'n_candidates' if symbol == 'n' else 'm'}, or give {symbol}"
            )
        return np.broadcast_to(checks.integer(symbol, given, low=low, high=high), len(part))
    part.check(found, role, symbol, low=low, high=high)
    if given is not None and not others and np.any(found != given):
        i = int(np.argmax(found != given))
        raise ReadError(
            f"{part.place(i, role)}: the file says {symbol} = {found[i]:,}, but {symbol} = "
            f"{given:,} is given; leave one of them out"
        )
    return found


def _check(part: Rows, rank: Ints, drawn: Ints, zero_based: bool) -> None:
    """Sampled ranks lie in 1..m+1."""
    if rank.min() < 1:
        i = int(np.argmin(rank))
        if rank[i] == 0 and not zero_based:
            raise ZeroBasedRanks(
                f"{part.place(i, 'rank')}: sampled rank 0; the best sampled rank is 1: "
                "if yours count from 0, add 1 to each (in Python: zero_based=True)"
            )
        raise ReadError(
            f"{part.place(i, 'rank')}: sampled rank {part.rank[i]} is below "
            f"{0 if zero_based else 1}; correct it or remove the row"
        )
    over = rank > drawn + 1
    if np.any(over):
        i = int(np.argmax(over))
        raise ReadError(
            f"{part.place(i, 'rank')}: sampled rank {rank[i]:,} is beyond m + 1 = "
            f"{drawn[i] + 1:,}; give the m that was used, or if these are true ranks, bring them "
            "to the Consistency page (in Python: read_rank_sets)"
        )
