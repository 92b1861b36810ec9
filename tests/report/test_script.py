"""The exported Python script, run in a new process, prints what the package computes."""

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sampledash as sd
from sampledash.report.script import _correction, python_script
from tests.report.made import WITHOUT, findings, movielens, of_ranks, several

ROOT = Path(__file__).parents[2]


def run(script, folder, *, alone=False):
    (folder / "script.py").write_text(script, encoding="utf-8")
    if alone:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        how = {"cwd": folder, "env": env, "capture_output": True, "encoding": "utf-8"}
        return subprocess.run([sys.executable, "script.py"], check=True, **how).stdout
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        runpy.run_path("script.py", run_name="__main__")
    return said.getvalue()


def check(found, folder, *, alone=False):
    script = python_script(found)
    assert max(map(len, script.splitlines())) <= 100 or "RankSet" in found.python
    imports = [line for line in script.splitlines() if line.startswith(("import", "from"))]
    assert imports == ["import sampledash as sd"]
    assert set(re.findall(r"\bsd\.(\w+)", script)) <= set(sd.__all__)
    printed = run(script, folder, alone=alone)
    protocol, m = found.protocol, found.m
    reading = {"ties": protocol.ties, "weighting": protocol.weighting}
    drawing = {name: getattr(protocol, name) for name in ("scheme", "odds", "fit_scheme")} | reading
    how = drawing | {"correction": protocol.correction}
    lines = printed.splitlines()
    assert [line for line in lines if re.match(r"  ['\"].*: exact ", line)] == [
        f"  {rs.system!r}: exact {sd.mean(metric, rs, **reading):.2%}, sampled "
        f"{sd.expected_mean(metric, rs, m, **how):.2%} +- "
        f"{sd.std_of_mean(metric, rs, m, **how):.2%}"
        for metric in found.metrics
        for rs in found.sets
    ]
    drawing |= {"m_max": found.m_max, "m_values": found.orders.m_values.tolist()}
    table = sd.verdict(found.metrics, found.sets, m, [protocol.correction], **drawing)
    assert lines[-len(table) - 1 :] == table.to_string(index=False).splitlines()
    assert all(row.state in printed for row in found.verdict.itertuples())
    return printed


def test_an_example_and_weighting_by_relevant_items(tmp_path):
    printed = check(movielens(), tmp_path, alone=True)
    # Table 3 of Krichene & Rendle 2020 prints 8.84 for Y. X and Y change order last at m = 970.
    assert "  'Y': exact 8.84%" in printed
    assert re.search(r"Recall@10 +uncorrected +Y +X .* wrong +970 ", printed)
    check(several("relevant-items"), tmp_path)


PASTED = "n = 10000\nA: 100, 100, 100, 100, 100\nB: 40, 40, 8437, 9266, 4482"
DRAWS = np.random.default_rng(5).integers(1, 500, 80).tolist()
UPLOADED = "".join(f"{s},{r}\n" for s, r in zip(['"A,a"', "=B"] * 40, DRAWS, strict=True))
TIES = "[sd.RankSet('A', [1, 5], 40, ties=[3, 0]), sd.RankSet('B', [2, 3], 40, ties=[0, 9])]"
POPULAR = {"scheme": "popularity", "odds": 2.5, "correction": "rank estimate"}
FITTED = {**WITHOUT, "correction": "BV 0.01", "fit_scheme": "with-replacement"}
WITH = {"scheme": "with-replacement"}
SHORT = "[sd.RankSet('A', [1, 7, 30], 60), sd.RankSet('B', [3, 4, 5], 60)]"
OWN = sd.correction("bias-variance", gamma=0.3, prior=np.arange(60, 0, -1.0))
WRITTEN = "[sd.RankSet('A', [1, 5, 90], 100), sd.RankSet('B', [2, 30, 40], 100)]"
SOURCES = [
    (f"sd.parse_rank_text({PASTED!r})", ["AP", "NDCG@10"], 99, WITH, 300),
    ('sd.read_rank_sets("my ranks.csv", n=500)', ["Recall@10", "AP"], 50, FITTED, 60),
    (WRITTEN, ["AP"], 10, POPULAR, 30),
    (TIES, ["AP"], 10, {**WITHOUT, "ties": "pessimistic"}, None),
    (SHORT, ["AP"], 8, {**WITH, "correction": OWN}, 50),
]


@pytest.mark.parametrize(("python", "metrics", "m", "options", "m_max"), SOURCES)
def test_sources_and_options(python, metrics, m, options, m_max, tmp_path, monkeypatch):
    (tmp_path / "my ranks.csv").write_text("system,rank\n" + UPLOADED)
    monkeypatch.chdir(tmp_path)
    selected = [1, 2, 3, 4, 8, 20, 21, 50] if python is SHORT else None
    found = findings("x", python, eval(python), metrics, m, options, m_max, m_values=selected)
    check(found, tmp_path)
    looked_at = "1, 2, 3, 4, 8, 20, 21, 24, 25, 26, 28, 35, 50"
    assert (looked_at in python_script(found)) is (python is SHORT)


EXIT = "raise SystemExit(9)"
NASTY = [f'"""\n{EXIT}\n"""', f"'); {EXIT} #", "{ranks.n}\\", "a\nb", "Ünï ✓", f"\r\n{EXIT}"]


@pytest.mark.parametrize("name", NASTY)
def test_no_name_becomes_code(name, tmp_path):
    found = of_ranks({name: [1, 4], "B": [2, 9]}, 20, ["AP"], 5, source=name)
    check(found, tmp_path)


GIVEN = [("BV", {"gamma": 0.25}), ("CLS", {}), ("CLS", {"nonnegative": False}), ("LS", {})]


@pytest.mark.parametrize(("name", "given"), GIVEN)
def test_a_correction_with_a_prior_is_written_whole(name, given):
    recipe = sd.correction(name, **given, prior=[4, 2, 1, 1])
    again = eval(_correction(recipe))
    assert repr(again) == repr(recipe)
    assert (again.gamma, again.nonnegative) == (recipe.gamma, recipe.nonnegative)
    assert again.prior.tolist() == recipe.prior.tolist()


def test_what_need_not_be_said_is_not():
    short, long = ([sd.RankSet("A", [1, 7], n), sd.RankSet("B", [3, 4], n)] for n in (60, 600))
    cls, estimated = ({**WITH, "correction": name} for name in ("CLS", "rank-estimate"))
    # The rank estimate is evaluated at every m, so that the script needs no list of m.
    cases = ("std", short, 5, WITHOUT, None), ("m_values", short, 8, cls, 20)
    for word, sets, m, options, m_max in (*cases, ("m_values", long, 8, estimated, 450)):
        found = findings("x", "s", sets, ["AP"], m, options, m_max)
        vars(found)["std"] = np.full((2, 1), np.nan)
        assert word not in python_script(found)
