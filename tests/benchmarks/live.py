"""Pictures that follow a slider: those of sampledash beside plain Streamlit pages, in a browser.

``python -m tests.benchmarks.live [--changes 30] [--quick] [--only explore]`` starts a page with one
line of text, a page with one picture of 200 points, and sampledash, and changes a number on each
page in turn. A change lasts from its key press until the first picture of the page no longer moves.
The browser's longest task and the server's processor time are printed too. Then sliders are
dragged, and the time between two pictures of the browser (frames) is measured.
"""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page

from tests.benchmarks.first_touch import FRAMES, at, thumb
from tests.benchmarks.frame import options
from tests.benchmarks.servers import chromium, processor_seconds, served

TEXT = """
import streamlit as st
m = st.number_input("m", value=100, key="m")
st.markdown(f"### m = {m}")
"""
PICTURE = f"""{TEXT}
import numpy as np, plotly.graph_objects as go
x = np.arange(200)
st.plotly_chart(go.Figure(go.Scatter(x=x, y=x**(m / 1000))), key="picture")
"""
# Sliders of each page that are dragged. The first slider's number is also typed, from VALUES.
OURS = {
    "explore": ("m", "n", "k", "rank"),
    "consistency": ("m",),
    "correct": ("gamma", "m", "n", "k"),
}
# At a step of the slider, the browser has the picture already; between steps, the server sends it.
VALUES = {
    "at a step": {"m": (50, 200), "gamma": (0.3, 0.05)},
    "between": {"m": (47, 230), "gamma": (0.33, 0.047)},
}
# Records when a change was sent, when the page last changed, long tasks, and times between frames.
WATCH = """() => {
  const seen = window.seen = {began: 0, moved: 0, tasks: [], frames: []};
  const all = {childList: true, subtree: true, attributes: true, characterData: true};
  const moved = new MutationObserver((changes) => {
    if (changes.every((change) => change.attributeName === "aria-label")) return;  // not to be seen
    requestAnimationFrame(() => setTimeout(() => { seen.moved = performance.now(); }));
  });
  const one = (where) => document.querySelector(where);
  moved.observe(one(".js-plotly-plot") ?? one("h3"), all);
  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((e) => e.duration)))
    .observe({type: "longtask"});
  const sent = (event) => { if (event.key === "Enter") seen.began = performance.now(); };
  window.addEventListener("keydown", sent, true);
  let last = performance.now();
  const frame = (now) => {
    seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
RESTS = "() => seen.moved > seen.began && performance.now() - seen.moved > 300"


@dataclass
class Place:
    """One page in a tab, and the times of its changes."""

    name: str
    tab: Page
    server: int  # process id
    key: str
    #: For each change: seconds, processor seconds of the server, seconds of the longest task.
    took: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)

    def change(self, turn: int, where: str) -> None:
        """Type the next value and wait until the page has settled."""
        self.tab.bring_to_front()
        self.tab.evaluate("() => { seen.moved = seen.began = 0; seen.tasks.length = 0; }")
        spent = processor_seconds(self.server)
        number = self.tab.locator(f".st-key-{self.key} [data-testid=stNumberInput] input").first
        number.fill(f"{VALUES[where][self.key][turn % 2]:g}")
        number.press("Enter")
        self.tab.wait_for_function(RESTS)
        python = processor_seconds(self.server) - spent
        seconds = self.tab.evaluate("() => (seen.moved - seen.began) / 1000")
        task = self.tab.evaluate("() => Math.max(0, ...seen.tasks) / 1000")
        self.took.setdefault(where, []).append((seconds, python, task))

    def line(self, where: str) -> str:
        seconds, python, tasks = np.transpose(self.took[where])
        p50, p95 = np.quantile(seconds, [0.5, 0.95])
        line = (
            f"{self.name:11} changed {where:9}: p50 {p50:5.3f} s, p95 {p95:5.3f} s, longest task "
        )
        return f"{line}{tasks.max():5.3f} s, python p95 {np.quantile(python, 0.95):5.3f} s"


def dragged(tab: Page, name: str) -> str:
    """Drag a slider over most of its rail, with a move every sixtieth of a second."""
    (x, y), (left, _), (right, _) = thumb(tab, name), at(tab, name, 0), at(tab, name, 0.75)
    tab.mouse.move(x, y)  # the pictures that follow the slider are sent once the pointer is near
    tab.wait_for_function(FRAMES, arg=name)
    tab.mouse.down()
    tab.evaluate("() => { seen.frames.length = 0; }")
    for move in range(60):
        tab.mouse.move(left + (right - left) * move / 60, y)
        tab.wait_for_timeout(1000 / 60)
    frames = tab.evaluate("() => seen.frames")
    tab.mouse.up()
    p50, p95 = np.quantile(frames, [0.5, 0.95])
    return f"{name:12} dragged: a frame p50 {p50:4.1f} ms, p95 {p95:4.1f} ms"


def opened(context: Any, address: str, name: str, server: int, key: str) -> Place:
    """Open a page in a new tab and wait until it has settled."""
    tab = context.new_page()
    tab.set_default_timeout(60_000)
    tab.goto(address)
    tab.get_by_role("heading", level=3).wait_for()
    tab.evaluate(WATCH)
    tab.wait_for_function("() => performance.now() - Math.max(seen.moved, 2000) > 1500")
    return Place(name, tab, server, key)


def main() -> int:
    args = options(__doc__, OURS, changes=30, quick="four changes")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = stack.enter_context(chromium())
        context, places = browser.new_context(viewport={"width": 1280, "height": 900}), []
        for name, script in (("text", TEXT), ("picture", PICTURE)):
            (path := folder / f"{name}.py").write_text(script)
            address, pid = stack.enter_context(served(path))
            places.append(opened(context, address, name, pid, "m"))
        address, pid = stack.enter_context(served())
        for name in args.only:
            places.append(opened(context, f"{address}/{name}", name, pid, OURS[name][0]))
        for place in places:  # the first change is not timed: only a tab in front draws its picture
            place.change(1, "between")
            place.took.clear()
        for turn in range(4 if args.quick else args.changes):
            for place, where in product(places, VALUES):
                place.change(turn, where)
        hands = []
        for place in places:
            place.tab.bring_to_front()
            hands += [dragged(place.tab, name) for name in OURS.get(place.name, ())]
    print(*(place.line(where) for place in places for where in VALUES), *hands, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
