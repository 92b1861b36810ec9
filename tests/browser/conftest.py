"""One server and one Chromium for all browser tests."""

from contextlib import closing

import pytest

from tests.benchmarks.servers import LAUNCH, require_chromium, served


@pytest.fixture(scope="session")
def server():
    """Return the address of a server, started as in the README on a free port."""
    with served() as (address, _):
        yield address


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    """Start Chromium, with a cache on disk, so that Chromium compiles each script once."""
    require_chromium()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # a rerun takes long on a busy machine
    look = {"reduced_motion": "reduce", "viewport": {"width": 1280, "height": 900}}
    with sync_playwright() as playwright:
        start = playwright.chromium.launch_persistent_context
        with closing(start(tmp_path_factory.mktemp("window"), **LAUNCH, **look)) as context:
            context.set_default_timeout(60_000)
            yield context


@pytest.fixture
def page(window, server):
    """Return a tab of desktop size; a console error or an exception in the tab fails the test."""
    tab = window.new_page()
    complaints = []
    # Streamlit first looks for its server below the path of the page: this 404 is harmless.
    probe = ("_stcore/health", "_stcore/host-config")

    def note(message):
        if message.type == "error" and not message.location.get("url", "").endswith(probe):
            complaints.append(message.text)

    tab.on("console", note)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.start = server
    yield tab
    tab.close()
    assert not complaints
