"""Tables as papers print them."""

from __future__ import annotations

import pytest

from sampledash.readers.errors import ReadError
from sampledash.readers.printed import read_printed

WANTED = [("BPR", {"HR@10": 0.6624, "NDCG@10": 0.3921}), ("Item KNN", {"HR@10": 0.5651})]
SAME = {
    "csv": "system, HR@10, NDCG@10\nBPR, 0.6624, 0.3921\nItem KNN, 0.5651, -",
    "tabs": "Model\tHR@10\tNDCG@10\nBPR\t0.6624\t0.3921\nItem KNN\t0.5651\t",
    "semicolons and decimal commas": "system;HR@10;NDCG@10\nBPR;0,6624;0,3921\nItem KNN;0,5651;–",
    "latex": r"""\toprule
        Model & HR @ 10 & NDCG @ 10 \\ \midrule
        BPR & \textbf{0.6624} & $0.3921$ \\
        Item KNN & 0.5651 & -- \\ \bottomrule""".replace("--", "-"),
    "markdown": "| Model | HR@10 | NDCG@10 |\n|---|:-:|--:|\n| BPR | **0.6624** | 0.3921* |\n"
                "| Item KNN | 0.5651 | n/a |",
    "columns of a pdf": "Model HR@10 NDCG@10\nBPR 0.6624 0.3921\nItem KNN 0.5651 -",
    "scatter": "system, HR@10, NDCG@10\nBPR, 0.6624 ± 0.0021, 0.3921\nItem KNN†, 0.5651 (0.003), -",
    "other columns": "system, HR@10, F1@10, NDCG@10\nBPR, 0.6624, 0.1, 0.3921\n"
                     "Item KNN, 0.5651, 0.2, ",
}  # fmt: skip


@pytest.mark.parametrize("kind", SAME)
def test_one_table_in_many_forms(kind: str) -> None:
    rows, notes = read_printed(SAME[kind])
    assert [(row.system, row.values) for row in rows] == WANTED
    assert rows[0].decimals == {"HR@10": 4, "NDCG@10": 4}
    assert notes == (["Left out, no metric known here: F1@10."] if "F1" in SAME[kind] else [])


def test_percent_goes_by_column_and_keeps_the_precision() -> None:
    rows, notes = read_printed("system, HR@10, NDCG@10\nA, 66.2, 0.392\nB, 50.9, 0.3")
    assert rows[0].values == {"HR@10": pytest.approx(0.662), "NDCG@10": 0.392}
    assert rows[0].decimals == {"HR@10": 3, "NDCG@10": 3}
    assert notes == ["HR@10 is read in percent."]
    (row,), _ = read_printed("system, HR@10\nA, 0.9 %")
    assert row.values == {"HR@10": pytest.approx(0.009)}


WRONG = {
    "system, HR@10": "no values",
    "": "no values",
    "system, Fame@10\nA, 0.5": "line 1 of the table names no metric: found 'system', 'Fame@10'",
    "system, HR@10\n\nA, high": "line 3, column 'HR@10' of the table: 'high' is not a number",
    "system, HR@10\nA, 0.5, 0.6": "line 2 of the table has 3 cells, but the first line names 2",
    "system, HR@10\nA, 0.5\nB, 1.3\nC, 0.4": "line 3, column 'HR@10' of the table: 1.3 is above 1",
    "system, HR@10\nA, 0.5\nA, 0.6": "line 3 of the table names 'A' again",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_by_its_line(text: str) -> None:
    with pytest.raises(ReadError) as error:
        read_printed(text)
    assert WRONG[text] in str(error.value)


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
    rows, notes = read_printed(TABLE.replace("0.6624", "66.24"))
    assert [row.system for row in rows] == ["BPR", "SAS_Rec", "A and B"]
    assert [row.values for row in rows] == [
        {"HR@10": 0.6624, "NDCG@10": 0.3921}, {"HR@10": 0.71, "NDCG@10": 0.42},
        {"HR@10": 0.6, "NDCG@10": 0.33},
    ]  # fmt: skip
    assert [row.decimals["HR@10"] for row in rows] == [4, 3, 3]
    assert notes == ["Above the names, left out: ML-1M.", "HR@10 is read in percent."]


def test_a_wrong_cell_of_latex_is_found_on_its_line() -> None:
    with pytest.raises(ValueError, match=r"line 13, column 'NDCG@10' of the table: 'x' is not"):
        read_printed(TABLE.replace("0.33", "x"))


def test_a_metric_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1 of the table names HR@10 more than once"):
        read_printed("Model,HR@10,HR@10\nA,0.1,0.2")
