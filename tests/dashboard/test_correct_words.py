"""Sentences of the Correct page."""

import pytest

import sampledash as sd
from sampledash.dashboard.correct import words
from sampledash.dashboard.correct.words import Settled

BV = sd.correction("BV", gamma=0.1)
RECALL = sd.metric("recall", k=10)


def fit(name, n=10_000, m=100, metric="Recall@10"):
    return sd.parse_correction(name).fit(metric, sd.Sampling(n, m))


def test_numbers_far_beyond_100_percent_stay_short():
    written = {0.02679: "2.68 %", -0.5: "−50.00 %", 31.2: "3,120 %", 5757547462.5: "5.8e11 %"}
    assert {x: words.size(x) for x in written} == written
    roots = {815.0: "28.55", 1e-9: "<0.01", 0.0: "0.00", 1e17: "3.2e8"}
    assert {x: words.root(x) for x in roots} == roots


@pytest.mark.parametrize(
    ("before", "after", "start"),
    [
        (0.2855, 0.0268, "With 100 negatives, BV 0.1 cuts the average bias of Recall@10 from"),
        (0.01, 0.02, "With 100 negatives, BV 0.1 raises the average bias of Recall@10 from"),
        (0.02, 0.02, "With 100 negatives, BV 0.1 leaves the average bias of Recall@10 at 2.00"),
        (0.0, 0.02, "Recall@10 from 100 negatives is unbiased: there is nothing to correct"),
    ],
)
def test_sentence_says_which_way_it_went_in_25_words(before, after, start):
    said = words.sentence(RECALL, 100, BV, before, after, 0.0003, 6_040)
    assert said.startswith(start)
    assert len(said.replace("\u00a0", "").split()) <= 25
    assert " %" not in said  # a line never begins with the sign


def test_one_instance_is_called_a_draw():
    assert "one draw scatters by 2.51" in words.sentence(RECALL, 1, BV, 0.3, 0.1, 0.0251, 1)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("rank estimate", r"1 + \frac{9{,}999}{100} \to 100"),
        ("CLS", r"\hat M_1 \ge \hat M_2"),
        ("BV 0.1", r"(1 - 0.1)\, A^\top A + 0.1\, \mathrm{diag}(c)"),
        ("BV 1", r"\sum_r p(r \mid \tilde r)"),
        ("LS", r"(A^\top A)^{-1} A^\top b"),
    ],
)
def test_formula_of_each_correction_holds_its_numbers(name, part):
    steps = words.formula(fit(name), 0.04, 0.09)
    assert any(part in step for step in steps)
    assert r"\text{bias}^2 = 0.04" in steps[-1]
    for step in steps:
        assert step.count("{") == step.count("}")


def test_objective_is_bias_plus_gamma_variance():
    assert words.formula(fit("BV 0.1"), 0.04, 0.09)[-1].endswith("= 0.049")


def test_hard_pair_is_the_one_that_uncorrected_gets_right_last():
    pairs = [Settled("X and Y", 970, 52), Settled("X and Z", 433, 20), Settled("Y and Z", 128, 7)]
    said = words.real_ranks(BV, pairs, 2_000)
    assert said == "BV 0.1 orders X and Y right from m = 52; uncorrected from m = 970."
    never = [*pairs, Settled("W and Z", None, None)]
    assert words.real_ranks(BV, never, 2_000) == (
        "BV 0.1 does not settle on the right order of W and Z up to m = 2,000; "
        "uncorrected not at any m up to 2,000."
    )
    assert "all pairs right at every m" in words.real_ranks(BV, [Settled("A and B", 1, 1)], 2_000)
    assert "Nothing to order" in words.real_ranks(BV, [], 2_000)


def test_vector_note_names_what_a_vector_does():
    assert "falls with the sampled rank" in words.vector_note(fit("CLS"))
    oscillating = words.vector_note(fit("BV 0.001", metric="AP"))
    assert "changes direction" in oscillating
    assert "below any exact one" in oscillating


def test_suggested_gamma_is_one_over_the_instances():
    assert "γ = 1/|D| = 0.001 weighs both" in words.gamma_meaning(BV, 1_000)
    assert words.gamma_meaning(sd.correction("CLS"), 1_000).endswith("has no γ.")


@pytest.mark.parametrize("name", ["BV 0.1", "CLS", "rank estimate"])
def test_python_lines_give_the_same_vector(name):
    made = fit(name, n=300, m=20)
    space: dict[str, object] = {}
    exec(words.script(made), space)
    assert space["fit"].values.tobytes() == made.values.tobytes()
