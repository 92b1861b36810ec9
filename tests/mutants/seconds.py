"""A pytest plugin that records the duration of each test that passes."""

import json
import re
from collections import defaultdict
from pathlib import Path

_SECONDS: dict[str, float] = defaultdict(float)
_FAILED: set[str] = set()


def pytest_runtest_logreport(report) -> None:
    test = re.sub(r"@[^@\]]*\.py$", "", report.nodeid)  # xdist may add a group to a test's name
    _SECONDS[test] += report.duration
    if report.outcome != "passed":  # a test that fails without a fault cannot detect one
        _FAILED.add(test)


def pytest_sessionfinish(session) -> None:
    if not hasattr(session.config, "workerinput"):  # only in the main process
        file = Path(__file__).parents[2] / ".mutants" / "seconds.json"
        file.write_text(json.dumps({x: y for x, y in _SECONDS.items() if x not in _FAILED}))
