"""Check accessibility by axe-core on all pages: ``python -m tests.benchmarks.axe [--only learn]``.
Each page is opened with every query of TABLE, wide and narrow, light and dark. Streamlit's own
faults are left out."""

from urllib.parse import quote_plus

from playwright.sync_api import expect

from sampledash.dashboard.learn import NUMBERS
from sampledash.dashboard.paper import ITEMS
from tests.benchmarks.frame import options
from tests.benchmarks.servers import chromium, served
from tests.browser.test_axe import STREAMLIT, faults

LOOKS = tuple((width, scheme) for width in (1280, 390) for scheme in ("light", "dark"))
#: Lines ``page: queries: buttons that open a dialog``. An indented line continues the line before.
TABLE = """
explore: why=true tab=Law&turn=true tab=Family view=top+100&metrics=TOPK m=0: Copy link
consistency: why=true curve=Values curve=Order source=Upload+a+file m=0 answers=Repeat+it
 answers=Numbers&numbers_view=Means answers=Numbers&numbers_view=Flips sure_view=Plan
 answers=Numbers&numbers_view=Distribution sure_view=One+run sure_view=Over+instances
 answers=What+to+do+instead: Copy link, For your paper
correct: why=true sheet=What+it+costs sheet=What+a+sample+can+see prior=own+weights m=0
 what=Sampled+ranks&estimate_tab=Estimates what=Sampled+ranks&estimate_tab=True+ranks
 what=Sampled+ranks&estimate_tab=Which+%CE%B3 what=Sampled+ranks&sampled_source=Upload+a+file
 what=A+printed+table what=A+printed+table&candidates=A+sample+of+a+larger+corpus
 what=A+printed+table&table_tab=For+a+review pin=m%3D500: Copy link
lab: interactions=Upload+a+file:
paper: ITEMS:
learn: LESSONS: For teachers
"""
GUESSED = "lesson={0} lesson={0}&guess{0}=1 lesson={0}&guess{0}=1&present=true"
LESSONS = " ".join(GUESSED.format(number) for number in NUMBERS)
PAPER = " ".join(f"item={quote_plus(item)}" for item in ITEMS)
WHOLE = TABLE.replace("\n ", " ").replace("ITEMS", PAPER).replace("LESSONS", LESSONS)
ROWS = [row.split(":") for row in WHOLE.splitlines()[1:]]
MODES = {name: modes.split() for name, modes, _ in ROWS}
OPENED = {name: buttons.strip() for name, _, buttons in ROWS}


def main() -> int:
    chosen, bad = options(__doc__, ("", *MODES)).only, 0
    with served() as (start, _), chromium() as browser:
        page = browser.new_context(reduced_motion="reduce").new_page()
        page.set_default_timeout(60_000)
        expect.set_options(timeout=180_000)  # some pages compute for long
        modes = [(f"{name}?{mode}", "") for name in chosen for mode in ("", *MODES.get(name, ()))]
        buttons = ((name, OPENED.get(name, "")) for name in chosen)
        opened = [(name, x) for name, row in buttons for x in filter(None, row.split(", "))]
        for address, button in modes + opened:
            broken = {}
            for width, scheme in LOOKS:  # loaded anew, since an open page adopts a new look late
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 3000})
                page.goto(f"{start}/{address}")
                page.locator("h3, [data-testid=stAlert]").first.wait_for()
                if button:
                    page.get_by_role("button", name=button).first.click()
                broken |= faults(page, ((width, scheme),), STREAMLIT)
            print(f"{f'{address}: {button}' if button else address:70}{len(broken)}", flush=True)
            for rule, where in broken.items():
                print("   ", rule, *where)
            bad += len(broken)
    print(f"{bad} faults")
    return bad > 0


if __name__ == "__main__":
    raise SystemExit(main())
