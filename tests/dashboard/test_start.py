"""The first page: the order on all movies beside the order on sampled negatives."""

from itertools import combinations

import numpy as np

import sampledash as sd
from sampledash.report.numbers import percent
from tests.dashboard.driver import Page

HOW = {"scheme": "without-replacement"}


def test_says_shows_and_leads_on_and_the_slider_uncrosses_the_lines_at_970():
    start, sets = Page(), sd.example("movielens-xyz")
    said = [m.value for m in start.markdown]
    assert said[0] == "### With 100 negatives the worst of three looks best"
    right = int(sd.right_from("Recall@10", sets, **HOW)["m"].max())
    about = said[1].replace("\xa0", " ")
    assert f"right from m = {right}" in about
    n = np.concatenate([rs.n for rs in sets])
    assert f"{n.min():,} to {n.max():,} candidate movies a user" in about
    # Section 6.2 and Figure 6 of Krichene & Rendle 2020: about 1,000 are needed.
    assert right == 970
    doors = [link.proto.page for link in start.get("page_link")]
    assert doors == ["explore", "consistency", "correct", "lab", "learn"]
    assert not start.sidebar.children
    spec = start.specs[0]
    text = " ".join(str(x) for trace in spec["data"] for x in trace.get("text", []))
    exact = {rs.system: sd.mean("Recall@10", rs) for rs in sets}
    for rs in sets:
        assert percent(exact[rs.system]) in text
        assert percent(sd.expected_mean("Recall@10", rs, 100, **HOW)) in text
    # Table 3, exact and sampled: Y 8.84 and 56.51, Z 9.42 (X was stopped early there).
    for printed in ("8.84 %", "9.42 %", "56.51 %", "all candidates", "100 sampled negatives"):
        assert printed in text
    (slider,) = spec["layout"]["sliders"]
    assert slider["steps"][slider["active"]]["label"] == "100"
    for step, frame in zip(slider["steps"], spec["frames"], strict=True):
        ends = [t["y"] for t in frame["data"] if t["mode"] == "lines+markers"]
        crossed = any((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(ends, 2))
        right = int(step["label"].replace(",", "")) >= 970
        assert crossed != right
        assert ("right" in frame["layout"]["title"]["text"]) == right
