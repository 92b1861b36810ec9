"""Each command and example of README, documentation, CONTRIBUTING and workflows is run here, or, if
it installs, serves or measures, names what exists."""

import doctest
import io
import re
import runpy
import shlex
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.command_line import main
from sampledash.metrics import KINDS, Kind
from tests import oracles

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "pages").glob("*.md"))
TEXTS = [ROOT / "README.md", *PAGES]
EXAMPLES = ROOT / "docs" / "examples"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def blocks(path: Path, language: str) -> list[str]:
    """Return the blocks of a text whose first line names the language, or no language."""
    fenced = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
    return [text for name, text in fenced if name == language]


def lines(language: str) -> list[str]:
    """Return the different commands of all texts, with their comments."""
    texts = (text for path in TEXTS for text in blocks(path, language))
    every = (line for text in texts for line in text.replace("\\\n    ", "").splitlines())
    return list({line.partition("  #")[0].rstrip(): line for line in every if line}.values())


@pytest.mark.parametrize("path", [x for x in TEXTS if ">>>" in x.read_text()], ids=lambda x: x.stem)
def test_examples_in_python_are_true(path: Path) -> None:
    # Numbers of X, Y, Z agree with Krichene & Rendle 2020, Table 3 (8.84 for Y) and Figure 6.
    text = path.read_text("utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.attempted > result.failed == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder with the files that commands name; readers have files of their own."""
    data, home = ROOT / "sampledash" / "data", tmp_path_factory.mktemp("docs")
    (home / "results").mkdir()
    (home / "scores").mkdir()
    for name, source in (
        ("ranks.csv", "paper_abc.csv"), ("results/ranks.csv", "paper_abc.csv"),
        ("printed.csv", "printed_table.csv"), ("sampled.csv", "templates/sampled.csv"),
    ):  # fmt: skip
        (home / name).write_bytes((data / source).read_bytes())
    (home / "printed-1k.txt").write_text("system,R@1,R@5,R@10\nVSRN,0.628,0.897,0.951\n")
    (home / "documents.csv").write_text("n,A,B\n1000,1,2\n1000,1,3\n1000,90,7\n")
    rng, users, relevant = np.random.default_rng(0), np.arange(4), 7
    np.savez(home / "scores.npz", pos=rng.normal(1, 1, 50), neg=rng.normal(size=(50, 20)))
    names = ["system", "instance", "item"]
    scores = pd.MultiIndex.from_product([["A", "B"], users, range(150)], names=names)
    scores = scores.to_frame(index=False).assign(score=rng.normal(size=len(scores)))
    scores.to_parquet(home / "scores" / "part-0.parquet")
    strata = np.where(scores["item"] < 20, "hard", "easy")
    marked = scores.assign(relevant=scores["item"].eq(relevant).astype(int), stratum=strata)
    marked.to_csv(home / "scores.csv")
    pd.DataFrame({"instance": users, "item": relevant}).to_parquet(home / "test.parquet")
    seen, drawn = ([rng.permutation(np.arange(8, 150))[:k] for _ in users] for k in (40, 9))
    train = pd.DataFrame({"instance": users.repeat(40), "item": np.concatenate(seen)})
    train.to_parquet(home / "train.parquet")
    train.to_csv(home / "train.csv", index=False)
    train.to_csv(home / "ml-1m.train.rating", sep="\t", header=False, index=False)
    rows = ["\t".join(map(str, (f"({u},{relevant})", *drawn[u]))) for u in users]
    (home / "ml-1m.test.negative").write_text("\n".join(rows) + "\n")
    items = np.column_stack([np.full(4, relevant), drawn]).ravel()
    lists = pd.DataFrame({"instance": users.repeat(10), "item": items})
    lists.assign(relevant=(items == relevant).astype(int)).to_csv(home / "lists.csv", index=False)
    return home


def run(line: str, capsys, monkeypatch) -> int:
    """Run the commands of a line; each reads what the one before has printed."""
    code, printed = 0, ""
    for part in re.split(r" \| | && ", line.partition("  #")[0]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(printed.encode())))
        code = main(shlex.split(part.removeprefix("sampledash ")))
        printed, complaint = capsys.readouterr()
        assert code in (0, 1), complaint
    return code


@pytest.mark.parametrize("line", lines("sh"))
def test_commands_run(line: str, folder, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    code = run(line, capsys, monkeypatch)
    # Negatives order A, B, C wrongly by Recall@10 (Krichene & Rendle 2020, Tables 1 and 2).
    assert code == 1 or "exit code 1" not in line
    assert code == 0 or "sampledash check" in line


def test_commands_that_install_serve_or_measure_name_what_exists() -> None:
    known = r"python3 -m venv|(\.venv/bin/)?pip install|\.venv/bin/python -m|"
    known += r"sampledash (serve|lessons)"  # which the tests of the command line run
    for line in lines(""):
        assert re.match(known, line), line
    ci = [ROOT / ".ci" / "run", *(ROOT / ".github" / "workflows").glob("*.yml")]
    every = "\n".join(path.read_text("utf-8") for path in [*TEXTS, *ci])
    extras = set(",".join(re.findall(r"pip install[^\n]*\[([a-z,]+)\]", every)).split(","))
    assert {"test", "docs", "warehouse"} <= extras <= set(PROJECT["optional-dependencies"])
    for module in set(re.findall(r"python -m ((?:tests|docs)[\w.]*)", every)):
        assert find_spec(module), module
    benchmarks = "".join(x.read_text() for x in (ROOT / "tests" / "benchmarks").glob("*.py"))
    assert all(f"def {only}(" in benchmarks for only in re.findall(r"--only (\w+)", every))
    # CI tests and builds by the commands of README.
    for command in ("pytest -n 2 --dist loadgroup", "mkdocs build --strict -f docs/mkdocs.yml"):
        assert command in TEXTS[0].read_text("utf-8")
        assert any(command in path.read_text("utf-8") for path in ci)
    for path in re.findall(r"(?:--ignore|PIP_CONSTRAINT:|- run:) (\.?[a-z]+/[\w./]+)", every):
        assert (ROOT / path).exists(), path
    versions = {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: 3." in text}
    assert set(re.findall(r"\"(3\.\d+)\"", every)) == versions


def test_a_wrong_order_fails_the_pull_request(folder, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    workflow = (EXAMPLES / "sampled-metrics.yml").read_text()
    (check,) = re.findall(r"- run: (sampledash .*)", workflow)
    assert run(check, capsys, monkeypatch) == 1
    (folder / "results" / "ranks.csv").write_text("instance,n,A,B\n1,200,1,90\n2,200,2,150\n")
    assert run(check, capsys, monkeypatch) == 0


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda x: x.stem)
def test_scripts_print_what_the_pages_show(path: Path, capsys) -> None:
    assert len(path.read_text().splitlines()) <= 40
    runpy.run_path(str(path))
    printed = capsys.readouterr().out
    assert any(printed in blocks(page, "text") for page in PAGES), printed


def test_each_public_name_has_its_place_in_the_documentation() -> None:
    stub = (ROOT / "sampledash" / "__init__.pyi").read_text()
    names = re.findall(r"^from (\S+) import (.*)$", stub, re.M)
    public = {f"{home}.{name}" for home, some in names for name in some.split(", ")}
    api = "\n".join(path.read_text("utf-8") for path in PAGES if path.stem.startswith("api-"))
    assert sorted(re.findall(r"^::: (\S+)$", api, re.M)) == sorted(public)


def test_a_metric_by_contributing_alone(monkeypatch) -> None:
    row, test = blocks(ROOT / "CONTRIBUTING.md", "python")
    monkeypatch.setattr("sampledash.metrics.KINDS", KINDS | eval(f"{{{row}}}", {"Kind": Kind}))
    scope = {"sd": sd, "pytest": pytest, "oracles": oracles, "WITHOUT": oracles.WITHOUT}
    exec(test, scope)
    scope["test_rank_biased_precision_is_its_definition"]()
    for line in re.findall(r"^\| .* \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)[2:]:
        _, rows, files, name, tests = re.findall(r"[^|]+", line)
        first, *others = re.findall(r"`(.*?)`", files.replace("_NN_name", "_05_flips") + tests)
        assert all((ROOT / x).exists() for x in (first, *others) if "/" in x), line
        text = (ROOT / first.replace(".json", ".py")).read_text()
        assert all(x in text for x in re.findall(r"`(.*?)`", rows + name)), line


def test_links_lead_somewhere_and_versions_agree() -> None:
    for path in (ROOT / x for x in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")):
        for link in re.findall(r"\]\(([^)]+)\)", path.read_text("utf-8")):
            assert link.startswith("https://") or (ROOT / link.partition("#")[0]).exists(), link
    assert len(TEXTS[0].read_text("utf-8").splitlines()) <= 180
    latest = re.search(r"^## \[(\d.*?)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    cited = (ROOT / "CITATION.cff").read_text()
    assert latest[1] == sd.__version__
    assert f"version: {latest[1]}\ndate-released: {latest[2]}" in cited
