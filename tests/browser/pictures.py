"""Draw the pictures of the README: ``python -m tests.browser.pictures ADDRESS`` of the app."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import QUIET, chromium_path

ASSETS = Path(__file__).parents[2] / "assets"
PICTURES = {
    "readme-explore": ("explore", 740),
    "readme-consistency": ("consistency", 960),
    "readme-correct": ("correct", 785),
    "readme-estimate": ("correct?what=Sampled+ranks", 900),
}


def main(address: str) -> None:
    """Open each page at 1280 px, wait until it is still, and save the top of it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        for name, (path, height) in PICTURES.items():
            page = browser.new_page(viewport={"width": 1280, "height": height})
            page.goto(f"{address}/{path}")
            page.get_by_role("heading", level=3).wait_for()
            page.get_by_test_id("stMetric").last.wait_for()
            page.locator(".js-plotly-plot .main-svg").first.wait_for()
            page.get_by_test_id("stStatusWidget").wait_for(state="detached")
            page.wait_for_load_state("networkidle")
            page.screenshot(path=ASSETS / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
