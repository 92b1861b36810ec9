"""Allowed imports, light start-up, the public API, and the truth of the examples."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import sampledash as sd
from sampledash.analyses import choices
from sampledash.command_line import options
from sampledash.correction import CORRECTIONS
from sampledash.dashboard import state
from sampledash.estimation.rank_distribution import LEARNED
from sampledash.estimation.vectors import VECTORS
from sampledash.metrics import KINDS
from sampledash.protocol import Protocol
from sampledash.schemes import SCHEMES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "sampledash"
MODULES = sorted(PACKAGE.rglob("*.py"))

PAGES = {path.stem for path in (PACKAGE / "dashboard" / "pages").glob("*.py")}
PAGES |= {"pages", "estimate"}  # the Correct page is "correct" and "estimate"

#: A part (module or subpackage) may import itself and the parts in the lines above its line.
LINES = """
types leftovers rows
checks rank_counts
strata
by_weight
schemes
metrics
sampling rank_sets
pmf_sums
catalogue
expectation sampled_rank_sets quadrature stopping evaluator grids
least_squares scores
spectral
correction
protocol
simulation
comparison
estimation
readers papers
lab
report
auditing
analyses
command_line dashboard
__main__
"""
LEVELS = {part: level for level, line in enumerate(LINES.splitlines()) for part in line.split()}
CORE = {part for part in LEVELS if LEVELS[part] <= LEVELS["simulation"]}

#: The only mutable classes: they are built step by step, or hold work in progress.
CHANGING = {"Evaluation", "Limit", "_Search"}


def part_of(path: Path) -> str:
    """Return the top-level module or subpackage of a file; "" for the package itself."""
    relative = path.relative_to(PACKAGE).with_suffix("")
    return "" if relative.parts == ("__init__",) else relative.parts[0]


@cache
def parsed(path: Path) -> list[Any]:
    return list(ast.walk(ast.parse(path.read_text())))


def nodes(kind: type) -> Iterator[tuple[Path, Any]]:
    return ((path, node) for path in MODULES for node in parsed(path) if isinstance(node, kind))


@cache
def imports(path: Path) -> list[str]:
    """Return all full dotted names that a module imports, also in functions and TYPE_CHECKING."""
    found = []
    for node in parsed(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def foreign(path: Path) -> set[str]:
    tops = {name.split(".")[0] for name in imports(path)}
    return tops - set(sys.stdlib_module_names) - {"sampledash"}


def inside(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("sampledash.")}


#: What a part may import besides the standard library; other parts may import only NumPy.
ALLOWED = dict.fromkeys(CORE, "numpy scipy") | {
    "comparison": "numpy scipy pandas", "estimation": "numpy scipy pandas", "lab": "numpy scipy",
    "readers": "numpy pandas pyarrow", "papers": "numpy pandas pyarrow",
    "report": "numpy pandas pyarrow jinja2", "auditing": "numpy scipy pandas pyarrow",
    "command_line": "numpy pandas",
    "analyses": "numpy pandas plotly", "dashboard": "numpy pandas plotly",
}  # fmt: skip


def may_import(path: Path, part: str) -> set[str]:
    if path.stem in ("warehouse", "queries"):  # engines are optional and imported on request
        return {"ibis", "pyarrow", "pyspark"}
    more = {"pandas", "pyarrow"} if (part, path.stem) == ("lab", "reading") else set()
    if part == "dashboard":
        more = {"streamlit"}
    return {*ALLOWED.get(part, "numpy").split(), *more}


def test_every_part_has_its_place_and_none_imports_in_a_circle() -> None:
    parts = {part_of(path) for path in MODULES} - {""}
    assert parts == set(LEVELS), f"{parts ^ set(LEVELS)}"
    # A circle of imports would make it impossible to read a module alone.
    files = {}
    for path in MODULES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    arrows = {}
    for name, path in files.items():
        named = {x for full in imports(path) for x in (full, full.rpartition(".")[0])}
        # A module may name its own package to reach other modules, though the package imports it.
        arrows[name] = {x for x in named & files.keys() if not name.startswith(f"{x}.")}
    TopologicalSorter(arrows).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_arrows_point_one_way(path: Path) -> None:
    part = part_of(path)
    # "from sampledash import x" must name a part, not a function of the public API, which gathers
    # names from the parts; only the dashboard may use the API.
    others, level = inside(path) - {part}, LEVELS.get(part, LEVELS["dashboard"])
    above = {x for x in others if LEVELS.get(x, 0 if part == "dashboard" else level) >= level}
    assert not above, f"{part} imports {above}"
    used = foreign(path) - may_import(path, part)
    assert not used, f"{path.relative_to(ROOT)} imports {used}"
    # scipy.stats takes a second to import and is slow; sampledash has its own functions.
    assert not any(name.startswith("scipy.stats") for name in imports(path))
    # A page must not import another page: shared code is outside the pages.
    folder = path.parent if path.parent.name in PAGES else path
    pages = {x.split(".")[2] for x in imports(path) if x.startswith("sampledash.dashboard.")}
    assert "pages" in path.parts or pages & PAGES <= {folder.stem}


#: Names of the package that must remain, since other people's scripts use them.
PROMISED = """
metric parse_metric Metric Sampling expected variance posterior correction retained
RankSet read_rank_sets example mean expected_mean std_of_mean curve flips right_from Flip
probability_of_order verdict simulate significance negatives_needed instances_needed
counterexample SampledRankSet rank_distribution estimate Estimate bounds bounds_from_table
"""


def test_the_public_names_exist_and_tests_carry_their_own_data() -> None:
    assert all(hasattr(sd, name) for name in sd.__all__)
    assert set(PROMISED.split()) <= set(sd.__all__)
    assert isinstance(sd.__version__, str)
    assert (PACKAGE / "py.typed").exists()
    outside = "/work" + "/shared"
    for path in (ROOT / "tests").rglob("*.py"):
        assert outside not in path.read_text(), path


def public_callables() -> Iterator[tuple[str, Callable[..., object]]]:
    for name in sd.__all__:
        value = getattr(sd, name)
        yield name, value
        for method in vars(value).values() if isinstance(value, type) else ():
            if inspect.isfunction(method) and not method.__name__.startswith("_"):
                yield f"{name}.{method.__name__}", method


def test_the_scheme_has_one_default_everywhere_that_is_written_once() -> None:
    schemes = {}
    for name, value in public_callables():
        given = {} if value is sd.Options else inspect.signature(value).parameters
        for parameter in given.values():
            if parameter.name == "scheme":
                schemes[name] = parameter.default
    assert {"Sampling", "SampledRankSet", "bounds_from_table", "sample_ranks"} <= set(schemes)
    schemes["options of comparisons"] = Protocol.of({}).scheme
    schemes["pages"] = choices.SCHEMES[state.DEFAULTS["scheme"]]
    schemes["command line"] = options.OPTIONS["scheme"]["default"]
    assert set(schemes.values()) == {"without-replacement"}, schemes
    written = []
    for path, node in nodes(ast.FunctionDef):
        of = node.args
        pairs = [*zip(reversed(of.args), reversed(of.defaults), strict=False)]
        pairs += zip(of.kwonlyargs, of.kw_defaults, strict=True)
        usual = [x for name, x in pairs if name.arg == "scheme" and isinstance(x, ast.Constant)]
        written += [f"{path.name}, {node.name}"] * len(usual)
    assert written == []


#: Names of registry entries: only their registry and ``papers`` may compare values with them.
REGISTRIES = {
    "metrics.py": KINDS,
    "schemes.py": SCHEMES,
    "correction.py": {*CORRECTIONS, *(kind.label for kind in CORRECTIONS.values())},
    "rank_distribution.py": {*LEARNED, *(row.label for row in LEARNED.values())},
    "vectors.py": {*VECTORS, *(row.label for row in VECTORS.values() if row.label)},
}


def test_only_a_registry_compares_with_the_names_of_its_rows() -> None:
    compared = []
    for path, node in nodes(ast.Compare):
        others = {name for home, rows in REGISTRIES.items() if path.name != home for name in rows}
        inner = (each for side in (node.left, *node.comparators) for each in ast.walk(side))
        words = {each.value for each in inner if isinstance(each, ast.Constant)}
        wrong = words & others and "papers" not in path.parts
        compared += [f"{path.name}: {ast.unparse(node)}"] * bool(wrong)
    for path in PACKAGE.rglob("*.jinja"):
        quoted = set(re.findall(r"\"([^\"]*)\"", path.read_text()))
        names = {name for rows in REGISTRIES.values() for name in rows}
        compared += [f"{path.name}: {name}" for name in quoted & names]
    assert compared == []


def test_the_start_is_light() -> None:
    app = ROOT / "app.py"
    assert foreign(app) <= {"plotly", "streamlit"}  # Streamlit imports plotly anyway
    assert inside(app) <= {"dashboard"}
    assert len(app.read_text().splitlines()) < 60
    slow = {"streamlit", "plotly", "jinja2", "scipy.stats"}
    code = f"import sys, sampledash; print({slow!r} & set(sys.modules))"
    how = {"capture_output": True, "text": True, "check": True, "cwd": ROOT}
    assert subprocess.run([sys.executable, "-c", code], **how).stdout.strip() == "set()"


def test_objects_do_not_change_but_for_those_that_are_meant_to() -> None:
    changing = set()
    for _, node in nodes(ast.ClassDef):
        written = [ast.unparse(each) for each in node.decorator_list]
        if any("dataclass" in each and "frozen=True" not in each for each in written):
            changing.add(node.name)
    assert changing == CHANGING


def test_every_sentence_is_said_and_whatever_is_said_is_a_sentence() -> None:
    templates = [
        path.read_text() for path in PACKAGE.rglob("*.jinja") if "{% macro" in path.read_text()
    ]
    macros = {name for text in templates for name in re.findall(r"{%-? macro (\w+)\(", text)}
    inner = {name for text in templates for name in re.findall(r"[{( ](\w+)\(", text)}
    said = {name for path in MODULES for name in re.findall(r"\bsay\.(\w+)", path.read_text())}
    assert said <= macros
    assert macros <= said | inner, macros - said - inner


#: Private names of Streamlit and Plotly in use, which any minor version may change.
PRIVATES = """
sessions.py streamlit.runtime.get_instance
sessions.py streamlit.runtime.scriptrunner.get_script_run_ctx
sessions.py streamlit.runtime.state.SessionState
sessions.py _fragment_storage
sessions.py _session_state
state.py streamlit.runtime.scriptrunner.get_script_run_ctx
state.py streamlit.runtime.scriptrunner_utils.script_requests.ScriptRequestType
state.py _old_state
state.py _state
uploads.py streamlit.runtime.uploaded_file_manager.DeletedFile
picture.js _fullData
picture.js _fullLayout
html.js _fullLayout
"""


def test_what_is_private_is_listed_and_its_package_pinned_to_a_minor_version() -> None:
    used = set()
    for path in MODULES:
        inner = ("streamlit.runtime", "streamlit.elements", "streamlit.web", "plotly.basedatatypes")
        used |= {f"{path.name} {name}" for name in imports(path) if name.startswith(inner)}
        if part_of(path) == "dashboard":
            attributes = (node for node in parsed(path) if isinstance(node, ast.Attribute))
            others = (x for x in attributes if ast.unparse(x.value) not in ("self", "cls"))
            used |= {f"{path.name} {x.attr}" for x in others if re.match("_[a-z]", x.attr)}
    for path in PACKAGE.rglob("*.js"):
        used |= {f"{path.name} {name}" for name in re.findall(r"\.(_[a-z]\w*)", path.read_text())}
    assert used == set(PRIVATES.strip().splitlines())
    for name in ("streamlit", "plotly"):
        major, minor = map(int, version(name).split(".")[:2])
        pin = f"{name}>={major}.{minor},<{major}.{minor + 1}"
        assert pin in (ROOT / "requirements.txt").read_text().splitlines()


@pytest.mark.parametrize(
    "path", [x for x in MODULES if ">>> " in x.read_text()], ids=lambda x: x.stem
)
def test_examples_of_a_module_are_what_it_answers(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed


#: What a reader finds at the top of the repository.
TOP = """
.ci .github .gitignore .streamlit CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE README.md app.py
assets docs pyproject.toml requirements.txt sampledash tests
"""


def test_the_top_of_the_repository_is_short() -> None:
    ignored = {".git", *(ROOT / ".gitignore").read_text().replace("/", "").split()}
    names = {x.name for x in ROOT.iterdir() if not x.name.endswith(".egg-info")}
    assert names - ignored <= set(TOP.split())
