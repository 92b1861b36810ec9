"""A plugin for pytest that notes how long each test takes."""

import json
from collections import defaultdict
from pathlib import Path

_SECONDS: dict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report) -> None:
    _SECONDS[report.nodeid.split("@")[0]] += report.duration


def pytest_sessionfinish(session) -> None:
    if not hasattr(session.config, "workerinput"):  # of the processes that share the work the first
        file = Path(__file__).parents[2] / ".mutants" / "seconds.json"
        file.write_text(json.dumps(_SECONDS))
