"""TREC runs and qrels, against what pytrec_eval (see fixtures/expected.json) said of them.

``complete`` holds runs that rank all 40 candidates, with grades (1 or more is relevant), unjudged
documents, equal scores, also such that differ beyond single precision only, two tags in one file,
lines in any order and a rank column that is sometimes wrong; ``truncated`` the same cut at 25
documents, and one query less.
"""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import sampledash as sd
from sampledash.readers.files import open_sources, read_rank_sets
from sampledash.readers.trec import trec_kind
from sampledash.readers.upload_limits import CensoredItems, MissingCandidates
from tests.readers.reading import buffer, files, ranks_of, refused, together

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())
N = EXPECTED["candidates"]
# Their name -> ours. map_cut divides by all relevant items, AP@k by those that fit: they agree
# where no more than k items are relevant.
MEASURES = {"map": "AP", "recip_rank": "RR", "ndcg": "NDCG"}
CUT = {"P": ("Precision", 1, 5, 10), "recall": ("Recall", 1, 5, 10)}
CUT |= {"ndcg_cut": ("NDCG", 5, 10), "map_cut": ("AP", 5, 10)}
MEASURES |= {f"{theirs}_{k}": f"{ours}@{k}" for theirs, (ours, *ks) in CUT.items() for k in ks}


def read(run: str, qrels: str, **options):
    return together(options, my_run=run, my_qrels=qrels)


def of_query(ranks, query):
    return ranks.ranks[ranks.instances == query].tolist()


@pytest.fixture(scope="module")
def complete():
    runs = [FIXTURES / name for name in ("complete.run", "complete-gamma.run")]
    sets = read_rank_sets(runs, qrels=FIXTURES / "qrels.txt", n=N)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sampledash.readers.trec.SMALL", 0)  # as a large run is read
        assert read_rank_sets(runs, qrels=FIXTURES / "qrels.txt", n=N) == sets
    return sets


@pytest.mark.parametrize("theirs", MEASURES)
def test_every_query_has_the_value_the_library_gives(theirs, complete):
    metric, compared = sd.parse_metric(MEASURES[theirs]), 0
    assert [s.system for s in complete] == ["alpha", "beta", "gamma"]  # their tags
    for ranks in complete:
        # A query without a relevant document is 0 there and no instance here.
        wanted = {q: v for q, v in EXPECTED["complete"][ranks.system].items() if v["num_rel"]}
        assert set(ranks.instances.tolist()) == set(wanted)
        alike = 0
        for query, values in wanted.items():
            places = of_query(ranks, query)
            assert len(places) == values["num_rel"]
            if not theirs.startswith("map_cut") or len(places) <= metric.k:
                value = metric.of_set(places, N)
                assert value == pytest.approx(values[theirs], abs=1e-12), (ranks.system, query)
                alike += 1
        mean = np.mean([v[theirs] for v in wanted.values()])
        assert alike < len(wanted) or sd.mean(metric, ranks) == pytest.approx(mean, abs=1e-12)
        compared += alike
    assert compared >= 20


def test_what_a_truncated_run_holds_is_as_the_library_says():
    run, options = FIXTURES / "truncated.run", {"qrels": FIXTURES / "qrels.txt", "n": N}
    sets = read_rank_sets(run, censored="tied", **options)
    missing = {}
    for ranks in sets:
        for query in set(ranks.instances.tolist()):
            places = of_query(ranks, query)
            missing[ranks.system, query] = len(places)
            if (ranks.system, query) == ("beta", "q3"):  # the run does not hold it
                continue
            found = EXPECTED["truncated"][ranks.system][query]
            assert sum(r <= EXPECTED["depth"] for r in places) == found["num_rel_ret"]
            missing[ranks.system, query] -= found["num_rel_ret"]
            # Below the end of the run nothing depends on what is missing.
            for theirs in ("recall_1", "recall_5", "recall_10", "P_5", "ndcg_cut_10"):
                value = sd.parse_metric(MEASURES[theirs]).of_set(places, N)
                assert value == pytest.approx(found[theirs], abs=1e-12)
    said = f" of {sum(map(len, sets))} relevant items"
    with pytest.raises(CensoredItems, match=said) as info:
        read_rank_sets(run, **options)
    assert info.value.censored == sum(missing.values())
    assert list(info.value.ways)[1:] == ["Tied behind the ranked items", "Leave those queries out"]
    kept = read_rank_sets(run, censored="left-out", **options)
    complete = {q for _, q in missing} - {q for (_, q), count in missing.items() if count}
    assert [set(s.instances.tolist()) for s in kept] == [complete] * 2


RUN = "1 Q0 a 1 3.0 A\n1 Q0 b 2 2.0 A\n2 Q0 c 1 9 A\n2 Q0 b 2 1e0 A\n"
QRELS = "1 0 b 1\n2 0 c 2\n2 0 x 0\n"


@pytest.mark.parametrize("space", [" ", "\t", "   "])
@pytest.mark.parametrize(("start", "end"), [("", "\n"), (" ", " \n\n"), ("\ufeff", "\r\n")])
@pytest.mark.parametrize("size", [2**20, 0])
def test_fields_are_separated_by_any_space_and_quotes_are_part_of_a_name(
    space, start, end, size, monkeypatch
):
    monkeypatch.setattr("sampledash.readers.trec.SMALL", size)
    texts = [start + t.replace(" ", space).replace("\n", end) for t in (RUN, QRELS)]
    assert read(*texts, n=9) == [sd.RankSet("A", [2, 1], 9, instances=[1, 2])]
    assert ranks_of(read('1 Q0 "a 1 3 A\n1 Q0 b" 2 2 A\n', '1 0 b" 1\n', n=9)) == {"A": [2]}


def test_order_of_files_and_the_way_to_give_qrels():
    run, qrels = buffer(RUN), buffer(QRELS)
    expected = read(RUN, QRELS, n=9)
    assert read_rank_sets([qrels, run], n=9) == expected
    assert read_rank_sets(run, qrels=qrels, n=9) == expected
    packed = buffer(gzip.compress(RUN.encode()))
    assert read_rank_sets([packed, qrels], name=["a.run.gz", "q"], n=9) == expected


def test_scores_are_compared_in_single_precision_then_documents_descending_as_text():
    documents = ["é", "b", "a", "A", "9", "10"]
    run = "".join(f"q Q0 {d} 0 1.5 t\n" for d in sorted(documents))
    for place, d in enumerate(documents, start=1):
        assert ranks_of(read(run, f"q 0 {d} 1\n", n=9)) == {"t": [place]}
    # 1 + 1e-9 and 1 are the same 32-bit number, so the document id decides; 1 + 1e-6 is another.
    for score, place in (("1.000000001", 2), ("1.000001", 1)):
        sets = read(f"q Q0 a 1 {score} t\nq Q0 b 2 1 t\n", "q 0 a 1\n", n=9)
        assert ranks_of(sets) == {"t": [place]}


def test_the_rank_column_is_ignored_but_not_in_silence():
    text = RUN.replace("a 1 3.0", "a 2 3.0").replace("b 2 2.0", "b 1 2.0")
    reading = open_sources(**files(r=text, q=QRELS)).read(n=9)
    assert reading.sets == tuple(read(RUN, QRELS, n=9))
    assert "contradicts the scores in 1 ranking:" in reading.summary.doubts[0]
    assert "ignored" in reading.summary.files[0].notes[0]
    # Of documents tied in score the rank column may have any order, but no rank twice otherwise.
    for rows, doubts in (("q Q0 a 1 3.0 t\nq Q0 b 2 3.0", 0), ("q Q0 a 1 3.0 t\nq Q0 b 1 2.0", 1)):
        reading = open_sources(**files(r=f"{rows} t\nq Q0 c 3 1.0 t\n", q="q 0 a 1\n")).read(n=9)
        assert len(reading.summary.doubts) == doubts


def test_several_tags_several_files_and_a_run_beside_a_table():
    run = RUN + RUN.replace(" A\n", " B\n").replace("3.0", "1.0")
    sets = read(run, QRELS, n=9)
    assert [(s.system, s.ranks.tolist()) for s in sets] == [("A", [2, 1]), ("B", [1, 1])]
    for second, name, systems in (
        (RUN, "two_run", {"A": [1, 2], "A (two.run)": [1, 2]}),
        ("system,qid,rank\nZ,2,4\nZ,1,3\n", "t_csv", {"A": [1, 2], "Z": [2, 1]}),
    ):
        sets = together({"n": 9}, one_run=RUN, **{name: second}, qrels=QRELS)
        assert {s.system: s.instances.tolist() for s in sets} == systems


def test_what_is_lacking_or_there_twice():
    facts = "my.run does not say n … (at least 2, "
    refused(lambda: read(RUN, QRELS), facts, MissingCandidates)
    said = "a and b both hold qrels; give one"
    refused(lambda: read_rank_sets(**files(r=RUN, a=QRELS, b=QRELS), n=9), said)
    run = RUN + "1 Q0 b 1 2 B\n1 Q0 z 2 1 B\n"  # B does not rank query 2
    sets = read(run, QRELS, n=9, censored="left-out")
    assert [s.instances.tolist() for s in sets] == [[1], [1]]


MISSING = QRELS + "1 0 z 1\n3 0 a 1\n3 0 c 1\n4 0 c 0\n"


def test_a_missing_item_is_censored_or_tied_with_all_that_is_not_ranked():
    facts = "my.run … 3 of 5 relevant items … in 2 of 3 queries … beyond the end … "
    facts += 'censored="tied" … censored="left-out"'
    said = refused(lambda: read(RUN, MISSING, n=9), facts, CensoredItems)
    # The counts do not depend on n, so nothing else is asked for first.
    assert refused(lambda: read(RUN, MISSING), kind=CensoredItems) == said
    for qrels, ways in ((MISSING, 3), ("1 0 z 1\n2 0 z 1\n", 2)):  # all of nothing may not go
        with pytest.raises(CensoredItems) as info:
            read(RUN, qrels, n=9)
        assert list(info.value.ways) == [
            "Known to be beyond the end", "Tied behind the ranked items", "Leave those queries out"
        ][:ways]  # fmt: skip
    (ranks,) = read(RUN, QRELS + "1 0 z 1\n", n=9, censored="tied")
    # Two of nine are ranked: the missing one is third to ninth, with six others.
    rows = zip(ranks.instances, ranks.ranks, ranks.ties, strict=True)
    assert set(rows) == {(1, 2, 0), (1, 3, 6), (2, 1, 0)}


def test_several_missing_items_of_a_query_are_drawn_once():
    places = []
    for n in (9, 10**9):
        (ranks,) = read(RUN, MISSING, n=n, censored="tied")
        assert read(RUN, MISSING, n=n, censored="tied") == [ranks]
        found = sorted(of_query(ranks, 3))
        assert len(set(found)) == 2
        assert all(1 <= r <= n for r in found)  # the run does not rank query 3 at all
        assert ranks.ties[ranks.instances == 3].tolist() == [0, 0]
        places.append(found)
    assert places[0] != places[1]
    (full,) = read("q Q0 a 1 3 t\n", "q 0 b 1\nq 0 c 1\n", n=3, censored="tied")
    assert sorted(full.ranks.tolist()) == [2, 3]


def test_drawn_places_are_uniform():
    # 400 queries that miss two of ten candidates beyond the first 5: each of the places 6..15
    # holds one of the two with chance 1/5; 4 standard errors of 400 draws.
    run = "".join(f"{q} Q0 d{d} {d} {-d} t\n" for q in range(400) for d in range(5))
    qrels = "".join(f"{q} 0 x 1\n{q} 0 y 1\n" for q in range(400))
    (ranks,) = read(run, qrels, n=15, censored="tied")
    shares = np.bincount(ranks.ranks, minlength=16)[6:] / 400
    assert np.all(np.abs(shares - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 400))
    assert np.bincount(ranks.ranks)[:6].sum() == 0


def test_the_preview_counts_what_is_missing_and_what_is_ignored():
    opened = open_sources(**files(my_run=RUN + "9 Q0 a 1 1 A\n", my_qrels=MISSING))
    summary = opened.read(n=9, censored="tied").summary
    assert (summary.censored, summary.relevant) == (3, 5)
    assert "3 of 5 relevant items not ranked" in str(summary)
    notes = " ".join(summary.files[0].notes)
    for fact in (
        "1 query of my.run without a relevant document, ignored",
        "1 query of my.qrels that some system of my.run does not rank",
        "1 query of my.qrels without a relevant document",
        "as trec_eval and pytrec_eval order them",
        "redrawn in every run",
        "2 missing items share their query with another one",
    ):
        assert fact in notes
    left = opened.read(n=9, censored="left-out").summary
    assert "2 queries left out" in left.files[0].notes[-1]
    said = "censored must be one of refuse, beyond, tied, left-out"
    refused(lambda: opened.read(n=9, censored="ignored"), said, ValueError)


def test_most_first_lines_tell_the_kind():
    lines, odd = RUN.splitlines(), ["1 Q0 a one 3.0 A"]
    assert trec_kind("\n".join(lines[:3] + odd * 2).encode(), "r") == "run"
    assert trec_kind("\n".join(lines[:2] + odd * 3).encode(), "r") is None


def test_tables_are_no_runs():
    for text in ("system rank n a b c\nA 1 2 3 4 5\n", "A\tB\tC\tD\n1\t0\t3\t4\n", "rank\n7\n"):
        assert "qrels" not in refused(lambda text=text: read_rank_sets(buffer(text, "t"), n=2))
    # Wide tables of four columns, and labels with spaces.
    sets = read_rank_sets(buffer("A\tB\tC\tD\n" + "1\t2\t3\t4\n" * 4), n=9)
    assert list(ranks_of(sets)) == ["A", "B", "C", "D"]
    sets = read_rank_sets(buffer("user\tn\tA\nuser 0\t2\t1\nuser 1\t2\t1\n"))
    assert list(ranks_of(sets)) == ["A"]


def test_the_systems_of_a_run_hold_the_relevant_items_that_are_ranked() -> None:
    run = "q1 Q0 a 1 3.0 X\nq1 Q0 b 2 2.0 X\nq2 Q0 c 1 1.0 X\n"
    qrels = "q1 0 a 1\nq1 0 b 1\nq2 0 z 1\n"
    opened = open_sources(buffer(run.encode()), name="run.txt", qrels=buffer(qrels.encode()))
    assert opened.systems() == {"X": 2}
