"""Sessions: many at once, and one that a restarted server does not know."""

import asyncio
import time
from urllib.parse import urlsplit

from playwright.sync_api import expect

from sampledash.dashboard.state import UNPINNED
from sampledash.dashboard.uploads import LOST
from tests.benchmarks.load import Reader
from tests.browser.reader import rest, says, upload, visit
from tests.session import finished, serve


def test_readers_at_once_see_their_own_numbers(server):
    readers = [Reader(number) for number in range(1, 5)]

    async def together():
        await asyncio.gather(*(x.read(server, 2, 0.0, time.perf_counter()) for x in readers))

    finished(together())
    for reader in readers:
        assert (len(reader.seen), reader.wrong()) == (3, [])
        assert reader.names_sent == set(reader.names)


def test_after_a_restart_upload_and_pin_are_told_to_be_gone(window, tmp_path):
    process, address = serve()
    tab = window.new_page()
    try:
        tab.start = address
        visit(tab, "consistency?m=100")
        tab.get_by_text("Upload a file", exact=True).click()
        ranks = "system,user,rank,n\nA,u,11,200\nA,v,11,200\nB,u,4,200\nB,v,150,200\n"
        upload(tab, tmp_path / "ranks.csv", ranks)
        says(tab, "A > B")
        tab.get_by_role("button", name="Pin").click()
        expect(tab.get_by_role("button", name="Unpin")).to_be_visible()
        rest(tab)
        process.terminate()
        process.communicate(timeout=20)
        process, _ = serve(port=urlsplit(address).port)
        alerts = tab.get_by_test_id("stAlert")
        expect(alerts.filter(has_text=LOST)).to_be_visible(timeout=60_000)
        expect(alerts.filter(has_text=UNPINNED)).to_be_visible()
    finally:
        tab.close()
        process.terminate()
        process.communicate(timeout=20)
