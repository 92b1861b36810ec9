"""The README's example prints what it says."""

import doctest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_prints_what_the_readme_says():
    # Table 3 of Krichene & Rendle 2020 prints 8.84 for Y; Figure 6 says m = 1000 for X and Y.
    text = README.read_text(encoding="utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.attempted >= 7
    assert result.failed == 0
