"""For your paper: what the dialog offers is what the page shows, and the script prints it."""

import subprocess
import sys
from pathlib import Path

import pandas as pd

import sampledash as sd
from sampledash.report.numbers import percent
from tests.dashboard.driver import open_page, run

ROOT = Path(__file__).parents[2]


def page(**query):
    return open_page("consistency", **query)


def texts(at):
    """Open the dialog: paragraph, LaTeX, BibTeX and script."""
    at.button(key="paper").click()
    run(at)
    return [code.value for code in at.code][-4:]


def test_an_own_file_becomes_a_sentence_and_a_script_that_prints_its_numbers(tmp_path):
    ranks = pd.DataFrame({"A": [3, 40, 7, 800], "B": [5, 20, 300, 60], "n": 900})
    data = ranks.to_csv(index=False).encode()
    at = page(source="Upload a file", metrics=["AP"])
    at.file_uploader(key="ranks_file").upload("mine.csv", data)
    run(at)
    paragraph, latex, bibtex, script = texts(at)
    # AP of one item is 1 / rank: by hand.
    exact = {name: (1 / ranks[name]).mean() for name in "AB"}
    for value in exact.values():
        assert percent(value) in paragraph
        assert f"{100 * value:.2f}" in latex
    assert "100 negatives" in paragraph
    assert "\\cite" in latex
    assert "krichene2020sampled" in bibtex
    (tmp_path / "mine.csv").write_bytes(data)
    (tmp_path / "verdict.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, "verdict.py"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in "AB":
        assert f"{exact[name]:.2%}" in ran.stdout
    sets = [sd.RankSet(name, ranks[name], 900) for name in "AB"]
    chance = sd.verdict(["AP"], sets, 100, scheme="without-replacement")["probability"].iloc[0]
    assert f"{chance:.6f}"[:6] in ran.stdout
