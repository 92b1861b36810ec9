"""The public reader of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sampledash import checks
from sampledash.ranksets import RankSet
from sampledash.readers import limits
from sampledash.readers.align import Instances
from sampledash.readers.assemble import assembled
from sampledash.readers.choose import Systems, distinct_files, distinct_names
from sampledash.readers.contents import kind_of, load
from sampledash.readers.errors import ReadError
from sampledash.readers.judged import Censored, Judged, judged, missing, rows_of_runs
from sampledash.readers.layouts import rows_of
from sampledash.readers.limits import check_bytes, check_files, check_rows
from sampledash.readers.repetitions import Runs, settled
from sampledash.readers.rows import Rows
from sampledash.readers.summary import Summary, describe
from sampledash.readers.tables import read_table
from sampledash.readers.trec import Qrels, Run, read_qrels, read_run, trec_kind
from sampledash.types import Ints

Source = str | Path | BinaryIO


@dataclass(frozen=True)
class Reading:
    """Rank sets and what was understood of the files they come from."""

    sets: tuple[RankSet, ...]
    summary: Summary


@dataclass(frozen=True, eq=False)
class Opened:
    """Parsed files, from which rank sets are made in one way or another.

    Parsing is most of the work: a page keeps this while the reader corrects what was understood.
    """

    parts: tuple[Rows | Judged, ...]

    @property
    def repeated(self) -> bool:
        """Whether there are repetitions to average or keep apart."""
        return any(isinstance(part, Rows) and part.repetition is not None for part in self.parts)

    @property
    def shifts(self) -> bool:
        """Whether ranks were written down, and so may count from 0."""
        return any(isinstance(part, Rows) for part in self.parts)

    @property
    def censored(self) -> bool:
        """Whether runs miss relevant items."""
        lists = [part for part in self.parts if isinstance(part, Judged)]
        return bool(lists) and missing(lists) is not None

    def _refuse_sampled(self) -> None:
        """Ranks among sampled negatives are not what is compared."""
        if part := next((p for p in self.parts if isinstance(p, Rows) and p.sampled), None):
            raise ReadError(
                f"{part.name} holds sampled ranks (its column of ranks says so), which do not tell "
                "the true ones: bring them to the Correct page, which estimates from them (in "
                "Python: read_sampled_ranks)"
            )

    def systems(self, runs: Runs = "averaged") -> dict[str, int]:
        """Names of all systems and how many ranks each has."""
        named: list[tuple[list[str], Ints]] = []
        taken: list[str] = []
        called = [p.run.name if isinstance(p, Judged) else p.name for p in self.parts]
        for part, file in zip(self.parts, distinct_files(called), strict=True):
            if isinstance(part, Judged):
                names, sizes = part.run.systems, (part.rank > 0).sum(axis=1)
            else:
                rows = settled(part, runs) if runs == "apart" else part
                names, sizes = rows.systems, np.bincount(rows.system, minlength=len(rows.systems))
            names = distinct_names(taken, names, file)
            taken += names
            named.append((names, sizes))
        return {n: int(s) for names, sizes in named for n, s in zip(names, sizes, strict=True)}

    def read(
        self,
        *,
        n: int | None = None,
        zero_based: bool = False,
        instances: Instances = "same",
        runs: Runs = "averaged",
        censored: Censored = "refuse",
        systems: Systems | None = None,
    ) -> Reading:
        """Check everything and make the rank sets; options as in :func:`read_rank_sets`."""
        checks.choice("censored", censored, ("refuse", "tied", "left-out"))
        checks.choice("runs", runs, ("averaged", "apart"))
        self._refuse_sampled()
        lists = [part for part in self.parts if isinstance(part, Judged)]
        ranked = iter(rows_of_runs(lists, n=n, censored=censored) if lists else [])
        rows = [
            next(ranked) if isinstance(part, Judged) else settled(part, runs) for part in self.parts
        ]
        sets, facts = assembled(
            rows, n=n, zero_based=zero_based, instances=instances, systems=systems
        )
        summary = describe(sets)
        lacking = missing(lists) if lists else None
        return Reading(
            tuple(sets),
            replace(
                summary,
                files=tuple(facts),
                zero_based=zero_based,
                censored=0 if lacking is None else lacking.censored,
                relevant=sum(part.rank.size for part in lists),
                doubts=(*(d for fact in facts for d in fact.doubts), *summary.doubts),
            ),
        )


def open_sources(
    source: Source | Sequence[Source],
    *,
    name: str | Sequence[str] | None = None,
    qrels: Source | None = None,
) -> Opened:
    """Parse one or several files without deciding yet what they leave open.

    Parameters
    ----------
    source, name, qrels
        As in :func:`read_rank_sets`; with several sources ``name`` may give a name to each.

    Raises
    ------
    ReadError
        If a file cannot be read, a run comes without qrels, or qrels come without a run.
    """
    names: list[str | None]
    if isinstance(source, Sequence) and not isinstance(source, str):
        sources = list(source)
        if name is None:
            names = [None] * len(sources)
        elif isinstance(name, str) or len(name) != len(sources):
            raise ValueError(f"name must give one name for each of the {len(sources)} files")
        else:
            names = list(name)
    else:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"name must be text for one file, got {name!r}")
        sources, names = [source], [name]
    check_files(len(sources) + (qrels is not None))
    read: list[Rows | Run | Qrels] = []
    size, entries, most = 0, 0, limits.MOST_ROWS
    for each, label in zip(sources, names, strict=True):
        data, called = load(each, label)
        who = f"{called} with the files before it" if read else called
        check_bytes(size := size + len(data), who)
        read.append(part := _part(data, called))
        most = min(most, _most(part))
        check_rows(entries := entries + len(part), who, most=most)
    if qrels is not None:
        data, called = load(qrels, None)
        if kind_of(data, called) != "text" or trec_kind(data, called) != "qrels":
            raise ReadError(
                f"{called} does not hold qrels; give lines of four fields: "
                "query, iteration, document, relevance"
            )
        read.append(read_qrels(data, called))
    return Opened(_matched(read))


def _most(part: Rows | Run | Qrels) -> int:
    """How many rows are read at once, of all files, where some are such as these."""
    if not isinstance(part, Rows):
        return limits.MOST_CAREFUL
    if part.labels is None:
        return limits.MOST_ROWS
    return limits.MOST_LABELLED if part.labels.dtype.kind in "iu" else limits.MOST_CAREFUL


def _part(data: bytes, name: str) -> Rows | Run | Qrels:
    kind = kind_of(data, name)
    trec = trec_kind(data, name) if kind == "text" else None
    if trec is not None:
        return read_run(data, name) if trec == "run" else read_qrels(data, name)
    return rows_of(read_table(data, name, kind))


def _matched(read: Sequence[Rows | Run | Qrels]) -> tuple[Rows | Judged, ...]:
    """Give every run its judgements."""
    truths = [part for part in read if isinstance(part, Qrels)]
    runs = [part for part in read if isinstance(part, Run)]
    if len(truths) > 1:
        raise ReadError(f"{truths[0].name} and {truths[1].name} both hold qrels; give one of them")
    if runs and not truths:
        raise ReadError(
            f"{runs[0].name} is a TREC run, which does not say what is relevant; give its qrels "
            "with it (in Python: qrels=...)"
        )
    if truths and not runs:
        raise ReadError(
            f"{truths[0].name} holds qrels, which say what is relevant but rank nothing; give the "
            "runs with it, or a header line if it is a table of ranks"
        )
    return tuple(
        judged(part, truths[0]) if isinstance(part, Run) else part
        for part in read
        if not isinstance(part, Qrels)
    )


def read_rank_sets(
    source: Source | Sequence[Source],
    *,
    name: str | Sequence[str] | None = None,
    n: int | None = None,
    zero_based: bool = False,
    instances: Instances = "same",
    qrels: Source | None = None,
    runs: Runs = "averaged",
    censored: Censored = "refuse",
    systems: Systems | None = None,
) -> list[RankSet]:
    """Read the true ranks of one or several systems from one or several files.

    Parameters
    ----------
    source
        Path, or binary buffer, which is read from its beginning, or several of them: CSV, TSV or
        semicolon-separated text in UTF-8, Parquet, a numpy array (.npy), or a TREC run; each of
        them may be packed with gzip. At most 256 MiB unpacked, and ten million rows; three million
        with other columns than system, rank, n and count, two million with labels that are text,
        in TREC files, and of cells where there is one column per system. Systems of
        one name in several files get the name of the later file: ``"X (b.csv)"``.
    name
        What to call the file in messages; default the path's or the buffer's own name. With several
        sources one name each.
    n
        Candidates per instance, relevant items included. Used only for files that have no such
        column; not given, it is taken from the other files where those have the same instances.
    zero_based
        Whether the best rank is written as 0 (in every file).
    instances
        What to do when systems cover different instances: ``"same"`` refuses, ``"shared"`` keeps
        the instances that all systems have, ``"any"`` keeps everything.
    qrels
        Judgements for TREC runs; they may also stand among the sources.
    runs
        With a column of repetitions (``fold``, ``seed``, ``split``, ``repetition``, or ``run``
        beside a system column): ``"averaged"`` counts every instance of every repetition as an
        instance of its own, ``"apart"`` makes every repetition a system, ``"X (seed 1)"``.
    censored
        What to do with a relevant item that a TREC run does not list, so that its rank is only
        known to lie beyond the end: ``"refuse"``; ``"tied"`` with everything that is not ranked;
        ``"left-out"``, in all systems, the queries that miss one.
    systems
        Names of the systems to keep, or a mapping from their names to new ones; default all.

    Returns
    -------
    One rank set per system, in order of appearance. Instances are labelled as in the file, or
    1, 2, 3 ... in the order of the rows.

    Raises
    ------
    ReadError
        A ``ValueError`` of one sentence with file, row, column, value and remedy. Its kinds
        ``MissingCandidates``, ``ZeroBasedRanks``, ``DifferentInstances`` and ``CensoredItems`` name
        what to pass.

    Notes
    -----
    *Long*: one row per rank, columns ``system, rank`` and optionally ``instance, n_candidates,
    ties, mass_above`` under these or the usual other names (user, qid, model, run, n_items ...);
    further columns are ignored. Without a system column the file is one system, named after it.
    Rows of one system and instance are its relevant items. *Counts*: with a column ``count`` (or
    counts, frequency) a row stands for so many instances; fractions are allowed (simulations and
    exact laws need whole numbers), 0 says nothing, and systems need not have the same rows, only as
    many instances. *Wide*: one column per system, named by its header, and optionally instance and
    n_candidates; a blank cell is an instance that this system lacks; columns without any number, or
    without a name, are ignored. A file with a rank column is long, any other is wide: so no system
    of a wide file can be called "rank" or "n".

    *Arrays*: one dimension holds the ranks of one system, two are wide, named fields are columns.
    Pickles are never read. *TREC*: a run has lines ``qid Q0 docid rank score tag``, qrels have
    ``qid 0 docid rel``. The rank of a document is its place by decreasing score in single
    precision, equal scores by decreasing document id, as trec_eval and pytrec_eval order them; the
    rank column is ignored, and a grade of 1 or more is relevant. Documents that are not judged are
    irrelevant candidates; queries without a relevant document are no instances. When one query
    misses several relevant items, ``censored="tied"`` draws their places once, with a fixed seed.

    Ranks must come from ranking *all* candidates. Ranks among sampled negatives read just as well,
    and everything computed from them is then wrong.
    """
    opened = open_sources(source, name=name, qrels=qrels)
    reading = opened.read(
        n=n,
        zero_based=zero_based,
        instances=instances,
        runs=runs,
        censored=censored,
        systems=systems,
    )
    return list(reading.sets)
