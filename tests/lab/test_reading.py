"""Reading interactions: all formats give the same data, and wrong files get their message."""

import gzip
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.checks import counted
from sampledash.lab.reading import open_interactions
from tests.readers.reading import buffer, refused

#: Four interactions (user, item, rating, time); FORMATS holds a file of them in each format.
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
HEADLESS = "There is no header line: columns are told by their place and first values."
#: Kind and columns that the reader reports of files with a header line; the others lack a header.
KINDS = {
    "ratings.csv": "CSV: userId movieId rating timestamp",
    "ml.inter": "TSV: user_id item_id rating timestamp",
    "semicolons.csv": "semicolon-separated text: Date ISBN User-ID Rating",
    "more.csv": "CSV: ts customer_id product_id stars",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_formats_say_the_same(name, packed):
    content = FORMATS[name].encode()
    opened = open_interactions(buffer(gzip.compress(content) if packed else content, name))
    assert rows_of(opened.interactions) == EXPECTED
    assert opened.interactions.users.tolist() == [1, 2, 7]
    facts, plain = opened.facts, "text without a header line: user item rating timestamp"
    headers = " ".join(header for header, _ in facts.columns)
    assert f"{facts.kind}: {headers}" == KINDS.get(name, plain)
    assert facts.notes == (() if name in KINDS else (HEADLESS,))
    assert (facts.file, facts.doubts) == (name, ())
    # The slow parser, which is used if there is a blank line or a quoted cell, gives the same data.
    plain = FORMATS["ratings.csv"]
    assert read(plain) == read(plain.replace("1193", '"1193"').replace("\n2,", "\n\n2,"))
    assert facts.ignored == (("note",) if name == "more.csv" else ())


#: Two tables. COLUMNS: ``text | given column names, if any | all columns | columns that are read |
#: first row as read``. WRONG: ``text | parts of the message that refuses it``.
TABLES = Path(__file__).parents[1] / "data" / "interactions.txt"
COLUMNS, WRONG = (
    table.splitlines() for table in TABLES.read_text("utf-8").rstrip("\n").split("\n\n")
)


@pytest.mark.parametrize("row", COLUMNS)
def test_columns_are_told_by_their_names_or_by_their_place(row):
    text, *given, names, read_, first = row.split(" | ")
    options = dict(pair.split("=") for pair in given[0].split()) if given else {}
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    opened = open_interactions(buffer(text, "i.csv"), **options)
    assert [name.replace(" ", "_") for name in opened.columns] == names.split()
    assert [name for name, _ in opened.facts.columns] == read_.split()
    assert sorted(opened.chosen.values()) == sorted(read_.split())
    assert opened.facts.ignored == tuple(x for x in opened.columns if x not in read_.split())
    values = rows_of(opened.interactions)[0]
    shown = ("-" if x is None else f"{x:g}" if isinstance(x, float) else str(x) for x in values)
    assert " ".join(x.replace(" ", "_") for x in shown).replace("e+0", "e") == first
    assert opened.interactions.size == 2


@pytest.mark.parametrize(
    ("times", "facts"),
    [
        ("99999999 100000000000", [99999999, 10**11]),
        ("1.5 -2.25 3", [1500000, -2250000, 3000000]),
        ("4611686018427387903 0", [2**62 - 1, 0]),
        ("0 4611686018427387904", "line 3, column 'time': 4.61e+18 is too large; write a whole"),
        ("2020-01-02 1970-01-01T00:00:01+01:00", [1577923200 * 10**9, -3599 * 10**9]),
        ("2020-01-02 soon", "line 3, column 'time': 'soon' is no date such as 2026-01-31; write"),
        ("2020-01-02  2020-01-03", "line 3, column 'time': nan is no date such as 2026-01-31"),
        ("3 soon", "line 3, column 'time': 'soon' is not a number; write a whole number or a"),
    ],
)  # fmt: skip
def test_times_are_whole_numbers(times, facts):
    lines = [f"1,{item},{time}" for item, time in enumerate(times.split(" "))]
    text = "\n".join(["user,item,time", *lines])
    if isinstance(facts, str):
        refused(lambda: read(text), facts)
    else:
        assert read(text).time.tolist() == facts


def parquet(frame):
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def test_parquet_with_dates_and_text():
    frame = pd.DataFrame(ROWS, columns=["user_id", "track", "rating", "date"])
    frame["date"] = pd.to_datetime(frame["date"], unit="s")
    rows = rows_of(read(parquet(frame), "a.parquet"))
    assert rows == [(*row[:3], row[3] * 10**9) for row in EXPECTED]
    days = pd.to_datetime(["2020-01-02", "2020-01-02", "2020-01-03"])
    dates = parquet(pd.DataFrame({"a": days, "b": days[::-1], "time": days}))
    opened = open_interactions(buffer(dates, "a.parquet"), user="a", item="b")
    assert [str(x)[:10] for x in opened.interactions.users] == ["2020-01-02", "2020-01-03"]
    assert (opened.facts.kind, opened.facts.notes) == ("Parquet", ())
    refused(lambda: read(b"\x93NUMPY", "a.npy"), "a.npy is a numpy array, which names no columns")


def by_lists(rows, timed, duplicates, implicit, least, low):
    """Return the rows that remain, and the notes about removed rows, computed with plain lists."""
    order = sorted(rows, key=lambda row: row[3] if timed else 0)
    counts = {row[:2]: row for row in (order if duplicates == "last" else reversed(order))}
    left = [row for row in rows if duplicates == "all" or counts[row[:2]] is row]
    notes, many = [], len(rows) - len(counts)
    if many:
        what = f" left out: the {duplicates} in {timed or 'the file'} counts"
        begin = f"{counted(many, 'interaction')} with the same user and item as another"
        notes.append(f"{begin}{': all count' if duplicates == 'all' else what}.")
    if least is not None:
        size, left = len(left), [row for row in left if row[2] >= least]
        gone = counted(size - len(left), "interaction")
        notes.append(f"{gone} rated below {least:g} left out.")
    if implicit and any(row[2] for row in rows):
        left = [(u, i, None, *more) for u, i, _, *more in left]
        notes.append("Ratings are not looked at: that an interaction took place is what counts.")
    size = len(left)
    for _ in rows:
        users, items = (Counter(row[at] for row in left) for at in (0, 1))
        left = [row for row in left if users[row[0]] >= low[0] and items[row[1]] >= low[1]]
    if gone := size - len(left):
        begin = f"{counted(gone, 'interaction')} left out, over and over, of users with fewer"
        notes.append(f"{begin} than {low[0]} and items with fewer than {low[1]}.")
    return left, notes


@pytest.mark.parametrize("timed", ["time", ""])
@pytest.mark.parametrize("duplicates", ["last", "first", "all"])
@pytest.mark.parametrize("implicit", [False, True])
def test_what_counts_is_what_lists_say(timed, duplicates, implicit):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        columns = (rng.integers(1, high, 16).tolist() for high in (5, 7, 6, 9))
        rows = [(u, f"i{i}", float(r), t) for u, i, r, t in zip(*columns, strict=True)]
        least, low = (None, 2, 3.5)[seed % 3], ((1, 1), (2, 1), (1, 3), (2, 2))[seed % 4]
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)  # without a header line
        chosen = {"time": None if timed else "", "rating": "" if seed in (0, 3) else None}
        if seed in (0, 3):
            rows = [(u, i, None, t) for u, i, _, t in rows]
        opened = open_interactions(buffer(text, "i.csv"), **chosen)
        more = {"duplicates": duplicates, "implicit": implicit, "least_rating": least}
        more |= {"per_user": low[0], "per_item": low[1]}
        left, notes = by_lists(rows, timed, duplicates, implicit, least, low)
        users = Counter(row[0] for row in left)
        if max(users.values(), default=0) < 2:
            why = "every user has one interaction only" if left else "nothing is left"
            refused(lambda x=more, o=opened: o.read(**x), f"i.csv: {why}, so … is 'user' the col")
            continue
        chosen_rows, facts = opened.read(**more)
        expected = [row if timed else (*row[:3], None) for row in left]
        assert rows_of(chosen_rows) == expected
        assert facts.notes == (HEADLESS, *notes)
        assert {*chosen_rows.users.tolist()} == {*users}
        assert {*chosen_rows.items.tolist()} == {row[1] for row in left}
        assert read(text, **more, **chosen, name="x.csv") == chosen_rows


@pytest.mark.parametrize("row", WRONG)
def test_wrong_files_get_their_sentence(row):
    content, facts = row.rsplit(" | ", 1) if not row.startswith(" | ") else ("", row[3:])
    refused(lambda: read(content.replace("\\n", "\n").replace("\\t", "\t")), facts)


def test_wrong_choices_get_theirs():
    for options, facts in (
        ({"time": "when"}, "no column 'when' to be read as time: found 'userId', 'movieId'"),
        ({"time": "rating"}, "the column 'rating' cannot be both rating and time"),
        ({"per_user": 0}, "per_user must be at least 1, got 0"),
        ({"per_item": 0}, "per_item must be at least 1, got 0"),
        ({"rating": "", "least_rating": 3}, "has no ratings: leave out least_rating"),
        ({"least_rating": np.inf}, "least_rating must be"),
        ({"implicit": 1}, "implicit must be True or False, got 1"),
        ({"name": "x.csv", "per_item": 9}, "x.csv: nothing is left … is 'userId' the column"),
        ({"duplicates": "some"}, "duplicates must be one of"),
    ):
        refused(lambda x=options: read(FORMATS["ratings.csv"], **x), facts, ValueError)
