"""The printed cells: their names, and the settings that the papers tell."""

import numpy as np

import sampledash as sd
from sampledash.papers.krichene import CORRECTIONS, SETTINGS, cells


def test_every_cell_has_a_name_and_a_setting() -> None:
    found = {table: cells(table) for table in (1, 2, 3, 4)}
    assert len({name for each in found.values() for name in each["cell"]}) == 204
    assert found[4]["cell"][4] == "Table 4, Recall@10, X vs Y, BV 0.1"
    assert found[2]["cell"][0] == "Table 2, AUC, A"
    for table, each in found.items():
        systems = {ranks.system for ranks in sd.example(SETTINGS[table].example)}
        assert set("".join(each["row"])) <= systems
        assert all(str(sd.parse_metric(metric)) == metric for metric in each["metric"])
    assert all(str(sd.parse_correction(column)) == column for column in CORRECTIONS)


def test_settings_quote_the_paper() -> None:
    # Section 4.2: m = 99, n = 10,000, repeated 1000 times; section 6: m = 100, 100 times.
    assert [(SETTINGS[t].m, SETTINGS[t].runs) for t in (2, 3, 4)] == [(99, 1000)] + [(100, 100)] * 2
    assert {int(n) for ranks in sd.example(SETTINGS[2].example) for n in ranks.n} == {10_000}
    for ranks in sd.example(SETTINGS[3].example):  # corrections at one n: the mean of all
        assert round(float(np.mean(ranks.n))) == 3541
