"""The public reader of files."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from sampledash.ranksets import RankSet
from sampledash.readers.assemble import Instances, rank_sets_of
from sampledash.readers.contents import load
from sampledash.readers.layouts import rows_of
from sampledash.readers.tables import read_table


def read_rank_sets(
    source: str | Path | BinaryIO,
    *,
    name: str | None = None,
    n: int | None = None,
    zero_based: bool = False,
    instances: Instances = "same",
) -> list[RankSet]:
    """Read the true ranks of one or several systems from a file.

    Parameters
    ----------
    source
        Path, or binary buffer, which is read from its beginning: CSV, TSV or semicolon-separated
        text in UTF-8, or Parquet.
    name
        What to call the file in messages; default the path's or the buffer's own name.
    n
        Candidates per instance, relevant items included. Used only if the file has no such column.
    zero_based
        Whether the best rank is written as 0.
    instances
        What to do when systems cover different instances: ``"same"`` refuses, ``"shared"`` keeps
        the instances that all systems have, ``"any"`` keeps everything.

    Returns
    -------
    One rank set per system, in order of appearance. Instances are labelled as in the file, or
    1, 2, 3 ... in the order of the rows.

    Raises
    ------
    ReadError
        A ``ValueError`` of one sentence with file, row, column, value and remedy. Its kinds
        ``MissingCandidates``, ``ZeroBasedRanks`` and ``DifferentInstances`` name what to pass.

    Notes
    -----
    *Long*: one row per rank, columns ``system, rank`` and optionally ``instance, n_candidates,
    ties, mass_above`` under these or the usual other names (user, qid, model, run, n_items ...);
    further columns are ignored. Without a system column the file is one system, named after it.
    Rows of one system and instance are its relevant items. *Wide*: one column per system, named
    by its header, and optionally instance and n_candidates; a blank cell is an instance that this
    system lacks; columns without any number, or without a name, are ignored. A file with a rank
    column is long, any other is wide: so no system of a wide file can be called "rank" or "n".

    Ranks must come from ranking *all* candidates. Ranks among sampled negatives read just as well,
    and everything computed from them is then wrong.
    """
    data, called = load(source, name)
    rows = rows_of(read_table(data, called))
    return rank_sets_of(rows, n=n, zero_based=zero_based, instances=instances)
