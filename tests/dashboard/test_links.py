"""Settings of a link are used, or the page says what it uses instead; also hostile links."""

import json
from pathlib import Path
from urllib.parse import parse_qs

import plotly.io
import pytest

from sampledash.dashboard import state
from tests.dashboard.driver import Page
from tests.hostile_addresses import PAGES, addresses, wrong

EVERY = addresses()
TOY = "source=Three toy recommenders"
#: Lines of ``address | texts that the page shows``; ALL stands for numbers of 400 digits.
TOLD = (Path(__file__).parents[1] / "data" / "addresses.txt").read_text("utf-8")
ALL_LARGE = "&".join(f"{key}={'9' * 400}" for key in ("n", "m", "k", "rank"))


def rows(table):
    found = {}
    for line in filter(None, table.replace("\n    | ", " | ").splitlines()):
        address, facts = line.replace("\\n", "\n").replace("ALL", ALL_LARGE).split(" | ")
        found.setdefault(address, []).extend(facts.replace("DIGITS", "9" * 30).split(" … "))
    return found


TOLD = rows(TOLD)


def opened(address):
    page, _, query = address.partition("?")
    return Page(page, **parse_qs(query))


@pytest.mark.parametrize("address", TOLD)
def test_a_link_is_taken_or_told(address):
    at = opened(address)
    told = f"{at.headline} {at.captions} {at.complaint} {at.notes}"
    for fact in TOLD[address]:
        assert fact in told
    # A refusal is one sentence, beside the default picture if the page has a picture.
    if at.error:
        assert (len(at.error), at.headline) == (1, "")
        assert not at.specs or at.dimmed


#: Lines of ``address | field, number to type, sentence that refuses the number``.
REFUSED = rows(r"""
explore?m=99 | n 1 n must be at least 2, got 1. … m 0 m must be at least 1, got 0.
explore?m=99 | m 20000 m = 20,000 is too large without replacement: n = 10,000 leaves 9,999
explore?m=99 | k 0 k must be at least 1, got 0. … rank 0 Rank must be at least 1, got 0
correct?metric=AP&n=5000 | gamma 2.0 γ must be at least 0 and at most 1, got 2.
correct?metric=AP&n=5000 | gamma -0.1 γ must be at least 0 and at most 1, got -0.1.
correct?metric=AP&n=5000 | n 1 n must be at least 2, got 1. … m 0 m must be at least 1, got 0.
correct?metric=AP&n=5000 | n 50 m = 100 is too large … m 6000 too large without replacement
correct?what=Sampled ranks | m 0 m must be at least 1, got 0.
correct?what=A printed table | m 0 m must be at least 1, got 0.
consistency?source=Three toy recommenders&m=9999 | m 0 m must be at least 1
consistency?source=Three toy recommenders&m=9999 | k 0 k must be at least 1
consistency?source=Three toy recommenders&m=9999
    | m 10000 m = 10,000 is too large without replacement: system 'A' has 9,999 negatives
""")


@pytest.mark.parametrize("address", REFUSED)
def test_a_wrong_number_takes_the_sentences_place_and_loses_nothing(address):
    at = opened(address)
    said, charts, numbers = at.headline, len(at.specs), at.numbers
    for key, value, sentence in (row.split(" ", 2) for row in REFUSED[address]):
        before = at.number_input(key=key).value
        assert sentence in at.put(key, type(before)(value)).complaint
        assert (len(at.error), at.headline) == (1, "")
        assert at.dimmed
        assert said.endswith(at.last_headline)
        assert (at.numbers, len(at.specs)) == (numbers, charts)
        assert at.put(key, before).headline == said
        assert not at.error


#: Addresses whose settings a copied link must hold.
TRAVELS = (
    "explore?n=3706&m=37&k=7&rank=123&scheme=popularity&zipf=1.2&bestsellers=0.5&metrics=NDCG@k&metrics=AUC"
    "&view=top 1,000&focus=AUC",
    "consistency?source=Paste ranks&metrics=Recall@k&pair=B, C&correction=BV"
    "&ranks=n = 10000\nA: 100, 100, 100\nB: 40, 8437, 9266\nC: 212, 2, 5342",
    "correct?prior=own weights&n=50&m=5&metric=AP&take=CLS"
    "&weights=rank,weight\n1,40\n2,25\n10,5\n30,2\n50,0.5",
    "correct?what=Sampled ranks&sampled_source=Paste sampled ranks&metric=AUC"
    "&sampled=m = 20, n = 300\nA: 1, 5, 1; B: 2, 4, 9",
    "correct?what=A printed table&metric=AUC&printed=system, AUC\nA, 0.900\nB, 0.880",
)


@pytest.mark.parametrize("address", TRAVELS)
def test_a_link_reproduces_the_page(address):
    at = opened(address)
    assert at.link == {"v": ["2"], **parse_qs(address.partition("?")[2])}
    again = Page(address.partition("?")[0], **at.link)
    assert not again.error
    assert (again.headline, again.numbers, again.specs) == (at.headline, at.numbers, at.specs)


def test_what_is_given_in_vain_is_told_until_something_is_chosen_and_a_good_link_is_not():
    vain = {"what = Something": "A metric", "metric = HR": "Recall@k"}
    vain |= {"prior = 1/n": "uniform", "estimator = EM": "side by side"}
    query = dict(part.split(" = ") for part in vain)
    at = Page("correct", **query, drawn=["CLS", "ALS"])
    told = [w.value for w in at.warning]
    for part, instead in vain.items():
        start = f"The link gives {part}, which is not offered: it is {instead} instead."
        assert any(x.startswith(start) for x in told)
    assert any("drawn = ALS, which is not offered: it is left out." in x for x in told)
    assert any(
        x.endswith("There are A metric, Sampled ranks, A printed table, Negatives.") for x in told
    )
    assert len(told) == 5
    names = {trace["name"] for trace in at.specs[0]["data"]}
    assert (names, at.numbers) == ({"exact", "CLS", "BV 0.1"}, Page("correct").numbers)
    at.pills(key="metric").set_value("AP")
    assert not at.run().warning
    assert not opened("correct?n=11&m=10").warning  # cutoff 10 leaves one of 11 items out
    good = {"n": ["3706"], "gamma": ["1e-3"], "metrics": ["AP", "NDCG@k"], "utm_source": ["x"]}
    assert state.link_complaints(good) == []
    for bad in ("n=1e400", "n=many", "m=1.5", "gamma=nan", "metrics=HR", "v=3"):
        (told,) = state.link_complaints(parse_qs(bad))
        assert bad.split("=")[1][:3] in told


@pytest.mark.parametrize("page", PAGES)
def test_hostile_addresses_end_in_a_sentence_or_a_right_page(page):
    of_page = [each for each in EVERY if each.page == page]
    assert len(EVERY) >= 300
    assert len({key for each in EVERY for key, _ in each.query}) >= 50
    for address in of_page[:: len(of_page) // 3]:
        assert not wrong(address), address


#: Address -> the least number of pictures on that page.
DRAWN = {"start": 1, "explore?draws=101": 3, "explore?tab=Law&turn=true": 3}
DRAWN |= {"explore?tab=Family": 2, "correct?n=500": 3, "learn?lesson=4": 1}
DRAWN |= {"correct?n=500&sheet=What a sample can see": 4}
DRAWN |= {f"consistency?{TOY}{more}": 3 for more in ("", "&curve=Values", "&curve=Order")}
DRAWN |= {f"consistency?{TOY}&answers=Numbers&numbers_view=Distribution": 3}


@pytest.mark.parametrize(("address", "least"), DRAWN.items())
def test_pictures_hold_only_what_plotly_knows(address, least):
    pictures = opened(address).specs
    assert len(pictures) >= least
    for spec in pictures:
        assert plotly.io.from_json(json.dumps(spec)).data


PINS = [  # page, settings to pin, a change, and a number that the change moves
    ("explore", {"m": "50", "rank": "7", "metrics": ["NDCG", "AP"], "focus": "AP"}, ("m", 60),
     "AP, sampled"),
    ("consistency", {"m": "1500", "also_k": ["20"], "correction": "BV", "gamma": "0.01"}, ("k", 5),
     "All right from m"),
    ("correct", {"m": "40", "metric": "NDCG", "take": "CLS"}, ("n", 5_000), "Average bias"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "change", "number"), PINS)
def test_a_link_holds_the_pinned_settings(name, given, change, number):
    at = Page(name, **given)
    before = at.numbers[number]
    at.press("pin").put(*change)
    again = Page(name, **at.link)
    assert at.numbers == again.numbers
    assert again.numbers[number] != before
    for page in (at, again):
        assert {x.label: x.delta for x in page.metric}[number] == before
    assert "Below the numbers: " in again.captions
    again.press("pin").put("m", 4).press("pin").put("m", 3).press("pin")  # the first pin goes
    pins = again.put("m", 2).link["pin"][0].split("|")
    names = [again.button(key=f"unpin_{place}").label for place in range(3)]
    assert len(pins) == len(set(names)) == 3
    for m, pin, shown in zip("43", pins[1:], names[1:], strict=True):
        assert parse_qs(pin)["m"] == [m]
        assert f"m = {m}" in shown
    for _ in names:
        again.press("unpin_0")
    assert not any(x.delta for x in again.metric)
    assert "pin" not in again.link


def test_a_complaint_about_a_link_goes_with_the_first_change_and_a_text_is_written_once(
    monkeypatch,
):
    session = {"n": 10, "_link_complaints": ["wrong"]}
    monkeypatch.setattr(state.st, "session_state", session)
    assert state.complaints(["n"]) == ["wrong"]
    session["k"] = 5  # a key that another page adds is no change
    assert state.complaints(["n", "k"]) == ["wrong"]
    session["k"] = 7
    assert state.complaints(["n", "k"]) == []
    # Streamlit's address lags behind by one run, but equal values are written only once.
    written = []

    class Address(dict):
        def __setitem__(self, key, value):
            written.append((key, value))
            super().__setitem__(key, value)

    monkeypatch.setattr(state.st, "query_params", Address(metric="AP"))
    for typed in ("A: 1, 2", "A: 1, 2", "A: 1, 3", "", ""):
        state.put_in_address("sampled", typed)
    assert written == [("sampled", "A: 1, 2"), ("sampled", "A: 1, 3")]
    assert state.st.query_params == {"metric": "AP"}
