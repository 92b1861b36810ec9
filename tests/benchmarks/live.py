"""Pictures that follow a slider: those of sampledash beside plain Streamlit pages, in a browser.

``python -m tests.benchmarks.live [--changes 30] [--quick] [--only explore]`` starts a page with one
line of text, a page with one picture of 200 points, and sampledash, and changes a number on each
page in turn. A change lasts from its key press, or from the release of the pointer, until the
pictures (or the sentence) change no more; it takes 0 if they stand before the release. On a lesson
the metric is chosen, and each lesson's slider is dragged.
The browser's longest task and the server's processor time are printed too. Then sliders are
dragged, and the time between two pictures of the browser (frames) is measured.
"""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page

from sampledash.analyses.learn.lesson import course, words
from tests.benchmarks.first_touch import FRAMES, at, rail, thumb
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
# Changes take turns. An arrow key moves a slider to a step, whose picture the browser has. A drag
# may end between steps. On plain pages, without sliders, the second of two values is typed instead.
VALUES = {"m": (47, 230), "gamma": (0.33, 0.047)}
WAYS = ("typed", "by key", "by drag")
# The lesson whose metric is chosen, and the choices; then all lessons, whose sliders are dragged.
LESSON, CHOICES = 5, ("NDCG", "AP")
LESSONS = range(1, len(course()) + 1)
# Records when the key of a change was pressed or the pointer released, when the pictures of the
# answer and the sentence last changed visibly, long tasks, and times between frames.
WATCH = """() => {
  const seen = window.seen = {began: 0, moved: 0, said: 0, tasks: [], frames: []};
  const plot = ":is(.st-key-picture, .st-key-lesson_page) .js-plotly-plot";
  const visible = ({type, target, attributeName, oldValue, addedNodes}, where) => {
    if (type === "characterData" && target.data === oldValue) return false;
    if (attributeName === "aria-label") return false;
    const node = target.closest ? target : target.parentElement;
    return node?.closest(where) || [...addedNodes].some((each) => each.querySelector?.(where));
  };
  const watch = (name, where) => new MutationObserver((changes) => {
    if (!changes.some((change) => visible(change, where))) return;
    requestAnimationFrame(() => setTimeout(() => { seen[name] = performance.now(); }));
  }).observe(document.body, {
    childList: true, subtree: true, attributes: name === "moved", characterData: true,
    characterDataOldValue: true,
  });
  watch("said", "h3");
  watch("moved", plot);
  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((e) => e.duration)))
    .observe({type: "longtask"});
  const begin = () => { seen.began ||= performance.now(); };
  window.addEventListener("keydown", ({ key }) => /^(Enter|Arrow)/.test(key) && begin(), true);
  window.addEventListener("pointerup", begin, true);
  let last = performance.now();
  const frame = (now) => {
    seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
RESTS = """() => seen.began && performance.now() - Math.max(seen.began, seen.moved, seen.said) > 500
  && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning" """


@dataclass
class Place:
    """One page in a tab, and the times of its changes."""

    name: str
    tab: Page
    server: int  # process id
    key: str
    #: For each change: seconds until the pictures and until the sentence stay as they are,
    #: processor seconds of the server, seconds of the longest task.
    took: dict[str, list[tuple[float, float, float, float]]] = field(default_factory=dict)

    @property
    def ways(self) -> tuple[str, ...]:
        """How the number of the page can be changed."""
        if self.name == "lesson":
            return ("chosen",)
        return WAYS if self.name in OURS else WAYS[:2]

    def change(self, turn: int, where: str) -> None:
        """Change the number and wait until the page has settled."""
        self.tab.bring_to_front()
        self.tab.evaluate("() => { seen.moved = seen.said = seen.began = seen.tasks.length = 0; }")
        spent = processor_seconds(self.server)
        if where == "chosen":
            self.tab.get_by_role("radio", name=CHOICES[turn % 2], exact=True).click()
        elif where == "by key" and self.name in OURS:
            rail(self.tab, self.key).press(("ArrowRight", "ArrowLeft")[turn % 2])
        elif where == "by drag":
            self.tab.mouse.move(*thumb(self.tab, self.key))
            self.tab.wait_for_function(FRAMES, arg=self.key)
            self.tab.mouse.down()
            self.tab.mouse.move(*at(self.tab, self.key, 0.3 + 0.2 * (turn % 2)), steps=10)
            self.tab.mouse.up()
        else:
            number = self.tab.locator(f".st-key-{self.key} [data-testid=stNumberInput] input").first
            number.fill(f"{VALUES[self.key][WAYS.index(where)]:g}")
            number.press("Enter")
        self.tab.wait_for_function(RESTS)
        python = processor_seconds(self.server) - spent
        moved, text = self.tab.evaluate("() => [seen.moved, seen.said].map((x) => x - seen.began)")
        task = self.tab.evaluate("() => Math.max(0, ...seen.tasks) / 1000")
        took = max(moved, 0) / 1000, max(text, 0) / 1000, python, task
        self.took.setdefault(where, []).append(took)

    def line(self, where: str) -> str:
        moved, text, python, tasks = np.transpose(self.took[where])
        (p50, p95), (t50, t95) = (np.quantile(x, [0.5, 0.95]) for x in (moved, text))
        line = f"{self.name:11} {where:9}: picture p50 {p50:5.3f} s, p95 {p95:5.3f} s, "
        line += f"sentence {t50:5.3f}, {t95:5.3f} s, longest task {tasks.max():5.3f} s, "
        return f"{line}python p95 {np.quantile(python, 0.95):5.3f} s"


def dragged(tab: Page, name: str, lesson: bool = False) -> str:
    """Drag a slider over most of its rail, with a move every sixtieth of a second."""
    (x, y), (left, _), (right, _) = thumb(tab, name), at(tab, name, 0), at(tab, name, 0.75)
    tab.mouse.move(x, y)  # the pictures that follow the slider are sent once the pointer is near
    if not lesson:  # the browser has all steps of a lesson
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


def lesson_dragged(tab: Page, address: str, number: int) -> list[str]:
    """Answer a lesson's question and drag the slider of its picture."""
    text = words(number).choices[0].text
    tab.goto(f"{address}/learn?{urlencode({'lesson': number, f'guess{number}': text})}")
    tab.locator(".st-key-answer [data-testid=stAlert]").wait_for()
    tab.locator(".js-plotly-plot .main-svg").first.wait_for()
    tab.wait_for_timeout(2000)
    if not tab.locator(".sampledash-rail").count():
        return []
    tab.evaluate(WATCH)
    return [dragged(tab, f"lesson-{number}", lesson=True)]


def opened(context: Any, address: str, name: str, server: int, key: str) -> Place:
    """Open a page in a new tab and wait until it has settled."""
    tab = context.new_page()
    tab.set_default_timeout(60_000)
    tab.goto(address)
    tab.get_by_role("heading", level=3).wait_for()
    if name != "text":
        tab.locator(".js-plotly-plot .main-svg").first.wait_for()
    tab.wait_for_timeout(2000)  # all pictures are drawn, and the frames of sliders have come
    tab.evaluate(WATCH)
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
        guess = urlencode({"lesson": LESSON, f"guess{LESSON}": words(LESSON).choices[0].text})
        places.append(opened(context, f"{address}/learn?{guess}", "lesson", pid, ""))
        for place in places:  # the first change is not timed: only a tab in front draws its picture
            place.change(0, place.ways[-1])
            place.took.clear()
        for turn in range(4 if args.quick else args.changes):
            for place in places:
                for where in place.ways:
                    place.change(turn, where)
        hands = []
        for place in places:
            place.tab.bring_to_front()
            hands += [dragged(place.tab, name) for name in OURS.get(place.name, ())]
        tab = context.new_page()
        for number in () if args.quick else LESSONS:
            hands += lesson_dragged(tab, address, number)
    print(*(place.line(where) for place in places for where in place.ways), *hands, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
