"""The HTML report is one file without network access; names of systems are plain text."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd

import sampledash as sd
from sampledash.report.html import MOST_ROWS, exact_report, html_report
from sampledash.report.paragraph import bibtex, paragraph
from sampledash.report.script import exact_script, python_script
from tests.report.made import NAMES, WITHOUT, figure, hostile, movielens, of_ranks, several

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
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
    found = movielens()
    page = Reader(html_report(found, legend='<span class="key">X</span>'))
    assert page.texts["h1"] == ["Sampled metrics of MovieLens 1M: X, Y, Z"]
    assert page.texts["h2"] == ["For the paper", "Tables", "Settings", "LaTeX", "BibTeX", "Python"]
    assert page.texts["h3"] == ["Means", "Verdict", "Ranks"]
    said = "At m = 100, of 6 comparisons of a pair by a metric: 3 right, 3 wrong."
    assert page.texts["p"][0] == said
    assert paragraph(found) in page.texts["p"]
    assert page.texts["pre"] == [paragraph(found, latex=True), bibtex(found), python_script(found)]
    cells = page.texts["td"]
    # Table 3 of Krichene & Rendle 2020: Recall@10 of Y is 8.84, of Z 9.42.
    assert {"8.84", "9.42", "without replacement", "1,393 to 3,687", "970"} <= set(cells)
    assert found.sets[0].digest[:12] in cells
    assert f"Made with sampledash {sd.__version__}." in page.texts["p"]


def test_what_m_and_k_leave_out_is_told_and_chances_are_as_on_the_page():
    ranks = {"A": [1, 40, 49], "B": [2, 12, 30]}
    page = Reader(html_report(of_ranks(ranks, 50, ["Recall@60", "AP"], 49)))
    said = "The cutoff holds all 50 candidates: Recall@60 is 100.00 % at every rank."
    assert any(said in text for text in page.texts["p"])
    # At m = 49 a run is the exact evaluation: it always shows the order by AP; Recall@60 is tied.
    assert ">99.99" in page.texts["td"]
    means = {"Exact (%)", "Sampled, expected (%)", "Std. of one run (%)"}
    assert {*means, "Shown by one run (%)"} <= set(page.texts["th"])


def test_settings_are_told_where_they_matter():
    def cells(found):
        return {*Reader(html_report(found)).texts["td"]}

    assert "its number of relevant items" in cells(several("relevant-items"))
    for ties, is_told in (([0, 2], True), (0, False)):  # one system with ties is enough
        sets = [sd.RankSet("A", [1, 4], 9), sd.RankSet("B", [2, 4], 9, ties=ties)]
        found = of_ranks({"A": [1, 4], "B": [2, 4]}, 9, ["AP"], 3)
        assert ("Ties" in cells(replace(found, sets=sets))) == is_told
    popular = {"scheme": "popularity", "odds": 2.5}
    how = {**WITHOUT, "correction": "CLS", "fit_scheme": "with-replacement"}
    both = (of_ranks({"A": [1, 4], "B": [2, 4]}, 9, ["AP"], 3, options=x) for x in (popular, how))
    drawn, fitted = map(cells, both)
    assert "by popularity, with replacement, odds 2.5" in drawn
    assert {"CLS", "the law of sampling with replacement"} <= fitted
    assert "Weight of an instance" not in fitted


def test_nothing_is_fetched_and_plotly_is_there_once():
    found = movielens(m_max=120, metrics=("AP",))
    text = html_report(found, [("One", figure()), ("Two", figure())], {})
    page = Reader(text)
    assert page.tags.count("figure") == 2
    assert text.count('"displayModeBar": false') == 2  # pictures have no buttons
    assert re.findall(r'id="(picture.*?)"', text) == ["picture-1", "picture-2"]
    assert text.count('"responsive": true') == text.count("px; width:100%") == 2
    assert 4e6 < len(text) < 6e6  # plotly.js is 4.8 MB and is included once
    assert len(html_report(found, [], {})) < 200_000
    assert [value for name, value in page.attributes if name == "src"] == []
    assert [value for name, value in page.attributes if name == "href"] == ["data:,"]
    assert "default-src 'none'" in text
    assert "connect-src" not in text[:2000]
    style = "".join(page.texts["style"])
    assert "url(" not in style
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    table = pd.DataFrame({"better": ["A"] * 1234, "m": range(1234)})
    first, second = (html_report(found, [("One", figure())], {"Long": table}) for _ in range(2))
    page = Reader(first)
    assert f"The first {MOST_ROWS} of 1,234 rows." in page.texts["p"]
    assert first == second
    # Each of the shown rows has a cell of class "number", and the rest of the page has one.
    assert page.attributes.count(("class", "number")) == 1 + MOST_ROWS
    assert str(MOST_ROWS - 1) in page.texts["td"]
    assert page.texts["h2"][:3] == ["For the paper", "Pictures", "Table"]
    short = Reader(html_report(found, tables={"Short": table[:MOST_ROWS]}))
    assert not any("The first" in text for text in short.texts["p"])


def test_names_are_text():
    text = html_report(hostile(), [("<b>One</b>", figure(NAMES[0]))])
    page = Reader(text)
    assert not {"img", "b"} & {*page.tags}
    assert {*NAMES} <= {*page.texts["td"]}
    assert "<b>One</b>" in page.texts["figcaption"]
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert all(html.escape(name) in outside and name not in outside for name in NAMES)


def test_settings_ranks_and_headline_are_those_of_the_findings():
    ranks = {"A": [1, 4, 2], "B": [2, 3, 1]}
    found = of_ranks(ranks, 1200, ["AP"], 1100, instances=["u", "u", "v"])
    page = Reader(html_report(found))
    states = found.verdict["state"]
    assert page.texts["p"][0] == f"At m = 1,100 the order of the two systems is {states[0]}."
    cells = page.texts["td"]
    at = cells.index("A", cells.index("Largest m looked at"))
    assert cells[at : at + 5] == ["A", "2", "3", "1,200", found.sets[0].digest[:12]]
    settings = dict(zip(cells[at - 12 : at : 2], cells[at - 11 : at : 2], strict=True))
    assert settings == {
        "Metrics": "AP", "Negatives m": "1,100", "Drawn": "without replacement",
        "Correction": "uncorrected", "Weight of an instance": "the same for all",
        "Largest m looked at": f"{found.m_max:,}",
    }  # fmt: skip
    assert ("class", f"name {states[0]}") in page.attributes


def test_the_report_of_lists_that_end_early():
    sets = [sd.RankSet("A", [1, 11], 1200, beyond=[False, True], provenance="made")]
    tables = {"Exact": pd.DataFrame({"system": ["A"], "exact": [0.5]}), "None": pd.DataFrame()}
    metrics = [sd.parse_metric(name) for name in ("AP", "RR@10")]
    page = Reader(exact_report("<x>", "made()", sets, metrics, tables, 1000))
    assert (page.texts["h1"], page.texts["h3"]) == (["Exact metrics of <x>"], ["Exact", "Ranks"])
    assert "Some ranks are only known to lie beyond 1,000: metrics cut" in page.texts["p"][0]
    assert page.texts["td"] == ["A", "50.00", "A", "2", "2", "1,200", sets[0].digest[:12], "made"]
    assert page.texts["pre"] == [exact_script("<x>", "made()", metrics)]
    script = exact_script("a\n'b'", "made()", metrics)
    assert re.search("made\\(\\)(.|\\n)*AP(.|\\n)*RR@10", script)
    compile(script, "script", "exec")
