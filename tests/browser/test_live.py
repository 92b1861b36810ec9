"""No action of a user is lost, and the pictures during a drag show the numbers of the library."""

import math
import os
import re
from urllib.parse import quote_plus

import numpy as np
import pytest
from playwright.sync_api import expect

import sampledash as sd
from sampledash.comparison.means import expected_means
from sampledash.protocol import Protocol
from sampledash.report.numbers import percent
from tests.benchmarks import first_touch as touches
from tests.benchmarks.first_touch import PLACES, field, rail
from tests.browser.reader import HOLD, headline, rest, says, strip, visit
from tests.dashboard.driver import worst_states

SCHEME = "without-replacement"
# Number of stops of every dragged slider; SAMPLEDASH_PLACES=20 stops at nearly all steps.
STOPS = int(os.environ.get("SAMPLEDASH_PLACES", "5"))
# JavaScript for the coordinates of a point of a picture, in the units of the axes.
POINT = """([key, place, panel]) => {
  const graph = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const point = graph.querySelectorAll(".points .point")[place];
  const [, x, y] = point.getAttribute("transform").match(/translate\\(([^,]+),([^)]+)\\)/);
  const { [`xaxis${panel}`]: xaxis, [`yaxis${panel}`]: yaxis } = graph._fullLayout;
  return [xaxis.p2d(+x), yaxis.p2d(+y)];
}"""


TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SENT = """(name) => {
  const { version } = window.sampledashTold.get(name);
  return Object.keys(window.sampledashFrames.get(version).frames);
}"""


def dragged(page, name, end):
    """Drag a slider over a part of its rail; at each stop yield the number that the page shows."""
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    rest(page)
    slider = rail(page, name)
    page.wait_for_function(touches.FRAMES, arg=name)  # the pictures for the drag have come
    page.mouse.move(*touches.thumb(page, name))
    page.mouse.down()
    for stop in range(1, STOPS + 1):
        page.mouse.move(*touches.at(page, name, end * stop / STOPS))
        page.evaluate(f"() => {TWO_FRAMES}")
        number = float(slider.get_attribute("aria-valuetext").replace(",", ""))
        sent = map(float, page.evaluate(SENT, name))
        shown = min(sent, key=lambda x: abs(math.log(x / number)))
        assert abs(math.log(shown / number)) < math.log(1.6)
        yield shown if name == "gamma" else int(shown)
    page.mouse.up()


@pytest.mark.parametrize(("name", "end"), [("m", 0.8), ("n", 0.9), ("k", 0.3), ("rank", 0.42)])
def test_what_follows_the_hand_is_what_the_core_says(page, name, end):
    visit(page, "explore")
    shown = page.get_by_test_id("stMetric").nth(1)
    where = {"m": 100, "n": 10_000, "k": 10, "rank": 100}

    def holds():
        m, n, k, rank = where.values()
        sampling = sd.Sampling(n, m, "without-replacement")
        expect(shown).to_contain_text(percent(float(sd.expected(f"Recall@{k}", rank, sampling))))
        said = f"With {m:,} of {n - 1:,} negatives, rank {rank:,} scores Recall@{k}"
        expect(headline(page)).to_contain_text(said)
        for point, panel, metric in ((0, "", f"Recall@{k}"), (2, "2", "NDCG")):
            x, y = page.evaluate(POINT, ["explore_curves", point, panel])
            assert x == pytest.approx(rank, rel=1e-3)
            expected = 100 * float(sd.expected(metric, rank, sampling))
            assert y == pytest.approx(expected, abs=0.01)

    for value in dragged(page, name, end):
        where[name] = value
        holds()
    # After the release, the page shows results for the exact number of the slider.
    where[name] = int(field(page, name).input_value())
    expect(page).to_have_url(re.compile(f"{name}={where[name]}"))
    says(page, f"{where[name] - (name == 'n'):,}" if name != "k" else f"Recall@{where[name]}")
    rest(page)
    holds()


def test_back_right_after_a_typed_number_shows_the_number_before(page):
    visit(page, "explore")
    for number in ("20", "50"):
        field(page, "m").fill(number)
        field(page, "m").press("Enter")
        says(page, f"With {number} of 9,999 negatives")
        rest(page)
    # The server gets the next number and Back at once, and answers only the last of them.
    page.evaluate(HOLD)
    field(page, "m").fill("200")
    field(page, "m").press("Enter")
    expect(page).to_have_url(re.compile("m=200"))
    page.go_back()
    expect(page).to_have_url(re.compile("m=50"))
    page.wait_for_function("() => held.length >= 2")
    page.evaluate("() => letGo()")
    expect(rail(page, "m")).to_have_attribute("aria-valuetext", "50")
    rest(page)
    expect(field(page, "m")).to_have_value("50")
    says(page, "With 50 of 9,999 negatives")
    expect(rail(page, "m")).to_have_attribute("aria-valuetext", "50")


# Lists the visible changes of a picture from now on.
CHANGES = """(key) => {
  window.changes = [];
  const note = (list) => changes.push(...list.map(({ target, attributeName }) =>
    `${target.nodeName} ${target.getAttribute?.("class")} ${attributeName}`)
    .filter((part) => !part.endsWith("aria-label")));
  const graph = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const kinds = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(note).observe(graph, kinds);
}"""
# The corners of the line "sampled" of the first panel, in the units of the axes.
CORNERS = """() => {
  const graph = document.querySelector(".st-key-explore_curves .js-plotly-plot");
  const { xaxis, yaxis } = graph._fullLayout;
  const [, sampled] = [...graph.querySelectorAll(".xy .js-line")].slice(-2);
  return sampled.getAttribute("d").slice(1).split("L").map((pair) => pair.split(",").map(Number))
    .map(([x, y]) => [xaxis.p2d(x), yaxis.p2d(y)]);
}"""


def key(page, press, name="m"):
    """Press a key on a slider; return its new number."""
    rail(page, name).press(press)
    return float(field(page, name).input_value())


STEPS = [("m", "explore_curves"), ("m", "consistency_tiles"), ("m", "consistency_curve")]
STEPS += [("gamma", "correct_vector")]


@pytest.mark.parametrize(("name", "picture"), STEPS)
def test_a_step_is_shown_before_its_answer_which_draws_nothing_again(page, name, picture):
    visit(page, picture.split("_")[0])
    page.locator(f".st-key-{picture} .js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_function(touches.FRAMES, arg=name)
    page.evaluate(HOLD)
    page.evaluate(CHANGES, picture)
    number = key(page, "ArrowRight", name)
    page.evaluate(f"() => {TWO_FRAMES}")
    # The new number is shown, although nothing has reached the server.
    words = {"m": f"With {number:g} ", "gamma": f"BV {number:g} "}
    expect(headline(page)).to_contain_text(words[name])
    assert page.evaluate("() => changes") != []
    numbers = page.get_by_test_id("stMetric")
    shown = headline(page).inner_text(), numbers.all_inner_texts()
    page.evaluate("() => { changes.length = 0; letGo(); }")
    expect(page).to_have_url(re.compile(f"{name}={number:g}"))
    rest(page)
    assert page.evaluate("() => changes") == []
    assert (headline(page).inner_text(), numbers.all_inner_texts()) == shown


def test_lines_after_each_change_are_those_of_the_core(page):
    visit(page, "explore")
    page.locator(".st-key-explore_curves .main-svg").first.wait_for()
    page.wait_for_function(touches.FRAMES, arg="m")
    pixel = 10_000 ** (1 / 300)  # ratio of two ranks that are a pixel apart
    for change in ("ArrowRight", "203", "ArrowLeft", "201", "37", "PageUp"):
        if change.isdecimal():
            field(page, "m").fill(change)
            field(page, "m").press("Enter")
        m = int(change) if change.isdecimal() else int(key(page, change))
        says(page, f"With {m:,} of 9,999 negatives")
        expect(page).to_have_url(re.compile(f"m={m}(&|$)"))
        rest(page)
        corners = np.array(page.evaluate(CORNERS))
        near = [(corners[:, 0] * pixel**x).round().astype(int) + x for x in (-1, 0, 1)]
        ranks = np.clip(near, 1, 10_000)
        sampling = sd.Sampling(10_000, m, SCHEME)
        height = [100 * sd.expected("Recall@10", x, sampling) for x in ranks]
        # A corner is between the values at the ranks beside it, within one pixel of 300: a line
        # whose points are nearer than half a pixel to the old line is not drawn again.
        low, high = np.min(height, axis=0) - 0.4, np.max(height, axis=0) + 0.4
        assert np.all((low <= corners[:, 1]) & (corners[:, 1] <= high))


def test_back_right_after_a_step_shows_the_answer_of_the_address(page):
    visit(page, "correct?gamma=1")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_function(touches.FRAMES, arg="gamma")
    rest(page)
    numbers = page.get_by_test_id("stMetric")
    before = headline(page).inner_text(), numbers.all_inner_texts()
    page.evaluate(HOLD)
    assert key(page, "ArrowLeft", "gamma") == 0.5
    page.evaluate(f"() => {TWO_FRAMES}")
    expect(headline(page)).to_contain_text("BV 0.5 ")
    page.go_back()
    page.wait_for_function("() => held.length >= 2")
    page.evaluate("() => letGo()")
    says(page, "BV 1 cuts")
    rest(page)
    assert (headline(page).inner_text(), numbers.all_inner_texts()) == before
    expect(rail(page, "gamma")).to_have_attribute("aria-valuetext", "1")


# Text and position of what the pictures of the answer show: labels of axes, names, ends of lines.
DRAWN = """() => [...document.querySelectorAll(".st-key-picture .js-plotly-plot")].map((graph) => {
  const [{ x, y }, parts] = [graph.getBoundingClientRect(), ".xtick text, .ytick text, .js-line"];
  return [...graph.querySelectorAll(`${parts}, .annotation`)].map((part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return [part.textContent, left - x, right - x, top - y, bottom - y];
  }).sort(([a, , , p], [b, , , q]) => (a > b) - (a < b) || p - q);
})"""


@pytest.mark.parametrize(("place", "name"), [("correct", "gamma"), ("explore", "n")])
def test_a_picture_moved_by_a_slider_is_the_picture_of_a_new_page(page, place, name):
    visit(page, place)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_function(touches.FRAMES, arg=name)
    for _ in range(2):
        number = key(page, "ArrowRight", name)
        expect(page).to_have_url(re.compile(f"{name}={number:g}"))
        rest(page)
    moved = page.evaluate(DRAWN)
    page.goto(page.url)
    says(page, headline(page).inner_text())
    rest(page)
    page.wait_for_function(
        f"(count) => ({DRAWN})().flat().length === count", arg=sum(map(len, moved))
    )
    for ours, new in zip(moved, page.evaluate(DRAWN), strict=True):
        assert [text for text, *_ in ours] == [text for text, *_ in new]
        np.testing.assert_allclose([x for _, *x in ours], [x for _, *x in new], atol=1.5)


def test_a_late_frame_is_not_shown_over_the_answer(page):
    visit(page, "explore")
    page.wait_for_function(touches.FRAMES, arg="m")
    # As on a slow computer, the browser shows its next picture only after the server's answer.
    page.evaluate("() => { window.requestAnimationFrame = (show) => setTimeout(show, 600); }")
    page.mouse.move(*touches.thumb(page, "m"))
    page.mouse.down()
    page.mouse.move(*touches.at(page, "m", 0.618))
    page.mouse.up()
    m = int(field(page, "m").input_value())
    assert str(m) not in page.evaluate(SENT, "m")
    said = f"With {m:,} of 9,999 negatives, rank 100 scores Recall@10"
    expect(headline(page)).to_contain_text(said)
    page.evaluate(f"() => {TWO_FRAMES}.then(() => {TWO_FRAMES})")
    expect(headline(page)).to_contain_text(said)
    expected = float(sd.expected("Recall@10", 100, sd.Sampling(10_000, m, SCHEME)))
    expect(page.get_by_test_id("stMetric").nth(1)).to_contain_text(percent(expected))


def test_a_frame_of_another_picture_is_not_shown_and_the_change_arrives(page):
    visit(page, "explore")
    page.wait_for_function(touches.FRAMES, arg="k")
    # Right after Back, a slider may still have the frames of a picture with more lines.
    page.evaluate("""() => {
      const { version } = window.sampledashTold.get("k");
      for (const { pictures } of Object.values(window.sampledashFrames.get(version).frames))
        for (const { traces } of Object.values(pictures)) traces.push(traces[0]);
    }""")
    page.mouse.move(*touches.thumb(page, "k"))
    page.mouse.down()
    page.mouse.move(*touches.at(page, "k", 0.4), steps=4)
    page.mouse.up()
    k = int(field(page, "k").input_value())
    assert k != 10
    expect(headline(page)).to_contain_text(f"rank 100 scores Recall@{k} ")
    expected = float(sd.expected(f"Recall@{k}", 100, sd.Sampling(10_000, 100, SCHEME)))
    expect(page.get_by_test_id("stMetric").nth(1)).to_contain_text(percent(expected))


def test_designs_follow_the_hand_that_sets_their_price(page):
    visit(page, "consistency?answers=What+to+do+instead&metrics=Recall%40k")
    sets, how = sd.example("movielens-xyz"), {"corrections": ["uncorrected"], "scheme": SCHEME}
    row = page.locator(".st-key-designs_table tr", has_text="stop when decided").first
    page.locator(".st-key-consistency_designs .main-svg").first.wait_for()
    rail(page, "budget").scroll_into_view_if_needed()
    for budget in dragged(page, "budget", 0.95):
        errors = sd.designs("Recall@10", sets, budget, **how).errors
        stopped = errors[errors["design"] == "stop when decided"]
        expect(row).to_contain_text(f"{round(stopped['instances'].mean()):,}")
        said = f"For the price of {budget:,} negative{'s' * (budget > 1)}, stopping"
        expect(page.locator(".st-key-designs_said")).to_contain_text(said)
        x, y = page.evaluate(POINT, ["consistency_designs", 0, ""])
        found = errors.query("design == 'uncorrected'")["rmse"]
        assert (x, y) == pytest.approx((budget, 100 * (found**2).mean() ** 0.5), rel=5e-3)
    expect(page).to_have_url(re.compile(f"budget={field(page, 'budget').input_value()}"))


def test_an_exact_number_reaches_every_panel_and_the_picture_that_is_taken_away(page):
    visit(page, "explore")
    picture = page.locator(".st-key-explore_curves")
    picture.locator(".main-svg").first.wait_for()
    for scheme, ink in (("light", "rgb(28, 37, 48)"), ("dark", "rgb(240, 244, 248)")):
        page.emulate_media(color_scheme=scheme)  # the picture follows the look of the page
        expect(picture.locator(".xtitle").first).to_have_css("fill", ink)
    page.get_by_label("m, negatives, exact value").fill("37")
    page.keyboard.press("Enter")
    sampling = sd.Sampling(10_000, 37, "without-replacement")
    written = [percent(float(sd.expected(x, 100, sampling))) for x in ("Recall@10", "NDCG", "AP")]
    for value in written:
        expect(picture).to_contain_text(value)
    # The points are moved at once; Plotly draws the picture anew only when the pointer is near.
    late = "document.querySelector('.js-plotly-plot').sampledash.late"
    assert page.evaluate(f"Boolean({late})")
    moved = [page.evaluate(POINT, ["explore_curves", place, ""]) for place in (0, 1)]
    picture.hover()
    page.wait_for_function(f"{late} === null")
    picture.hover(position={"x": 150, "y": 150})
    drawn = [page.evaluate(POINT, ["explore_curves", place, ""]) for place in (0, 1)]
    assert np.allclose(moved, drawn)
    mean = 100 * float(sd.expected("Recall@10", 100, sampling))
    assert drawn[0] == pytest.approx((100, mean), rel=1e-3)
    expect(page.locator(".hoverlayer").first).to_contain_text("m = 37")
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        picture.hover()
        with page.expect_download() as held:
            picture.get_by_role("button", name=kind).click()
        name = f"sampledash-explore_curves-n-10000-m-37-k-10.{kind.lower()}"
        assert held.value.suggested_filename == name
        taken = held.value.path().read_bytes()
        assert taken.startswith(begins)
        if kind == "SVG":
            assert b"<title>Recall@10 against the true rank" in taken
            assert (
                b"n = 10,000, m = 37, k = 10, negatives drawn without replacement</text>" in taken
            )
            assert written[1].encode() in taken


GIVEN = ".st-key-given_headline", ".st-key-given_picture .js-plotly-plot", ".st-key-bar"
OWN = ".st-key-headline", ".st-key-picture .js-plotly-plot", ".st-key-bar", ".st-key-strip"
LESSON = "h3", ".js-plotly-plot", ".sampledash-rail"


def m_is_at_most_the_eighth_stop_of_the_tab_key(page):
    page.wait_for_function("document.querySelector('[data-testid=stMain]').tabIndex === -1")
    focused, stops = page.locator(":focus"), 0
    while stops < 8 and (not stops or focused.get_attribute("role") != "slider"):
        page.keyboard.press("Tab")
        stops += 1
    expect(focused).to_have_attribute("aria-label", "m, negatives")
    page.keyboard.press("?")
    expect(page.locator(".sampledash-cell [popover]:popover-open")).to_contain_text("From 1 to ")
    page.locator("[data-testid=stTopNavLink][tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-testid=stTopNavLink][tabindex='-1']:focus")).to_have_count(1)


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("explore", OWN), ("consistency", OWN), ("correct", OWN),
        ("correct?what=Sampled+ranks", GIVEN), ("correct?what=A+printed+table", GIVEN),
        ("", LESSON), ("learn?lesson=6&guess6=0+of+20", LESSON),
        ("learn?lesson=10&guess10=1", LESSON[:2]),
    ],
)  # fmt: skip
def test_the_first_screen_holds_sentence_picture_and_slider(page, address, parts):
    visit(page, address)
    if ".st-key-bar" in parts:
        m_is_at_most_the_eighth_stop_of_the_tab_key(page)
    for wide, high, shown in ((1280, 900, parts), (390, 844, parts[:2])):
        page.set_viewport_size({"width": wide, "height": high})
        for part in shown:
            expect(page.locator(part).first).to_be_in_viewport(ratio=0.99 if wide > 400 else 0.3)
            box = page.locator(part).first.bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= high, part


def test_the_tile_map_follows_m(page):
    visit(page, "consistency")
    sets, metrics = sd.example("movielens-xyz"), ["Recall@10", "NDCG", "AP"]
    shown, tiles = strip(page, "Pairs in true order"), page.locator(".st-key-consistency_tiles")
    for m in dragged(page, "m", 0.78):
        rows = sd.verdict(metrics, sets, m, scheme="without-replacement")
        expect(headline(page)).to_contain_text(f"With {m:,} negative")
        said = headline(page).inner_text()
        assert " Recall@10 " in said  # the first metric is shown until another is chosen
        own = rows[rows["metric"] == "Recall@10"]
        right = (own["sampled"] > 1e-12).sum()  # smaller differences are rounding errors
        expect(shown).to_contain_text(f"{right} of 3")
        worst = worst_states(rows)["AP"]
        told = re.compile(f"{worst}: [^.]*AP", re.IGNORECASE)
        expect(page.locator(".st-key-other_metrics")).to_have_text(told)
        for state, sign in (("right", "✓"), ("wrong", "⇅"), ("undecided", "?")):
            shown_so = tiles.locator(".annotation").filter(has_text=f"{sign} {state}")
            expect(shown_so).to_have_count(int((rows["state"] == state).sum()))
    # After the release, the page shows results for the exact number of the slider.
    m = int(field(page, "m").input_value())
    expect(page).to_have_url(re.compile(f"m={m}"))
    says(page, f"With {m:,} negative")


def test_names_with_signs_of_html_read_well_in_a_moved_picture_and_old_details_are_pale(page):
    ranks = "n = 10000; P & Q: 100, 100, 90; <b>R: 40, 8437, 3"
    visit(page, f"consistency?v=2&source=Paste+ranks&m=50&ranks={quote_plus(ranks)}")
    title = page.locator(".st-key-consistency_curve .gtitle")
    expect(title).to_have_text("Recall@10: <b>R − P & Q")
    assert len(list(dragged(page, "m", 0.5))) == STOPS
    expect(title).to_have_text("Recall@10: <b>R − P & Q")
    below, ahead = page.locator(".st-key-below"), page.locator(".st-key-consistency_curve")
    expect(ahead.locator(".annotation").filter(has_text="P & Q ahead")).to_be_visible()
    expect(below).to_have_css("opacity", "1")
    page.get_by_role("button", name="Change").click()
    page.get_by_role("textbox", name="Ranks").fill(ranks.replace("100, 100", "0, 100"))
    page.get_by_role("textbox", name="Ranks").press("Control+Enter")
    expect(page.get_by_text("rank 0; the best is 1")).to_be_visible()
    expect(below).to_have_css("opacity", "0.4")
    expect(title).to_have_text("Recall@10: <b>R − P & Q")


def test_the_upright_line_of_a_picture_moves_its_slider(page):
    for address, picture, key in (
        ("explore", "explore_curves", "rank"), ("consistency", "consistency_curve", "m"),
    ):  # fmt: skip
        visit(page, address)
        page.locator(f".st-key-{picture} .main-svg").first.wait_for()
        box = page.locator(f".st-key-{picture} .shapelayer path").first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
        read = f"""(dx) => {{ const {{ xaxis }} = document.querySelector(
            ".st-key-{picture} .js-plotly-plot")._fullLayout;
            return Math.round(xaxis.p2d(xaxis.d2p(100) + dx)); }}"""
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 35, y, steps=4)
        expect(rail(page, key)).to_have_attribute("aria-valuetext", f"{page.evaluate(read, 35):,}")
        page.mouse.move(x + 20, y)
        page.mouse.up()
        expect(field(page, key)).to_have_value(str(page.evaluate(read, 20)))
        expect(page).to_have_url(re.compile(f"{key}={page.evaluate(read, 20)}"))
        rest(page)


def test_what_stands_below_is_drawn_anew_once_it_is_looked_at(page):
    visit(page, "consistency?answers=Numbers")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    below, cell = page.locator(".st-key-below"), page.get_by_role("tabpanel").locator("table").first
    metric, sets = sd.metric("Recall", k=10), sd.example("movielens-xyz")
    means = expected_means([metric], sets, [37], Protocol.of({"scheme": SCHEME}))[0, :, 0]
    page.get_by_label("m, negatives, exact value").fill("37")
    page.keyboard.press("Enter")
    expect(headline(page)).to_contain_text("With 37 negatives")
    expect(below).to_have_attribute("aria-busy", "true")
    cell.scroll_into_view_if_needed()
    expect(below).to_have_attribute("aria-busy", "false")
    for mean in means:
        expect(cell).to_contain_text(f"{100 * mean:.2f}")


@pytest.mark.parametrize(
    ("gesture", "name"),
    [
        *zip(
            touches.GESTURES,
            ("explore", "consistency", "correct", "rank", "consistency"),
            strict=True,
        )
    ],
)
def test_a_first_touch_is_in_field_sentence_picture_and_address(window, server, gesture, name):
    # ``python -m tests.benchmarks.first_touch`` makes every gesture in every place.
    tab = touches.opened(window, server, PLACES[name])
    assert touches.first_touch(tab, PLACES[name], gesture)[1] == ""
    tab.close()


def test_two_sliders_at_once_both_arrive_and_only_a_wrong_number_is_an_error(page):
    # The second change is made before the server has answered the first.
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
    # An impossible value gets an error at the field, and the last answer stays.
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
    assert rail(page, "m").get_attribute("aria-valuetext") == "333"
    x, _ = touches.thumb(page, "m")
    share = math.log(333) / math.log(1499)  # the thumb is at the number, not at a step
    assert x == pytest.approx(touches.at(page, "m", share)[0], abs=10)
    rail(page, "m").focus()
    presses = ("ArrowLeft", "200"), ("PageDown", "20"), ("Shift+ArrowRight", "21"), ("Home", "1")
    presses += ("7", "7"), ("Enter", "7"), ("9", "79"), ("Escape", "7")  # digits are typed over
    for press, value in presses:
        page.keyboard.press(press)
        expect(field(page, "m")).to_have_value(value)
    for key, press, value in (("m", "End", "1499"), ("rank", "End", "1500"), ("n", "Home", "1500")):
        rail(page, key).focus()
        page.keyboard.press(press)
        expect(field(page, key)).to_have_value(value)
        rest(page)
        assert not page.get_by_test_id("stAlert").count()
    # With all 1,499 other items, the sampled metric is the exact metric.
    expect(headline(page)).to_contain_text("With 1,499 of 1,499 negatives, rank 1,500 scores")
