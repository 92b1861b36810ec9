"""The Consistency page: the verdict on the screen is the core's, and the paper's."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import sampledash as sd
from sampledash.dashboard.consistency_parts import csv as safe_csv
from sampledash.explain.text import percent

APP = str(Path(__file__).parents[2] / "app.py")
PAGE = "sampledash/dashboard/pages/consistency.py"

# Table 1 of Krichene & Rendle 2020 as a file without n.
ABC = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}


def page(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    for key, value in query.items():
        at.query_params[key] = value
    at.switch_page(PAGE)
    at.run()
    assert not at.exception
    return at


def run(at):
    at.run()
    assert not at.exception
    return at


def headline(at):
    return next((m.value for m in at.markdown if m.value.startswith("### ")), "")


def numbers(at):
    return {m.label: m.value for m in at.metric}


def complaint(at):
    return " ".join(e.value for e in at.error).replace("\\", "")


def csv(table):
    return table.to_csv(index=False).encode()


def upload(at, name, data):
    at.segmented_control(key="source").set_value("Upload a file")
    run(at)
    at.file_uploader(key="ranks_file").upload(name, data)
    return run(at)


def test_first_screen_says_the_order_of_movielens_is_wrong_at_100_and_right_from_970():
    at = page()
    # Section 6.2: on the sample X > Y > Z, on all items Z > Y > X.
    assert headline(at).endswith(
        "At m = 100 Recall@10 ranks X > Y > Z; on all items it is Z > Y > X. Right from m = 970."
    )
    assert "wrong" in headline(at)
    table = sd.right_from("Recall@10", sd.example("movielens-xyz"), scheme="without-replacement")
    assert numbers(at)["Right from m"] == f"{table['m'].max():,}" == "970"
    assert numbers(at)["Pairs in true order"] == "0 of 3"
    assert numbers(at)["Instances"] == "6,040"


def test_order_becomes_right_when_m_moves():
    at = page()
    at.number_input(key="m").set_value(970)
    run(at)
    assert "Recall@10 ranks Z > Y > X, as it does on all items" in headline(at)
    at.number_input(key="m").set_value(969)
    run(at)
    assert "ranks Z > X > Y; on all items it is Z > Y > X" in headline(at)


def test_numbers_are_those_of_table_3():
    at = page(metrics=["Recall@k", "NDCG@k"], tab="Numbers")
    shown = at.table[0].value
    y = sd.example("movielens-xyz")[1]
    row = shown[(shown["Metric"] == "Recall@10") & (shown["System"] == "Y")].iloc[0]
    # Table 3, Recall, Y: exact 8.84, sampled 56.51 +- 0.22.
    assert row["Exact"] == "8.84 %" == percent(sd.mean("Recall@10", y))
    mean = sd.expected_mean("Recall@10", y, 100, scheme="without-replacement")
    std = sd.std_of_mean("Recall@10", y, 100, scheme="without-replacement")
    assert row["Sampled, m = 100"] == f"{100 * mean:.2f} ± {100 * std:.2f} %"
    assert abs(100 * mean - 56.51) < 3 * 0.22 / 10  # 100 repetitions
    assert len(shown) <= 8


def test_toy_recommenders_order_as_the_text_of_section_4_2_says():
    # AP: A > C > B below 50, A > B > C near 200, C > A > B near 500.
    at = page(source="Three toy recommenders", metrics=["AP"], scheme="with replacement")
    for m, order in ((30, "A > C > B"), (200, "A > B > C"), (500, "C > A > B")):
        at.number_input(key="m").set_value(m)
        run(at)
        assert f"AP ranks {order}" in headline(at)


def test_several_metrics_and_cutoffs_share_the_page():
    at = page(metrics=["Recall@k", "AUC"], also_k=["1", "50"])
    titles = at.segmented_control(key="shown").options
    assert titles == ["Recall@1", "Recall@10", "Recall@50", "AUC"]
    at.segmented_control(key="shown").set_value("AUC")
    run(at)
    assert "AUC ranks X > Y > Z, as it does on all items. Right from m = 1." in headline(at)
    at.segmented_control(key="shown").set_value("Recall@1")
    run(at)
    # Flips of Recall@1 on movielens-xyz: 111 | 50 | 15 and 1877.
    assert "Right from m = 1,877." in headline(at)


def test_upload_without_n_asks_for_it_and_then_judges():
    rows = [(system, rank) for system, ranks in ABC.items() for rank in ranks]
    at = upload(page(), "abc.csv", csv(pd.DataFrame(rows, columns=["system", "rank"])))
    # B's two ranks of 40 are two instances: no instance column, every row one instance.
    assert "abc.csv" in " ".join(i.value for i in at.info).replace("\\", "")
    box = next(n for n in at.number_input if n.label.startswith("n, candidates of every"))
    box.set_value(10_000)
    run(at)
    # Table 1: Recall@10 is 0 for A and B, 0.2 for C.
    assert "on all items it is C > A = B" in headline(at)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_a_wide_file_of_any_format_gives_the_verdict_of_the_core(suffix):
    table = pd.DataFrame({"n_candidates": 10_000, **ABC})
    if suffix == "parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer)
        data = buffer.getvalue()
    else:
        data = table.to_csv(index=False, sep="\t" if suffix == "tsv" else ",").encode()
    at = upload(page(), f"wide.{suffix}", data)
    verdict = sd.right_from("Recall@10", sd.example("paper-abc"), scheme="without-replacement")
    assert numbers(at)["Right from m"] == f"{verdict['m'].max():,}"


WRONG = {
    "empty.csv": (b"", ["empty.csv", "empty"]),
    "header.csv": (b"system,rank,n\n", ["header.csv"]),
    "text.csv": (b"system,rank,n\nA,first,9\nB,1,9\n", ["text.csv", "line 2", "rank", "first"]),
    "half.csv": (b"system,rank,n\nA,1.5,9\nB,1,9\n", ["half.csv", "line 2", "1.5"]),
    "nan.csv": (b"system,rank,n\nA,NaN,9\nB,1,9\n", ["nan.csv", "line 2", "NaN"]),
    "minus.csv": (b"system,rank,n\nA,-3,9\nB,1,9\n", ["minus.csv", "line 2", "-3"]),
    "large.csv": (b"system,rank,n\nA,1,9\nB,12,9\n", ["large.csv", "line 3", "12", "9"]),
    "zero.csv": (b"system,rank,n\nA,0,9\nB,1,9\n", ["zero.csv", "line 2", "count from 0"]),
    "twice.csv": (
        b"system,user,rank,n\nA,u1,3,9\nA,u1,3,9\nB,u1,1,9\n",
        ["twice.csv", "u1", "3"],
    ),
    "others.csv": (
        b"system,user,rank,n\nA,u1,3,9\nA,u2,3,9\nB,u2,1,9\nB,u3,1,9\n",
        ["others.csv", "u1", "u3", "share"],
    ),
    "fake.parquet": (b"system,rank\nA,1\n", ["fake.parquet"]),
    "one.csv": (b"system,rank,n\nA,1,9\nA,2,9\n", ["second"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_get_one_sentence_and_lose_nothing(name):
    data, facts = WRONG[name]
    at = page()
    before = numbers(at)
    charts = len(at.get("plotly_chart"))
    at = upload(at, name, data)
    for fact in facts:
        assert fact in complaint(at), complaint(at)
    assert len(at.error) == 1
    # The pictures of before are still there, dimmed; the sentence gives way to the complaint.
    assert len(at.get("plotly_chart")) >= charts - 1
    assert headline(at) == ""
    at.segmented_control(key="source").set_value("MovieLens 1M: X, Y, Z")
    run(at)
    assert numbers(at) == before


def test_offers_repair_what_can_be_repaired():
    data = b"system,user,rank,n\nA,u1,3,900\nA,u2,3,900\nB,u2,1,900\nB,u3,1,900\nB,u1,7,900\n"
    at = upload(page(), "others.csv", data)
    at.button[[b.label for b in at.button].index("Compare the 2 instances they share")].click()
    run(at)
    assert numbers(at)["Instances"] == "2"
    at = upload(page(), "zero.csv", b"system,rank,n\nA,0,900\nA,4,900\nB,1,900\nB,2,900\n")
    at.button[[b.label for b in at.button].index("The ranks count from 0: add 1")].click()
    run(at)
    assert "Recall@10 ranks" in headline(at)


@pytest.mark.parametrize(
    ("key", "value", "facts"),
    [
        ("m", 10_000, ["m = 10,000", "9,999"]),
        ("m", 0, ["m", "at least 1", "0"]),
        ("k", 0, ["k", "at least 1", "0"]),
    ],
)
def test_wrong_settings_get_one_sentence(key, value, facts):
    at = page(source="Three toy recommenders")
    charts = len(at.get("plotly_chart"))
    at.number_input(key=key).set_value(value)
    run(at)
    for fact in facts:
        assert fact in complaint(at)
    assert len(at.get("plotly_chart")) >= charts - 1


def test_many_systems_show_the_worst_pairs_whole():
    # Seven systems: 21 pairs, of which the map shows 10, each with a tile for each metric.
    rng = np.random.default_rng(7)
    ranks = pd.DataFrame({f"s{i}": rng.integers(1, 900, 40) for i in range(7)})
    at = upload(page(metrics=["Recall@k", "NDCG", "AP"]), "seven.csv", csv(ranks.assign(n=900)))
    assert any("The 10 worst of 21 pairs." in c.value for c in at.caption)
    tiles = next(
        json.loads(chart.proto.spec)
        for chart in at.get("plotly_chart")
        if "ticktext" in json.loads(chart.proto.spec)["layout"]["yaxis"]
    )
    assert len(tiles["layout"]["annotations"]) == 30
    assert tiles["layout"]["xaxis"]["ticktext"] == ["Recall@10", "NDCG", "AP"]


def test_says_what_the_reader_may_not_expect():
    at = page()
    at.number_input(key="m").set_value(3000)
    run(at)
    short = int(np.sum(sd.example("movielens-xyz")[0].n - 1 < 3000))
    assert any(f"{short:,} of 6,040 instances have fewer than 3,000" in c.value for c in at.caption)
    data = b"system,user,rank,n\nA,u1,3,900\nB,u1,3,1000\nA,u2,1,900\nB,u2,9,900\n"
    at = upload(page(), "differs.csv", data)
    assert any("instance u1 has n = 900 and 1,000" in c.value for c in at.caption)


def test_pasted_ranks_travel_in_the_link():
    at = page()
    at.segmented_control(key="source").set_value("Paste ranks")
    run(at)
    text = "n = 10000\nA: 100, 100, 100, 100, 100\nC: 212, 2, 743, 5342, 1548"
    at.text_area(key="pasted").set_value(text)
    run(at)
    assert "on all items it is C > A" in headline(at)
    link = {"source": "Paste ranks", "ranks": at.query_params["ranks"]}
    assert headline(page(**link)) == headline(at)


def test_names_are_shown_as_plain_text():
    data = b"system,rank,n\n<b>x</b>,1,900\n=1+1,2,900\n"
    at = upload(page(), "names.csv", data)
    assert "\\<b\\>x\\</b\\>" in headline(at)
    assert "'=1+1" in safe_csv(pd.DataFrame({"system": ["=1+1"], "exact": [0.5]}))
