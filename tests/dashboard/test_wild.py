"""The two parts of the Paper page on numbers that were published by others.

The literals were computed from the two shipped files before the page was written.
"""

from functools import partial
from urllib.parse import parse_qs

import pandas as pd
import pytest

import sampledash as sd
from sampledash.analyses.paper import wild
from sampledash.analyses.paper.words import ON_BOTH, PUBLISHED
from sampledash.readers.files import EXAMPLES, bundled
from tests.dashboard.driver import Page
from tests.oracles import WITH

cells = wild.ranges
near = partial(pytest.approx, abs=5e-4)  # a tenth of a percent, as printed


def test_the_shipped_ranges_are_those_of_the_shipped_numbers():
    rows = []
    for row in wild.systems().to_dict("records"):
        printed = {f"R@{k}": round(row[f"r{k}_1k"] / 100, 3) for k in wild.CUTOFFS}
        for k, (metric, value) in zip(wild.CUTOFFS, printed.items(), strict=True):
            given = metric, printed, wild.N, wild.M, 3
            ends = {"estimate": sd.estimate_from_table(*given).value}
            for names, shape in wild.SHAPES.items():
                ends |= dict(zip(names, sd.bounds_from_table(*given, shape=shape), strict=True))
            known = {name: row[name] for name in ("place", "system", "note")} | {"k": k}
            on_all = round(row[f"r{k}_5k"] / 100, 3)
            rows.append({**known, "on_sample": value, "on_all": on_all, **ends})
    table = pd.DataFrame(rows)
    table["middle"] = table[["low_if_falling", "high_if_falling"]].mean(axis=1)
    # ``table.to_csv(path, index=False, lineterminator="\n")`` wrote the file.
    pd.testing.assert_frame_equal(cells(), table, rtol=0, atol=1e-9)


def test_ranges_hold_and_pairs_that_they_decide_are_printed_in_that_order():
    table = wild.summary(cells())
    for free, falling, of in ((207, 206, "inside"), (25, 540, "decided"), (25, 540, "right")):
        assert table[f"{of}_low"].sum() == free
        assert table[f"{of}_low_if_falling"].sum() == falling
    assert (table["cells"].sum(), table["pairs"].sum()) == (207, 7038)
    assert table["decided_low_if_falling"].tolist() == [76, 234, 230]
    assert table["off_middle"].tolist() == near([0.021, 0.040, 0.018])
    assert table["off_on_sample"].tolist() == near([0.219, 0.214, 0.168])
    # A point estimate has to be nearer than 1.2 points, and to order no worse than 1,000 images do.
    assert table["off_estimate"].max() < 0.012
    assert (table["order_estimate"] > table["order_on_sample"]).all()
    assert table["order_middle"].tolist() == near([0.927, 0.922, 0.909])
    assert table["order_on_sample"].tolist() == near([0.920, 0.888, 0.852])
    assert (1 - table["order_on_sample"]).round(2).tolist() == [0.08, 0.11, 0.15]
    widths = [(cells()[high] - cells()[low]).mean() for low, high in wild.SHAPES]
    assert widths == pytest.approx([0.44, 0.24], abs=0.005)


def test_the_one_contradiction_is_the_table_of_pg():
    (cell,) = wild.outside(cells())
    assert (cell["system"], cell["k"], cell["on_all"]) == ("PG*", 10, 0.855)
    assert cell["ends"][1] == near(0.850)
    printed = {"R@1": 0.639, "R@5": 0.889, "R@10": 0.956}
    options = {"n": 5000, "m": 999, "decimals": 3}
    again = [
        sd.bounds_from_table("R@10", printed, **options, shape=x) for x in (None, cell["shape"])
    ]
    assert again[1] == pytest.approx(cell["ends"], abs=1e-12)
    assert again[0] == pytest.approx((cell["low"], cell["high"]), abs=1e-12)
    assert again[0][0] < 0.855 < again[0][1]


def test_published_negatives_show_what_is_expected_of_them():
    table = wild.expectations().set_index(["metric", "system"])
    assert table["off"].abs().is_monotonic_decreasing
    assert len(table) == 8
    assert table["off"].abs().max() < 1.9
    # System: published, expected and on all items; the expectation takes m = 99 for all users.
    for metric, system, published, expected, std, on_all in (
        ("Recall@10", "GMF", 0.6368, 0.6380, 0.0027, 0.0671),
        ("Recall@10", "MLP", 0.6710, 0.6662, 0.0026, 0.0793),
        ("NDCG@10", "GMF", 0.3691, 0.3671, 0.0017, 0.0347),
        ("NDCG@10", "MLP", 0.3963, 0.3942, 0.0018, 0.0395),
        ("Recall@1", "GMF", 0.1608, 0.1556, 0.0031, 0.0114),
        ("Recall@1", "MLP", 0.1753, 0.1761, 0.0033, 0.0126),
    ):
        row = table.loc[(metric, system)]
        wanted = [published, expected, std, on_all]
        assert row[["published", "expected", "std", "on_all"]].tolist() == near(wanted)
    file = pd.read_csv(str(bundled() / EXAMPLES["ncf"].file))
    assert not file[["ties", "sampled_ties"]].to_numpy().any()
    assert ((file["m"] == 98).sum(), (file["m"] == 99).sum()) == (2 * 156, 2 * 5884)


def test_the_published_sampled_ranks_alone_leave_the_order_open():
    options = {"metric": "Recall@10", "method": "monotone-mle"}
    found = [sd.estimate(srs=x, **options) for x in wild.published_samples(WITH)]
    assert [x.value for x in found] == pytest.approx([0.0762, 0.0765], abs=1e-4)
    at = Page("paper", item=PUBLISHED)
    assert at.headline.startswith("8 of 8 numbers of GMF and MLP")
    shown = at.table[0].value.set_index("Metric").replace("\u00a0", " ", regex=True)
    ncf = {x.system: x for x in sd.example("ncf")}
    exact = 100 * sd.mean("NDCG@10", ncf["MLP"])
    assert shown.loc["NDCG@10, MLP"].tolist() == ["39.63 → 39.43 ± 0.18", "+1.1", f"{exact:.2f} %"]
    assert "on all items 6.71 % and 7.93 %" in at.said
    assert "undecided; as estimated it is right" in at.said
    at = Page("correct", what="Sampled ranks", sampled_source=EXAMPLES["ncf"].title)
    assert "cannot tell which system has the higher Recall@10" in at.headline
    low, high = sd.bounds("Recall@10", wild.published_samples()[0])
    assert at.pictures[0]["alt"].startswith(f"GMF: {100 * low:.2f} % to {100 * high:.2f} %")
    assert low < 0.0671 < high


def test_the_page_shows_the_counts_and_opens_a_system_in_correct():
    at = Page("paper", item=ON_BOTH, wild_k="R@10", wild_by="on 5,000")
    assert at.headline.startswith("207 of 207 numbers printed for 5,000 images lie in the range")
    assert "206 if ranks fall off" in at.headline
    assert "PG\\*, R@10: 85.5 printed, at most 85.0 allowed if ranks fall off" in at.said
    assert "No estimate" not in at.said
    assert "540 of 7,038 pairs of systems, all in the order that is printed" in at.said
    assert "the middle of the range by 2.1, 4.0 and 1.8, the number on 1,000 by 21.9" in at.said
    shown = at.table[0].value.set_index("Printed on 5,000")
    pairs = shown.loc["Pairs decided right, no assumption"]
    assert pairs.tolist() == ["0 of 0", "2 of 2", "23 of 23"]
    (figure,) = at.specs
    on_all = figure["data"][-1]
    assert on_all["hovertext"][3] == "<b>PG*, BUTD, +GloVe</b><br>printed on 5,000: 85.5 %"
    assert all(len(trace["y"]) == 69 for trace in figure["data"])
    at.selectbox[0].select_index(63)
    opens = parse_qs(at.run().get("page_link")[0].proto.query_string)
    at = Page("correct", **{key: value[-1] for key, value in opens.items()})
    assert "63.9 | 88.9 | 95.6" in at.text_area(key="printed").value
    cell = cells()[(cells()["place"] == 63) & (cells()["k"] == 10)].iloc[0]
    assert f"between {100 * cell['low']:.2f} % and {100 * cell['high']:.2f} %" in at.headline
    assert at.table[0].value["If ranks fall off"][0] == "71.42 % to 84.98 %"
