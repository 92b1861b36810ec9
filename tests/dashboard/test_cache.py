"""Results that many readers ask for at the same moment are made once."""

import threading
import time

import pytest

from sampledash.dashboard.cache import LruStore, remembered


def test_thirty_at_once_make_a_result_once():
    store, made, found = LruStore(4), [], []
    gate = threading.Barrier(30)

    def make():
        made.append(threading.get_ident())
        time.sleep(0.05)  # long enough for the others to come
        return object()

    def ask():
        gate.wait()
        found.append(store.get(("orders",), make, lambda: None))

    threads = [threading.Thread(target=ask) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(found) == 30
    assert len({id(x) for x in found}) == 1


def test_who_waits_takes_over_when_the_maker_gives_up():
    store, started = LruStore(4), threading.Event()
    given_up = threading.Event()

    def give_up():
        started.set()
        given_up.wait()
        raise InterruptedError

    def first():
        with pytest.raises(InterruptedError):
            store.get(("orders",), give_up, lambda: None)

    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    assert store.get(("orders",), lambda: 7, given_up.set) == 7
    thread.join()
    assert store.get(("orders",), lambda: 8, lambda: None) == 7


def test_who_waits_can_be_stopped():
    store, started, over = LruStore(4), threading.Event(), threading.Event()

    def make():
        started.set()
        over.wait()

    thread = threading.Thread(target=lambda: store.get(("orders",), make, lambda: None))
    thread.start()
    started.wait()

    def stop():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        store.get(("orders",), make, stop)
    over.set()
    thread.join()


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
    assert [one.double(3), one.double(3, progress=print), same.double(3), one.double(4)] == [
        6,
        6,
        6,
        8,
    ]
    assert other.double(5, progress=print) == 10
    assert (one.made, same.made, other.made) == ([(3, True), (4, True)], [], [(5, False)])
