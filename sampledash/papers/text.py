"""Everything that the text of Krichene & Rendle (KDD 2020) states and a computation can decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sampledash.papers import text_movielens, text_theory, text_toy
from sampledash.papers.findings import Finding
from sampledash.papers.printed import MOVIELENS
from sampledash.papers.tables import Load, Match, match
from sampledash.types import Progress


def check_text(
    load: Load,
    tables: Mapping[int, Sequence[Match]] | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Check the statements about the figures, the toy example and the experiment.

    Parameters
    ----------
    load
        Gives the bundled rank sets by name: :func:`sampledash.example`.
    tables
        Tables 3 and 4 from :func:`~sampledash.papers.match` where they are at hand; the others are
        computed.
    progress
        Called with the share of the work that is done, in 0..1.

    Returns
    -------
    One :class:`~sampledash.papers.Finding` per statement.
    """
    report = progress or (lambda share: None)
    known = dict(tables or {})
    for done, table in enumerate((3, 4), start=1):
        known[table] = known.get(table) or match(table, load)
        report(0.4 * done)
    found = [*text_theory.check(), *text_toy.check(load("paper-abc"))]
    report(0.9)
    found += text_movielens.check(load(MOVIELENS), known[3], known[4])
    report(1.0)
    return found
