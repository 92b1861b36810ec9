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


OWN = {"A": [1, 2], "B": [2, 3]}


def test_what_is_cited_and_nothing_else():
    movie, own = movielens(m_max=100), of_ranks(OWN, 10, ["AP"], 2)
    assert list(entries(bibtex(movie))) == [
        "krichene2020sampled", "harper2015movielens", "sampledash",
    ]  # fmt: skip
    assert list(entries(bibtex(own))) == ["krichene2020sampled", "sampledash"]
    for found in (movie, own):
        cited = set(re.findall(r"\\cite\{(\w+)\}", paragraph(found, latex=True)))
        assert cited == set(entries(bibtex(found)))


def test_entries_say_what_their_sources_say():
    # The ACM reference of the paper's first page; the README for MovieLens.
    made = entries(bibtex(movielens(m_max=100)))
    for key, kind, wanted in (
        ("krichene2020sampled", "inproceedings",
         {"author": "Krichene, Walid and Rendle, Steffen", "year": "2020",
          "title": "On Sampled Metrics for Item Recommendation", "doi": "10.1145/3394486.3403226"}),
        ("harper2015movielens", "article",
         {"year": "2015", "doi": "10.1145/2827872", "volume": "5", "number": "4",
          "articleno": "19"}),
        ("sampledash", "software", {"version": sd.__version__}),
    ):  # fmt: skip
        found_kind, fields = made[key]
        assert found_kind == kind
        assert fields.items() >= wanted.items()
        assert wanted.get("doi", "") in README.read_text(encoding="utf-8")
    # No invented author.
    assert not {"author", "url", "year", "doi"} & set(made["sampledash"][1])
