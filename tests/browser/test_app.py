"""The real server in a real browser: controls, pages, upload, downloads."""

import csv
import json
import re

from playwright.sync_api import expect

import sampledash as sd
from sampledash.report.numbers import percent

# Table 1 of Krichene & Rendle 2020; the instances are the five columns.
ABC = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}


def headline(page):
    return page.get_by_role("heading", level=3)


def go(page, name):
    """Open a page by the menu, which a phone folds away."""
    link = page.get_by_test_id("stTopNavLink").filter(has_text=name)
    if not page.narrow:
        link.click()
        return
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()


def test_moving_m_changes_the_sentence_and_the_link(page):
    expect(headline(page)).to_contain_text("With 100 of 9,999 negatives, rank 100 scores")
    slider = page.get_by_role("slider", name="m, negatives").locator("visible=true").first
    slider.focus()
    slider.press("ArrowRight")
    expect(headline(page)).to_contain_text("With 200 of 9,999 negatives")
    sampling = sd.Sampling(10_000, 200, "without-replacement")
    shown = percent(float(sd.expected("Recall@10", 100, sampling)))
    expect(headline(page)).to_contain_text(f"Recall@10 = {shown}")
    expect(page).to_have_url(re.compile("m=200"))
    page.reload()
    expect(headline(page)).to_contain_text("With 200 of 9,999 negatives")


def test_back_leads_out_of_a_page(page):
    if page.narrow:
        return  # nothing in it depends on the width
    go(page, "Correct")
    expect(headline(page)).to_contain_text("With 100 negatives, BV 0.1")
    page.go_back()
    expect(headline(page)).to_contain_text("With 100 of 9,999 negatives, rank 100 scores")


def test_sliders_keep_their_place_when_the_page_changes(page):
    if page.narrow:
        return  # there the sidebar is folded away; the one slider in sight is tried above
    for name in ("Consistency", "Correct", "Explore", "Consistency"):
        go(page, name)
        expect(page.get_by_test_id("stTopNavLink").filter(has_text=name)).to_be_visible()
        slider = page.get_by_test_id("stSidebar").get_by_role("slider", name="m, negatives")
        expect(slider).to_have_attribute("aria-valuetext", "100")


def test_undo_finds_the_last_change_behind_other_pages(page):
    if page.narrow:
        return  # its button is in the folded sidebar
    field = page.get_by_label("m, negatives, exact value")
    field.fill("50")
    field.press("Enter")
    expect(headline(page)).to_contain_text("With 50 of 9,999 negatives")
    for name, said in (("Correct", "t among 51"), ("Consistency", "With 50 negatives")):
        go(page, name)
        expect(page.get_by_test_id("stMain")).to_contain_text(said)
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(headline(page)).to_contain_text("With 100 negatives")
    expect(undo).to_be_disabled()


def test_verdict_on_the_bundled_and_on_an_uploaded_file(page, tmp_path):
    go(page, "Consistency")
    # Section 6.2 and Figure 6 of the paper: Recall@10 needs about m = 1000.
    expect(headline(page)).to_contain_text(
        "With 100 negatives Recall@10 ranks X > Y > Z; on all items Z > Y > X. Right from m = 970."
    )
    path = tmp_path / "ranks.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["system", "user", "rank", "n_candidates"])
        for system, ranks in ABC.items():
            rows.writerows([system, i, rank, 10_000] for i, rank in enumerate(ranks))
    page.get_by_text("Upload a file", exact=True).click()
    page.locator("input[type=file]").set_input_files(path)
    # The worst case is AP: all three pairs wrong (section 4.2: A > B > C near m = 200).
    expect(headline(page)).to_contain_text("AP ranks A > B > C; on all items C > B > A.")
    table = sd.right_from("AP", sd.example("paper-abc"), scheme="without-replacement")
    expect(headline(page)).to_contain_text(f"Right from m = {int(table['m'].max()):,}.")
    expect(page.get_by_text("3 systems (A, B, C), 5 instances each, n = 10,000")).to_be_visible()

    wrong = tmp_path / "half.csv"
    wrong.write_text("system,rank,n\nA,0.5,9\n")
    page.locator("input[type=file]").set_input_files(wrong)
    expect(page.get_by_test_id("stAlert")).to_contain_text("half.csv, line 2, column 'rank': 0.5")


def test_a_copied_link_carries_pasted_ranks(page):
    if page.narrow:
        return  # nothing in it depends on the width
    go(page, "Consistency")
    page.get_by_text("Paste ranks", exact=True).click()
    box = page.get_by_role("textbox", name="Ranks, one system a line")
    box.fill("n = 10000; A: 100, 100; C: 212, 2")
    box.blur()
    expect(headline(page)).to_contain_text("on all items C > A")
    said = headline(page).inner_text()
    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_test_id("stCode").filter(has_text="source=").inner_text().strip()
    # The copied link, not the address: the sub-path is reached from the start page.
    query = link.partition("?")[2]
    page.goto("about:blank")
    page.goto(f"{page.start}/consistency?{query}")
    expect(headline(page)).to_have_text(said)


def test_corrected_vector_can_be_taken_away(page):
    go(page, "Correct")
    with page.expect_download() as held:
        page.get_by_role("button", name=re.compile("JSON")).first.click()
    taken = json.loads(held.value.path().read_text())
    metric = sd.parse_metric(taken["metric"])
    sampling = sd.Sampling(taken["n"], taken["m"], taken["scheme"])
    fit = sd.parse_correction(taken["correction"]).fit(metric, sampling)
    assert taken["values"] == fit.values.tolist()
    assert len(taken["values"]) == taken["m"] + 1
