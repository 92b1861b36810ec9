"""Shared fixtures, and one hypothesis profile: the same cases on every run, no clock."""

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
    """Groups are begun in their order; xdist would begin with those of many tests."""
    config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of two processes one runs a whole file, and all browser tests: one server is enough.

    These begin first: the longest group must not be the last.
    """
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
    """Values computed elsewhere with 60 digits; see the file's ``_about``."""
    return json.loads((Path(__file__).parent / "data" / "reference_values.json").read_text())


@pytest.fixture(scope="session")
def tables() -> dict[int, pd.DataFrame]:
    """Tables 1-4 of Krichene & Rendle beside the print."""
    return {table: match(table, example) for table in (1, 2, 3, 4)}
