"""Save the README's pictures: ``python -m tests.browser.pictures ADDRESS`` of a running app."""

import sys
from pathlib import Path

from tests.benchmarks.servers import chromium
from tests.browser.reader import visit

ASSETS = Path(__file__).parents[2] / "assets"
PICTURES = {"explore": ("explore", 740), "consistency": ("consistency", 960)}
PICTURES |= {"correct": ("correct", 785), "estimate": ("correct?what=Sampled+ranks", 900)}


def main(address: str) -> None:
    """Open each page at 1280 px, wait until the page has settled, and save its top."""
    with chromium() as browser:
        for name, (path, height) in PICTURES.items():
            page = browser.new_page(viewport={"width": 1280, "height": height})
            page.start = address
            visit(page, path)
            page.locator(".js-plotly-plot .main-svg").first.wait_for()
            page.screenshot(path=ASSETS / f"readme-{name}.png")


if __name__ == "__main__":
    main(sys.argv[1])
