"""Results that several readers request at the same moment are computed only once."""

import asyncio
import socket
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

import sampledash as sd
from sampledash.analyses.memory import LruStore, Turns, orders, remembered
from sampledash.comparison.order import orders as find_orders
from sampledash.dashboard import sessions
from sampledash.protocol import Protocol
from tests.benchmarks.servers import served
from tests.dashboard.driver import APP
from tests.session import Session, finished

KEY = ("orders",)
LIMIT = 60  # seconds


def begin(work, *given):
    """Start a function in a thread; return a Future with its result or its exception."""
    job = Future()

    def run():
        try:
            job.set_result(work(*given))
        except BaseException as error:
            job.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return job


def wait_for(event):
    assert event.wait(LIMIT), f"not within {LIMIT} s"
    return True


def test_what_many_ask_for_at_once_is_made_once_and_one_at_a_time(monkeypatch):
    monkeypatch.setattr(Turns, "LONGEST", 60)
    stores, at_work, most = [LruStore(4), LruStore(4)], set(), []
    gate = threading.Barrier(32, timeout=LIMIT)

    def make(number):
        at_work.add(number)
        time.sleep(0.02)  # releases the interpreter, as numpy does, so that other threads can run
        most.append(len(at_work))
        at_work.remove(number)
        return object()

    def ask(number):
        gate.wait()
        return stores[number % 2].get((number,), lambda: make(number), lambda: None)

    made = [job.result(LIMIT) for job in [begin(ask, place % 8) for place in range(32)]]
    assert (most, len({id(x) for x in made})) == ([1] * 8, 8)


def test_what_takes_long_holds_up_nobody():
    store, started, over = LruStore(4), threading.Event(), threading.Event()

    def long():
        started.set()
        return wait_for(over) and store.get(("within",), lambda: "made", lambda: None)

    job = begin(store.get, KEY, long, lambda: None)
    wait_for(started)
    assert store.get(("short",), lambda: over.set() or 7, lambda: None) == 7
    assert (job.result(LIMIT), store.get(KEY, list, lambda: None)) == ("made", "made")


def test_who_computes_for_long_lets_others_go_first(monkeypatch):
    monkeypatch.setattr(Turns, "LONGEST", 60)
    turns, came = Turns(), []

    def other():
        with turns.one(lambda: None):
            came.append("other")

    with turns.one(lambda: None):
        job, end = begin(other), time.monotonic() + LIMIT
        while not turns._waiting:
            assert time.monotonic() < end, "the other does not wait"
    turns.give_way()
    assert came == ["other"]
    job.result(LIMIT)


def test_who_waits_can_be_stopped_and_takes_over_when_the_maker_gives_up():
    store, started, given_up = LruStore(4), threading.Event(), threading.Event()

    def give_up():
        started.set()
        wait_for(given_up)
        raise InterruptedError

    def stop():
        raise InterruptedError

    job = begin(store.get, KEY, give_up, lambda: None)
    wait_for(started)
    with pytest.raises(InterruptedError):
        store.get(KEY, lambda: 6, stop)
    assert store.get(KEY, lambda: 7, given_up.set) == 7
    with pytest.raises(InterruptedError):
        job.result(LIMIT)
    assert store.get(KEY, lambda: 8, lambda: None) == 7


def test_what_was_asked_for_longest_ago_gives_way_and_orders_at_other_m_are_others(abc):
    store, made = LruStore(2), []
    for key in "abacab":
        store.get((key,), lambda key=key: made.append(key), lambda: None)
    assert made == [*"abcb"]
    metric, protocol = sd.parse_metric("AP"), Protocol.of({"correction": "CLS"})
    for values in ([1, 5, 40], [1, 20, 40], [1, 40]):
        asked = {"shared": True, "m_values": values}
        made, again = (orders([metric], abc, 40, protocol, **asked) for _ in range(2))
        assert made is again
        found = find_orders([metric], abc, 40, protocol, None, values)
        assert made.m_values.tolist() == found.m_values.tolist()


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


#: The dashboard with a shorter delay before it looks whether a reader has left.
IMPATIENT = f"""
import runpy
from sampledash.dashboard import sessions
sessions.LOOK = 0.1
runpy.run_path({str(APP)!r})
"""
TABLE = b"system,user,rank,n\nX,u,3,900\nX,v,5,800\nY,u,1,900\nY,v,800,800\n"


def test_files_go_with_the_reader(tmp_path):
    (script := tmp_path / "app.py").write_text(IMPATIENT)
    with served(script) as (address, _):

        def held():
            with urlopen(f"{address}/_stcore/metrics") as answer:
                return "UploadedFileManager" in answer.read().decode()

        async def come_and_go():
            async with Session(address, "consistency", source="Upload a file") as session:
                await session.run()
                shown = await session.upload("ranks_file", "ranks.csv", TABLE)
                assert any(type(element).__name__ == "Metric" for element in shown)
                return held()

        assert finished(come_and_go())
        for _ in range(600):
            if not held():
                return
            time.sleep(0.1)
        pytest.fail("the file is still there")


class Runtime:
    """A stub of Streamlit's runtime with one session, ``connected`` or not at each look."""

    def __init__(self, *connected):
        self.connected, self.looks, self.ended = connected, 0, asyncio.Event()

    def get_app_session(self, ident):
        storage = SimpleNamespace(clear=lambda: None)
        return SimpleNamespace(id=ident, _session_state={"kept": 1}, _fragment_storage=storage)

    def is_active_session(self, ident):
        self.looks += 1
        return self.connected[self.looks - 1]

    def close_session(self, ident):
        self.ended.set()


#: Whether the reader is connected at each look. The session must end at the last look, not before.
CONNECTED = [(False, False), (True, False, False), (False, True, False, False)]


@pytest.mark.parametrize("connected", CONNECTED)
def test_a_session_ends_when_its_reader_was_away_at_two_looks(connected, monkeypatch):
    monkeypatch.setattr(sessions, "LOOK", 0)

    async def go():
        runtime = Runtime(*connected)
        monkeypatch.setattr(sessions, "get_instance", lambda: runtime)
        sessions._disconnected("a")
        await asyncio.wait_for(runtime.ended.wait(), 60)
        assert runtime.looks == len(connected)

    finished(go())  # works even if Playwright's event loop runs in this thread
    assert len(sessions._DUE) == 1  # one return of unused memory is due
    sessions._give_back()
    assert sessions._DUE == []


def test_connections_of_the_server_send_small_messages_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listens:  # opened as Streamlit opens its own
        sessions.send_at_once.__wrapped__()
        with socket.create_connection(listens.getsockname()), listens.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
