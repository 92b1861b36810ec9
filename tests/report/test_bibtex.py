"""BibTeX: what the paragraph cites is there, and nothing is made up."""

import re
from pathlib import Path

import sampledash as sd
from sampledash.report.bibtex import bibtex
from sampledash.report.paragraph import paragraph
from tests.report.made import movielens, of_ranks

README = Path(__file__).parents[2] / "README.md"


def entries(text):
    """Kind, key and fields of each entry; braces must balance."""
    found = {}
    for entry in re.split(r"\n(?=@)", text):
        kind, key, body = re.fullmatch(r"@(\w+)\{([\w]+),\n(.*)\n\}\n*", entry, re.S).groups()
        assert entry.count("{") == entry.count("}")
        fields = re.findall(r"^  (\w+) += \{(.*?)\},$", body, re.S | re.M)
        found[key] = kind, {name: " ".join(value.split()) for name, value in fields}
    return found


def test_movielens_is_cited_where_it_is_used():
    keys = list(entries(bibtex(movielens(m_max=100))))
    assert keys == ["krichene2020sampled", "harper2015movielens", "sampledash"]
    own = of_ranks({"A": [1, 2], "B": [2, 3]}, 10, ["AP"], 2)
    assert list(entries(bibtex(own))) == ["krichene2020sampled", "sampledash"]


def test_entries_say_what_their_sources_say():
    # The ACM reference of the paper's first page; the README for MovieLens.
    made = entries(bibtex(movielens(m_max=100)))
    kind, paper = made["krichene2020sampled"]
    assert kind == "inproceedings"
    assert paper["author"] == "Krichene, Walid and Rendle, Steffen"
    assert paper["title"] == "On Sampled Metrics for Item Recommendation"
    assert (paper["year"], paper["doi"]) == ("2020", "10.1145/3394486.3403226")
    kind, data = made["harper2015movielens"]
    assert (kind, data["year"], data["doi"]) == ("article", "2015", "10.1145/2827872")
    assert (data["volume"], data["number"], data["articleno"]) == ("5", "4", "19")
    readme = README.read_text(encoding="utf-8")
    assert paper["doi"] in readme
    assert data["doi"] in readme


def test_software_has_its_version_and_no_invented_author():
    kind, fields = entries(bibtex(movielens(m_max=100)))["sampledash"]
    assert kind == "software"
    assert fields["version"] == sd.__version__
    assert not {"author", "url", "year", "doi"} & set(fields)


def test_every_citation_of_the_paragraph_has_its_entry():
    for found in (movielens(m_max=100), of_ranks({"A": [1, 2], "B": [2, 3]}, 10, ["AP"], 2)):
        cited = set(re.findall(r"\\cite\{(\w+)\}", paragraph(found, latex=True)))
        assert cited == set(entries(bibtex(found)))
