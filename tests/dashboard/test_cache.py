"""Results that many readers ask for at the same moment are made once."""

import threading
import time
from functools import partial

import pytest

from sampledash.dashboard.cache import LruStore, Turns, remembered

KEY = ("orders",)


def at_once(*jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    return threads


def test_thirty_at_once_make_a_result_once():
    store, made, found, gate = LruStore(4), [], [], threading.Barrier(30)

    def make():
        made.append(threading.get_ident())
        time.sleep(0.05)  # long enough for the others to come
        return object()

    def ask():
        gate.wait()
        found.append(store.get(KEY, make, lambda: None))

    for thread in at_once(*[ask] * 30):
        thread.join()
    assert (len(made), len(found), len({id(x) for x in found})) == (1, 30, 1)


def test_one_computes_at_a_time(monkeypatch):
    monkeypatch.setattr(Turns, "LONGEST", 60)
    stores, gate, at_work, most = [LruStore(4), LruStore(4)], threading.Barrier(8), set(), []

    def make(number):
        at_work.add(number)
        time.sleep(0.01)  # lets go of the interpreter, as numpy does
        most.append(len(at_work))
        at_work.remove(number)

    def ask(number):
        gate.wait()
        stores[number % 2].get((number,), lambda: make(number), lambda: None)

    for thread in at_once(*[partial(ask, number) for number in range(8)]):
        thread.join()
    assert most == [1] * 8


def test_what_takes_long_holds_up_nobody():
    store, started, over = LruStore(4), threading.Event(), threading.Event()

    def long():
        started.set()
        return over.wait(60) and store.get(("within",), lambda: "made", lambda: None)

    (thread,) = at_once(lambda: store.get(KEY, long, lambda: None))
    started.wait()
    assert store.get(("short",), lambda: over.set() or 7, lambda: None) == 7
    thread.join()
    assert store.get(KEY, list, lambda: None) == "made"


def test_who_computes_for_long_lets_others_go_first(monkeypatch):
    monkeypatch.setattr(Turns, "LONGEST", 60)
    turns, came = Turns(), []

    def other():
        with turns.one(lambda: None):
            came.append("other")

    with turns.one(lambda: None):
        (thread,) = at_once(other)
        while not turns._waiting:
            pass
    turns.give_way()
    assert came == ["other"]
    thread.join()


def test_who_waits_takes_over_when_the_maker_gives_up():
    store, started, given_up = LruStore(4), threading.Event(), threading.Event()

    def give_up():
        started.set()
        given_up.wait()
        raise InterruptedError

    def first():
        with pytest.raises(InterruptedError):
            store.get(KEY, give_up, lambda: None)

    (thread,) = at_once(first)
    started.wait()
    assert store.get(KEY, lambda: 7, given_up.set) == 7
    thread.join()
    assert store.get(KEY, lambda: 8, lambda: None) == 7


def test_who_waits_can_be_stopped():
    store, started, over = LruStore(4), threading.Event(), threading.Event()

    def stop():
        raise InterruptedError

    (thread,) = at_once(lambda: store.get(KEY, lambda: (started.set(), over.wait()), lambda: None))
    started.wait()
    with pytest.raises(InterruptedError):
        store.get(KEY, lambda: 7, stop)
    over.set()
    thread.join()


def test_what_was_asked_for_longest_ago_gives_way():
    store, made = LruStore(2), []
    for key in "abacab":
        store.get((key,), lambda key=key: made.append(key), lambda: None)
    assert made == [*"abcb"]


def test_what_a_method_found_is_remembered_by_what_it_was_asked():
    class Question:
        shared = True

        def __init__(self, key):
            self.key, self.made = (key,), []

        @remembered
        def double(self, x, *, progress=None):
            self.made.append((x, progress is None))
            return 2 * x

    one, same, other = map(Question, ("this test", "this test", "another"))
    assert [one.double(3), one.double(3, progress=print), same.double(3)] == [6, 6, 6]
    assert (one.double(4), other.double(5, progress=print)) == (8, 10)
    assert (one.made, same.made, other.made) == ([(3, True), (4, True)], [], [(5, False)])
