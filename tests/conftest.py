"""Shared fixtures, and a hypothesis profile with the same cases on every run and no time limit."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from sampledash.papers.krichene import match
from sampledash.rank_sets import RankSet
from sampledash.readers.files import example

SLOW = [HealthCheck.too_slow, HealthCheck.differing_executors]
FIXED = {"derandomize": True, "deadline": None, "database": None, "max_examples": 50}
settings.register_profile("fixed", suppress_health_check=SLOW, **FIXED)
settings.load_profile("fixed")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the order of the groups of tests; xdist would begin with the largest groups."""
    config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let one process run all tests of a file, and one run all browser tests, with one server.
    Browser tests begin first, so that the longest group is not the last."""
    if config.pluginmanager.hasplugin("xdist"):
        items.sort(key=lambda item: item.path.parent.name != "browser")
        for item in items:
            together = "browser" if item.path.parent.name == "browser" else str(item.path)
            item.add_marker(pytest.mark.xdist_group(together))


@pytest.fixture(scope="session")
def abc() -> list[RankSet]:
    return example("paper-abc")


@pytest.fixture(scope="session")
def xyz() -> list[RankSet]:
    return example("movielens-xyz")


@pytest.fixture(scope="session")
def xyz_ties() -> list[RankSet]:
    return example("movielens-xyz-ties")


@pytest.fixture(scope="session")
def reference() -> dict[str, list[dict[str, object]]]:
    """Return metrics and correction vectors computed elsewhere with 60 digits; see ``_about``."""
    return json.loads((Path(__file__).parent / "data" / "reference_values.json").read_text())


@pytest.fixture(scope="session")
def tables() -> dict[int, pd.DataFrame]:
    """Return Tables 1-4 of Krichene & Rendle, computed here, beside the printed values."""
    return {table: match(table, example) for table in (1, 2, 3, 4)}
