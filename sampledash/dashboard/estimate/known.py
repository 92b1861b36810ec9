"""n and m as the data have them, in place of the sidebar's."""

from __future__ import annotations

import numpy as np

from sampledash.dashboard.estimate.source import Given, true_ranks
from sampledash.readers import PrintedTable
from sampledash.readers.rows import Rows
from sampledash.report.numbers import count


def locked_n(given: Given | None) -> tuple[int, str] | None:
    """n as the data have it, and how to say so; None where the sidebar decides."""
    if given is None or not given.n_known:
        return None
    if given.opened is None:
        mean = round(float(np.mean(true_ranks()[0].n)))
        return mean, f"{count(mean)}, mean of the users"
    found = [part.n for part in given.opened.parts if isinstance(part, Rows)]
    if not found:  # TREC runs: the reader says what to do with them
        return None
    n = np.concatenate([each for each in found if each is not None])
    mean = round(float(n.mean()))
    return mean, f"{count(mean)}, from the data" if np.ptp(n) == 0 else f"{count(mean)}, mean"


def known_m(given: Given | None) -> dict[str, str]:
    """Why the sidebar's m is not used, with the m that is, where the data say it."""
    if given is None or given.opened is None or not given.m_known:
        return {}
    found = [part.negatives for part in given.opened.parts if isinstance(part, Rows)]
    if not found:  # TREC runs: the reader says what to do with them
        return {}
    m = np.concatenate([each for each in found if each is not None])
    low, high = count(int(m.min())), count(int(m.max()))
    return {"m": f"{low if low == high else f'{low} to {high}'}, from the data"}


def of_table(found: PrintedTable | None) -> tuple[tuple[int, str] | None, dict[str, str]]:
    """The same for a printed table: n and how to say it, and why the sidebar's m is not used."""
    if found is None:
        return None, {}
    n = None if found.n is None else (found.n, f"{count(found.n)}, from the table")
    return n, {} if found.m is None else {"m": f"{count(found.m)}, from the table"}
