"""Files of interactions: every format says the same, and a wrong one gets its sentence."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.lab.reading import open_interactions
from tests.readers.reading import buffer, refused

#: The same four interactions as each format writes them; MovieLens' README has the first lines.
ROWS = [("1", "1193", 5, 978300760), ("1", "661", 3, 978302109), ("2", "1193", 4, 978301968),
        ("7", "3", 5, 978300275)]  # fmt: skip


def written(form: str, head: str = "") -> str:
    return head + "".join(form.format(*row) + "\n" for row in ROWS)


ATOMIC = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
FORMATS = {
    "ratings.dat": written("{}::{}::{}::{}"),
    "u.data": written("{}\t{}\t{}\t{}"),
    "ratings.csv": written("{},{},{}.0,{}", "userId,movieId,rating,timestamp\n"),
    "ml-1m.train.rating": written("{}\t{}\t{}\t{}"),
    "ml.inter": written("{}\t{}\t{}\t{}", ATOMIC),
    "semicolons.csv": written('{3};"{1}";"{0}";{2}', "Date;ISBN;User-ID;Rating\n"),
    "spaces.txt": written("{} {} {} {}"),
    "reviews.csv": written("{},{},{},{}"),
    "more.csv": written("x,{3},{0},{1},{2}", "note,ts,customer_id,product_id,stars\n"),
}


def read(content, name="i.csv", **options):
    return sd.read_interactions(buffer(content, name), **options)


def rows_of(found):
    columns = found.users[found.user], found.items[found.item], found.rating, found.time
    none = np.full(found.size, None)
    return list(zip(*((none if x is None else x).tolist() for x in columns), strict=True))


EXPECTED = [(int(u), int(i), float(r), t) for u, i, r, t in ROWS]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_formats_say_the_same(name, packed):
    content = FORMATS[name].encode()
    found = read(gzip.compress(content) if packed else content, name)
    assert rows_of(found) == EXPECTED
    assert found.users.tolist() == [1, 2, 7]


def test_parquet_with_dates_and_text():
    frame = pd.DataFrame(ROWS, columns=["user_id", "track", "rating", "date"])
    frame["date"] = pd.to_datetime(frame["date"], unit="s")
    stream = io.BytesIO()
    frame.to_parquet(stream)
    found = read(stream.getvalue(), "a.parquet")
    assert [row[:3] for row in rows_of(found)] == [row[:3] for row in EXPECTED]
    order = np.argsort([row[3] for row in ROWS])
    np.testing.assert_array_equal(found.in_time, order)
    text = "user,item,date\nann,x,2020-01-02\nann,y,2019-12-31T23:00:00Z\nbob,x,2020-01-02 10:00\n"
    assert read(text).in_time.tolist() == [1, 0, 2]
    assert read(text).users.tolist() == ["ann", "bob"]


def test_columns_can_be_chosen():
    text = "a,b,c,d\n1,5,9,3\n2,6,8,1\n1,7,7,2\n"
    found = read(text, user="a", item="c", time="d")
    assert rows_of(found) == [(1, 9, None, 3), (2, 8, None, 1), (1, 7, None, 2)]
    opened = open_interactions(buffer(FORMATS["ratings.csv"], "r.csv"), time="")
    assert opened.interactions.time is None
    assert opened.columns == ("userId", "movieId", "rating", "timestamp")
    assert opened.facts.ignored == ("timestamp",)


def test_what_counts_is_chosen_and_said():
    text = "user,item,rating,time\n1,a,1,5\n1,a,4,1\n1,b,2,2\n2,a,5,3\n2,b,3,4\n3,c,5,9\n3,a,1,1\n"

    def chosen(**options):
        found, facts = open_interactions(buffer(text, "i.csv")).read(**options)
        return [row[:3] for row in rows_of(found)], facts.notes

    rows, notes = chosen()
    assert (1, "a", 1) in rows
    assert (1, "a", 4) not in rows
    assert notes == (
        "1 interaction of a user and an item that have another one: the last in time counts.",
    )
    assert (1, "a", 4) in chosen(duplicates="first")[0]
    assert len(chosen(duplicates="all")[0]) == 7
    rows, notes = chosen(per_user=2, per_item=2)  # c goes, then user 3, who has one left
    assert rows == [(1, "a", 1), (1, "b", 2), (2, "a", 5), (2, "b", 3)]
    assert "2 interactions left out" in notes[-1]
    assert chosen(least_rating=3)[0] == [(2, "a", 5), (2, "b", 3), (3, "c", 5)]
    assert all(row[2] is None for row in chosen(implicit=True)[0])
    matrix = read(text, duplicates="all", implicit=True).matrix
    assert matrix[[0], [0]].item() == 2  # repeats add up


WRONG = """
a,b\\n1,2\\n | i.csv has no column of users: found 'a', 'b' … user=
user,b\\n1,2\\n | no column of items: found 'user', 'b'
user,item,rating\\n1,2,good\\n1,3,4\\n | line 2, column 'rating': 'good' is not a number
user,item,rating\\n1,2,3\\n1,3,\\n | line 3, column 'rating': the cell is blank
user,item,rating\\n1,2,3\\n1,3,1e30\\n | line 3, column 'rating': 1e+30 is too large
1\\t2\\tgood\\t5\\n1\\t3\\t4\\t5\\n | line 1 … 'good' is not a number
user,item\\n1,2\\n,3\\n | line 3, column 'user': the cell is blank
user,item\\n1,1\\n2,2\\n3,1\\n | every user has one interaction only … 'user'
user,item,time\\n1,1,978300760\\n1,2,978300760000\\n1,3,978300760000000 | line 3, column 'time': \
978300760000 is a time in milliseconds … 978300760 before it one in seconds; write all
user,item,date\\n1,1,2020-01-01\\n1,2,soon\\n | line 3, column 'date': 'soon' is no date
user,item,time\\n1,1,3\\n1,2,soon\\n | line 3, column 'time': 'soon' is not a number
user,item\\n | header line but no rows
user,item,rating,rating\\n1,2,3,4\\n | i.csv: the column 'rating' appears twice; rename one
user,item,rating,Rating\\n1,2,3,4\\n | i.csv: the column 'rating' appears twice; rename one
user,item\\n1,2,3,4\\n | line 2: 4 cells where the header names 2 columns
 | i.csv is empty
<html></html> | a web page
"""


@pytest.mark.parametrize("row", WRONG.strip("\n").splitlines())
def test_wrong_files_get_their_sentence(row):
    content, facts = row.rsplit(" | ", 1) if not row.startswith(" | ") else ("", row[3:])
    refused(lambda: read(content.replace("\\n", "\n").replace("\\t", "\t")), facts)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"time": "when"}, "no column 'when' to be read as time"),
        ({"time": "rating"}, "'rating' cannot be both rating and time"),
        ({"per_user": 0}, "per_user must be at least 1, got 0"),
        ({"per_item": 9}, "nothing is left"),
        ({"rating": "", "least_rating": 3}, "no ratings"),
        ({"duplicates": "some"}, "duplicates must be one of"),
    ],
)
def test_wrong_choices_get_theirs(options, facts):
    refused(lambda: read(FORMATS["ratings.csv"], **options), facts, ValueError)


def test_large_plain_text_and_small_careful_text_are_read_alike():
    """A blank line and a quoted cell leave the fast parser; the result is the same."""
    plain = FORMATS["ratings.csv"]
    odd = plain.replace("1193", '"1193"').replace("\n2,", "\n\n2,")
    assert read(plain) == read(odd)
    doubt = open_interactions(buffer(plain.replace("978300275", "0"), "r.csv")).facts.doubts
    assert len(doubt) == 1
    assert "1 interaction" in doubt[0]
