"""Sessions without a browser: many at once, and one that a restarted server does not know."""

import asyncio
import time

from sampledash.dashboard.uploads import LOST
from sampledash.report.escape import escaped
from tests.benchmarks.load import Reader
from tests.session import Session, finished, texts, widget


def test_readers_at_once_see_their_own_numbers(server):
    readers = [Reader(number) for number in range(1, 5)]

    async def together():
        await asyncio.gather(*(x.read(server, 2, 0.0, time.perf_counter()) for x in readers))

    finished(together())
    for reader in readers:
        assert len(reader.seen) == 3
        assert reader.wrong() == []
        assert reader.names_sent == set(reader.names)


def test_a_file_the_server_has_never_been_given_is_asked_for_again(server):
    # What a browser sends to a server that was started anew: files it has listed.
    async def reconnect():
        async with Session(server, "consistency", source="Upload a file", m=77) as session:
            listed = widget(await session.run(), "ranks_file")
            listed.file_uploader_state_value.uploaded_file_info.add(file_id="a", name="ranks.csv")
            return await session.run(listed)

    assert texts(finished(reconnect()), "Alert") == [escaped(LOST)]
