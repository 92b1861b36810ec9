"""The HTML report: one file, no network, names as text; opened in Chromium where there is one."""

import html
import os
import re
import shutil
from html.parser import HTMLParser

import pandas as pd
import pytest

import sampledash as sd
from sampledash.comparison.findings import findings
from sampledash.explain.paper import paragraph
from sampledash.figures import theme
from sampledash.report.bibtex import bibtex
from sampledash.report.html import MOST_ROWS, html_report
from sampledash.report.script import python_script
from tests.report.made import WITHOUT, movielens, several

NAMES = ["<script>alert(1)</script>", "=1|`a`\n& $x$ </pre></script>",
         "<img src=http://evil.invalid/x.png onerror=alert(2)>"]  # fmt: skip
VOID = {"meta", "link", "br", "img", "input", "hr"}


def figure(name="A"):
    line = {"type": "scatter", "mode": "lines", "x": [1, 2, 3], "y": [3, 1, 2], "name": name}
    return theme.figure([line], dark=False, title="AP", height=300)


def hostile():
    """X, Y, Z under names that no file should be able to hurt with."""
    sets = [
        sd.RankSet(name, rs.ranks, rs.n)
        for name, rs in zip(NAMES, sd.example("movielens-xyz"), strict=True)
    ]
    return findings('<b>"file".csv</b>', "sets", sets, ["Recall@10", "AP"], 100, WITHOUT, 150)


class Reader(HTMLParser):
    """Tags, attributes and text of a page; nesting must be right."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], {}, []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def test_everything_is_in_it():
    found = movielens(m_max=1000)
    page = Reader(html_report(found, legend='<span class="key">X</span>'))
    assert page.texts["h1"] == ["Sampled metrics of MovieLens 1M: X, Y, Z"]
    assert page.texts["h2"] == ["For the paper", "Tables", "Settings", "LaTeX", "BibTeX", "Python"]
    assert page.texts["h3"] == ["Means", "Verdict", "Ranks"]
    assert page.texts["p"][0] == (
        "At m = 100, of 6 comparisons of a pair by a metric: 3 right, 3 wrong."
    )
    assert paragraph(found) in page.texts["p"]
    assert page.texts["pre"] == [
        paragraph(found, latex=True), bibtex(found), python_script(found)
    ]  # fmt: skip
    cells = page.texts["td"]
    assert {"8.84", "without replacement", "1,393 to 3,687", "970"} <= set(cells)
    assert found.sets[0].digest[:12] in cells
    assert f"Made with sampledash {sd.__version__}." in page.texts["p"]


def test_settings_are_told_where_they_matter():
    cells = Reader(html_report(several("relevant-items"))).texts["td"]
    assert "its number of relevant items" in cells
    plain = Reader(html_report(movielens(m_max=120, metrics=["AP"]))).texts["td"]
    assert "Weight of an instance" not in plain
    cls = movielens(m_max=120, metrics=["AP"], correction="CLS", fit_scheme="with-replacement")
    cells = Reader(html_report(cls)).texts["td"]
    assert {"CLS", "the law of sampling with replacement"} <= set(cells)


def test_nothing_is_fetched_and_plotly_is_there_once():
    found = movielens(m_max=120, metrics=["AP"])
    text = html_report(found, [("One", figure()), ("Two", figure())], {})
    page = Reader(text)
    assert page.tags.count("figure") == 2
    assert 4e6 < len(text) < 6e6  # plotly.js is 4.8 MB, once
    assert len(html_report(found, [], {})) < 50_000
    assert [value for name, value in page.attributes if name == "src"] == []
    assert [value for name, value in page.attributes if name == "href"] == ["data:,"]
    policy = dict(page.attributes)["content"]  # the last meta is the viewport
    assert policy
    assert "default-src 'none'" in text
    assert "connect-src" not in text[:2000]
    style = "".join(page.texts["style"])
    assert "url(" not in style
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style


def test_names_are_text():
    text = html_report(hostile(), [("<b>One</b>", figure(NAMES[0]))])
    page = Reader(text)
    assert "img" not in page.tags
    assert "b" not in page.tags
    cells = page.texts["td"]
    assert set(NAMES) <= set(cells)
    assert "<b>One</b>" in page.texts["figcaption"]
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    for name in NAMES:
        assert name not in outside
        assert html.escape(name) in outside


def test_a_long_table_is_cut_and_says_so():
    table = pd.DataFrame({"better": ["A"] * 1234, "m": range(1234)})
    page = Reader(html_report(movielens(m_max=120, metrics=["AP"]), (), {"Long": table}))
    assert f"The first {MOST_ROWS} of 1,234 rows." in page.texts["p"]


def test_the_same_input_gives_the_same_file():
    found = movielens(m_max=120, metrics=["AP"])
    first, second = (html_report(found, [("One", figure())]) for _ in range(2))
    assert first == second


@pytest.fixture(scope="module")
def browser():
    """Chromium, if it is installed; the continuous check requires it."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        if os.environ.get("SAMPLEDASH_BROWSER") == "required":
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    quiet = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ]  # fmt: skip
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=quiet)
        yield chromium
        chromium.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_chromium_opens_it_without_a_word(browser, width, scheme, tmp_path):
    path = tmp_path / "report.html"
    figures = [("Curves", figure()), ("Again", figure(NAMES[0]))]
    path.write_text(html_report(hostile(), figures), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert page.locator(".js-plotly-plot").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink, paper = (
        page.evaluate(f"getComputedStyle(document.body).{name}")
        for name in ("color", "backgroundColor")
    )
    dark = scheme == "dark"
    assert (sum(map(int, re.findall(r"\d+", paper))) < 200) == dark
    assert (sum(map(int, re.findall(r"\d+", ink))) > 500) == dark
    assert page.locator("td", has_text=NAMES[0]).first.is_visible()
    assert asked == [path.as_uri()]
    assert said == []
    context.close()
