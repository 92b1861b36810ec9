"""The end of a session: what it held goes once its reader has left, and not before."""

import asyncio
import time
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

from sampledash.dashboard import sessions
from tests.benchmarks.servers import served
from tests.dashboard.driver import APP
from tests.session import Session, finished

#: The dashboard with less patience than a reader on a bad line needs.
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
    """Of one session: whether it is connected at each look, and when it was ended."""

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


#: At each look, of a reader who left, came back and left, or came back late and left.
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

    finished(go())  # where an event loop may run in this thread, as that of Playwright does
    assert len(sessions._DUE) == 1  # memory is given back once
    sessions._give_back()
    assert sessions._DUE == []
