"""Lists of recommendations with the test items: what a TREC run says, in the words of frameworks.

Expected ranks are counted from the lists by hand.
"""

import io

import pandas as pd
import pytest

import sampledash as sd
from sampledash.readers.files import open_sources
from sampledash.readers.upload_limits import MissingCandidates
from tests.readers.reading import buffer, files, ranks_of, refused

TEST = "user,item\nann,c\nbob,a\n"
LIST = "user_id,item_id,score\nann,a,3\nann,b,2\nann,c,2\nbob,b,-inf\nbob,c,1\nbob,a,0.5\n"


def read(options=None, **texts):
    return sd.read_rank_sets(**files(**texts), **({"n": 10} | (options or {})))


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
    # b and c have one score: a tie, not an order by name.
    system = "M" if name == "named" else "l"
    wanted = sd.RankSet(system, [2, 2], 10, instances=["ann", "bob"], ties=[1, 0])
    assert read(l_csv=SPELLINGS[name], test_csv=TEST) == [wanted]


def test_parquet_and_test_items_with_ratings():
    data = buffer(pd.read_csv(io.StringIO(LIST)).to_parquet(), "l.parquet")
    test = buffer("userId,movieId,rating,timestamp\nann,c,5,1\nbob,a,4,2\n", "t.csv")
    (found,) = sd.read_rank_sets([data, test], n=10)
    assert (found.ranks.tolist(), found.ties.tolist()) == ([2, 2], [1, 0])
    rated = buffer("user,item,rating\nann,c,5\nbob,a,4\n", "t.csv")
    assert sd.read_rank_sets(data, qrels=rated, n=10) == [found]


def test_two_lists_and_files_of_ranks_with_items():
    found = read(a_csv=LIST, b_csv=SPELLINGS["ranks"], test_csv=TEST)
    assert ranks_of(found) == {"a": [2, 2], "b": [2, 2]}
    # Without test items a table with a rank column holds ranks, as before.
    table = "system,user,item,rank,n\nX,ann,c,7,9\n"
    assert ranks_of(sd.read_rank_sets(buffer(table, "r.csv"))) == {"X": [7]}


def test_columns_that_are_not_read_are_named():
    listed = "user,item,sku,score,rank,note\nann,a,x,3,1,z\nann,c,x,2,2,z\n"
    texts = files(l_csv=listed, test_csv="user,item,rating,time\nann,c,5,1\n")
    reading = open_sources(**texts).read(n=9)
    assert ranks_of(reading.sets) == {"l": [2]}
    (facts,) = reading.summary.files
    assert facts.columns == (("user", "user"), ("item", "item"), ("score", "score"))
    assert facts.ignored == ("sku", "rank", "note")


def test_wrong_lists_get_their_sentence():
    for texts, facts in (
        ({"l_csv": LIST}, "l.csv holds lists of recommendations … give the test items"),
        ({"t_csv": TEST}, "t.csv holds test items … give the lists"),
        ({"l_csv": LIST, "t_csv": TEST, "u_csv": TEST}, "t.csv and u.csv both hold test items"),
        ({"l_csv": LIST + "ann,a,1\n", "t_csv": TEST}, "line 8 … 'a' … twice for user 'ann'"),
        ({"l_csv": LIST + "ann,d,x\n", "t_csv": TEST}, "line 8, column 'score': 'x' is not"),
        ({"l_csv": LIST, "t_csv": "user,item\nzoe,a\n"}, "share no query"),
    ):
        refused(lambda texts=texts: read(**texts), facts)
    refused(lambda: read({"n": None}, l_csv=LIST, t_csv=TEST), "n (at least 3", MissingCandidates)
