"""What ``sampledash check`` costs on a small file, beyond the start of Python and NumPy."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.frame import Result

ROOT = Path(__file__).parents[2]
RANKS = "system,rank,n_candidates\nA,11,200\nA,11,200\nB,4,200\nB,150,200\n"


def seconds(*words: str) -> float:
    """Wall time of Python with these words, the best of five."""
    found = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        found.append(time.perf_counter() - start)
    return min(found)


def check_of_a_small_file(quick: bool) -> Iterator[Result]:
    """Import and verdict; the limit is one second."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ranks.csv")
        path.write_text(RANKS, encoding="utf-8")
        whole = seconds("-m", "sampledash", "check", str(path), "--metric", "AP", "--m", "100")
    own = whole - seconds("-c", "import numpy")
    yield Result("sampledash check, beyond Python and NumPy", own, None, None, 0, within=1.0)


BENCHMARKS = (check_of_a_small_file,)
