"""Pictures that follow the hand: ours in a browser beside plain Streamlit pages.

``python -m tests.benchmarks.live [--changes 30] [--quick] [--only explore]`` starts a page with
one line of text, a page with one picture of 200 points, and sampledash, and changes a number on
each of them in turn. A change counts from the key that sends it until the first picture of the
page moves no more; the longest task is the browser's, Python is the server's processor time. Then
the sliders whose pictures follow the hand are dragged, and the time between frames is taken.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.load import processor_seconds, served
from tests.browser.conftest import QUIET, chromium_path

TEXT = """
import streamlit as st
m = st.number_input("m", value=100, key="m")
st.markdown(f"### m = {m}")
"""
PICTURE = (
    TEXT
    + """
import numpy as np, plotly.graph_objects as go
x = np.arange(200)
st.plotly_chart(go.Figure(go.Scatter(x=x, y=x**(m / 1000))), key="picture")
"""
)
FIELD = "[data-testid=stNumberInput] input"
# Page of ours -> field that is changed, and its two values in turn.
OURS = {
    "explore": (f".st-key-m {FIELD}", "m", (50, 200)),
    "consistency": (f".st-key-m {FIELD}", "m", (50, 200)),
    "correct": (f".st-key-gamma {FIELD}", "gamma", (0.3, 0.05)),
}
DRAGGED = {"explore": ("m", "rank"), "consistency": ("m",), "correct": ("gamma", "m")}
# Keeps when a change was sent and when the page moved last, long tasks, and time between frames.
WATCH = """() => {
  const seen = window.seen = {began: 0, moved: 0, tasks: [], frames: []};
  const all = {childList: true, subtree: true, attributes: true, characterData: true};
  const moved = new MutationObserver(() => {
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
    """One page in a tab, and what its changes took."""

    name: str
    tab: Page
    server: int  # process
    field: str
    values: tuple[float, float]
    seconds: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    tasks: list[float] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)  # lengths of the messages of one change

    def change(self, turn: int) -> None:
        """Type the next value and wait until the page rests."""
        self.tab.bring_to_front()
        self.tab.evaluate("() => { seen.moved = seen.began = 0; seen.tasks.length = 0; }")
        self.sent.clear()
        spent = processor_seconds(self.server)
        place = self.tab.locator(self.field).first
        place.fill(f"{self.values[turn % 2]:g}")
        place.press("Enter")
        self.tab.wait_for_function(RESTS)
        self.python.append(processor_seconds(self.server) - spent)
        self.seconds.append(self.tab.evaluate("() => (seen.moved - seen.began) / 1000"))
        self.tasks.append(max(self.tab.evaluate("() => seen.tasks"), default=0) / 1000)
        self.messages.append(len(self.sent))

    def forget(self) -> None:
        """Begin to count anew."""
        for kept in (self.seconds, self.python, self.tasks, self.messages):
            kept.clear()

    def line(self) -> str:
        p50, p95 = np.quantile(self.seconds, [0.5, 0.95])
        python, task = np.quantile(self.python, 0.95), max(self.tasks)
        return (
            f"{self.name:12} a change: p50 {p50:5.3f} s, p95 {p95:5.3f} s, longest task "
            f"{task:5.3f} s, python p95 {python:5.3f} s, {max(self.messages)} messages"
        )


def dragged(tab: Page, name: str) -> str:
    """Drag a slider over most of its rail, a move every sixtieth of a second."""
    slider = tab.locator(f".st-key-{name}_slider input[type=range]")
    rail = slider.bounding_box()
    assert rail is not None
    place = float(slider.input_value()) / float(slider.get_attribute("max") or 1)
    thumb, middle = rail["x"] + 8 + (rail["width"] - 16) * place, rail["y"] + rail["height"] / 2
    there = "([name]) => Boolean(window.sampledashTold?.get(name)?.frames)"
    for step in range(600):  # a hand that comes near moves on
        tab.mouse.move(thumb + step % 2, middle)
        if tab.evaluate(there, [name]):
            break
        tab.wait_for_timeout(100)
    tab.mouse.down()
    tab.evaluate("() => { seen.frames.length = 0; }")
    for move in range(60):
        tab.mouse.move(rail["x"] + 0.75 * rail["width"] * move / 60, middle)
        tab.wait_for_timeout(1000 / 60)
    frames = tab.evaluate("() => seen.frames")
    tab.mouse.up()
    p50, p95 = np.quantile(frames, [0.5, 0.95])
    return f"{name:12} dragged: a frame p50 {p50:4.1f} ms, p95 {p95:4.1f} ms"


def opened(context: Any, name: str, address: str, server: int, **how: Any) -> Place:
    """A page in a tab of its own, at rest."""
    tab = context.new_page()
    tab.set_default_timeout(60_000)
    place = Place(name, tab, server, **how)

    def heard(socket: Any) -> None:
        socket.on("framereceived", lambda data: place.sent.append(len(data)))

    tab.on("websocket", heard)
    tab.goto(address)
    tab.get_by_role("heading", level=3).wait_for()
    tab.evaluate(WATCH)
    tab.wait_for_function("() => performance.now() - Math.max(seen.moved, 2000) > 1500")
    return place


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="four changes")
    parser.add_argument("--only", choices=OURS, help="one page of ours")
    args = parser.parse_args()
    changes = 4 if args.quick else args.changes
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        playwright = stack.enter_context(sync_playwright())
        launched = playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        chromium = stack.enter_context(closing(launched))
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        places = []
        for name, script in (("text", TEXT), ("picture", PICTURE)):
            (path := Path(folder) / f"{name}.py").write_text(script)
            address, pid = stack.enter_context(served(path))
            how = {"field": f".st-key-m {FIELD}", "values": (50, 200)}
            places.append(opened(context, name, address, pid, **how))
        ours, pid = stack.enter_context(served())
        for name, (where, _, values) in OURS.items():
            if args.only in (None, name):
                how = {"field": where, "values": values}
                places.append(opened(context, name, f"{ours}/{name}", pid, **how))
        for place in places:  # in a tab that is not looked at, pictures wait
            place.change(1)
            place.forget()
        for turn in range(changes):
            for place in places:
                place.change(turn)
        hands = []
        for place in places:
            place.tab.bring_to_front()
            hands += [dragged(place.tab, name) for name in DRAGGED.get(place.name, ())]
    print(*(place.line() for place in places), *hands, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
