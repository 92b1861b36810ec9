"""Lists that end early, from upload or typed text to the comparison, its exports and its link."""

import contextlib
import io
import itertools

import pytest

from tests.dashboard.driver import Page

N, RANKS = 40, {"A": [3, None, 7, 1, None, 9], "B": [1, 5, None, None, None, 4]}
TYPED = "n = 40\nA: 3, >10, 7, 1, > 10, 9\nB: 1, 5, >10, >10, >10, 4"
ROWS = [(name, i, rank) for name, ranks in RANKS.items() for i, rank in enumerate(ranks)]
FILE = "system,user,rank,n\n" + "".join(f"{s},u{i},{r or '>10'},{N}\n" for s, i, r in ROWS)
PLACES = [(*row, at) for row, at in itertools.product(ROWS, range(1, 11))]
RUNS = [f"u{i} Q0 {f'hit{i}' if at == r else f'd{at}'} {at} {-at} {s}" for s, i, r, at in PLACES]
QRELS = "\n".join(f"u{i} 0 hit{i} 1" for i in range(6))


def ap_ranges():
    """AP of one relevant item is 1 / rank: every completion beyond 10, the best and the worst."""
    for ranks in RANKS.values():
        every = [[1 / r] if r else [1 / x for x in (11, 25, N)] for r in ranks]
        means = [sum(x) / len(x) for x in itertools.product(*every)]
        yield min(means), max(means)


def looked_at(page):
    assert page.headline == "Recall@10 on all items\\: A (66.67 %) before B (50.00 %)."
    cells = page.table[0].value["On all items"].tolist()
    ends = [f"{100 * low:.2f} % to {100 * high:.2f} %" for low, high in ap_ranges()]
    assert (cells[:2], cells[-2:]) == (["66.67 %", "50.00 %"], ends)
    assert "NDCG and AP need more: take a cutoff, k = 10 at most." in page.captions
    assert "5 of them only known to lie beyond a list, the shortest of 10" in page.said
    assert not page.error


def test_typed_ranks_reach_comparison_exports_and_link(monkeypatch):
    page = Page("consistency", source="Paste ranks", ranks=TYPED)
    looked_at(page)
    made = page.exports(monkeypatch)
    rows = [row.split(",") for row in made["CSV"].splitlines()]
    assert rows[0] == ["metric", "system", "exact", "low", "high"]
    assert [float(x) for x in rows[1][2:]] == pytest.approx([4 / 6] * 3)
    assert rows[-1][2] == ""
    assert [float(x) for x in rows[-1][3:]] == pytest.approx(list(ap_ranges())[1])
    assert "| AP | B |" in " ".join(made["Markdown"].split())
    assert "66.67" in made["LaTeX"]
    report = made["HTML report"]
    assert "66.67" in report
    assert "lie beyond 10: metrics cut there or before are exact" in report
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(made["Script"], {})
    assert "'A': 66.67%\n" in out.getvalue()
    low, high = list(ap_ranges())[1]
    assert f"'B': {low:.2%} to {high:.2%}\n" in out.getvalue()
    looked_at(Page("consistency", **page.link))


def test_files_and_runs_that_miss_an_item_say_the_same():
    looked_at(Page("consistency").upload("ranks.csv", FILE.encode()))
    page = Page("consistency").pick("source", "Upload a file")
    files = [("r.run", "\n".join(RUNS).encode(), ""), ("q", QRELS.encode(), "")]
    page.file_uploader[0].set_value(files)
    page.run().click("Known to be beyond the end")
    next(x for x in page.number_input if "candidates of every" in x.label).set_value(N)
    looked_at(page.run())


def test_a_cutoff_beyond_the_lists_is_told_with_the_largest():
    page = Page("consistency", source="Paste ranks", ranks=TYPED, k="20", metrics=["Recall@k"])
    ranges = "A has 66.67 % to 100.00 % and B has 50.00 % to 100.00 %."
    assert page.headline == f"Recall@20 needs ranks beyond 10\\: {ranges}"
    assert page.click("Take k = 10").headline.startswith("Recall@10 on all items")
    # One beyond all candidates needs no rank, and says so.
    told = "The cutoff holds all 40 candidates: Recall@60 is 100.00 % at every rank."
    assert told in page.put("k", 60).captions
    assert page.headline.startswith("Recall@60 on all items\\: A (100.00 %) and B (100.00 %)")
    page.put("k", 10)
    # A wrong entry takes nothing away.
    page.write("pasted", TYPED.replace(" 9", " >x"))
    assert "'>x' is not a number" in page.complaint
    assert page.headline.startswith("Recall@10 on all items")
    assert "Below, the last that could be shown: your ranks" in page.captions


def test_a_shorter_list_leaves_others_exact_and_what_is_about_samples_is_left_out():
    page = Page("consistency", source="Paste ranks", ranks="n = 40\nA: 3, >10, 7\nB: 1, >5, 2")
    ranges = "B has 66.67 % to 100.00 % and A has 66.67 %."
    assert page.headline == f"Recall@10 needs ranks beyond 5\\: {ranges}"
    assert page.table[0].value["On all items"].tolist()[:2] == ["66.67 %", "66.67 % to 100.00 %"]
    page = Page("consistency", source="Paste ranks", ranks="n = 40\nA: >10, >10\nB: >10, >10")
    (ends,) = page.table[1].value["95 % interval"].tolist()[:1]
    low, high = (float(x.replace("−", "-")) for x in ends.split(" to "))
    assert low == -high < -30
    page = Page("consistency", source="Paste ranks", ranks=TYPED, scheme="popularity", odds="4")
    assert "Negatives are drawn" not in [x.label for x in page.selectbox]
    assert "m, the scheme and the tabs about them are left out" in page.captions
    page.pick("source", "MovieLens 1M: X, Y, Z")
    assert [x.value for x in page.selectbox if x.label == "Negatives are drawn"] == ["popularity"]
