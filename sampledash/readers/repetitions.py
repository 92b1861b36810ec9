"""Runs, folds and seeds: the same evaluation several times, and what to make of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.readers.limits import check_systems
from sampledash.readers.rows import Repetition, Rows, counted_within, listed
from sampledash.types import Ints

Runs = Literal["averaged", "apart"]


def settled(rows: Rows, runs: Runs) -> Rows:
    """Turn repetitions into instances of their own ("averaged") or systems of their own ("apart").

    Without instance labels, entries are numbered within each system and repetition.
    """
    checks.choice("runs", runs, ("averaged", "apart"))
    again = rows.repetition
    if again is None:
        return rows
    both = rows.system.astype(np.int64) * len(again.names) + again.code
    many = f"{len(again.names):,} repetitions ({listed(again.names)})"
    if runs == "apart":
        code, found = pd.factorize(both)
        check_systems(len(found), rows.name)
        # A system's repetitions stand together, in the order of the file.
        order = np.argsort([c // len(again.names) for c in found.tolist()], kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        names = [
            f"{rows.systems[c // len(again.names)]} ({again.names[c % len(again.names)]})"
            for c in found[order].tolist()
        ]
        return replace(
            rows,
            systems=names,
            system=place[code],
            repetition=None,
            facts=rows.facts.noted(f"{many} are kept apart: each is a system."),
        )
    label, labels = _instances(rows, again, both)
    return replace(
        rows,
        labels=labels,
        label=label,
        repetition=None,
        facts=rows.facts.noted(
            f"{many} are averaged: every instance of every repetition counts as one instance."
        ),
    )


def _instances(
    rows: Rows, again: Repetition, both: Ints
) -> tuple[Ints | None, NDArray[Any] | None]:
    """Label the pairs of instance and repetition."""
    if rows.count is not None and rows.label is None:
        return None, None
    if rows.label is None:
        label = counted_within(both)
        names: NDArray[Any] = np.arange(1, int(label.max()) + 2)
    else:
        assert rows.labels is not None
        label, names = rows.label, rows.labels
    code, found = pd.factorize(label * len(again.names) + again.code)
    text = [
        f"{names[c // len(again.names)]} ({again.names[c % len(again.names)]})"
        for c in found.tolist()
    ]
    return code.astype(np.int64), np.array(text, dtype=object)
