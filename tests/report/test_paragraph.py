"""The paragraph for a paper and its BibTeX are true, short and grammatical."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.comparison.order import EVERY, Orders
from sampledash.comparison.verdict import Pairs
from sampledash.protocol import Protocol
from sampledash.report.paragraph import bibtex, paragraph
from tests.report.made import WITHOUT, movielens, of_ranks, several
from tests.report.test_escape import NASTY, in_one_line, read_tex

LIMITS = (
    f"These numbers, computed by sampledash {sd.__version__}, take the instances as given and the "
    "negatives of each system as drawn independently; they do not say whether the differences "
    "would hold on other instances."
)


def hand(exact, expected, chance=0.99, right_from=7, *, m=100, m_max=3686, **more):
    """Return ``Pairs`` with given means (systems, metrics); per pair, chance and right_from."""
    exact, expected = (np.array(a, dtype=float).reshape(len(a), -1) for a in (exact, expected))
    size, protocol = exact.shape, Protocol.of(more.get("options", WITHOUT))
    names = [*more.get("names", "XYZW"), *(f"S{i}" for i in range(4, 999))][: size[0]]
    metrics = more.get("metrics", ["Recall@10", "AP", "NDCG@10", "AUC", "Recall@1", "RR"])
    rows = []
    for x, metric in enumerate(metrics[: size[1]]):
        for i, j in combinations(range(size[0]), 2):
            i, j = (j, i) if exact[i, x] < exact[j, x] else (i, j)
            gaps = exact[i, x] - exact[j, x], expected[i, x] - expected[j, x]
            rows.append([metric, "uncorrected", names[i], names[j], *gaps])
    columns = ["metric", "correction", "better", "worse", "exact", "sampled"]
    table = pd.DataFrame(rows, columns=columns)
    tied = table["exact"].abs() <= 1e-12
    at = right_from if isinstance(right_from, list) else [right_from] * len(rows)
    table["state"] = np.where(tied, "tied", "right")
    table["probability"] = np.where(tied, np.nan, np.array(chance, dtype=float))
    columns = table.to_dict("list") | {"right_from": np.where(tied, None, at).tolist()}
    few = protocol.correction.kind.fitted and m_max > EVERY
    values = more.get("m_values", [1, m_max] if few else range(1, m_max + 1))
    orders = Orders(np.array(values), np.broadcast_to(expected, (len(values), *size)))
    sets = more.get("sets") or [sd.RankSet(name, [1, 2, 3], 10_000) for name in names]
    metrics = tuple(map(sd.parse_metric, metrics[: size[1]]))
    return Pairs(metrics, tuple(sets), m, protocol, orders, exact, columns, "ranks", "sets")


def sentences(found):
    return re.split(r"(?<=[.])\s+(?=[A-Z])", paragraph(found))


def test_five_metrics_of_three_systems():
    exact = [[1, 1, 1, 3, 2], [2, 2, 2, 2, 2], [3, 3, 3, 1, 2]]
    sampled = [[3, 1, 3, 3, 1], [2, 2, 1, 2, 1], [1, 3, 2, 1, 1]]
    rights = [970, 433, 128] + [1] * 3 + [434, None, 55] + [1] * 3 + [None] * 3
    chances = [1e-3] * 3 + [0.99] * 3 + [0.5, 0.4, 0.3] + [0.99] * 3 + [np.nan] * 3
    metrics = ["Recall@10", "AUC", "AP", "NDCG@10", "Recall@1"]
    exact, sampled = np.array(exact) / 10, np.array(sampled) / 10
    found = hand(exact, sampled, chances, rights, metrics=metrics)
    assert sentences(found)[:4] == [
        "We rank the relevant item of each of 3 test instances among all its 10,000 candidates; on "
        "this full ranking the best of 3 systems is Z by Recall@10 (30.00 %), Z by AUC (30.00 %), "
        "Z by AP (30.00 %), X by NDCG@10 (30.00 %) and any of 3 tied systems by Recall@1 "
        "(20.00 %).",
        "With 100 negatives per instance instead, sampled uniformly without replacement (Krichene "
        "& Rendle, 2020), the expected values would reverse 3 of 3 pairs by Recall@10, reverse 2 "
        "of 3 pairs by AP, and keep the order by AUC and NDCG@10, pairs that are equal on the full "
        "ranking left out.",
        "All pairs are in the order of the full ranking for every m by AUC and NDCG@10, and only "
        "from m = 970 on by Recall@10, but by AP not even at m = 3,686, the largest evaluated.",
        "At m = 100 a single run would show the true order with a probability of at least 95 % for "
        "6 of 12 comparisons, between 5 % and 95 % for 3 and at most 5 % for 3; the lowest is "
        "0.10 %, for Y over X by Recall@10.",
    ]


TIED = [[2, 2, 2], [1, 1, 2]]
CLS = {"scheme": "with-replacement", "correction": "CLS"}
OWN = sd.correction("CLS", prior=np.arange(10_000, 0, -1.0))
TWO, THREE = ([0.1, 0.2], [0.3, 0.2]), [0.1, 0.2, 0.3]
FALLS = ([0.0758, 0.0884, 0.0942], [0.30, 0.20, 0.25], [0.001, 0.02, 0.6], [970, 433, 50])
RIGHT, WRONG = (THREE, THREE, 0.999, 1), (THREE, THREE[::-1], 0.001, [None, 12, None])
POPULAR = {"scheme": "popularity", "odds": 2.5}
FITTED = {**WITHOUT, "correction": "BV 0.01", "fit_scheme": "with-replacement"}
UNEVEN = [sd.RankSet("X", [1, 2, 3], [50, 80, 80], ties=[0, 0, 4]), sd.RankSet("Y", [1, 2], 60)]
UNLIKE = [UNEVEN[0], sd.RankSet("Y", [1, 2], 90)]
ALONE = [sd.RankSet(name, [4], 500) for name in "XY"]

#: Arguments of ``hand`` | parts of the expected text, split by "…"; # begins a comment.
SAID = (Path(__file__).parents[1] / "data" / "paragraphs.txt").read_text("utf-8")
ROWS = [x.split(" | ") for x in SAID.replace("\n    ", " ").splitlines() if x[0] != "#"]


@pytest.mark.parametrize(("arguments", "said"), ROWS, ids=range(len(ROWS)))
def test_what_is_said_of(arguments, said):
    text = paragraph(eval(f"hand({arguments})"))
    for part in said.replace("LIMITS", LIMITS).replace("VERSION", sd.__version__).split(" … "):
        assert part in text


def test_several_relevant_items_and_how_they_are_weighted():
    said = "We rank the relevant items (up to 3) of each of 40 test instances among all its 100"
    said = f"{said} candidates; on this full ranking, "
    for weighting, how in {"relevant-items": "weighted by", "instances": "averaged over"}.items():
        words = f"{said}{how} {weighting.replace('-', ' ')}, NDCG@10 is "
        assert words in paragraph(several(weighting))


def plain(latex):
    text = latex.replace("~\\cite{krichene2020sampled}", " (Krichene & Rendle, 2020)")
    text = text.replace("~\\cite{harper2015movielens}", " (Harper & Konstan, 2015)")
    text = text.replace("~\\cite{sampledash}", "").replace("\\,", " ").replace("{,}", ",")
    return re.sub(r"\$([^$]*)\$", r"\1", text).replace("\\%", "%").replace("\\gamma", "γ")


@pytest.mark.parametrize("name", NASTY)
def test_names_are_escaped(name):
    found, line = hand(*TWO, names=[name, "B"]), in_one_line(name)
    assert f"10.00 % for {line}." in paragraph(found)
    latex = re.search(r"10\.00\\,\\% for (.*?)\. With", paragraph(found, latex=True))
    assert read_tex(latex[1]) == line


@given(st.data())
def test_every_constellation_reads_well(data):
    systems, metrics = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 6))
    size = systems * metrics

    def drawn(of, number):
        return data.draw(st.lists(st.sampled_from(of), min_size=number, max_size=number))

    exact, sampled = (np.reshape(drawn([0.1, 0.2, 0.3], size), (systems, -1)) for _ in range(2))
    rows = metrics * systems * (systems - 1) // 2
    chances, rights = (
        drawn([0.0, 0.01, 0.05, 0.5, 0.95, 1.0], rows),
        drawn([None, 1, 7, 970, 3686], rows),
    )
    found = hand(exact, sampled, chances, rights)
    text = paragraph(found)
    assert 4 <= len(sentences(found)) <= 5
    assert text.endswith(LIMITS)
    assert plain(paragraph(found, latex=True)) == text
    ugly = "  | ,| .|,,|..|nan|None|<NA>| 1 pairs| 0 of|and and|all 2 |all 1 |both pair |by ;|( |()"
    assert not [bad for bad in ugly.split("|") if bad in text], text
    assert text.count("(") == text.count(")")
    # The numbers of pairs in the text are those of the verdict table.
    rows = found.verdict[found.verdict["state"] != "tied"]
    turned = int((rows["sampled"] < -1e-12).sum())
    alike = len(rows) > 0 and (rows["sampled"] > 1e-12).all()
    assert ("would keep the order of the full ranking" in text) == alike
    assert ("reverse" in text.replace("reverse no pair", "")) == (turned > 0)
    if metrics == 1 and systems > 3 and len(rows) > 1 and 0 < turned < len(rows):
        assert f"reverse {turned} of {len(rows)} pairs" in text
    if len(rows) > 3:
        told = re.search(r"probability of (.*?)\. These", text)[1]
        for words, these in (
            ("at least 95 % for", rows["probability"] >= 0.95),
            ("between 5 % and 95 % for", rows["probability"] == 0.5),
            ("at most 5 % for", rows["probability"] <= 0.05),
        ):
            number = re.search(rf"{words} (?:all )?(\d+)", told)
            assert (int(number[1]) if number else 0) == these.sum(), text


README = Path(__file__).parents[2] / "README.md"


def entries(text):
    """Return {key: (kind, fields)} of BibTeX entries, whose braces must balance."""
    found = {}
    for entry in re.split(r"\n(?=@)", text):
        kind, key, body = re.fullmatch(r"@(\w+)\{([\w]+),\n(.*)\n\}\n*", entry, re.S).groups()
        assert entry.count("{") == entry.count("}")
        fields = re.findall(r"^  (\w+) += \{(.*?)\},$", body, re.S | re.M)
        found[key] = kind, {name: " ".join(value.split()) for name, value in fields}
    return found


def test_what_is_cited_and_nothing_else_and_what_its_sources_say():
    movie, own = movielens(), of_ranks({"A": [1, 2], "B": [2, 3]}, 10, ["AP"], 2)
    said = "test instances of MovieLens 1M (Harper & Konstan, 2015) among all its 1,393 to 3,687"
    assert f"6,040 {said}" in paragraph(movie)  # Krichene & Rendle, section 6
    keys = ["krichene2020sampled", "harper2015movielens", "sampledash"]
    assert list(entries(bibtex(movie))) == keys
    assert list(entries(bibtex(own))) == keys[::2]
    for found in (movie, own):
        cited = set(re.findall(r"\\cite\{(\w+)\}", paragraph(found, latex=True)))
        assert cited == set(entries(bibtex(found)))
    # These fields are on the first page of the paper and, for MovieLens, in the README.
    made = entries(bibtex(movie))
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
    assert not {"author", "url", "year", "doi"} & set(made["sampledash"][1])
