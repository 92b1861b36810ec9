"""axe-core on every page, mode and lesson: ``python -m tests.benchmarks.axe [--only learn]``.

At a desk and on a phone, light and dark; what Streamlit breaks by itself counts as nothing.
"""

from urllib.parse import quote_plus

from playwright.sync_api import expect

from sampledash.dashboard.learn import NUMBERS
from sampledash.dashboard.paper import ITEMS
from tests.benchmarks.frame import options
from tests.benchmarks.servers import chromium, served
from tests.browser.test_axe import STREAMLIT, faults

LOOKS = tuple((width, scheme) for width in (1280, 390) for scheme in ("light", "dark"))
MODES = {
    "explore": ("why=true", "tab=Law&turn=true", "tab=Family", "view=top+100&metrics=TOPK", "m=0"),
    "consistency": (
        *("why=true", "curve=Values", "curve=Order", "source=Upload+a+file", "m=0"),
        *(f"answers=Numbers&numbers_view={view}" for view in ("Means", "Flips", "Distribution")),
        *(f"sure_view={view}" for view in ("One+run", "Over+instances", "Plan")),
        *("answers=Repeat+it", "answers=What+to+do+instead"),
    ),
    "correct": (
        *("why=true", "sheet=What+it+costs", "sheet=What+a+sample+can+see", "prior=own", "m=0"),
        *(
            f"what=Sampled+ranks&estimate_tab={quote_plus(tab)}"
            for tab in ("Estimates", "True ranks", "Which γ")
        ),
        "what=Sampled+ranks&sampled_source=Upload+a+file",
        "what=A+printed+table",
    ),
    "lab": ("interactions=Upload+a+file",),
    "paper": tuple(f"item={quote_plus(item)}" for item in ITEMS),
    "learn": tuple(
        f"lesson={number}{more}"
        for number in NUMBERS
        for more in ("", f"&guess{number}=1", f"&guess{number}=1&present=true")
    ),
}
# What is opened by a button.
OPENED = {
    "explore": ("Copy link",),
    "consistency": ("Copy link", "For your paper"),
    "correct": ("Copy link",),
    "learn": ("For teachers",),
}


def main() -> int:
    chosen, bad = options(__doc__, ("", *MODES)).only, 0
    with served() as (start, _), chromium() as browser:
        page = browser.new_context(reduced_motion="reduce").new_page()
        page.set_default_timeout(60_000)
        expect.set_options(timeout=180_000)  # plans of bundled data take long on a busy machine
        modes = [(f"{name}?{mode}", "") for name in chosen for mode in ("", *MODES.get(name, ()))]
        opened = [(name, button) for name in chosen for button in OPENED.get(name, ())]
        for address, button in modes + opened:
            broken = {}
            for width, scheme in LOOKS:  # a page that is open takes a moment to change its look
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
