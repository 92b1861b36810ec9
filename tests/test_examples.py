"""The examples in docstrings and in the README are what the functions answer."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [x for x in sorted((ROOT / "sampledash").rglob("*.py")) if ">>> " in x.read_text()]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_of_a_module(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed


def test_of_the_readme() -> None:
    # Table 3 of Krichene & Rendle 2020 prints 8.84 for Y; Figure 6 says m = 1000 for X and Y.
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.attempted >= 7
    assert result.failed == 0
