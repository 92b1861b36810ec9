"""One server and one Chromium for all browser tests."""

import os
import shutil

import pytest

from tests.session import serve

REQUIRED = os.environ.get("SAMPLEDASH_BROWSER") == "required"
OFF = ("gpu", "quic", "background-networking", "component-update", "sync")
QUIET = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in OFF)]


@pytest.fixture(scope="session")
def server():
    """Address of a server started as the README says, on a free port."""
    process, address = serve()
    yield address
    process.terminate()
    process.communicate(timeout=20)


def chromium_path():
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    """Chromium, if it is installed; .ci/run requires it."""
    executable = chromium_path()
    if executable is None:
        if REQUIRED:
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # on a busy machine a rerun takes its time

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def window(browser):
    """What the tabs share: the scripts of the pages are loaded once."""
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def page(window, server):
    """A tab at a desk; a console error or an exception in it fails the test."""
    tab = window.new_page()
    tab.set_viewport_size({"width": 1280, "height": 900})
    complaints = []
    # Streamlit looks for its server below a page's own path first: a 404 that means nothing.
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
