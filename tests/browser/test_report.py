"""The HTML report in Chromium: no request, no message, names as text."""

import re

import pytest

from sampledash.report.html import html_report
from tests.report.made import NAMES, figure, hostile


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_chromium_opens_it_without_a_word(browser, width, scheme, tmp_path):
    path, figures = tmp_path / "report.html", [("Curves", figure()), ("Again", figure(NAMES[0]))]
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
    style = "getComputedStyle(document.body)"
    ink, paper = (page.evaluate(f"{style}.{name}") for name in ("color", "backgroundColor"))
    dark = scheme == "dark"
    assert (sum(map(int, re.findall(r"\d+", paper))) < 200) == dark
    assert (sum(map(int, re.findall(r"\d+", ink))) > 500) == dark
    assert page.locator("td", has_text=NAMES[0]).first.is_visible()
    assert (asked, said) == ([path.as_uri()], [])
    context.close()
