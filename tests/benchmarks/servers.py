"""Shared parts of dashboard benchmarks: a server, its time and memory, and a browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.session import serve

OFF = ("gpu", "quic", "background-networking", "component-update", "sync")
QUIET = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in OFF)]


def chromium_path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def require_chromium() -> None:
    """Skip the test without Chromium, or fail if SAMPLEDASH_BROWSER=required, as in CI."""
    if chromium_path() is None:
        required = os.environ.get("SAMPLEDASH_BROWSER") == "required"
        (pytest.fail if required else pytest.skip)("missing: apt-get install chromium")


LAUNCH: dict[str, Any] = {"executable_path": chromium_path(), "args": QUIET}


@contextmanager
def served(script: str | Path = "app.py") -> Iterator[tuple[str, int]]:
    """Start a server, yield its address and process id, and stop it at the end."""
    process, address = serve(script)
    try:
        yield address, process.pid
    finally:
        process.terminate()
        process.communicate(timeout=20)


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, closing(playwright.chromium.launch(**LAUNCH)) as browser:
        yield browser
