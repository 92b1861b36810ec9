"""Words of the Explore page."""

import itertools

import pytest

import sampledash as sd
from sampledash.dashboard.explore import words as explore
from sampledash.report import numbers as text

N = 10_000
SCHEMES = [("with-replacement", 1.0), ("without-replacement", 1.0), ("popularity", 2.0)]
METRICS = ["AUC", "AP", "NDCG", "NDCG@10", "Recall@10", "Precision@5"]


def test_numbers_as_they_are_written():
    nan = float("nan")
    percents = {0.63659167554758955: "63.66 %", 0.99999993674907442: "100.00 %", 0.0: "0.00 %"}
    percents |= {1e-9: "< 0.01 %", 5e-5: "0.01 %", nan: "–"}
    assert [text.percent(x) for x in percents] == list(percents.values())
    counts = {1: "1", 1000: "1,000", 10**6: "1M", 10**9: "1B", 2_500_000: "2.5M"}
    counts |= {1_234_567: "1,234,567"}
    assert [text.short_count(x) for x in counts] == list(counts.values())


def test_errors_become_sentences():
    for message, said in (
        ("n must be at least 2, got 1", "n must be at least 2, got 1."),
        ("m = 20000 is too large", "m = 20,000 is too large."),
        ("unknown metric 'x'", "Unknown metric 'x'."),
        ("rank 1.23456 is odd", "Rank 1.23456 is odd."),
    ):
        assert text.spell(message) == said


def test_the_sentence_of_the_paper():
    metric = sd.parse_metric("AP")
    sampling = sd.Sampling(N, 99, "with-replacement")
    said = explore.sentence(metric, 100, sampling, 0.01, 0.63659167554758955)
    assert said == (
        "With 99 negatives drawn with replacement from 9,999, rank 100 scores AP = 63.66 % "
        "in expectation; on all items 1.00 %."
    )


def test_equal_values_are_called_the_same():
    said = explore.sentence(sd.parse_metric("AUC"), 100, sd.Sampling(N, 99), 0.990099, 0.990099)
    assert said.endswith("AUC = 99.01 % in expectation, the same as on all items.")


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_sentence_is_longer_than_25_words(scheme, name):
    metric = sd.parse_metric(name)
    for rank, n in itertools.product([1, 2, 10**6], [10**6, 10**9]):
        sampling = sd.Sampling(n, 1000, *scheme)
        exact, mean = (float(f) for f in (metric(rank, n), sd.expected(metric, rank, sampling)))
        assert len(explore.sentence(metric, rank, sampling, exact, mean).split()) <= 25


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", METRICS)
def test_formulas_carry_the_numbers_and_balance(scheme, name):
    sampling, metric = sd.Sampling(N, 99, *scheme), sd.parse_metric(name)
    for rank in (1, 2, 100, N):
        exact, mean = float(metric(rank, N)), float(sd.expected(metric, rank, sampling))
        steps = explore.formula(metric, rank, sampling, exact, mean)
        assert all(step.count("{") == step.count("}") for step in steps)
        assert text.tex_percent(mean) in steps[2]
        assert text.tex_percent(exact) in steps[3]


def test_formula_takes_the_closed_form_of_the_scheme():
    def third(name, scheme):
        return explore.formula(sd.parse_metric(name), 100, sd.Sampling(N, 99, scheme), 0.0, 0.0)[2]

    assert r"(1-p)^{m+1}" in third("AP", "with-replacement")  # eq. 19
    assert r"\sum" in third("AP", "without-replacement")
    assert r"P(\tilde r \le 10)" in third("Recall@10", "with-replacement")  # eq. 18
    assert r"\frac{n - r}{n - 1}" in third("AUC", "without-replacement")  # eq. 17


def test_one_draw_is_counted_in_words():
    metric, sampling = sd.parse_metric("AP"), sd.Sampling(N, 100)
    assert explore.one_draw(metric, 0, sampling).startswith("None of the 100 drawn negatives is")
    assert explore.one_draw(metric, 1, sampling) == (
        "1 of the 100 drawn negatives is ranked above the item: **sampled rank 2**, AP = 50.00 %."
    )
    assert "2 of the 100 drawn negatives are" in explore.one_draw(metric, 2, sampling)


AP = sd.parse_metric("AP")


def test_why_tells_how_many_items_above_are_seen():
    said = explore.looks_like(AP, 100, sd.Sampling(N, 100, "without-replacement"))
    assert "Of the 99 items above, on average 0.99 enter the sample" in said
    assert "looks like rank 1.99" in said
    assert "rank that is too good" in said
    assert "rank 1" in explore.looks_like(AP, 1, sd.Sampling(N, 100))
    every = sd.Sampling(100, 99, "without-replacement")
    assert "nothing is lost" in explore.looks_like(AP, 5, every)


@pytest.mark.parametrize("name", ["AUC", "ATOP", "TOPK@0.02"])
def test_why_a_share_of_the_list_is_another_thing(name):
    said = explore.looks_like(sd.parse_metric(name), 100, sd.Sampling(N, 100))
    assert f"As a share of the list that is the same, and {name} looks at the share" in said
    assert ("Steck" in explore.source(sd.parse_metric(name))) == (name != "AUC")
