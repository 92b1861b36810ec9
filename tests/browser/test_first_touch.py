"""The first touch of a fresh page is never lost; 400 of them are in the benchmark."""

import pytest
from playwright.sync_api import expect

import sampledash as sd
from sampledash.report.numbers import percent
from tests.benchmarks.first_touch import GESTURES, PLACES, field, first_touch, opened, rail
from tests.browser.reader import headline, rest, strip, visit

PLACED = [("explore", "rank"), ("consistency", "correct")]


@pytest.mark.parametrize("gesture", GESTURES, ids=lambda x: x.__name__)
@pytest.mark.parametrize("names", PLACED, ids="-".join)
def test_a_first_touch_is_in_field_sentence_picture_and_address(browser, server, gesture, names):
    for name in names:
        context = browser.new_context(reduced_motion="reduce", has_touch=True)
        tab = opened(context, server, PLACES[name])
        # How fast it is, is for the benchmark: here the machine may be busy.
        assert first_touch(tab, PLACES[name], gesture)[1] == ""
        context.close()


def test_two_sliders_at_once_both_arrive_and_only_a_wrong_number_is_an_error(page):
    # Before the server has answered the one change, the other is on its way.
    visit(page, "explore")
    for key in ("m", "rank"):
        rail(page, key).focus()
        page.keyboard.press("ArrowRight")
    sampling = sd.Sampling(10_000, 200, "without-replacement")
    expect(headline(page)).to_contain_text("With 200 of 9,999 negatives, rank 200 scores")
    mean = percent(float(sd.expected("Recall@10", 200, sampling)))
    expect(strip(page, "Recall@10, sampled")).to_contain_text(mean)
    rest(page)
    assert [field(page, key).input_value() for key in ("m", "rank")] == ["200", "200"]
    # What cannot be is said at the field, and the last answer stays.
    said = headline(page).inner_text()
    field(page, "m").fill("20000")
    page.keyboard.press("Enter")
    alert = page.get_by_test_id("stAlert")
    expect(alert).to_contain_text("m = 20,000 is too large without replacement")
    rest(page)
    box, own = alert.bounding_box(), field(page, "m").bounding_box()
    assert 0 <= box["y"] - own["y"] - own["height"] < 60
    assert headline(page).inner_text() == said
    expect(strip(page, "Recall@10, sampled")).to_be_visible()
    expect(page.get_by_role("tab", name="Family")).to_be_visible()
    visit(page, "explore?m=333&n=1500")
    place = float(rail(page, "m").input_value())
    assert rail(page, "m").get_attribute("aria-valuetext") == "333"
    assert place % 1  # between 200 and 500
    rail(page, "m").focus()
    page.keyboard.press("ArrowLeft")
    expect(field(page, "m")).to_have_value("200")
    for key, press, value in (("m", "End", "1499"), ("rank", "End", "1500"), ("n", "Home", "1500")):
        rail(page, key).focus()
        page.keyboard.press(press)
        expect(field(page, key)).to_have_value(value)
        rest(page)
        assert not page.get_by_test_id("stAlert").count()
    # All 1,499 others: the sampled metric is the exact one.
    expect(headline(page)).to_contain_text("With 1,499 of 1,499 negatives, rank 1,500 scores")
