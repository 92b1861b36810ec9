"""Every picture is one that Plotly accepts: on the way to the page nothing checks it."""

import plotly.io
import pytest

from tests.dashboard.driver import open_page

ABC = "Three toy recommenders"


@pytest.mark.parametrize(
    ("page", "query", "least"),
    [
        ("start", {}, 1),
        ("explore", {"draws": "101"}, 3),
        ("explore", {"tab": "Law", "turn": "true"}, 3),
        ("explore", {"tab": "Family"}, 2),
        ("consistency", {"source": ABC}, 5),
        ("consistency", {"source": ABC, "answers": "Numbers", "numbers_view": "Distribution"}, 5),
        ("correct", {"n": "500"}, 3),
        ("correct", {"n": "500", "sheet": "What a sample can see"}, 4),
        ("correct", {"what": "A printed table"}, 1),
        ("learn", {"lesson": "4"}, 1),
    ],
)
def test_pictures_hold_only_what_plotly_knows(page, query, least):
    pictures = [x.proto.spec for x in open_page(page, **query).get("plotly_chart")]
    assert len(pictures) >= least
    for spec in pictures:
        assert plotly.io.from_json(spec).data
