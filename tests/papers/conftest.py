"""Tables 1-4 beside the print, computed once for all tests."""

import pandas as pd
import pytest

from sampledash.papers.krichene import match
from sampledash.readers.files import example


@pytest.fixture(scope="session")
def tables() -> dict[int, pd.DataFrame]:
    return {table: match(table, example) for table in (1, 2, 3, 4)}
