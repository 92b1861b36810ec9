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
