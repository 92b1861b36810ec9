"""The first page and the course in a browser: sliders of pictures, keys, presenting."""

import re

from playwright.sync_api import expect


def headline(page):
    return page.get_by_role("heading", level=3)


def test_the_slider_of_the_first_page_moves_by_keyboard_without_the_server(page):
    sent = []

    def listen(socket):
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", listen)
    page.goto(page.start)
    expect(headline(page)).to_have_text("With 100 negatives the worst of three looks best")
    slider = page.get_by_role("slider", name="m", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "100")
    page.wait_for_load_state("networkidle")
    before = len(sent)
    title = page.locator(".gtitle")
    expect(title).to_contain_text("wrong: X > Y > Z")
    slider.focus()
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "3,686")
    expect(title).to_contain_text("right: Z > Y > X")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "2,000")
    assert len(sent) == before
    page.get_by_role("link", name="Check my ranks").click()
    expect(headline(page)).to_contain_text("With 100 negatives Recall@10 ranks X > Y > Z")


def test_arrows_lead_through_the_lessons_and_an_answer_is_kept(page):
    page.goto(f"{page.start}/learn?lesson=4")
    expect(headline(page)).to_contain_text("4. ")
    page.get_by_test_id("stButtonGroup").last.get_by_text("NDCG", exact=True).click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Not quite")
    expect(page).to_have_url(re.compile("guess4=NDCG"))
    # The script that hands the arrows on comes with the picture that now has a slider.
    expect(page.get_by_role("slider", name="m", exact=True)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(headline(page)).to_contain_text("5. ")
    expect(page).to_have_url(re.compile("lesson=5"))
    after = page.locator(".gtitle").filter(has_text="AP on all items")
    expect(after).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(headline(page)).to_contain_text("4. ")
    expect(page.get_by_test_id("stAlert")).to_contain_text("Not quite")
    # The picture of the other lesson stays until the new one is complete.
    expect(after).to_have_count(0)
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    slider = page.get_by_role("slider", name="m", exact=True)
    slider.focus()
    slider.press("End")
    expect(page.locator(".gtitle")).to_contain_text("1 negative: one and the same line")
    expect(headline(page)).to_contain_text("4. ")


def test_presenting_embedded_is_one_picture_without_menu(page):
    page.goto(f"{page.start}/learn?lesson=5&guess5=A&present=true&embed=true")
    expect(headline(page)).to_contain_text("5. ")
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    assert headline(page).evaluate(size) > (24 if not page.narrow else 20)
    width = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(width) <= 0
    # A clicker sends PageUp and PageDown.
    page.keyboard.press("PageDown")
    expect(headline(page)).to_contain_text("6. ")
    guess = page.get_by_label("Your guess")
    guess.press_sequentially("1")
    guess.press("PageDown")  # not while somebody types
    guess.press_sequentially("2")
    guess.press("Enter")
    expect(page.get_by_test_id("stAlert")).to_contain_text("Not quite. 8 too few.")
    expect(headline(page)).to_contain_text("6. ")
    page.keyboard.press("PageUp")
    expect(headline(page)).to_contain_text("5. ")
