"""A sample of the hostile addresses; ``python -m tests.benchmarks.hostile --addresses`` has all."""

from __future__ import annotations

import pytest

from tests.hostile_addresses import PAGES, addresses, wrong

EVERY = addresses()


def test_the_addresses_are_as_many_as_they_say():
    assert len(EVERY) >= 300
    assert {each.page for each in EVERY} == set(PAGES)
    assert len({key for each in EVERY for key, _ in each.query}) >= 50


@pytest.mark.parametrize("page", PAGES)
def test_hostile_addresses_end_in_a_sentence_or_a_right_page(page):
    of_page = [each for each in EVERY if each.page == page]
    for address in of_page[:: len(of_page) // 3]:
        assert not wrong(address), address
