"""The Consistency page in a real browser: a click on a tile, a stop, files taken away."""

import re
import time

from playwright.sync_api import expect

import sampledash as sd
from sampledash.report.numbers import percent
from tests.browser.test_app import go, headline


def focus(page, metric):
    return page.get_by_test_id("stButtonGroup").get_by_role("radio", name=metric, exact=True)


def test_a_click_on_a_tile_chooses_its_metric_and_pair(page):
    go(page, "Consistency")
    expect(headline(page)).to_contain_text("Recall@10 ranks X > Y > Z; on all items Z > Y > X.")
    tiles = page.locator(".st-key-consistency_tiles .nsewdrag").first
    tiles.scroll_into_view_if_needed()
    box = tiles.bounding_box()
    # Away from the middle of the tile: third row (Y, Z), third column (AP).
    page.mouse.click(box["x"] + 0.93 * box["width"], box["y"] + 0.75 * box["height"])
    expect(page.get_by_text("Z and Y change order at m = 55.")).to_be_attached()
    table = sd.right_from("AP", sd.example("movielens-xyz"), scheme="without-replacement")
    strip = page.get_by_test_id("stMetric").filter(has_text="All right from m")
    expect(strip).to_contain_text(f"{int(table['m'].max()):,}")
    expect(headline(page)).to_contain_text("Recall@10 ranks X > Y > Z")


def test_a_correction_changes_the_page_and_the_link_and_frees_gamma(page):
    if page.narrow:
        return  # nothing in it depends on the width
    go(page, "Consistency")
    page.get_by_role("button", name="Recall@k").wait_for()
    for metric in ("NDCG", "AP"):
        page.get_by_role("button", name=metric, exact=True).first.click()
    page.get_by_text("BV", exact=True).first.click()
    chance = sd.probability_of_order(
        "Recall@10",
        sd.example("movielens-xyz"),
        100,
        correction="BV 0.1",
        scheme="without-replacement",
    )["probability"].min()
    expect(headline(page)).to_contain_text("(BV 0.1) rightly ranks Z > Y > X; one run shows")
    expect(headline(page)).to_contain_text(percent(chance))
    expect(page).to_have_url(re.compile("correction=BV"))
    if not page.narrow:
        gamma = page.get_by_test_id("stSidebar").get_by_role("slider", name="γ")
        expect(gamma).to_be_enabled()


def test_a_simulation_can_be_stopped_and_keeps_what_it_has(page):
    if page.narrow:
        return  # nothing in it depends on the width
    page.goto(
        f"{page.start}/consistency?answers=Repeat+it&repeats=1%2C000&metrics=NDCG&metrics=AUC"
    )
    page.get_by_role("button", name="Repeat it 1,000 times").click()
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 1,000 runs$"))).to_be_visible(timeout=20_000)
    # At once: a click of the mouse would wait for the page to come to rest.
    page.locator(".st-key-repeat_stop button").dispatch_event("click")
    said = page.get_by_text(re.compile(r"of [\d,]+ runs show"))
    expect(said).to_be_visible(timeout=20_000)
    runs = int(re.search(r"of ([\d,]+) runs show", said.inner_text())[1].replace(",", ""))
    assert 0 < runs < 1_000
    time.sleep(0.5)
    expect(said).to_contain_text(f"of {runs:,} runs")


def test_from_an_own_file_to_a_sentence_and_a_report(page, tmp_path):
    go(page, "Consistency")
    path = tmp_path / "mine.csv"
    path.write_text("system,rank,n\n<b>A</b>,3,900\n<b>A</b>,40,900\n=B,5,900\n=B,7,900\n")
    page.get_by_text("Upload a file", exact=True).click()
    page.locator("input[type=file]").set_input_files(path)
    expect(headline(page)).to_contain_text("<b>A</b>")
    page.get_by_role("button", name="For your paper").click()
    dialog = page.get_by_role("dialog")
    # AP of one item is 1 / rank: (1/3 + 1/40) / 2 = 17.92 %.
    expect(dialog.get_by_test_id("stCode").first).to_contain_text("17.92")
    with page.expect_download() as held:
        dialog.get_by_role("button", name="HTML report").click()
    text = held.value.path().read_text()
    assert "17.92" in text
    assert "<b>A</b>" not in text
    assert "mine.csv" in text
