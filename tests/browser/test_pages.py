"""The real server in a real browser: each page at desktop size, then at the size of a phone. Then
the report, several readers at once, and a session that a new server does not know."""

import asyncio
import re
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import sampledash as sd
from sampledash.command_line import main
from sampledash.dashboard.uploads import LOST
from sampledash.report.html import html_report
from sampledash.report.numbers import percent
from tests.benchmarks.first_touch import FRAMES, field, rail
from tests.benchmarks.load import Reader
from tests.browser.reader import HOLD, go, headline, phone, rest, says, strip, upload, visit
from tests.report.made import NAMES, figure, hostile
from tests.session import Session, finished, serve, texts, widget

HOW = {"scheme": "without-replacement"}


#: What a page shows: its path, sentence, numbers, pins, choices, and the numbers of its sliders.
SHOWN = """() => JSON.stringify([location.pathname, ...[".st-key-headline h3",
  "[data-testid=stMetric]", "[class*=st-key-unpin_]", "[data-selected=true]",
  ".sampledash-cell output"].map((all) => [...document.querySelectorAll(all)].map(
    (node) => node.textContent))])"""


def test_back_and_forward_show_each_change_again(page):
    # Each change of a slider, field, choice or page is one entry of the browser's history.
    visit(page, "explore")
    page.wait_for_function(FRAMES, arg="m")  # on a busy machine, sliders come after the sentence

    def typed(key, value):
        field(page, key).fill(value)
        page.keyboard.press("Enter")

    def click(role, name):
        page.get_by_role(role, name=name, exact=True).click()

    changes = [
        lambda: typed("m", "50"),
        lambda: rail(page, "rank").press("ArrowRight"),
        lambda: click("radio", "with replacement"),
        lambda: click("button", "NDCG@k"),
        lambda: click("button", "Pin"),
        lambda: click("button", "Reset"),
        lambda: click("tab", "Law"),
        lambda: typed("m", "99"),
        lambda: go(page, "Consistency"),
        lambda: typed("k", "5"),
        lambda: go(page, "Correct"),
    ]
    states = [page.evaluate(SHOWN)]
    for change in changes:
        change()
        page.wait_for_function(f"(before) => ({SHOWN})() !== before", arg=states[-1])
        rest(page)
        states.append(page.evaluate(SHOWN))
    for move, expected in (page.go_back, states[-2::-1]), (page.go_forward, states[1:4]):
        for state in expected:
            move()
            page.wait_for_function(f"(state) => ({SHOWN})() === state", arg=state)


def test_values_stay_if_the_reader_leaves_a_page_before_its_controls_are_drawn(server):
    # The browser then sends neither the address nor the values of the controls.
    async def left():
        async with Session(server, "explore", m=50) as session:
            await session.run()
            session.page, session.query = "correct", ""
            return await session.run(), session.query

    shown, address = finished(left())
    assert "m=50" in address
    assert any(
        text.startswith("### With 50 negatives, BV 0.1 ") for text in texts(shown, "Markdown")
    )
    assert [x.value for x in shown if getattr(x, "id", "").endswith("-m")] == [50]


def test_a_number_stays_if_a_link_is_clicked_while_its_field_has_the_focus(page):
    # Without a wait, Streamlit runs the part of Explore that is gone: the new page stays blank.
    visit(page, "explore?m=50&k=5")
    field(page, "k").fill("8")
    go(page, "Consistency")
    expect(field(page, "k")).to_have_value("8")
    says(page, "With 50 negatives Recall@8 ranks ")
    page.go_back()  # the number and the page are two entries of the history
    expect(page).to_have_url(re.compile(r"/explore\?"))
    says(page, "With 50 of 9,999 negatives")
    expect(field(page, "k")).to_have_value("8")


def test_a_slider_that_is_held_while_a_link_is_followed_changes_no_page(page):
    visit(page, "explore")
    box = rail(page, "m").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2, steps=5)
    page.get_by_test_id("stTopNavLink").filter(has_text="Consistency").evaluate("x => x.click()")
    expect(page).to_have_url(re.compile("/consistency"))
    page.mouse.up()
    says(page, "With 100 negatives Recall@10 ranks X > Y > Z")
    expect(page).not_to_have_url(re.compile("m="))
    expect(rail(page, "m")).to_have_attribute("aria-valuetext", "100")


def test_a_click_right_after_a_request_for_the_pictures_of_a_slider_is_answered(page):
    # In one message with the request, the click would wait while the server answers a request from
    # before, and the next message for the whole page would end the wait without an answer.
    ask = """(clicked) => {
      window.sampledashTold.get("m").ask({});
      document.querySelector(clicked).click();
    }"""
    visit(page, "consistency")
    page.wait_for_function("window.sampledashLive?.asks && sampledashTold.get('m')")
    page.evaluate(HOLD)
    page.evaluate("sampledashTold.get('m').ask({})")
    page.wait_for_function("held.length > 0")
    page.evaluate(ask, ".st-key-choice_turn button")
    page.wait_for_function("held.length > 2")
    page.evaluate("letGo()")
    expect(page.locator(".st-key-choice")).to_be_visible()
    # It sends the click on a link first, and the request with the name of the old page later.
    rest(page)
    page.wait_for_function(FRAMES, arg="m")
    page.evaluate(ask, "[data-testid=stTopNavLink][href*=explore]")
    says(page, "With 100 of 9,999 negatives")


def test_an_action_on_a_page_that_the_reader_has_left_does_not_clear_the_new_page(page):
    # Streamlit would send the action with the name of the old page, and then show an empty page.
    visit(page, "explore?m=50")
    chip = page.get_by_role("button", name="NDCG@k", exact=True).bounding_box()
    page.evaluate(HOLD)
    go(page, "Consistency")
    page.mouse.click(chip["x"] + chip["width"] / 2, chip["y"] + chip["height"] / 2)
    page.evaluate("letGo()")
    says(page, "With 50 negatives Recall@10 ranks X > Y > Z")
    field(page, "k").fill("5")  # the new page takes actions
    page.keyboard.press("Enter")
    says(page, "With 50 negatives Recall@5 ranks ")


def test_from_page_to_page_values_stay(page):
    visit(page, "explore?m=50")
    slider = page.get_by_role("slider", name="m, negatives")
    for name in ("Correct", "Consistency", "Explore", "Correct"):
        go(page, name)
        expect(page).to_have_url(re.compile(f"/{name.lower()}"))
        expect(slider).to_have_attribute("aria-valuetext", "50")
    says(page, "With 50 negatives, BV 0.1")
    phone(page)
    go(page, "Consistency")
    says(page, "With 50 negatives Recall@10 ranks X > Y > Z")


def test_a_click_on_a_printed_number_opens_its_table_in_correct(page):
    visit(page, "paper?item=MS-COCO&wild_k=R%4010")
    at = page.locator(".st-key-paper_on_both .scatterlayer .trace").last.locator(".point").nth(9)
    at.scroll_into_view_if_needed()
    box = at.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    # The tenth system by R@10 on 1,000 images, as the file has it.
    expect(page).to_have_url(re.compile(r"/correct\?.*DIME\+BUTD.*63\.0.*90\.5.*96\.2"))
    says(page, "Recall@10")
    page.go_back()
    says(page, "207 of 207")


def test_a_click_on_a_tile_chooses_its_metric_and_pair(page):
    visit(page, "consistency")
    # Krichene & Rendle, Section 6.2 and Figure 6: Recall@10 needs about m = 1000.
    first = "Recall@10 ranks X > Y > Z; on all items Z > Y > X. Right from m = 970."
    says(page, f"With 100 negatives {first}")
    # Click away from the middle of a tile: there is a row for each pair, a column for each metric.
    tiles = (0.6, 0.22, "NDCG", "Y and X", "1,988"), (0.93, 0.75, "AP", "Z and Y", "55")
    for x, y, metric, pair, m in tiles:
        picture = page.locator(".st-key-consistency_tiles .nsewdrag").first
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
        expect(page.get_by_text(f"{pair} change order at m = {m}.")).to_be_attached()
        right = sd.right_from(metric, sd.example("movielens-xyz"), **HOW)["m"].max()
        expect(strip(page, "All right from m")).to_contain_text(f"{right:,}")
        says(page, f"{metric} ranks ")
        phone(page)


def test_from_own_files_to_a_verdict_a_sentence_and_a_report(page, tmp_path):
    visit(page, "consistency")
    # One line stands for the choice of ranks until the reader wants other ranks.
    line, choice = page.locator(".st-key-choice_line"), page.locator(".st-key-choice")
    expect(line).to_contain_text("X, Y, Z · 3 systems · 6,040 instances · n = 1,393 to 3,687")
    expect(choice).to_be_hidden()
    page.get_by_role("button", name="Change").click()
    page.get_by_text("Upload a file", exact=True).click()
    rows = "<b>A</b>,3,900\n<b>A</b>,40,900\n=B,5,900\n=B,7,900\n"
    upload(page, tmp_path / "mine.csv", "system,rank,n\n" + rows)
    says(page, "<b>A</b>")
    expect(line).to_contain_text("mine.csv · 2 systems · 2 instances · n = 900")
    for _ in range(2):
        page.get_by_role("button", name="For your paper").click()
        dialog = page.get_by_role("dialog")
        # AP of one relevant item is 1 / rank: (1/3 + 1/40) / 2 = 17.92 %.
        expect(dialog.locator(".sampledash-copy pre").first).to_contain_text("17.92")
        with page.expect_download() as held:
            page.get_by_role("button", name="HTML report").first.click()
        text = held.value.path().read_text()
        assert "17.92" in text
        assert "<b>A</b>" not in text
        assert "mine.csv" in text
        assert main(["check", str(held.value.path())]) == 0
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_be_hidden()
        phone(page)


def test_the_slider_of_the_first_page_moves_by_keyboard_without_the_server(page):
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.emulate_media(color_scheme="dark")  # a later change would be sent to the server
    visit(page, "")
    expect(headline(page)).to_have_text("With 100 negatives the worst of three looks best")
    slider, title = page.get_by_role("slider", name="m", exact=True), page.locator(".gtitle")
    expect(slider).to_have_attribute("aria-valuetext", "100")
    expect(title).to_contain_text("wrong by Recall@10: X > Y > Z")
    for narrow in (False, True):
        if narrow:
            phone(page)
        page.wait_for_load_state("networkidle")
        before = len(sent)
        slider.focus()
        slider.press("End")
        expect(slider).to_have_attribute("aria-valuetext", "3,686")
        expect(title).to_contain_text("right by Recall@10: Z > Y > X")
        slider.press("ArrowLeft")
        expect(slider).to_have_attribute("aria-valuetext", "2,000")
        assert len(sent) == before
    page.get_by_role("link", name="Ranks", exact=True).click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Choose a file to see whether")


def test_arrows_lead_through_the_lessons_and_an_answer_is_kept(page):
    visit(page, "learn?lesson=4")
    says(page, "4. ")
    page.get_by_test_id("stButtonGroup").last.get_by_text("NDCG", exact=True).click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Not quite")
    expect(page).to_have_url(re.compile("guess4=NDCG"))
    # The arrow keys work once a script has loaded, and it loads with the picture of this slider.
    slider = page.get_by_role("slider", name="m", exact=True)
    expect(slider).to_be_visible()
    after = page.locator(".gtitle").filter(has_text="AP on all items")
    for narrow in (False, True):
        if narrow:
            phone(page)
            headline(page).click()
        page.keyboard.press("ArrowRight")
        says(page, "5. ")
        expect(page).to_have_url(re.compile("lesson=5"))
        expect(after).to_have_count(1)
        page.keyboard.press("ArrowLeft")
        says(page, "4. ")
        expect(page.get_by_test_id("stAlert")).to_contain_text("Not quite")
        # The picture of the previous lesson stays until the new picture is complete.
        expect(after).to_have_count(0)
        expect(page.locator(".js-plotly-plot")).to_have_count(1)
        slider.focus()
        slider.press("Home")
        expect(page.locator(".gtitle")).to_contain_text("1 negative: one and the same line")
        says(page, "4. ")


def test_the_slider_of_a_lesson_stays_at_its_step_when_the_metric_changes(page):
    sets, title = sd.example("paper-abc"), page.locator(".gtitle")
    visit(page, "learn?lesson=5&guess5=A")
    slider = page.get_by_role("slider", name="m", exact=True)
    expect(title).to_contain_text("99 negatives: ")
    # Table 2 of Krichene & Rendle: mean and standard deviation of AP of A, B and C in 1,000 runs.
    printed = (0.630, 0.129), (0.336, 0.073), (0.325, 0.050)
    shown = re.findall(r"[ABC] ([\d.]+) %", title.text_content())
    for value, (mean, std) in zip(shown, printed, strict=True):
        assert float(value) / 100 == pytest.approx(mean, abs=4 * std / 1000**0.5)
    page.evaluate("document.querySelector('.js-plotly-plot').first = true")
    box = page.locator(".sampledash-rail").bounding_box()
    x, y, wide = box["x"] + 8, box["y"] + box["height"] / 2, box["width"] - 16
    for metric in ("AP", "NDCG"):
        if metric == "NDCG":  # the slider stays at 20, and the picture is not made anew
            page.get_by_role("radio", name=metric, exact=True).click()
        else:
            page.mouse.move(x + wide * 6 / 15, y)  # 99 is the seventh of sixteen steps
            page.mouse.down()
            page.mouse.move(x + wide * 0.2, y, steps=5)
            page.mouse.move(x + wide * 4.2 / 15, y)
            page.mouse.up()
        shown = [
            f"{rs.system} {percent(sd.expected_mean(metric, rs, 20, scheme='with-replacement'))}"
            for rs in sets
        ]
        expect(title).to_contain_text("   ".join(shown))
        expect(slider).to_have_attribute("aria-valuetext", "20")
        dot = page.locator(".scatterlayer .trace .points .point").first.bounding_box()
        place = "(() => { const plot = document.querySelector('.js-plotly-plot'), "
        place += "{ xaxis } = plot._fullLayout; return xaxis._offset + xaxis.d2p(20) "
        place += "+ plot.getBoundingClientRect().left; })()"
        assert dot["x"] + dot["width"] / 2 == pytest.approx(page.evaluate(place), abs=1)
        assert page.evaluate("document.querySelector('.js-plotly-plot').first")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download the picture as SVG").click()
    picture = taken.value.path().read_text()
    assert taken.value.suggested_filename == "sampledash-lesson-5-m-20.svg"
    assert "sampledash: m = 20</text>" in picture
    assert "20 negatives: " in picture  # in the title, beside the caption


def test_presenting_embedded_is_one_picture_without_menu(page):
    visit(page, "learn?lesson=5&guess5=A&present=true&embed=true")
    for least in (24, 20):  # least font size of the headline, in px
        says(page, "5. ")
        expect(page.locator(".js-plotly-plot")).to_have_count(1)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
        expect(page.get_by_test_id("stHeader")).to_be_hidden()
        size = "e => parseFloat(getComputedStyle(e).fontSize)"
        assert headline(page).evaluate(size) > least
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        box = page.locator(".js-plotly-plot").bounding_box()
        assert box["width"] < 600 or 40 < 900 - box["y"] - box["height"] < 160  # for the choices
        page.keyboard.press("PageDown")
        says(page, "6. ")
        page.keyboard.press("PageUp")
        says(page, "5. ")
        phone(page)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_chromium_opens_it_without_a_word(window, width, scheme, tmp_path):
    path, figures = tmp_path / "report.html", [("Curves", figure()), ("Again", figure(NAMES[0]))]
    path.write_text(html_report(hostile(), figures), encoding="utf-8")
    page = window.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert page.locator(".js-plotly-plot").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    style = "getComputedStyle(document.body)"
    ink, paper = (page.evaluate(f"{style}.{name}") for name in ("color", "backgroundColor"))
    dark = scheme == "dark"
    assert (sum(map(int, re.findall(r"\d+", paper))) < 200) == dark
    assert (sum(map(int, re.findall(r"\d+", ink))) > 500) == dark
    assert page.locator("td", has_text=NAMES[0]).first.is_visible()
    assert (asked, said) == ([path.as_uri()], [])
    page.close()


def test_readers_at_once_see_their_own_numbers(server):
    readers = [Reader(number) for number in range(1, 5)]

    async def together():
        await asyncio.gather(*(x.read(server, 2, 0.0, time.perf_counter()) for x in readers))

    finished(together())
    for reader in readers:
        assert (len(reader.seen), reader.wrong()) == (3, [])
        assert reader.names_sent == set(reader.names)


@pytest.mark.parametrize(
    ("name", "numbers", "picture"),
    [
        ("explore", {"n": 5000, "m": 77, "k": 7}, "explore_curves"),
        ("consistency", {"k": 5, "m": 444}, "consistency_tiles"),
        ("correct", {"m": 60, "gamma": 0.03}, "correct_expectation"),
    ],
)
def test_a_change_sends_its_picture_first_and_ends_as_a_new_page(server, name, numbers, picture):
    def drawn(sent):
        messages = map(ForwardMsg.FromString, sent)
        elements = [(x.metadata.delta_path, x.delta.new_element) for x in messages]
        kinds = [(tuple(path), x, x.WhichOneof("type")) for path, x in elements]
        return {path: getattr(x, kind) for path, x, kind in kinds if kind}

    async def both():
        async with Session(server, name) as changed, Session(server, name, **numbers) as new:
            await new.run()
            opened = await changed.run()
            for key, number in numbers.items():
                before, moved = len(changed.sent), widget(opened, key)
                moved.double_value = number
                await changed.run(moved)
            return drawn(changed.sent[before:]), drawn(new.sent)

    now, wanted = finished(both())
    ids = {getattr(element, "id", "").split("-")[-1]: place for place, element in now.items()}
    assert next(filter(None, ids)) == picture
    del now[ids["tell_answer"]]  # counts the runs
    for place, element in now.items():
        for part in (element, wanted[place]):  # a new page sends the numbers of its address
            for name in {"value", "raw_value", "set_value"} & {*part.DESCRIPTOR.fields_by_name}:
                part.ClearField(name)
            if getattr(part, "json", ""):  # sliders are told which run of the whole page it is
                part.json = re.sub(r'"run": [\d.]+', "", part.json)
        assert element == wanted[place]


def test_after_a_restart_an_upload_is_told_to_be_gone_and_a_pin_stays(window, tmp_path):
    process, address = serve()
    tab = window.new_page()
    try:
        tab.start = address
        visit(tab, "consistency?m=100")
        tab.get_by_role("button", name="Change").click()
        tab.get_by_text("Upload a file", exact=True).click()
        ranks = "system,user,rank,n\nA,u,11,200\nA,v,11,200\nB,u,4,200\nB,v,150,200\n"
        upload(tab, tmp_path / "ranks.csv", ranks)
        says(tab, "A > B")
        tab.get_by_role("button", name="Pin").click()
        expect(tab.locator(".st-key-unpin_0")).to_be_visible()
        rest(tab)
        process.terminate()
        process.communicate(timeout=20)
        process, _ = serve(port=urlsplit(address).port)
        alerts = tab.get_by_test_id("stAlert")
        expect(alerts.filter(has_text=LOST)).to_be_visible(timeout=60_000)
        expect(tab).to_have_url(re.compile("pin="))
    finally:
        tab.close()
        process.terminate()
        process.communicate(timeout=20)
