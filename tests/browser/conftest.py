"""One server and one Chromium for all browser tests."""

import os

import pytest

from tests.benchmarks.servers import chromium, chromium_path, served

REQUIRED = os.environ.get("SAMPLEDASH_BROWSER") == "required"


@pytest.fixture(scope="session")
def server():
    """Return the address of a server, started as in the README on a free port."""
    with served() as (address, _):
        yield address


@pytest.fixture(scope="session")
def browser():
    """Start Chromium if it is installed; .ci/run requires Chromium."""
    if chromium_path() is None:
        if REQUIRED:
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed")
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)  # a rerun takes long on a busy machine
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def window(browser):
    """Return a browser context that all tabs share, so that scripts of pages are loaded once."""
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def page(window, server):
    """Return a tab of desktop size; a console error or an exception in the tab fails the test."""
    tab = window.new_page()
    tab.set_viewport_size({"width": 1280, "height": 900})
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
