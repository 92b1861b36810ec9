"""Reading sampled ranks: where n and m come from, and which files are refused."""

import pytest

from sampledash.readers.files import lacks, read_sampled_ranks
from sampledash.readers.files import read_sampled_ranks as read
from sampledash.readers.pasted import open_text
from sampledash.readers.upload_limits import MissingCandidates, MissingNegatives, ReadError
from tests.readers.reading import complaint, files, refused, sampled

WITHOUT = "without-replacement"
LONG = b"system,user,sampled_rank,n_candidates,m\nX,u1,1,900,5\nX,u2,6,1000,5\nY,u1,3,900,5\n"


def test_missing_and_contradictory_n_and_m() -> None:
    text = b"system,sampled_rank\nX,3\n"
    uniform = "only uniformly drawn negatives can be corrected"
    for data, options, said, kind in (
        (text, {"m": 99}, "does not say n, the number of candidates", MissingCandidates),
        (text, {"n": 99}, "does not say m, the number of sampled negatives", MissingNegatives),
        (LONG, {"m": 99}, "line 2, column 'm': the column says m = 5, but m = 99", ReadError),
        (LONG, {"n": 99}, "the column says n = 900, but n = 99 is given", ReadError),
        (text, {"n": 50, "m": 99, "scheme": WITHOUT}, "n = 50 leaves 49 negatives", ValueError),
        (text, {"n": 50, "m": 9, "scheme": "popularity"}, uniform, ValueError),
    ):
        refused(lambda data=data, options=options: sampled(data, **options), said, kind)


def test_what_is_given_may_be_meant_for_the_file_that_lacks_it() -> None:
    header = "system,sampled_rank,"
    both = files(a_csv=f"{header}n,m\nA,1,900,5\n", b_csv=f"{header}m\nB,2,5\n")
    a, b = read(**both, n=700)
    assert (a.n.tolist(), b.n.tolist()) == ([900], [700])
    # Both files have a column m, so the argument m must agree with the columns.
    refused(lambda: read(**both, n=700, m=9), "the column says m = 5, but m = 9 is given")


def test_true_ranks_and_no_n_beyond_the_largest_are_taken() -> None:
    complaint(LONG, "s.csv", "s.csv holds sampled ranks … read_sampled_ranks")
    both = files(a_run="q1 Q0 d1 1 0.9 tag\n", a_qrels="q1 0 d1 1\n")
    refused(lambda: read(**both, n=9, m=3), "is a TREC run, which ranks whole lists")
    text = "system,sampled_rank\nX,1\n"
    refused(lambda: sampled(text, n=10**13, m=9), "n must be at most", ValueError)


def test_pasted_text_says_n_and_m_of_all() -> None:
    for text in (
        "m = 100\nn = 3706\nA: 1, 1, 7",
        "# m: 100\n# n: 3706\nsystem,sampled_rank\nA,1\nA,1\nA,7",
        "# m = 100, N: 3706; A: 1, 1, 7",
        "n = 3706\nsystem,sampled_rank,m\nA,1,100\nA,1,100\nA,7,100",
    ):
        opened = open_text(text)
        (a,) = read_sampled_ranks(opened)
        assert lacks(opened) == (False, False)
        assert (a.system, a.sampled_ranks.tolist()) == ("A", [1, 1, 7])
        assert (set(a.n), set(a.m)) == ({3706}, {100})


@pytest.mark.parametrize("header", ["true_rank", "Best Rank", "worst_rank"])
@pytest.mark.parametrize("form", ["system,{}\nX,3\n", "user,{}\nu,3\n", "{}\n3\n"])
def test_true_ranks_by_their_name_are_refused(header: str, form: str) -> None:
    if header == "worst_rank" and form.startswith("system"):
        form = "{}\n3\n"  # beside ``system``, worst_rank is not read as ranks
    facts = f"s.csv … column {header!r} … Consistency page … rename the column to sampled"
    refused(lambda: sampled(form.format(header).encode(), n=3000, m=99), facts)
    said = "these are true ranks by their name"
    refused(lambda: read_sampled_ranks(open_text(form.format(header)), n=3000, m=99), said)


def test_a_column_adaptive_says_yes_if_some_row_of_the_system_does():
    cells = (("No", "0", False), ("TRUE", "1", True), ("false", "yes", True), ("1", "no", True))
    for one, other, adaptive in cells:
        rows = f"A,1,99,9,{one}\nA,4,99,5,{other}\nB,4,99,5,no\n"
        a, b = sampled(f"system,rank,n,m,adaptive\n{rows}")
        assert (a.adaptive, a.readings, b.adaptive) == (adaptive, (a,), False)
