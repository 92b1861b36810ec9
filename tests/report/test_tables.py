"""Exported CSV files and vectors can be read back, and tables are rounded with names as text."""

import csv
import io
import json
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.report import tables
from sampledash.report.html import html_report
from sampledash.report.script import python_script
from sampledash.report.tables import as_csv, as_latex, as_markdown, read_vector_json, vector_json
from tests.report.made import findings
from tests.report.test_escape import NASTY, in_one_line, read_markdown, read_tex


class Interval(NamedTuple):
    low: float
    high: float


PAIRS = {
    "metric": ["Recall@10"] * 4,
    "better": ["Y", "Z", "Z", "A"],
    "worse": ["X", "X", "Y", "B"],
    "exact": [0.012583, 0.018377, 0.0057947, 0.0],
    "sampled": [-0.0971523, 0.25, 1e-7, -1e-7],
    "state": ["wrong", "right", "undecided", "tied"],
    "right_from": pd.array([970, 1, None, None], dtype="Int64"),
    "probability": [1e-30, 0.9999999, 0.5, np.nan],
}
VERDICT = pd.DataFrame(PAIRS)
TESTED = {"better": "A", "worse": "B", "difference": 0.0125, "interval": Interval(-0.0010, 0.0260)}
TESTED |= {"p": 0.0123, "p_holm": 1e-6, "paired": True}


def cells(markdown):
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in markdown.splitlines()]
    return [[read_markdown(cell.strip()) for cell in row] for row in rows]


def body(latex):
    inside = latex.split("\\midrule\n")[1].split("\\bottomrule")[0]
    rows = [line.strip() for line in inside.strip().splitlines()]
    assert all(row.endswith(r" \\") for row in rows)
    return [re.split(r"(?<!\\)&", row[:-3]) for row in rows]


ANY = None
#: Columns of a table, and its printed header (ANY: not checked) and first row, split by "|".
SHOWN = [
    # Designs have a column of probabilities for each pair; a plan says why a number is missing.
    ({"design": "CLS", "rmse": 0.5864, "Y > X": 0.0}, "Design|Off by (pp)|Shows Y > X (%)",
     "CLS|58.64|<0.01"),
    ({"better": "Y", "worse": "X", "m": 1121, "instances": pd.NA}, ANY, "Y|X|1121|not reachable"),
    # Table 3 of Krichene & Rendle is in percent; it prints 7.60 for X, which is 7.58 here.
    ({"printed": 7.60, "ours": 7.5828, "difference": -0.0172}, "Printed|Ours|Difference",
     "7.6|7.583|-0.0172"),
    ({"better": "A", "worse": "B", "exact": -3e-15}, ANY, "A|B|0.00"),
    # The ends of a range are not probabilities, so 0 is printed as 0.00 and not as <0.01.
    ({"first": "A", "second": "B", "low": -0.05, "high": 0.0},
     "First|Second|At least (pp)|At most (pp)", "A|B|-5.00|0.00"),
    ({"better": "A", "worse": "B", "probability": 0.9},
     "Better|Worse|Probability (%)", "A|B|90.00"),
    ({"first": "A", "m": 12000, "seconds": 1.5, "steps": 3.0}, ANY, "A|12000|1.50|3"),
    ({name: list(each) for name, each in PAIRS.items()},
     "Metric|Better|Worse|Exact difference (pp)|Sampled difference (pp)|State|Right from m|"
     "Shown by one run (%)", "Recall@10|Y|X|1.26|-9.72|wrong|970|<0.01"),
    ({name: [each[3], each[2]] for name, each in PAIRS.items()}, ANY,
     "Recall@10|A|B|0.00|>-0.01|tied|–|–"),
    ({name: [each[2]] for name, each in PAIRS.items()}, ANY,
     "Recall@10|Z|Y|0.58|<0.01|undecided|–|50.00"),
    ({"system": "A", "m": None, "instances": pd.NA, "low_if_falling": np.nan, "low": np.nan},
     "System|m|Instances|At least, if ranks fall off (%)|At least (%)",
     "A|not given|not given|no range|–"),
    ({"probability": 0.5, "low": 0.0, "high": 1.0},
     "Shown by one run (%)|Shared negatives, at least (%)|Shared negatives, at most (%)",
     "50.00|<0.01|>99.99"),
    ({"p": 0.0, "p_holm": 5e-5}, "p|p (Holm)", "0.0000|0.0001"),
    ({"count": 2.5, "rank": 1, "other": True, "text": "x", "gap": 2.5}, ANY,
     "2.50|1|yes|x|2.50"),
    # An unknown column holds shares only if all its numbers lie in -1..1.
    ({"gain": [1.0, -1.0], "loss": [-2.5, 0.5], "size": [1.0, 2.0], "who": [1, "x"],
      "seen": [None, 3]}, ANY, "100.00|-2.50|1|1|–"),
    (TESTED, "Better|Worse|Difference (pp)|Interval from (pp)|Interval to (pp)|p|p (Holm)|Paired",
     "A|B|1.25|-0.10|2.60|0.0123|<0.0001|yes"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "names", "row"), SHOWN, ids=range(len(SHOWN)))
def test_no_number_of_a_table_says_too_much_or_too_little(columns, names, row):
    table = pd.DataFrame({x: y if isinstance(y, list) else [y] for x, y in columns.items()})
    head, _, first, *_ = cells(as_markdown(table))
    assert first == row.split("|")
    assert names in (ANY, "|".join(head))


def test_a_chance_is_no_entity_and_flips_are_listed():
    assert "&lt;" not in as_markdown(VERDICT)
    changes = pd.DataFrame({"first": ["X", "A"], "flips": ["11 970", ""]})
    assert cells(as_markdown(changes))[2:] == [["X", "11 and 970"], ["A", "never"]]
    assert "11 and 970" in as_latex(changes)
    assert as_csv(changes) == "first,flips\nX,11 970\nA,\n"


#: Headers, or their parts before " (", that are symbols and may begin with a small letter.
SYMBOLS = {"k", "m", "n", "p", "p (Holm)", "γ", "w_m = 0"}


def test_every_header_is_in_words():
    named = {name: [0.5] for name in tables._COLUMNS}
    assert len(named) > 70
    for text in (as_markdown, as_latex):
        table = pd.DataFrame(named)
        assert "_" not in text(table).replace(r"\_", "_")
    heads = cells(as_markdown(pd.DataFrame(named)))[0]
    assert all(head[0].isupper() or head.split(" (")[0] in SYMBOLS for head in heads)
    assert as_csv(pd.DataFrame(named)).splitlines()[0] == ",".join(named)
    assert r"$\gamma$" in as_latex(pd.DataFrame({"gamma": [0.1]}))


def test_a_small_table_to_the_last_character():
    table = pd.DataFrame({"system": ["A_1", None], "exact": [-0.5, 0.25], "m": [1, 20]})
    assert as_markdown(table) == (
        "| System | Exact (%) | m   |\n| ------ | --------: | --: |\n"
        "| A\\_1   |    -50.00 |   1 |\n| –      |     25.00 |  20 |\n"
    ).replace("m   |", "  m |")
    inside = ["\\begin{tabular}{lrr}", "\\toprule", r"System & Exact (\%) & $m$ \\",
              "\\midrule", r"A\_1 & $-50.00$ & 1 \\", r"-- & 25.00 & 20 \\",
              "\\bottomrule", "\\end{tabular}"]  # fmt: skip
    assert as_latex(table) == "\n".join(["% \\usepackage{booktabs}", *inside, ""])
    assert (
        as_csv(table.assign(note=["", " x"])) == 'system,exact,m,note\nA_1,-0.5,1,\n,0.25,20," x"\n'
    )


def test_csv_reads_back_to_the_last_digit():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"system": ["A", "B, C", 'D "E"', "two\nlines"]})
    table["exact"], table["sampled"] = rng.random(4) / 3, [np.nan, 1e-300, -0.1, 1 / 3]
    table["m"] = pd.array([1, None, 3, 10**9], dtype="Int64")
    back = pd.read_csv(io.StringIO(as_csv(table)), dtype=str)
    assert back["m"].fillna("").tolist() == ["1", "", "3", "1000000000"]
    kinds = {"exact": float, "sampled": float, "m": "Int64"}
    pd.testing.assert_frame_equal(back.astype(kinds), table, check_exact=True)


@pytest.mark.parametrize("name", NASTY)
def test_names_are_plain_text_everywhere(name):
    table = pd.DataFrame({"system": [name, "B"], "exact": [0.1, 0.2]})
    line = in_one_line(name)
    assert cells(as_markdown(table))[2][0] == line
    latex = body(as_latex(table))
    assert len(latex) == 2
    assert read_tex(latex[0][0].strip()) == line
    assert not latex[0][0].lstrip().startswith(("[", "*"))  # LaTeX would read an argument
    text = list(csv.reader(io.StringIO(as_csv(table), newline="")))[1][0]
    assert text == (f"'{name}" if name[0] in "=+-@" else name)


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_spreadsheet_runs_a_name(first):
    name = first + "1+1"
    table = pd.DataFrame({"system": [name], name: [0.5]})
    head, row = csv.reader(io.StringIO(as_csv(table), newline=""))
    assert head[1] == row[0] == "'" + name
    assert as_csv(pd.DataFrame({"exact": [-0.5]})).splitlines()[1] == "-0.5"


def test_odd_tables_and_intervals_which_become_two_columns():
    table = pd.DataFrame({name: [value] for name, value in TESTED.items()})
    head, row = csv.reader(io.StringIO(as_csv(table)))
    assert head[3:5] == ["interval_low", "interval_high"]
    assert row[3:5] == ["-0.001", "0.026"]
    assert "$p$ (Holm)" in as_latex(table)
    unknown = pd.DataFrame({"interval": [(0.25, 0.5), None]})
    assert as_csv(unknown) == "interval_low,interval_high\n0.25,0.5\n,\n"
    curve = sd.curve("Recall@10", sd.example("paper-abc"), [1, 99])
    assert as_csv(curve).splitlines()[0] == "m,A,B,C"
    assert [row[0] for row in cells(as_markdown(curve))[2:]] == ["1", "99"]
    twice = pd.DataFrame({"m": [0.5]}, index=pd.Index([7], name="m"))
    assert as_csv(twice) == "m,m\n7,0.5\n"
    nameless = pd.DataFrame({"AP": np.array([1, 2.5], dtype=object)}, index=[7, 9])
    assert as_csv(nameless) == ",AP\n7,1\n9,2.5\n"
    whole = pd.DataFrame({"rank estimate": [np.int64(1), 2.5]}, dtype=object)
    assert [row[0] for row in cells(as_markdown(whole))[2:]] == ["1.00", "2.50"]
    empty = pd.DataFrame({"better": [], "worse": [], "m": []})
    assert as_csv(empty) == "better,worse,m\n"
    assert len(as_markdown(empty).splitlines()) == 2
    assert r"\midrule" in as_latex(empty)


CASES = [
    ("Recall@10", sd.Sampling(10_000, 100, "without-replacement"), "BV 0.1"),
    ("NDCG", sd.Sampling(3_541, 50), "CLS"),
    ("AP@5", sd.Sampling(300, 20, "popularity", 2.5), "BV 1e-06"),
    ("AUC", sd.Sampling(200, 20), "rank estimate (linear)"),
    ("AP", sd.Sampling(200, 8), "LS"),
]


@pytest.mark.parametrize(("metric", "sampling", "recipe"), CASES)
def test_round_trips_are_exact(metric, sampling, recipe):
    made, own = sd.parse_correction(recipe), ""
    if recipe == "CLS":
        made, own = sd.correction("CLS", prior=np.arange(sampling.n, 0, -1.0)), " (own prior)"
    fit = made.fit(metric, sampling)
    back, content = read_vector_json(vector_json(fit)), json.loads(vector_json(fit))
    assert back.values.tobytes() == fit.values.tobytes()
    assert (back.metric, back.sampling, back.correction) == (fit.metric, sampling, fit.correction)
    numbers = {"n": sampling.n, "m": sampling.m, "gamma": fit.correction.gamma}
    assert numbers.items() <= content.items()
    text = tables.vector_csv(fit)
    assert text.startswith(f"# metric = {metric}, {sampling}, correction = {recipe}{own}\n")
    read = pd.read_csv(io.StringIO(text), comment="#", float_precision="round_trip")
    assert read["sampled_rank"].tolist() == list(range(1, sampling.m + 2))
    assert read["value"].to_numpy().tobytes() == fit.values.tobytes()


def test_other_files_are_refused():
    for text in ("not json", "[1, 2]", '{"metric": "AP"}'):
        with pytest.raises(ValueError, match="not a vector written by vector_json"):
            read_vector_json(text)
    content = json.loads(vector_json(sd.parse_correction("LS").fit("AP", sd.Sampling(50, 8))))
    content["values"].pop()
    with pytest.raises(ValueError, match="m = 8 needs 9"):
        read_vector_json(json.dumps(content))


def test_ranks_read_back_with_where_they_come_from_and_reports_say_it():
    made = "data: 0123; split: last 1; recommender: iALS d=16; seed: 0"
    sets = [
        sd.RankSet("X", [3, 1, 2], [9, 9, 8], instances=["a", "a", "b"], ties=[2, 0, 0],
                   provenance=made),
        sd.RankSet("Y", [4, 11, 12], 20, instances=["a", "b", "b"], beyond=[False, True, True],
                   counts=[1, 2.5, 2.5]),
    ]  # fmt: skip
    for own in (sets, sets[:1], sets[1:]):
        text = as_csv(tables.ranks_table(own))
        found = sd.read_rank_sets(io.BytesIO(text.encode()), name="r.csv", instances="any")
        assert found == own
        assert [ranks.provenance for ranks in found] == [ranks.provenance for ranks in own]
    alone = sd.RankSet("X", [3], 9, instances=["a"])
    assert as_csv(tables.ranks_table([alone])) == "system,instance,rank,n_candidates\nX,a,3,9\n"
    known = [sd.RankSet(name, [2, 3], 9, provenance="data: 01; seed: 0") for name in "AB"]
    said = findings("two", "sets", known, ["AP"], 4, {})
    assert "# 'A' was made from 'data: 01; seed: 0'" in python_script(said)
    assert '<td class="name">data: 01; seed: 0</td>' in html_report(said)
