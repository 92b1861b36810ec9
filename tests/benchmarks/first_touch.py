"""First touches: is a change of a number lost if the pointer did not hover over its slider before?

``python -m tests.benchmarks.first_touch [--tries 400] [--only explore]`` opens a new page for each
try and changes a number at once: by a click on the track, a drag, a tap, the first key after the
focus, or a typed value. Tries are made on the machine as it is, with its processor slowed four
times, and with a connection of 10 Mbit/s and 60 ms. A change is late if field, thumb, sentence,
picture and address do not all show the new number within 3 seconds, and lost if not within 90.
"""

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Page, expect

from sampledash.report.numbers import count, gamma
from tests.benchmarks.frame import options
from tests.benchmarks.servers import chromium, served
from tests.browser.reader import headline, rest

OTHER = "with replacement"  # the scheme that is chosen; pages open with another
LIMIT, PATIENCE = 3.0, 90.0  # seconds until a change is late, and until it is lost
RATE, DELAY = 10e6 / 8, 0.030  # slow connection: bytes per second, and seconds in one direction


@dataclass(frozen=True)
class Place:
    """A number on a page: the page's address, the number's key, and the picture that shows it."""

    address: str
    key: str
    picture: str
    says: str = "{}"  # part of the sentence that contains the number
    less: int = 0  # what the sentence subtracts from the number


PLACES = {
    "explore": Place("explore", "m", "picture", "With {} of"),
    "n": Place("explore", "n", "picture", "of {} negatives", 1),
    "k": Place("explore", "k", "picture", "scores Recall@{} "),
    "rank": Place("explore", "rank", "picture", "rank {} scores"),
    "scheme": Place("explore", "scheme", "picture", "drawn {}"),
    "consistency": Place("consistency", "m", "picture", "With {} "),
    "correct": Place("correct", "m", "picture", "{}"),
    "gamma": Place("correct", "gamma", "picture", "BV {} "),
    "sampled": Place("correct?what=Sampled+ranks", "m", "given_picture", "users {} negatives"),
    "table": Place("correct?what=A+printed+table", "m", "given_picture", "with {} of"),
}
# Return all visible parts of a picture: lines, points and letters.
SEEN = """(key) => [...document.querySelectorAll(`.st-key-${key} .js-plotly-plot .main-svg`)]
  .map((svg) => svg.innerHTML).join("")"""


# Return whether the browser has a slider's frames: the pictures that follow it during a drag.
FRAMES = "(name) => window.sampledashFrames?.has(window.sampledashTold?.get(name)?.version)"


def rail(tab: Page, key: str) -> Any:
    """Return the slider of a number, or the button of the other scheme."""
    if key == "scheme":
        return tab.get_by_role("radio", name=OTHER, exact=True)
    return tab.locator(f".sampledash-cell[data-name={key}]").get_by_role("slider")


def field(tab: Page, key: str) -> Any:
    return tab.locator(f".st-key-{key} input")


def value(tab: Page, key: str) -> str:
    """Return the number, or the scheme, that is chosen."""
    if key == "scheme":
        return OTHER if rail(tab, key).get_attribute("aria-checked") == "true" else ""
    return str(field(tab, key).input_value())


def at(tab: Page, key: str, share: float) -> tuple[float, float]:
    """Return the pixel at a share of the width of the slider's rail, at half its height."""
    box = rail(tab, key).bounding_box()
    return box["x"] + box["width"] * share, box["y"] + box["height"] / 2


def thumb(tab: Page, key: str) -> tuple[float, float]:
    """Return the pixel in the middle of the slider's thumb."""
    box = rail(tab, key).locator("div").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def click(tab: Page, key: str) -> None:
    tab.mouse.click(*at(tab, key, 0.75))


def drag(tab: Page, key: str) -> None:
    tab.mouse.move(*thumb(tab, key))
    tab.mouse.down()
    tab.mouse.move(*at(tab, key, 0.8), steps=8)
    tab.mouse.up()


def tap(tab: Page, key: str) -> None:
    finger, (x, y) = tab.context.new_cdp_session(tab), at(tab, key, 0.7)
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def press(tab: Page, key: str) -> None:
    rail(tab, key).focus()
    tab.keyboard.press("Space" if key == "scheme" else "ArrowRight")


def typed(tab: Page, key: str) -> None:
    field(tab, key).fill({"gamma": "0.03", "n": "3700"}.get(key, "37"))
    tab.keyboard.press("Enter")


GESTURES: tuple[Callable[[Page, str], None], ...] = (click, drag, tap, press, typed)


def in_address(url: str, key: str) -> str:
    """Return what the address contains for a key, or ""."""
    return parse_qs(urlsplit(url).query).get(key, [""])[0]


def lacking(tab: Page, place: Place, before: str) -> str:
    """Return the parts of the page that do not show the change yet; "" if all do."""
    number = value(tab, place.key).replace(",", "")
    if place.key == "scheme":
        thumb, said = value(tab, place.key) == number, number
    else:
        shown = gamma(float(number)) if place.key == "gamma" else count(int(number))
        thumb = rail(tab, place.key).get_attribute("aria-valuetext") == shown
        # Sentences write γ as 1e-05, and a cutoff without a comma.
        plain = place.key in ("gamma", "k")
        said = f"{float(number):g}" if plain else count(int(number) - place.less)
    page = tab.get_by_test_id("stMain").inner_text()
    holders = {
        "thumb": thumb,
        "sentence": place.says.format(said) in page.replace("\xa0", " "),
        "picture": tab.evaluate(SEEN, place.picture) != before,
        "address": _same(in_address(tab.url, place.key), number),
    }
    return ", ".join(name for name, holds in holders.items() if not holds)


def _same(address: str, number: str) -> bool:
    try:
        return float(address) == float(number)
    except ValueError:
        return address == number


def opened(context: Any, address: str, place: Place) -> Page:
    """Open a page with touch input; return it when it shows its picture and no longer changes."""
    tab = context.new_page()
    context.new_cdp_session(tab).send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    tab.set_default_timeout(60_000)
    tab.goto(f"{address}/{place.address}")
    headline(tab).first.wait_for()
    tab.locator(f".st-key-{place.picture} .js-plotly-plot .main-svg").first.wait_for()
    rest(tab)
    return tab


def first_touch(tab: Page, place: Place, gesture: Callable[[Page, str], None]) -> tuple[float, str]:
    """Return the seconds until all parts show the change, and the parts that never show it."""
    before, number = tab.evaluate(SEEN, place.picture), value(tab, place.key)
    gesture(tab, place.key)
    began = time.monotonic()
    while True:
        seconds, same = time.monotonic() - began, value(tab, place.key) == number
        missing = "field" if same else lacking(tab, place, before)
        if not missing or seconds > PATIENCE:
            return seconds, missing
        tab.wait_for_timeout(50)


@contextmanager
def line(address: str) -> Iterator[str]:
    """Yield an address that leads to the server at a limited rate, with a delay each way."""
    target, loop = urlsplit(address), asyncio.new_event_loop()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 14):
            await asyncio.sleep(len(data) / RATE)
            loop.call_later(DELAY, writer.write, data)
        loop.call_later(2 * DELAY, writer.close)

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(target.hostname, target.port)
        await asyncio.gather(carry(reader, back), carry(there, writer), return_exceptions=True)

    server = loop.run_until_complete(asyncio.start_server(joined, "127.0.0.1", 0))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    loop.call_soon_threadsafe(loop.stop)


def main() -> int:
    args = options(__doc__, PLACES, tries=400)
    expect.set_options(timeout=60_000)  # pages may open slowly
    lost, late, waits = 0, 0, dict[str, list[float]]()
    with served() as (address, _), line(address) as slow, chromium() as browser:
        ways = {"as it is": (address, 1), "processor / 4": (address, 4), "10 Mbit/s": (slow, 1)}
        every = itertools.cycle(
            (gesture, name, way)
            for gesture, name, way in itertools.product(GESTURES, args.only, ways)
            if name != "scheme" or gesture in (click, tap, press)
        )
        for gesture, name, way in itertools.islice(every, args.tries):
            start, slowed = ways[way]
            look = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
            context = browser.new_context(**look)
            tab = opened(context, start, PLACES[name])
            session = context.new_cdp_session(tab)
            session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
            seconds, missing = first_touch(tab, PLACES[name], gesture)
            waits.setdefault(way, []).append(seconds)
            late += seconds > LIMIT
            if missing:
                lost += 1
                print(f"lost: {name}, {gesture.__name__}, {way}: {missing}", flush=True)
            context.close()
    for way, seconds in waits.items():
        p50, p95 = np.quantile(seconds, [0.5, 0.95])
        print(f"{way:14} {len(seconds):3} changes, p50 {p50:.2f} s, p95 {p95:.2f} s")
    print(f"{lost} of {args.tries} lost, {late} late")
    return int(lost > 0)


if __name__ == "__main__":
    raise SystemExit(main())
