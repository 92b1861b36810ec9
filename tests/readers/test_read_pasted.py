"""Typed and pasted text, and tables as papers print them; digits other than 0 to 9 are refused."""

import re

import numpy as np
import pytest

import sampledash as sd
from sampledash.dashboard import state
from sampledash.readers import upload_limits as limits
from sampledash.readers.pasted import open_text, settings_aside, weights_of_text
from sampledash.readers.printed_table import read_printed
from tests.readers.reading import ranks_of, refused
from tests.readers.reading import read as read_ranks

FIRST, SECOND, LAST = "100 100 100 100 100", "40 40 8437 9266 4482", "212 2 743 5342 1548"
COLUMNS = [ranks.split() for ranks in (FIRST, SECOND, LAST)]
WIDE = "A,B,C\n" + "\n".join(map(",".join, zip(*COLUMNS, strict=True)))


def test_table_1_in_many_spellings():
    # The example paper-abc has the ranks of Table 1 of Krichene & Rendle (KDD 2020).
    for text in (
        f"n = 10,000\nA: {FIRST}\nB: {SECOND.replace(' ', ', ')}\n\nC: {LAST}\n",
        f"A:{FIRST};\r\nB:{SECOND.replace(' ', ',')},\r\nC:{LAST}\r\nN=10_000",
        f"{WIDE}\nn = 10,000",
    ):
        assert sd.parse_rank_text(text) == sd.example("paper-abc")


def test_typed_ranks_and_what_they_lack():
    for text in ("3 17 250", "3\n17\n250\n", "3;17;250"):
        (ranks,) = sd.parse_rank_text(text, n=300)
        assert (ranks.system, ranks.ranks.tolist()) == ("ranks", [3, 17, 250])
    refused(
        lambda: sd.parse_rank_text("A: " + "1 " * limits.TYPED.most), "pasted text … paste less"
    )
    facts = "n = 10000 (at least 77)"
    refused(lambda: sd.parse_rank_text("A: 3 77"), facts, limits.MissingCandidates)
    said = "system 'A', value 2"
    refused(lambda: sd.parse_rank_text("A: 3 0", n=9), said, limits.ZeroBasedRanks)
    assert sd.parse_rank_text("A: 3 0", n=9, zero_based=True)[0].ranks.tolist() == [4, 1]


BEYOND = [  # (text, whether its ranks count from 0, ranks read, with > if beyond the end of a list)
    ("A: >10, 3, > 4\nB: >10 >10 2; n = 50", False, [">11 3 >5", ">11 >11 2"]),
    ("A: >0, 0; n = 50", True, [">2 1"]), ("A: >9, 0; n = 50", True, [">11 1"]),
    ("> 10, 3\nn = 50", False, [">11 3"]), ("X,n\n> 10,50\n1,50", False, [">11 1"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "zero_based", "places"), BEYOND)
def test_typed_ranks_beyond_the_end(text, zero_based, places):
    for ranks, expected in zip(
        sd.parse_rank_text(text, zero_based=zero_based), places, strict=True
    ):
        pairs = zip(ranks.ranks.tolist(), ranks.beyond.tolist(), strict=True)
        assert " ".join(">" * late + str(rank) for rank, late in pairs) == expected


OTHERS = ["٣", "３", "३", "3٣"]


@pytest.mark.parametrize("number", OTHERS)
def test_other_digits_are_refused_by_the_value_and_the_rule(number):
    for read in (
        lambda: read_ranks(f"rank\n1\n{number}\n", n=9),
        lambda: read_ranks(f"rank,n\n1,{number}\n"),
        lambda: read_ranks(f"A,B\n1,2\n2,{number}\n", n=9),
        lambda: sd.parse_rank_text(f"A: 1 {number}", n=9),
        lambda: sd.parse_rank_text(f"A: 1\nn = {number}"),
        lambda: weights_of_text(f"1 {number}", 2),
        lambda: read_printed(f"Model,HR@1\nA,0.1{number}"),
        lambda: read_printed(f"Model HR@1\nA 0.1{number}"),
        lambda: read_printed(f"Model,HR@1\nA,0.1\nn = {number}"),
    ):
        refused(read, f"with the digits 0 to 9 … {number}")
    assert sd.parse_metric("HR@3").k == 3
    for raw in (number, "1_000", "0x10", "1e16", "nan"):
        for key in ("n", "gamma"):
            (complaint,) = state.link_complaints({key: [raw]})
            assert key in complaint
            assert raw in complaint
    assert state.link_complaints({"n": [" 5"], "gamma": ["1 "]}) == []
    for read in (
        lambda: sd.parse_metric(f"HR@{number}"),
        lambda: sd.parse_metric(f"TOPK@0.{number}"),
        lambda: sd.parse_sampling(f"n = {number}, m = 1, with-replacement"),
        lambda: read_ranks(f"q Q0 d 1 3 A\nq Q0 e 2 2 A\nq Q0 f 1 {number} A\n", n=9),
        lambda: sd.parse_sampling(f"n = 9, m = 1, popularity, odds = {number}"),
    ):
        refused(read, number, ValueError)


#: (text, the ranks of each system in the text, the n in the text or None)
TYPED = [
    ("run 1: 5 6", {"run 1": [5, 6]}, None),
    ("model A: 5 6\nsystem B: 5 7\n# n: 9", {"model A": [5, 6], "system B": [5, 7]}, 9),
    ("model, run 2: 5, 6\nB: 3 4", {"model, run 2": [5, 6], "B": [3, 4]}, None),
    ("count: 5 6\nB: 3 4", {"count": [5, 6], "B": [3, 4]}, None),
    ("BPR: k=8, reg: 3 4\nNA: 5 6", {"BPR: k=8, reg": [3, 4], "NA": [5, 6]}, None),
    ("A: 1;,; B: 2.\n;\n ; N = 20 ;", {"A": [1], "B": [2]}, 20),
    ("A: +3 4.0\nn = 1000; n = 1,000", {"A": [3, 4]}, 1000),
    ("user,Model 1,Model 2\nu,3,4", {"Model 1": [3], "Model 2": [4]}, None),
    ("  # n: 20, m = 5\nA: 3", {"A": [3]}, 20),
    ("A\n3\n4", {"A": [3, 4]}, None),
    ("seen\trank\nx\t3", {"pasted text": [3]}, None),
    ("n = 2, m = 5; A: 1", {"A": [1]}, 2),
    ("n = 1_000_000_000_000; m = 1; A: 7", {"A": [7]}, 10**12),
    ("rank\n3\n# n: 20", {"pasted text": [3]}, 20),
]


@pytest.mark.parametrize(("text", "ranks", "n"), TYPED)
def test_typed_text_names_systems_or_is_a_table(text, ranks, n):
    for given in (99, 50):
        sets = sd.parse_rank_text(text, n=given)
        assert ranks_of(sets) == ranks
        assert {size for one in sets for size in one.n.tolist()} == {n or given}
    doubts = open_text(text).read(n=99).doubts
    said = "m = 5 is not used: true ranks are those among all candidates"
    assert [doubt for doubt in doubts if "m = 5" in doubt] == [said] * ("m = 5" in text)


#: (table, {system: (values, number of decimals of each value)}, notes that the reader must give)
PRINTED = [
    ("Model,HR@1,AUC\n,\t,\nB,1,.2", {"B": ([1, 0.2], [0, 1])}, []),
    ("Model,HR@1,AUC\nX,.5,100\nY,,25 %", {"X": ([0.5, 1], [1, 2]), "Y": ([0.25], [2])},
     ["Read in percent: AUC."]),
    ("Model,HR@1 (%),AUC (%)\nX,7,2.25", {"X": ([0.07, 0.0225], [2, 4])},
     ["Read in percent: HR@1, AUC."]),
    ("Model,HR@10\nX,0.66240000000000001", {"X": ([0.6624], [12])}, []),
    ("Model,HR@10\nX,25.00000000000%", {"X": ([0.25], [12])}, ["Read in percent: HR@10."]),
    ("Model,H@10,F1@10,R2,N10\nX,0.5,0.1,0.2,0.3", {"X": ([0.5], [1])},
     ["H@10 is read as HR@10.", "Left out, no metric known here: F1@10, R2, N10."]),
    (" & Set\nML & ; 1M\nB & \nModel & HR@1\nX & 0.5", {"X": ([0.5], [1])},
     ["Above the names, left out: Set, ML & ; 1M, B."]),
    (r"Model & Kind & HR@9 \\ \multicolumn{2}{l}{BPR} & 0.5 \\", {"BPR": ([0.5], [1])},
     ["Left out, no metric known here: Kind."]),
    ("Model,Data,HR@1\nX,ML,0.5\nImprov.,,3%\n,Gain (%),3%\n p-value,x,y", {"X": ([0.5], [1])},
     ["Left out, no metric known here: Data.", "Left out, no system: Improv., Gain (%), p-value."]),
    ("MRR,HR@1\nX,0.5\nGain,0.1", {"X": ([0.5], [1])}, ["Left out, no system: Gain."]),
    ("Model HR@5\n0.5 0.3\nSAS Rec .4", {"0.5": ([0.3], [1]), "SAS Rec": ([0.4], [1])}, []),
    ("Model,HR@1\nX*,0.5†\nY (ours),0.25 (0.1)", {"X": ([0.5], [1]), "Y": ([0.25], [2])}, []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rows", "notes"), PRINTED)
def test_odd_lines_and_cells_of_a_printed_table(text, rows, notes) -> None:
    table = read_printed(text)
    found = {x.system: ([*x.values.values()], [*x.decimals.values()]) for x in table.rows}
    assert (found, table.notes) == (rows, notes)


def test_a_line_that_says_more_than_n_and_m_belongs_to_the_table() -> None:
    refused(lambda: read_printed("Model,HR@10\n" + "A,0.5\n" * limits.PRINTED.most), "paste less")
    table = read_printed("Model,HR@10\nm = 5,0.5\nn = 6,0.4")
    assert [row.system for row in table.rows] == ["m = 5", "n = 6"]
    assert (table.n, table.m) == (None, None)
    aside = settings_aside("# n = 1,000\nn = 9 or so\nm: 7, n = 1_000", "t")
    assert aside == ("\nn = 9 or so\n", 1000, 7)


def read(text):
    table = read_printed(text)
    return table.rows, table.notes


def values(text):
    return [row.values for row in read(text)[0]]


WANTED = [("BPR", {"HR@10": 0.6624, "NDCG@10": 0.3921}), ("Item KNN", {"HR@10": 0.5651})]
SAME = {
    "semicolons and decimal commas": "system;HR@10;NDCG@10\nBPR;0,6624;0,3921\nItem KNN;0,5651;–",
    "markdown": "| Model | HR@10 | NDCG@10 |\n|---|:-:|--:|\n| BPR | **0.6624** | 0.3921* |\n"
    "| Item KNN | 0.5651 | n/a |",
    "columns of a pdf": "Model HR@10 NDCG@10\nBPR 0.6624 0.3921\nItem KNN 0.5651 -",
    "scatter": "system, HR@10, NDCG@10\nBPR, 0.6624 ± 0.0021, 0.3921\nItem KNN†, 0.5651 (0.3%), -",
}


@pytest.mark.parametrize("kind", SAME)
def test_one_table_in_many_forms(kind: str) -> None:
    rows, notes = read(SAME[kind])
    assert [(row.system, row.values) for row in rows] == WANTED
    assert rows[0].decimals == {"HR@10": 4, "NDCG@10": 4}
    assert notes == []


TABLE = r"""
\begin{table}[t]
\centering
\caption{Results on ML-1M, best in \textbf{bold}.}
\label{tab:x}
\begin{tabular}{l|cc@{}}
\toprule
 & \multicolumn{2}{c}{ML-1M} \\
\cmidrule(lr){2-3}
Model & HR@10 & NDCG@10 \\ \midrule
\rowcolor{gray} BPR~\cite{rendle} & 0.6624 & $0.3921^{\dagger}$ \\ % the baseline
\textbf{SAS\_Rec} & \textbf{71.0}\% & 0.42 $\pm$ 0.01 \\
\multirow{2}{*}{A \& B} & \underline{60.0}\%
  & 0.33 \\
\bottomrule
\end{tabular}
\end{table}
"""


def test_a_table_of_latex_with_all_its_commands() -> None:
    rows, notes = read(TABLE.replace("0.6624", "66.24"))
    assert [row.system for row in rows] == ["BPR", "SAS_Rec", "A and B"]
    wanted = [(0.6624, 0.3921), (0.71, 0.42), (0.6, 0.33)]
    assert [row.values for row in rows] == [{"HR@10": a, "NDCG@10": b} for a, b in wanted]
    assert [row.decimals["HR@10"] for row in rows] == [4, 3, 3]
    assert notes == ["Above the names, left out: ML-1M.", "Read in percent: HR@10."]
    refused(lambda: read(TABLE.replace("0.33", "x")), "line 13, column 'NDCG@10' of the table: 'x'")
    text = (
        "Model & HR@10 \\\\ GainRec & 0.5 \\\\ Improved BPR & 0.4 \\\\ P-Rec & 0.3 \\\\\n"
        "\\%Improv. & 25.00\\% \\\\ $\\Delta$ & 3 \\\\"
    )
    rows, notes = read(text)
    assert [row.system for row in rows] == ["GainRec", "Improved BPR", "P-Rec"]
    assert notes == ["Left out, no system: Improv., Δ."]


NO_SYSTEMS = (
    "Improv.~%Improv.~Improvement~Improv. (%)~Improvement over X~Impr.~Gain~Gain (%)~Δ~Δ (%)~delta~"
    "Rel. Imp.~Relative improvement~p-value~p value~Significance~Max. Gain vs. X~% Improv."
)


@pytest.mark.parametrize("name", NO_SYSTEMS.split("~"))
@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_a_line_that_is_no_system_is_left_out_and_told(name: str, mark: str) -> None:
    text = f"Model,HR@10,NDCG@10\nX,0.5123,0.3\n{name},12.3%,4%\n{name},1,2".replace(",", mark)
    rows, notes = read(text)
    assert [(row.system, row.values) for row in rows] == [("X", {"HR@10": 0.5123, "NDCG@10": 0.3})]
    name = name.lstrip("% ")
    assert notes == [f"Left out, no system: {name}, {name}".rstrip(".") + "."]


@pytest.mark.parametrize("mark", ["-", "--", "---", "–", "—", r"\--", "N/A", "n/a", "n.a.", ""])
def test_cells_without_a_value(mark: str) -> None:
    assert values(f"Model & HR@10 & NDCG@10 \\\\ X & {mark} & 0.3 \\\\") == [{"NDCG@10": 0.3}]
    if mark:
        assert values(f"Model HR@10 NDCG@10\nX {mark} 0.3") == [{"NDCG@10": 0.3}]


NAMES = {
    "H@10": ("HR@10", 1), "N@10": ("NDCG@10", 1), "hr10": ("hr@10", 1), "R@10": ("R@10", 1),
    "Hits@10": ("Hits@10", 1), "HR@10 (%)": ("HR@10", 100), "HR@10(%)": ("HR@10", 100),
    "HR@1 ↑": ("HR@1", 1), "NDCG@10↑": ("NDCG@10", 1), "NDCG@10 (%) ↑": ("NDCG@10", 100),
    "MRR (↑)": ("MRR", 1), "Hit Ratio @ 5": ("Hit Ratio@5", 1), "NDCG20": ("NDCG20", 1),
    "NDCG@5 [in %]": ("NDCG@5", 100), r"HR@10 (\%) $\uparrow$": ("HR@10", 100),
}  # fmt: skip


@pytest.mark.parametrize("printed", NAMES)
@pytest.mark.parametrize("mark", [",", "\t", "&", " "])
def test_names_of_metrics_as_papers_write_them(printed: str, mark: str) -> None:
    name, unit = NAMES[printed]
    if mark == " " and "Ratio" in printed:
        refused(lambda: read(f"Model {printed}\nX 0.5"), "names no metric: found")
        return
    ((key, value),) = values(f"Model{mark}{printed}\nX{mark}0.5")[0].items()
    assert sd.parse_metric(key) == sd.parse_metric(name.replace("20", "@20"))
    assert value == pytest.approx(0.5 / unit)


def test_a_line_says_n_and_m() -> None:
    for text in (
        "m = 99, n = 1000\nModel,HR@10\nX,0.5",
        "Model,HR@10\nX,0.5\n\n# m: 99\nn = 1,000",
        "Model & HR@10 \\\\ X & 0.5 \\\\\nm = 99\nN = 1000",
        "Model;HR@10\nX;0,5\nm = 99; n = 1000",
    ):
        table = read_printed(text)
        assert (table.n, table.m, table.notes) == (1000, 99, [])
        assert [row.values for row in table.rows] == [{"HR@10": 0.5}]


#: Table: its values as fractions; None if it is refused, as it may or may not be in percent.
READ = {
    "Methods HR@5 HR@10 NDCG@5 NDCG@10\nSASRec 0.3 0.4 0.2 0.25": [0.3, 0.4, 0.2, 0.25],
    "HR@5 HR@10 NDCG@5 ↑ NDCG@10\nSASRec 0.3 (0.01) 0.4 ± 0.02 0.2* 0.25†": [0.3, 0.4, 0.2, 0.25],
    "The Methods HR@5 HR@10 NDCG@5 NDCG@10\nSASRec  0.3 0.4  0.2 0.25": [0.3, 0.4, 0.2, 0.25],
    "Model,HR@1,HR@10\nX,1.85,6.50\nY,-,0\nZ,1.91,7.10": [0.0185, 0.065, 0.0, 0.0191, 0.071],
    "Model,HR@1,HR@10\nX,0.85,6.50": None, "Model,HR@1,HR@10\nX,6.50,0.85": None,
    "Model,HR@1,HR@50\nX,0.31,35.00%": [0.31, 0.35],
    "Model,HR@1,HR@50 (%)\nX,0.31,35.00": [0.31, 0.35],
    "Model,HR@10\nX,51.23%\nY,0.98%": [0.5123, 0.0098],
    "Model,HR@10 (%)\nX,51.23\nY,0.98": [0.5123, 0.0098], "Model,HR@10\nX,51.23%\nY,0.98": None,
    "Model,HR@10\nX,51.23%\nY,12.3": [0.5123, 0.123],
    "Model,HR@10\nX,66.2 ± 0.2%\nY,0.9 ± 0.1%": [0.662, 0.009],
    "Model,HR@10,NDCG@10\nX,0.9,0.5\nY,-,1.0": [0.9, 0.5, 1.0],
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_values_of_systems_in_one_unit_where_it_is_clear(text: str) -> None:
    if READ[text] is None:
        refused(lambda: read(text), "line … , column 'HR@1 … of the table: … write %")
    else:
        rows, _ = read(text)
        assert [row.system for row in rows] == re.findall(r"^\w+", text.partition("\n")[2], re.M)
        numbers = [value for row in rows for value in row.values.values()]
        assert numbers == pytest.approx(READ[text], abs=1e-12)


APART = [",", "; ", " ", "\t", " , ", "\n", "\n\n"]
HEADS = ["rank", "ranks", "r", "weight", "weights", "prior", "p", "probability", "count"]


def test_weights_in_order_or_by_rank_with_or_without_a_header():
    rng = np.random.default_rng(1)
    for n in [*range(1, 7)] * 15:
        weights = rng.choice([0, 0.25, 3, 7e-3, 1e300], n)
        weights[rng.integers(n)] = 2
        apart, head = str(rng.choice(APART)), str(rng.choice(HEADS)).title() + "\n"
        listed, between = apart.join(map(str, weights)), apart.strip("\n") or ","
        rows = [f"{i}{between}{x}" for i, x in enumerate(weights, start=1) if x]
        rng.shuffle(rows)
        texts = [listed, head + listed, "rank,weight\n" + "\n".join(rows)]
        for text in texts[:2] if len(rows) == 1 else [*texts, "\n\n".join(rows)]:
            found = weights_of_text(text, n)
            assert found.tolist() == pytest.approx(weights / weights.max(), rel=1e-15)
    assert weights_of_text(" ".join(HEADS) + "\n1,4", 2).tolist() == [0.25, 1]
    # If lines have different numbers of cells, the cells are the weights of ranks 1, 2, ...
    assert weights_of_text("1,2\n3,4,5", 5).tolist() == [0.2, 0.4, 0.6, 0.8, 1]
    assert weights_of_text("1 " * 200_000, 200_000).sum() == 200_000
