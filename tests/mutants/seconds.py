"""A plugin for pytest that notes how long each test takes that passes."""

import json
import re
from collections import defaultdict
from pathlib import Path

_SECONDS: dict[str, float] = defaultdict(float)
_FAILED: set[str] = set()


def pytest_runtest_logreport(report) -> None:
    test = re.sub(r"@[^@\]]*\.py$", "", report.nodeid)  # some versions of xdist add its group
    _SECONDS[test] += report.duration
    if report.outcome != "passed":  # what fails without a fault, or is skipped, notices none
        _FAILED.add(test)


def pytest_sessionfinish(session) -> None:
    if not hasattr(session.config, "workerinput"):  # of the processes that share the work the first
        file = Path(__file__).parents[2] / ".mutants" / "seconds.json"
        file.write_text(json.dumps({x: y for x, y in _SECONDS.items() if x not in _FAILED}))
