"""A sample of the net; ``python -m tests.net`` compares all of it."""

import inspect

import pytest

import sampledash as sd
from tests import net

STORED = net.unpack(net.STORED.read_bytes())
# Another processor rounds otherwise, which iterative solutions have carried to 4e-7.
ELSEWHERE = 1e-6
WHOLE = "python -m tests.net shows all that differs; --write holds it, if it is meant"


def compare(name: str, found: net.Record) -> None:
    assert name in STORED, name
    assert not net.differences({name: STORED[name]}, {name: found}, ELSEWHERE), WHOLE


def test_the_net_holds_every_public_function():
    held = {name.split(" ", 2)[2] for name in STORED if name.startswith("value")}
    public = {name for name in sd.__all__ if inspect.isfunction(getattr(sd, name))}
    files = {"read_rank_sets", "read_sampled_ranks", "parse_rank_text"}
    # Of the Lab's, tests/lab.
    lab = {x for x in public if getattr(sd, x).__module__.startswith("sampledash.lab.")}
    assert public - held == files | lab


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_calls_give_what_is_stored(first):
    for number in range(first, first + 20):
        compare(*net.value(1, number))


def test_files_are_read_as_stored():
    for number, case in list(enumerate(net.files(1, net.FILES)))[::5]:
        compare(*net.file(case, number))


@pytest.mark.parametrize("number", [1, 5, 6, 10])
def test_links_show_what_is_stored(number):
    compare(*net.link(number, net.links(1, net.LINKS)[number]))


def test_the_net_sees_a_digit_a_word_and_an_absence():
    held = {"a": {"x": [0.5], "y": [3, 1.0, 2.0, 3.0], "z": "word"}}
    for path, other in (("x", [0.5 + 1e-11]), ("y", [3, 1.0, 2.0 + 1e-11, 3.0]), ("z", "ward")):
        assert net.differences(held, {"a": {**held["a"], path: other}})
    assert not net.differences(held, {"a": {**held["a"], "x": [0.5 + 1e-14]}})
    assert net.differences(held, {})
    assert net.differences({}, held)
    assert net.unpack(net.pack(held)) == held
