"""Small faults as a careless change makes them: by mutmut's operators, or written by hand."""

import difflib
import random
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation import mutators

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sampledash"
_ROOMS = """comparison: comparison/*.py; estimation: estimation/*.py
stopping: evaluator.py stopping.py; rank sets: *rank_sets.py; least squares: least_squares.py
readers: readers/*.py; lab: lab/*.py; report: report/*.py; words: analyses/*/words.py
command line: command_line/*.py"""
ROOMS = dict(row.strip().split(": ") for row in _ROOMS.replace("\n", ";").split(";"))
_SWAPPED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"} | {
    "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
}  # fmt: skip


# These nodes are not changed: types, imports, and ``strict`` arguments have no effect.
_NOTHING = m.OneOf(m.Annotation(), m.Arg(keyword=m.Name("strict")), m.ImportFrom(), m.Import())


def _swap_names(node: cst.Name) -> Iterator[cst.Name]:
    if node.value in _SWAPPED:
        yield node.with_changes(value=_SWAPPED[node.value])


def _leave_half(node: cst.BooleanOperation) -> Iterator[cst.BaseExpression]:
    yield node.left
    yield node.right


def _leave_out(node: cst.Tuple) -> Iterator[cst.Tuple]:
    """Yield the tuple without one element: a cache or sort key would then lack a part."""
    for i in range(len(node.elements) if len(node.elements) > 2 else 0):
        yield node.with_changes(elements=[*node.elements[:i], *node.elements[i + 1 :]])


def _leave_out_argument(node: cst.Call) -> Iterator[cst.Call]:
    if m.matches(node, m.Call(func=m.Name("zip"))):  # removing ``strict`` is no fault
        node = node.with_changes(args=[x for x in node.args if not m.matches(x, _NOTHING)])
    every = mutators.operator_arg_removal(node)
    yield from (x for x in every if isinstance(x, cst.Call) and len(x.args) < len(node.args))


# Operators that are not used: tests would have to repeat each string to detect a change, and any
# test that runs the line detects a value that becomes None.
_SKIPPED = (
    mutators.operator_string, mutators.operator_lambda, mutators.operator_assignment,
    mutators.operator_arg_removal,
)  # fmt: skip
OPERATORS = [row for row in mutators.mutation_operators if row[1] not in _SKIPPED]
OPERATORS += [(cst.Call, _leave_out_argument), (cst.Name, _swap_names)]
OPERATORS += [(cst.BooleanOperation, _leave_half), (cst.Tuple, _leave_out)]


@dataclass(frozen=True)
class Fault:
    """The text of a module with one fault; ``room`` is the group of modules (see ROOMS)."""

    room: str
    path: Path
    line: int
    text: str

    @property
    def change(self) -> str:
        lines = self.path.read_text().splitlines(), self.text.splitlines()
        changed = (x for x in difflib.unified_diff(*lines, n=0, lineterm="") if x[:2] != "@@")
        return "\n".join(x for x in changed if not x.startswith(("---", "+++")))

    @property
    def name(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


class _Places(cst.CSTVisitor):
    """A visitor that collects the syntax nodes that can have a fault, in the order of the text."""

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self) -> None:
        self.places: list[tuple[cst.CSTNode, list[cst.CSTNode], int]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if m.matches(node, _NOTHING):
            return False
        others = [x for kind, alter in OPERATORS if isinstance(node, kind) for x in alter(node)]
        key = cst.Assign, cst.Return, cst.Arg
        if isinstance(node, cst.Tuple) and others:
            parent = self.get_metadata(ParentNodeProvider, node)
            others = others if isinstance(parent, key) else []
        if others:
            line = self.get_metadata(PositionProvider, node).start.line
            self.places.append((node, others, line))
        return True


def places(path: Path) -> tuple[cst.Module, list[tuple[cst.CSTNode, list[cst.CSTNode], int]]]:
    wrapper, visitor = MetadataWrapper(cst.parse_module(path.read_text())), _Places()
    wrapper.visit(visitor)
    return wrapper.module, visitor.places


def drawn(count: int, seed: int, rooms: Iterable[str] = ROOMS) -> list[Fault]:
    """Return faults at random syntax nodes of the given groups of modules, one for each node."""
    draw, every = random.Random(seed), []
    for room in rooms:
        for path in sorted(path for part in ROOMS[room].split() for path in PACKAGE.glob(part)):
            module, found = places(path)
            every += [(room, path, module, *place) for place in found]
    faults = []
    for room, path, module, node, others, line in draw.sample(every, min(2 * count, len(every))):
        text = module.deep_replace(node, draw.choice(others)).code
        try:
            compile(text, path, "exec")
        except SyntaxError:
            continue
        faults.append(Fault(room, path, line, text))
    return faults[:count]


def by_hand(file: Path) -> list[Fault]:
    """Return the faults of a TOML file: tables ``fault`` with ``file``, ``was`` and ``is``."""
    faults = []
    for row in tomllib.loads(file.read_text())["fault"]:
        path = PACKAGE / row["file"]
        text = path.read_text()
        if text.count(row["was"]) != 1:
            raise SystemExit(f"{row['file']} holds {text.count(row['was'])} times: {row['was']}")
        line = text[: text.index(row["was"])].count("\n") + 1
        faults.append(Fault("by hand", path, line, text.replace(row["was"], row["is"])))
    return faults


def equivalent() -> dict[tuple[str, str], str]:
    """Return {(file, change): why no test can detect the fault}."""
    rows = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text()).get("fault", [])
    return {(row["file"], row["change"].strip()): row["why"] for row in rows}
