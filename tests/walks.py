"""How far a value walks through the program: ``python -m tests.walks``.

A walk is the chain of our functions from the page down to where something is made: rank sets of an
uploaded file, their verdict, the picture of an m. Printed with it is in how many modules functions
are entered before the headline stands. Read the chains to find one's way; a long one is a fault.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import sampledash
from tests.dashboard.driver import open_page, run

HOME = Path(sampledash.__file__).parent
FILE = b"system,user,rank,n\n" + b"".join(
    b"%s,%d,%d,900\n" % (system, user, 1 + user * step % 800)
    for system, step in ((b"A", 7), (b"B", 31))
    for user in range(1, 30)
)
STEPS, MODULES = 12, 30


@dataclass
class Trace:
    """Functions entered until one of the last of ``ends`` is, and the chain to each of ``ends``."""

    ends: tuple[str, ...]
    entered: list[str] = field(default_factory=list)
    chains: dict[str, list[str]] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = named(frame) if event == "call" else ""
        if not name or self.ends[-1] in self.chains:
            return
        self.entered.append(name)
        if name in self.ends and name not in self.chains:
            self.chains[name] = list(reversed(list(callers(frame))))

    @property
    def modules(self) -> list[str]:
        """In the order in which they were entered first."""
        return list(dict.fromkeys(name.rpartition(":")[0] for name in self.entered))


def named(frame: FrameType) -> str:
    """``module:function`` of our own functions that have a name."""
    code = frame.f_code
    if not code.co_filename.startswith(str(HOME)) or code.co_name.startswith("<"):
        return ""
    path = Path(code.co_filename).relative_to(HOME).with_suffix("")
    return f"{'.'.join(path.parts)}:{code.co_qualname}"


def callers(frame: FrameType | None) -> Iterator[str]:
    """This function and those that called it, the innermost first."""
    while frame is not None:
        if name := named(frame):
            yield name
        frame = frame.f_back


@contextmanager
def traced(*ends: str) -> Iterator[Trace]:
    """Follow what runs in threads that start here, as a page does."""
    trace = Trace(ends)
    threading.setprofile(trace)
    try:
        yield trace
    finally:
        threading.setprofile(None)


def uploaded() -> Trace:
    """An uploaded rank to its verdict."""
    at = open_page("consistency", source="Upload a file")
    at.file_uploader(key="ranks_file").upload("ranks.csv", FILE)
    with traced(
        "ranksets:RankSet.__init__",
        "comparison.verdict:verdict_at_m",
        "dashboard.consistency.page:_headline",
    ) as trace:
        run(at)
    return trace


def moved(page: str, *ends: str) -> Trace:
    """A slider's m to its picture."""
    at = open_page(page)
    at.select_slider(key="m_ladder").set_value(200)
    with traced(*ends) as trace:
        run(at)
    return trace


def main() -> int:
    uploads = uploaded()
    walks = {
        "an uploaded rank": uploads,
        "m on Explore": moved(
            "explore",
            "sampling:Sampling.weights",
            "dashboard.explore.pictures:expected_curve",
        ),
        "m on Consistency": moved(
            "consistency",
            "comparison.verdict:verdict_at_m",
            "dashboard.consistency.pictures:curves",
        ),
    }
    longest = 0
    for title, trace in walks.items():
        print(f"\n{title}: {len(trace.entered)} calls in {len(trace.modules)} modules")
        for end in trace.ends:
            chain = trace.chains[end]
            longest = max(longest, len(chain))
            print(f"  {len(chain):2} steps: {' > '.join(chain)}")
    print(f"\nbefore the headline of an uploaded file: {', '.join(uploads.modules)}")
    print(f"{len(uploads.modules)} modules (at most {MODULES}), {longest} steps (at most {STEPS})")
    return int(longest > STEPS or len(uploads.modules) > MODULES)


if __name__ == "__main__":
    sys.exit(main())
