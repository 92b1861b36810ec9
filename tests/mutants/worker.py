"""Runs tests on one fault after another, each in a fork with the libraries already imported. It
reads lines of JSON ``{"file", "text", "tests", "seconds"}`` in a copy of the project, which is the
working directory, and answers with ``{"exit", "log", "seconds"}``."""

import importlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

sys.path[0] = os.getcwd()
sys.dont_write_bytecode = True

import pytest  # noqa: E402

LIBRARIES = "hypothesis pandas plotly.graph_objects scipy.optimize scipy.sparse scipy.stats"
for name in (*LIBRARIES.split(), "streamlit.testing.v1"):
    importlib.import_module(name)

OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", "--no-header"]
LOG = Path("log")


def forked(tests: list[str], seconds: float) -> int:
    """Return the exit code of the tests, or a negative signal number if they took too long.
    ``seconds`` is processor time, so that a busy machine does not matter; tests that wait are
    stopped after three times as many seconds."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        log = os.open(LOG, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        code = 99
        try:
            code = int(pytest.main([*OPTIONS, *tests]))
        finally:
            os._exit(code)
    end = time.monotonic() + 3 * seconds
    while True:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            end = float("inf")
        time.sleep(0.02)


for line in sys.stdin:
    task = json.loads(line)
    path = Path(task["file"])
    whole, began = path.read_text(), time.monotonic()
    path.write_text(task["text"])
    try:
        code = forked(task["tests"], task["seconds"])
    finally:
        path.write_text(whole)
    log = LOG.read_text(errors="replace") if LOG.exists() else ""
    answer = {"exit": code, "log": log[-3000:], "seconds": time.monotonic() - began}
    print(json.dumps(answer), flush=True)
