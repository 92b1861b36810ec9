"""TREC runs and qrels against recorded values of pytrec_eval; also lists of recommendations. The
values are in fixtures/expected.json. The runs fixtures/complete*.run rank all 40 candidates of a
query. There are grades (1 or more is relevant), unjudged documents, equal scores (some only in
single precision), two tags in one file, unsorted lines, and sometimes a wrong rank column."""

import gzip
import io
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.readers.files import open_sources, read_rank_sets
from sampledash.readers.trec import trec_kind
from sampledash.readers.upload_limits import CensoredItems, MissingCandidates
from tests.readers.reading import buffer, files, ranks_of, refused, together

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())
N = EXPECTED["candidates"]
# pytrec_eval's name of a metric: our name. map_cut_k divides by the number of relevant items, AP@k
# by k if that number is larger, so the two metrics agree if at most k items are relevant.
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
        patch.setattr("sampledash.readers.trec.SMALL", 0)  # uses the parser of large runs
        assert read_rank_sets(runs, qrels=FIXTURES / "qrels.txt", n=N) == sets
    return sets


@pytest.mark.parametrize("theirs", MEASURES)
def test_every_query_has_the_value_the_library_gives(theirs, complete):
    metric, compared = sd.parse_metric(MEASURES[theirs]), 0
    assert [s.system for s in complete] == ["alpha", "beta", "gamma"]  # tags in the runs
    for ranks in complete:
        # Queries without a relevant document count as 0 in pytrec_eval; our reader leaves them out.
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


RUN = "1 Q0 a 1 3.0 A\n1 Q0 b 2 2.0 A\n2 Q0 c 1 9 A\n2 Q0 b 2 1e0 A\n"
QRELS = "1 0 b 1\n2 0 c 2\n2 0 x 0\n"


@pytest.mark.parametrize("space", [" ", "\t", "   "])
@pytest.mark.parametrize(
    ("start", "end"), [("", "\n"), (" ", " \n\n"), ("\ufeff", "\r\n"), ("", "\r")]
)
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
    refused(lambda: read(RUN, QRELS, n=10**12 + 1), "n must be at most 1000000000000", ValueError)
    (alone,) = read("1 Q0 a 1 3 A\n", "1 0 a 1\n", n=2)
    assert (alone.ranks.tolist(), alone.n.tolist()) == ([1], [2])
    packed = buffer(gzip.compress(RUN.encode()))
    assert read_rank_sets([packed, qrels], name=["a.run.gz", "q"], n=9) == expected


def test_a_run_beside_another_of_its_tag_or_a_table():
    for second, name, systems in (
        (RUN, "two_run", {"A": [1, 2], "A (two.run)": [1, 2]}),
        ("system,qid,rank\nZ,2,4\nZ,1,3\n", "t_csv", {"A": [1, 2], "Z": [2, 1]}),
    ):
        sets = together({"n": 9}, one_run=RUN, **{name: second}, qrels=QRELS)
        assert {s.system: s.instances.tolist() for s in sets} == systems


def test_lines_that_end_in_the_old_way_of_macintosh_are_counted(monkeypatch):
    monkeypatch.setattr("sampledash.readers.trec.SMALL", 0)
    run = RUN.rstrip().replace("\n2", "\r2") + "\r2 Q0 b 3 0 A\n"
    refused(lambda: read(run, QRELS, n=9), "my.run, line 5, column 'document': document 'b'")


DOCUMENTS = ["é", "b", "a", "A", "9", "10"]
SCORES = [-3, 0, 1, 1 + 1e-9, 1 + 1e-6, 2.5]  # 1 and 1 + 1e-9 are equal in single precision


def drawn(rng):
    """Return random rows of a run with two tags, and of qrels; either may lack some queries."""
    run, qrels = [], []
    for tag, query in itertools.product("XY", ["1", "2", "10", "q"]):
        some = rng.permutation(DOCUMENTS)[: rng.integers(7) + 1 if rng.random() < 0.9 else 0]
        scores = rng.choice(SCORES, len(some)).tolist()
        places = rng.integers(4, size=6) if rng.random() < 0.5 else np.argsort(np.argsort(scores))
        cells = zip(some, places.tolist(), scores, strict=False)
        run += [(query, document, -place, score, tag) for document, place, score in cells]
    for query in ["1", "2", "10", "z"]:
        some = rng.permutation([*DOCUMENTS, "y"])[: rng.integers(1, 4)]
        qrels += [(query, d, int(rng.integers(-1, 4))) for d in some]
    return [run[i] for i in rng.permutation(len(run))], qrels


def by_hand(run, relevant, kind):
    """Return {(system, query): (documents ranked, blocks, relevant items missing)}.
    A block is (first rank, size) of the ties of a relevant item; its size is 1 in TREC runs."""
    lists, found = {}, {}
    for query, document, _, score, tag in run:
        lists.setdefault((tag, query), []).append((kind(score), document))
    for tag, query in itertools.product(sorted({row[4] for row in run}), relevant):
        rows = sorted(lists.get((tag, query), []), reverse=True)
        scores, blocks = [row[0] for row in rows], []
        for place, (score, document) in enumerate(rows, start=1):
            if document in relevant[query]:
                tied = (scores.index(score) + 1, scores.count(score))
                blocks.append(tied if kind is float else (place, 1))
        found[tag, query] = len(rows), blocks, len(relevant[query]) - len(blocks)
    return found


def in_blocks(rows, blocks):
    """Check (rank, ties) in ``rows``: one item in a block has all its ties, several have none."""
    for begin, size in set(blocks):
        inside = [(r, ties) for r, ties in rows if begin <= r < begin + size]
        many = blocks.count((begin, size))
        alone = inside == [(begin, size - 1)]
        apart = len(set(inside)) == len(inside) == many and all(not ties for _, ties in inside)
        assert alone if many == 1 else apart, (rows, blocks)
    assert len(rows) == len(blocks)


def number(size, name):
    return f"{size} {name}" if size == 1 else f"{size} {name.replace('query', 'querie')}s"


@pytest.mark.parametrize("kind", [np.float32, float])  # type of scores in TREC runs, in item lists
@pytest.mark.parametrize("censored", ["refuse", "beyond", "tied", "left-out"])
def test_ranks_notes_and_complaints_are_those_found_row_by_row(kind, censored, monkeypatch):
    rng = np.random.default_rng(len(censored))
    for case in range(6):
        monkeypatch.setattr("sampledash.readers.trec.SMALL", 2**20 * (case % 2))
        run, qrels = drawn(rng)
        relevant = {q: {d for of, d, grade in qrels if of == q and grade > 0} for q, *_ in qrels}
        relevant = {query: documents for query, documents in relevant.items() if documents}
        if not {row[0] for row in run} & {*relevant}:
            continue
        shared = {row[4] for row in run if row[0] in relevant}
        tags = "XY" if len(shared) > 1 and case % 3 else ["XY"]  # a file for each tag, or one file
        head, form = "", "{0} Q0 {1} {2} {3!r} {4}\n"
        items = "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in qrels)
        if kind is float:
            head, form = "system,user,item,score\n", "{4},{0},{1},{3!r}\n"
            items = "user,item\n" + "".join(f"{q},{d}\n" for q, d, grade in qrels if grade > 0)
        texts = {
            f"{tag}_run": head + "".join(form.format(*row) for row in run if row[4] in tag)
            for tag in tags
        }
        every = " and ".join(texts).replace("_", ".")
        lists = by_hand(run, relevant, kind)
        total = sum(len(blocks) + lacks for _, blocks, lacks in lists.values())
        lacking = {query for (_, query), row in lists.items() if row[2]}
        missed = sum(row[2] for row in lists.values())
        opened = open_sources(**files(**texts, my_qrels=items))
        sizes = Counter()
        for (tag, _), (_, blocks, _) in lists.items():
            sizes[tag] += len(blocks)
        assert opened.systems() == sizes
        if missed and censored == "refuse":
            fact = f"{every}: {missed} of {total} relevant items, in {len(lacking)} of "
            with pytest.raises(CensoredItems, match=f"{fact}{len(relevant)} queries") as info:
                opened.read()
            assert info.value.censored == missed
            assert str(info.value).count("(in Python: censored=") == 3
            # Leaving out the affected queries is no remedy if no query would remain.
            assert len(info.value.ways) == 3 - (len(lacking) == len(relevant))
            continue
        left = lacking if censored == "left-out" else set()
        kept = {key: row for key, row in lists.items() if key[1] not in left}
        if not kept:
            refused(lambda x=opened: x.read(censored="left-out"), "lacks a … in every query")
            continue
        low = max(depth + lacks for depth, _, lacks in kept.values())
        fact = f"{every}: n, the number … is missing: give n (at least {max(low, 2)})"
        refused(lambda x=opened: x.read(censored=censored), fact, MissingCandidates)
        if low > 2:
            said = refused(lambda x=opened, n=low - 1: x.read(n=n, censored=censored))
            assert any(
                f".run, query {query!r}: {tag!r} ranks {depth} documents and misses {lacks} "
                f"relevant ones, more than n = {low - 1}; give a larger n" in said
                for (tag, query), (depth, _, lacks) in kept.items()
                if depth + lacks == low
            )
        n = max(2, low + int(rng.integers(9)))
        reading = opened.read(n=n, censored=censored)
        for (tag, query), (depth, blocks, lacks) in kept.items():
            (ranks,) = (each for each in reading.sets if each.system == tag)
            here = ranks.instances.astype(str) == query
            rows = list(zip(ranks.ranks[here].tolist(), ranks.ties[here].tolist(), strict=True))
            if censored == "beyond" and lacks:
                late = ranks.beyond[here]
                assert sorted(ranks.ranks[here][late]) == [*range(depth + 1, depth + lacks + 1)]
                rows = [row for row, beyond in zip(rows, late, strict=True) if not beyond]
            in_blocks(rows, blocks + [(depth + 1, n - depth)] * lacks * (censored == "tied"))
        assert [reading.numbers[x] for x in ("censored", "relevant")] == [missed, total]
        if len(tags) > 1:
            continue
        absent = len({query for (_, query), row in lists.items() if not row[0]})
        others = len({row[0] for row in run} - {*relevant})
        wanted = {
            f"{number(others, 'query')} of XY.run without a relevant document, ignored": others,
            f"{number(absent, 'query')} of my.qrels that some system of XY.run does not": absent,
            f"{number(len(left), 'query')} left out, in which some run misses": len(left),
        }
        first, *notes = reading.files[0].notes
        assert ("as trec_eval" in first) == (kind is np.float32)
        beginnings = [beginning for beginning, size in wanted.items() if size]
        assert [x[: len(y)] for x, y in zip(notes, beginnings, strict=True)] == beginnings


#: Entries ``first line | kind of the file``, separated by ||; four valid lines follow a first line.
FIRST = """
1 Q0 a one 3.0 A | run || 1 Q0 a 1 high A | run || user Q0 a one 3 A | run || 1 Q0 a 1 3.0 | run
1 0 b one | qrels || user x b 1 | qrels || query Q0 document rank score tag | None
query iteration document relevance | None || A B C D | None
"""


def test_the_first_line_and_most_of_five_tell_the_kind():
    for row in FIRST.strip().replace(" || ", "\n").splitlines():
        line, kind = row.split(" | ")
        good = "1 Q0 a 1 3.0 A\n" if len(line.split()) > 4 else "1 0 b 1\n"
        assert str(trec_kind(f"\n{line}\n \n{good * 4}".encode(), "r")) == kind, line
    for lines, kind in (("gbg", "run"), ("gggbbb", "run"), ("gbbgg", "run"), ("gb", None)):
        text = "\n".join("1 Q0 a 1 3 A" if x == "g" else "1 Q0 a one 3 A" for x in lines)
        assert trec_kind(text.encode(), "r") == kind


def test_drawn_places_are_uniform():
    # In each of 400 queries, both relevant items are missing from the list of 5 and get random
    # ranks in 6..15. So each of these ranks occurs in 1/5 of the queries, up to 4 standard errors.
    run = "".join(f"{q} Q0 d{d} {d} {-d} t\n" for q in range(400) for d in range(5))
    qrels = "".join(f"{q} 0 x 1\n{q} 0 y 1\n" for q in range(400))
    (ranks,) = read(run, qrels, n=15, censored="tied")
    shares = np.bincount(ranks.ranks, minlength=16)[6:] / 400
    assert np.all(np.abs(shares - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 400))
    assert np.bincount(ranks.ranks)[:6].sum() == 0


def test_tables_are_no_runs():
    for text in ("system rank n a b c\nA 1 2 3 4 5\n", "A\tB\tC\tD\n1\t0\t3\t4\n", "rank\n7\n"):
        assert "qrels" not in refused(lambda text=text: read_rank_sets(buffer(text, "t"), n=2))
    # Four columns like those of qrels, or a space within a label, do not make a table a TREC file.
    sets = read_rank_sets(buffer("A\tB\tC\tD\n" + "1\t2\t3\t4\n" * 4), n=9)
    assert list(ranks_of(sets)) == ["A", "B", "C", "D"]
    sets = read_rank_sets(buffer("user\tn\tA\nuser 0\t2\t1\nuser 1\t2\t1\n"))
    assert list(ranks_of(sets)) == ["A"]


#: The relevant item of each user, and the scored items that a system recommends to each user.
TEST = "user,item\nann,c\nbob,a\n"
LIST = "user_id,item_id,score\nann,a,3\nann,b,2\nann,c,2\nbob,b,-inf\nbob,c,1\nbob,a,0.5\n"


SPELLINGS = {
    "lenskit": "user_id,item_id,score,rank\nann,a,3,1\nann,b,2,2\nann,c,2,3\nbob,b,-inf,3\n"
    "bob,c,1,1\nbob,a,0.5,2\n",
    "replay": LIST.replace("user_id,item_id,score", "query_id,item_id,rating"),
    "elliot": LIST.replace("user_id,item_id,score", "user\titem\tprediction").replace(",", "\t"),
    "ranks": "user,item,rank\nann,a,1\nann,b,2\nann,c,2\nbob,c,1\nbob,a,2\n",
    "named": "system,user,item,score\n" + "".join(f"M,{row}\n" for row in LIST.splitlines()[1:]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_of_one_list(name):
    # ann's relevant item c has the same score as b, so its rank is 2 with one other item tied.
    system = "M" if name == "named" else "l"
    wanted = sd.RankSet(system, [2, 2], 10, instances=["ann", "bob"], ties=[1, 0])
    assert together({"n": 10}, l_csv=SPELLINGS[name], test_csv=TEST) == [wanted]


def test_parquet_and_test_items_with_ratings():
    data = buffer(pd.read_csv(io.StringIO(LIST)).to_parquet(), "l.parquet")
    test = buffer("userId,movieId,rating,timestamp\nann,c,5,1\nbob,a,4,2\n", "t.csv")
    rated = buffer("user,item,rating\nann,c,5\nbob,a,4\n", "t.csv")
    for found in (read_rank_sets([data, test], n=10), read_rank_sets(data, qrels=rated, n=10)):
        assert [(s.ranks.tolist(), s.ties.tolist()) for s in found] == [([2, 2], [1, 0])]


def test_two_lists_and_files_of_ranks_with_items():
    found = together({"n": 10}, a_csv=LIST, b_csv=SPELLINGS["ranks"], test_csv=TEST)
    assert ranks_of(found) == {"a": [2, 2], "b": [2, 2]}
    # If no relevant items are given, the column rank must hold the ranks of relevant items.
    table = "system,user,item,rank,n\nX,ann,c,7,9\n"
    assert ranks_of(read_rank_sets(buffer(table, "r.csv"))) == {"X": [7]}


ORDER = "rank, by decreasing score"


def test_columns_that_are_not_read_are_named():
    listed = "user,item,sku,score,rank,note\nann,a,x,3,1,z\nann,c,x,2,2,z\n"
    texts = files(l_csv=listed, test_csv="user,item,rating,time\nann,c,5,1\n")
    reading = open_sources(**texts).read(n=9)
    assert ranks_of(reading.sets) == {"l": [2]}
    (facts,) = reading.files
    assert facts.columns == (("user", "instance"), ("item", "relevant or not"), ("score", ORDER))
    assert facts.ignored == ("sku", "rank", "note")


def test_wrong_lists_get_their_sentence():
    for texts, facts in (
        ({"l_csv": LIST}, "l.csv is a list of recommendations … user and item"),
        ({"t_csv": TEST}, "t.csv says what is relevant … or lists"),
        (
            {"l_csv": LIST, "t_csv": TEST, "u_csv": TEST},
            "t.csv and u.csv both say what is relevant",
        ),
        ({"l_csv": LIST + "ann,a,1\n", "t_csv": TEST}, "line 8 … 'a' … twice for user_id 'ann'"),
        ({"l_csv": LIST + "ann,d,x\n", "t_csv": TEST}, "line 8, column 'score': 'x' is not"),
        ({"l_csv": LIST, "t_csv": "user,item\nzoe,a\n"}, "share no query"),
    ):
        refused(lambda texts=texts: together({"n": 10}, **texts), facts)
    refused(lambda: together(l_csv=LIST, t_csv=TEST), "n (at least 3", MissingCandidates)
