"""Correct on sampled ranks and on a printed table, in a real browser."""

import re

import numpy as np
from playwright.sync_api import expect

import sampledash as sd
from sampledash.report.numbers import percent
from tests.browser.test_app import go, headline


def strip(page, label):
    return page.get_by_test_id("stMetric").filter(has_text=label)


def test_sampled_ranks_tell_auc_but_not_recall(page, tmp_path):
    go(page, "Correct")
    page.get_by_text("Sampled ranks", exact=True).click()
    expect(headline(page)).to_contain_text("These samples cannot tell which system has the highest")
    expect(strip(page, "Pairs decided")).to_contain_text("0 of 3")
    page.get_by_role("radio", name="AUC", exact=True).click()
    # Table 3 of the paper: AUC 89.13, 85.33 and 74.73; a sample leaves it unbiased.
    expect(headline(page)).to_contain_text("AUC orders X > Y > Z, whatever the ranks behind")
    path = tmp_path / "sampled.csv"
    rng = np.random.default_rng(3)
    lines = ["system,sampled_rank,n,m"]
    for name, power in (("A", 3.0), ("B", 1.0)):
        true = sd.RankSet(name, 1 + (1000 * rng.random(600) ** power).astype(int), 1000)
        lines += [f"{name},{rank},1000,9" for rank in sd.sample_ranks(true, 9, rng).sampled_ranks]
    path.write_text("\n".join(lines))
    page.get_by_text("Upload a file", exact=True).click()
    page.locator("input[type=file]").set_input_files(path)
    expect(headline(page)).to_contain_text("AUC orders A > B")
    expect(page).to_have_url(re.compile("what=Sampled"))


def test_a_printed_table_is_bounded_as_by_the_core(page):
    go(page, "Correct")
    page.get_by_text("A printed table", exact=True).click()
    expect(headline(page)).to_contain_text("This table cannot tell")
    box = page.get_by_role("textbox", name="The printed table")
    box.fill("system, HR@10\nA, 0.91\nB, 0.21")
    box.press("ControlOrMeta+Enter")
    low, high = sd.bounds_from_table(
        "Recall@10", {"HR@10": 0.91}, 10_000, 100, 2, scheme="without-replacement"
    )
    table = page.get_by_test_id("stTable")
    expect(table).to_contain_text(f"{percent(low)} to {percent(high)}")
