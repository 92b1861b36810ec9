"""A sample of the net; ``python -m tests.net`` compares all of it."""

from __future__ import annotations

import pytest

from tests import net

STORED = net.unpack(net.STORED.read_text(encoding="utf-8"))
LINKS = [each for each in net.links() if each["page"] in ("learn", "explore", "correct")]
WHOLE = "python -m tests.net shows all that differs; --write holds it, if it is meant"


def compare(name: str, found: net.Record) -> None:
    assert name in STORED, name
    assert not net.differences({name: STORED[name]}, {name: found}), WHOLE


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_calls_give_what_is_stored(first):
    for number in range(first, first + 20):
        compare(*net.value(1, number))


def test_files_are_read_as_stored():
    for number in range(20):
        compare(*net.file(1, number))


@pytest.mark.parametrize("place", [0, 12, 20, 26])
def test_links_show_what_is_stored(place):
    compare(*net.link(LINKS[place]))


def test_the_net_sees_a_digit_a_word_and_an_absence():
    held = {"a": {"x": [0.5], "y": [3, 1.0, 2.0, 3.0], "z": "word"}}
    for path, other in (("x", [0.5 + 1e-11]), ("y", [3, 1.0, 2.0 + 1e-11, 3.0]), ("z", "ward")):
        assert net.differences(held, {"a": {**held["a"], path: other}})
    assert not net.differences(held, {"a": {**held["a"], "x": [0.5 + 1e-14]}})
    assert net.differences(held, {})
    assert net.differences({}, held)
    assert net.unpack(net.pack(held)) == held
