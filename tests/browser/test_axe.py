"""axe-core finds no fault except one that is in every uploader of Streamlit."""

from itertools import cycle

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.reader import rest

# Streamlit's file drop area has both a role and a tabindex, which this rule forbids.
STREAMLIT = {"presentation-role-conflict"}
LOOKS = ((1280, "light"), (390, "dark"))
# Pages with text, tables, fields and pictures; ``python -m tests.benchmarks.axe`` checks all.
SAMPLE = (
    "explore?why=true&tab=Family",
    "consistency?why=true&curve=Order&answers=Numbers",
    "correct?what=Sampled+ranks&sampled_source=Upload+a+file",
)


def faults(page, looks, known=frozenset()):
    """Return, for every broken rule, the first element that breaks the rule."""
    found = {}
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 3000})
        page.emulate_media(color_scheme=scheme)
        page.locator("h1").first.wait_for(state="attached")
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        rest(page)
        for broken in Axe().run(page).response["violations"]:
            where = broken["nodes"][0]
            told = width, scheme, where["html"][:300], where["failureSummary"]
            found.setdefault(broken["id"], told)
    return {rule: told for rule, told in found.items() if rule not in known}


def levels(page):
    """Return the levels of the headings in the order in which a screen reader reads them."""
    names = page.locator("h1, h2, h3, h4, h5, h6").evaluate_all("all => all.map((x) => x.tagName)")
    return [int(name[1]) for name in names]


@pytest.mark.parametrize(("address", "look"), list(zip(SAMPLE, cycle(LOOKS), strict=False)))
def test_no_fault_but_those_of_streamlit(page, address, look):
    page.emulate_media(color_scheme=look[1])
    page.goto(f"{page.start}/{address}")
    page.get_by_role("heading", level=3).or_(page.get_by_test_id("stAlert")).first.wait_for()
    assert faults(page, (look,), STREAMLIT) == {}
    assert [1, 2, 3][: len(heard := levels(page))] == heard[:3]
