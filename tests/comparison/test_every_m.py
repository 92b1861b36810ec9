"""Flips, right_from and verdicts against evaluation at every m: a small sample of random sets.

All 200 of them, with n up to 400, run with ``python -m tests.benchmarks``.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.benchmarks.every_m import (
    CORRECTIONS,
    Case,
    cases,
    check,
    flips_of,
    law,
    right_from_of,
)
from tests.comparison.made import of_ranks
from tests.oracles import SCHEMES, WITHOUT, dense_law

SMALL = list(cases(quick=True))


@pytest.mark.parametrize(("number", "case", "corrections"), SMALL, ids=lambda x: str(x)[:2])
def test_nothing_is_missed_or_invented(
    number: int, case: Case, corrections: tuple[str, ...]
) -> None:
    count: Counter[str] = Counter()
    for correction in corrections:
        assert check(case, correction, count, number) == []
    assert count["orders"] > 0


def test_the_sample_holds_what_it_is_about() -> None:
    # Every scheme and correction, several relevant items, own n; and orders that do flip.
    assert {case.scheme for _, case, _ in SMALL} == set(SCHEMES)
    assert {correction for *_, each in SMALL for correction in each} == set(CORRECTIONS)
    rows = [row for _, case, _ in SMALL for system in case.systems for row in system]
    assert max(len(ranks) for _, ranks in rows) > 1
    assert any(len({n for n, _ in case.systems[0]}) > 1 for _, case, _ in SMALL)
    count: Counter[str] = Counter()
    for number, case, _ in SMALL[:4]:
        check(case, "uncorrected", count, number)
    assert count["flips"] > 10


def test_the_largest_n() -> None:
    # n = 400 is as large as binomial coefficients fit in.
    for scheme, odds in zip(SCHEMES, (1.0, 1.0, 2.0), strict=True):
        found = law(np.arange(400), 399, 57, scheme, odds)
        np.testing.assert_allclose(found, dense_law(400, 57, scheme, odds), atol=1e-13)


def test_flips_and_right_from_by_hand() -> None:
    signs = {1: 0, 2: 1, 3: 0, 4: 1, 5: -1, 6: 0, 7: -1, 8: 1}
    assert flips_of(signs) == [5, 8]
    assert right_from_of(signs, 1) == 8
    assert right_from_of(signs, -1) is None
    assert right_from_of({1: -1, 2: -1}, -1) == 1


def test_a_wrong_answer_is_found() -> None:
    # The check itself: told of another case's systems, it must disagree.
    class Swapped(Case):
        @property
        def sets(self):
            first, second = super().sets
            return of_ranks(30, second.ranks, first.ranks)

    rows = [[(30, (2,)), (30, (9,))], [(30, (3,)), (30, (5,))]]
    assert check(Swapped(rows, WITHOUT), "uncorrected", Counter())
