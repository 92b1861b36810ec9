"""The lines that people copy into their framework write what sampledash counts itself."""

import io
import re

import numpy as np

import sampledash as sd
from sampledash.readers.files import bundled
from tests.readers.reading import buffer


def test_the_lines_to_copy_write_the_ranks_of_the_same_scores():
    page = (bundled() / "templates" / "from_frameworks.md").read_text("utf-8")
    first, *others = re.findall(r"```python\n(.*?)```", page, re.S)
    space = {}
    exec(first, space)
    for lines in others:
        compile(lines, "page", "exec")
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (50, 20)).astype(float)
    test = rng.integers(0, 20, 50)
    seen = [rng.permutation(20)[: rng.integers(0, 6)] for _ in test]
    scores[3, (test[3] + 1) % 20] = -np.inf
    file, users = io.StringIO(), list(range(50))
    for header, system in ((True, "A"), (False, "B")):
        given = file, system, users, scores.__getitem__, test, seen
        space["write_ranks"](*given, header=header, block=7)
    expected = sd.ranks_from_scores(scores, test, seen, system="A", instances=users)
    found = sd.read_rank_sets(buffer(file.getvalue(), "ranks.csv"))
    assert found[0] == expected
    assert [x.system for x in found] == ["A", "B"]
