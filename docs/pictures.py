"""Save the pictures of the pages from the program itself: ``python -m docs.pictures``."""

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from tests.benchmarks.servers import chromium, served
from tests.browser.reader import visit

PICTURES = Path(__file__).parent / "pages" / "pictures"
#: Name of a picture -> address of the page, and the height that shows its answer, in pixels.
SHOWN = {
    "consistency": ("consistency", 960),
    "explore": ("explore", 740),
    "correct": ("correct", 785),
    "estimate": ("correct?what=Sampled+ranks", 900),
    "lesson": ("learn?lesson=5", 690),
    "mscoco": ("paper?item=MS-COCO", 860),
}
COLORS = 128  # so many keep a picture below 120 kB


def main() -> None:
    """Open each page at 1280 px, wait until the page has settled, and save its top."""
    expect.set_options(timeout=60_000)
    with served() as (address, _), chromium() as browser:
        for name, (path, height) in SHOWN.items():
            page = browser.new_page(
                viewport={"width": 1280, "height": height}, color_scheme="light"
            )
            page.start = address
            visit(page, path)
            page.locator(".js-plotly-plot .main-svg").first.wait_for()
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLORS)
            picture.save(PICTURES / f"{name}.png", optimize=True)
            page.close()


if __name__ == "__main__":
    main()
