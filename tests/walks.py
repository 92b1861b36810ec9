"""Print which functions call which, from a page down to the core (``python -m tests.walks``), for
an upload, a verdict, and a picture after a change of m. Short chains are easy to follow."""

import sys
import threading
import traceback
from itertools import product
from pathlib import Path
from types import FrameType

import sampledash
from tests.dashboard.driver import Page

HOME = Path(sampledash.__file__).parent
STEPS_OF_RANKS = product(((b"A", 7), (b"B", 31)), range(1, 30))
ROWS = (b"%s,%d,%d,900\n" % (name, user, 1 + user * x % 800) for (name, x), user in STEPS_OF_RANKS)
FILE = b"system,user,rank,n\n" + b"".join(ROWS)
STEPS, MODULES = 12, 30
VERDICT = "comparison.verdict:verdict_at_m"
UPLOADED = "rank_sets:RankSet.__init__", VERDICT, "dashboard.judged:say"
WALKS = {
    "an uploaded rank": UPLOADED,
    "m on Explore": ("sampling:Sampling.weights", "analyses.explore.pictures:expected_curve"),
    "m on Consistency": (VERDICT, "analyses.consistency.pictures:difference"),
}


def named(frame: FrameType) -> str:
    """Return ``module:function`` for our own named functions, otherwise ""."""
    code = frame.f_code
    if not code.co_filename.startswith(str(HOME)) or code.co_name.startswith("<"):
        return ""
    path = Path(code.co_filename).relative_to(HOME).with_suffix("")
    return f"{'.'.join(path.parts)}:{code.co_qualname}"


def traced(title: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the functions entered up to the last target in WALKS, and the call chain to each."""
    if title == "an uploaded rank":
        at = Page("consistency", source="Upload a file")
        at.file_uploader(key="ranks_file").upload("ranks.csv", FILE)
    else:
        at = Page(title.rpartition(" ")[2].lower())
        at.number_input(key="m").set_value(200)
    entered: list[str] = []
    chains: dict[str, list[str]] = {}

    def called(frame: FrameType, event: str, _: object) -> None:
        name = named(frame) if event == "call" else ""
        if not name or WALKS[title][-1] in chains:
            return
        entered.append(name)
        if name in WALKS[title] and name not in chains:
            stack = traceback.walk_stack(frame)
            chains[name] = [named(caller) for caller, _ in stack if named(caller)][::-1]

    threading.setprofile(called)  # also traces new threads, in which pages run
    try:
        at.run()
    finally:
        threading.setprofile(None)
    return entered, chains


def main() -> int:
    longest, most = 0, 0
    for title in WALKS:
        entered, chains = traced(title)
        modules = list(dict.fromkeys(name.rpartition(":")[0] for name in entered))
        print(f"\n{title}: {len(entered)} calls in {len(modules)} modules")
        for chain in (chains[end] for end in WALKS[title]):
            longest = max(longest, len(chain))
            print(f"  {len(chain):2} steps: {' > '.join(chain)}")
        if title == "an uploaded rank":
            most = len(modules)
            print(f"  before its headline: {', '.join(modules)}")
    print(f"\n{most} modules (at most {MODULES}), {longest} steps (at most {STEPS})")
    return int(longest > STEPS or most > MODULES)


if __name__ == "__main__":
    sys.exit(main())
