"""How far a value walks through the program: ``python -m tests.walks``.

A walk is the chain of our functions from the page down to where something is made: rank sets of an
uploaded file, their verdict, the picture of an m. Printed with it is in how many modules functions
are entered before the headline stands. Read the chains to find one's way; a long one is a fault.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import sampledash
from tests.dashboard.driver import Page

HOME = Path(sampledash.__file__).parent
FILE = b"system,user,rank,n\n" + b"".join(
    b"%s,%d,%d,900\n" % (system, user, 1 + user * step % 800)
    for system, step in ((b"A", 7), (b"B", 31))
    for user in range(1, 30)
)
STEPS, MODULES = 12, 30
VERDICT = "comparison.verdict:verdict_at_m"
WALKS = {
    "an uploaded rank": (
        "ranksets:RankSet.__init__",
        VERDICT,
        "dashboard.consistency.page:_headline",
    ),
    "m on Explore": ("sampling:Sampling.weights", "dashboard.explore.pictures:expected_curve"),
    "m on Consistency": (VERDICT, "dashboard.consistency.pictures:curves"),
}


@dataclass
class Trace:
    """Functions entered until the last of ``ends`` is, and the chain to each of ``ends``."""

    ends: tuple[str, ...]
    entered: list[str] = field(default_factory=list)
    chains: dict[str, list[str]] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = named(frame) if event == "call" else ""
        if not name or self.ends[-1] in self.chains:
            return
        self.entered.append(name)
        if name in self.ends and name not in self.chains:
            chain, caller = [], frame
            while caller is not None:
                chain += [named(caller)] if named(caller) else []
                caller = caller.f_back
            self.chains[name] = chain[::-1]


def named(frame: FrameType) -> str:
    """``module:function`` of our own functions that have a name."""
    code = frame.f_code
    if not code.co_filename.startswith(str(HOME)) or code.co_name.startswith("<"):
        return ""
    path = Path(code.co_filename).relative_to(HOME).with_suffix("")
    return f"{'.'.join(path.parts)}:{code.co_qualname}"


def traced(title: str) -> Trace:
    """What runs in the threads that start here, as a page does."""
    if title == "an uploaded rank":
        at = Page("consistency", source="Upload a file")
        at.file_uploader(key="ranks_file").upload("ranks.csv", FILE)
    else:
        at = Page(title.rpartition(" ")[2].lower())
        at.select_slider(key="m_ladder").set_value(200)
    trace = Trace(WALKS[title])
    threading.setprofile(trace)
    try:
        at.run()
    finally:
        threading.setprofile(None)
    return trace


def main() -> int:
    longest, most = 0, 0
    for title in WALKS:
        trace = traced(title)
        modules = list(dict.fromkeys(name.rpartition(":")[0] for name in trace.entered))
        print(f"\n{title}: {len(trace.entered)} calls in {len(modules)} modules")
        for chain in (trace.chains[end] for end in trace.ends):
            longest = max(longest, len(chain))
            print(f"  {len(chain):2} steps: {' > '.join(chain)}")
        if title == "an uploaded rank":
            most = len(modules)
            print(f"  before its headline: {', '.join(modules)}")
    print(f"\n{most} modules (at most {MODULES}), {longest} steps (at most {STEPS})")
    return int(longest > STEPS or most > MODULES)


if __name__ == "__main__":
    sys.exit(main())
