"""The bundled rank sets have the values of the papers, and the bundled templates can be read."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sampledash as sd
from sampledash.readers.files import EXAMPLES, bundled, example, read_rank_sets
from tests.readers.reading import ranks_of, refused


def test_movielens_is_that_of_the_paper():
    for name in ("movielens-xyz", "movielens-xyz-ties"):
        assert [s.system for s in example(name)] == ["X", "Y", "Z"]
        for ranks in example(name):
            assert ranks.instances.tolist() == list(range(6040))
            assert (ranks.n.min(), ranks.n.max(), round(ranks.n.mean())) == (1393, 3687, 3541)
    sets, tied_sets = example("movielens-xyz"), example("movielens-xyz-ties")
    # Table 3 of Krichene & Rendle prints Recall@10 of 7.60 (X, here a rerun), 8.84 and 9.42 %.
    assert [int(np.sum(s.ranks <= 10)) for s in sets] == [458, 534, 569]
    assert [int(np.sum(s.ranks <= 100)) for s in sets] == [2298, 2052, 2293]
    y = sets[1]
    assert round(100 * float(np.mean((y.n - y.ranks) / (y.n - 1))), 2) == 85.33  # Y's printed AUC
    assert [int(np.sum(s.ties > 0)) for s in tied_sets] == [0, 2, 2623]
    # movielens-xyz breaks ties at random: a rank is within the ties of movielens-xyz-ties.
    for broken, tied in zip(sets, tied_sets, strict=True):
        assert np.all((tied.ranks <= broken.ranks) & (broken.ranks <= tied.ranks + tied.ties))


def test_the_ranks_of_steck_are_those_of_his_table_2():
    # Steck's Table 2 prints these test values of ATOP, with standard deviations below 0.005.
    printed = [0.803, 0.873, 0.880, 0.861, 0.864, 0.933, 0.915, 0.928, 0.924]
    for ranks, atop in zip(example("movielens-steck"), printed, strict=True):
        assert ranks.instances.tolist() == list(range(3648))
        assert set(ranks.n.tolist()) == {3883}
        middle = ranks.ranks + ranks.ties / 2
        assert np.mean(1 - (middle - 1) / 3882) == pytest.approx(atop, abs=0.011)


def test_examples_are_described():
    sizes = {"paper-abc": 3, "movielens-xyz": 3, "movielens-xyz-ties": 3, "movielens-steck": 9}
    sizes["ncf"] = 2
    assert set(EXAMPLES) == set(sizes)
    for name, entry in EXAMPLES.items():
        assert entry.title
        assert entry.about.endswith(".")
        assert len(example(name)) == sizes[name]
        assert len((bundled() / entry.file).read_bytes()) < 400_000
    assert "10.1145/2827872" in (bundled() / "README.md").read_text(encoding="utf-8")


def test_a_list_is_fresh_and_its_sets_are_shared():
    first = example("paper-abc")
    first.clear()
    assert len(example("paper-abc")) == 3
    assert example("paper-abc")[0] is example("paper-abc")[0]
    said = "unknown example 'netflix': known are paper-abc"
    refused(lambda: example("netflix"), said, ValueError)


def test_the_package_alone_holds_its_examples(tmp_path):
    # After ``pip install --target``, the package is in a folder without the rest of the repository.
    package, place = Path(sd.__file__).parent, tmp_path / "target"
    left_out = shutil.ignore_patterns("__pycache__", "dashboard")
    shutil.copytree(package, place / "sampledash", ignore=left_out)
    code = "import sampledash as sd; print(sd.__file__); print(*map(len, sd.example('paper-abc')))"
    how = {"env": {"PYTHONPATH": str(place)}, "cwd": tmp_path, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", code], **how)
    where, sizes = done.stdout.splitlines() or ("", done.stderr)
    assert sizes == "5 5 5"
    assert str(place) in where


def test_templates_can_be_read():
    folder = Path(str(bundled() / "templates"))
    for name in ("long.csv", "wide.csv"):
        wanted = {"Model A": [3, 412, 57], "Model B": [18, 95, 2004]}
        assert ranks_of(read_rank_sets(folder / name)) == wanted
    sets = read_rank_sets(folder / "counts.csv")
    assert [(s.system, s.n_instances) for s in sets] == [("Model A", 200), ("Model B", 200)]
    sets = read_rank_sets(folder / "run.txt", qrels=folder / "qrels.txt", n=100)
    assert ranks_of(sets) == {"ModelA": [2, 2], "ModelB": [1, 1]}
    others = {"counts.csv", "run.txt", "qrels.txt", "sampled.csv", "from_frameworks.md"}
    others.add("test.negative")
    assert {path.name for path in folder.iterdir()} == {"long.csv", "wide.csv"} | others
