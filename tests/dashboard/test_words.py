"""Sentences of the pages for given numbers; … stands for text that is not checked."""

import itertools
import re
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from jinja2 import pass_context

import sampledash as sd
from sampledash import checks
from sampledash.analyses import sliding
from sampledash.analyses.consistency import words as consistency
from sampledash.analyses.correct import words as correct
from sampledash.analyses.correct.result import Prior
from sampledash.analyses.estimate import review
from sampledash.analyses.explore import words as explore
from sampledash.analyses.lab import words as lab
from sampledash.analyses.paper import words as paper
from sampledash.catalogue import Catalogue
from sampledash.correction import Fit
from sampledash.dashboard import ranks, start
from sampledash.lab.interactions import Interactions
from sampledash.lab.splits import Split
from sampledash.protocol import Protocol
from sampledash.report import escape, estimates, sentences, templates
from sampledash.report import numbers as text

N = 10_000
SCHEMES = [("with-replacement", 1.0), ("without-replacement", 1.0), ("popularity", 2.0)]
METRICS = ["AUC", "AP", "NDCG", "NDCG@10", "Recall@10", "Precision@5"]
AP, AUC, RECALL = (sd.parse_metric(name) for name in ("AP", "AUC", "Recall@10"))
BV = sd.correction("BV", gamma=0.1)
CATALOGUE = Catalogue(N, 100, "popularity", zipf=0.8, bestsellers=1.0)


def like(said, wanted):
    pattern = ".*".join(re.escape(part) for part in wanted.split("…"))
    assert re.fullmatch(pattern, said.replace("\u00a0", " "), re.DOTALL), said


def rows(*states_and_m):
    known = zip(states_and_m, "ZZY", "XYX", (0.99, 0.9, 0.8031), strict=False)
    return [
        {"state": state, "right_from": m, "better": better, "worse": worse, "probability": chance}
        for (state, m), better, worse, chance in known
    ]


def many(state, *, ahead=False, right_from=970, metric="Recall@10 (BV 0.1)", m_max=1_000):
    states = {"wrong": 14, "undecided": 3, "right": 173, "tied": 0}
    worst = {"better": "s7", "worse": "s3", "state": state, "probability": 0.6012}
    worst["sampled"] = 0.01 if ahead else -0.01
    return sentences.say.many_systems(metric, "100 negatives", worst, states, right_from, m_max)


@pytest.mark.parametrize("correction", ["uncorrected", "rank estimate", "CLS", "BV 0.001"])
def test_no_verdict_has_more_than_25_words(correction):
    metric = sentences.metric_name("Recall@10", correction)
    for state, m in itertools.product(("wrong", "undecided", "right"), (970, None)):
        pairs = rows(*[(state, m)] * 3)
        given = "Z > Y > X", pairs, sentences.settled(pairs, 20_000)
        for shown in ("X > Y > Z", "Z > Y > X"):
            said = sentences.say.few_systems(metric, "100 negatives", shown, *given)
            assert len(said.split()) <= 25, said
        for ahead in (True, False):
            said = many(state, ahead=ahead, right_from=m, metric=metric, m_max=20_000)
            assert len(said.split()) <= 25, said


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", METRICS)
def test_no_sentence_is_longer_than_25_words_and_formulas_carry_the_numbers(scheme, name):
    metric = sd.parse_metric(name)
    cases = [(rank, n, 1000) for rank in (1, 2, 10**6) for n in (10**6, 10**9)]
    for rank, n, m in (*cases, *((rank, N, 99) for rank in (1, 2, 100, N))):
        sampling = sd.Sampling(n, m, *scheme)
        for by in ("popularity", "popularity-without-replacement"):
            long = explore.sentence(metric, rank, Catalogue(n, m, by, 0.8, 0.2), *[0.1] * 4)
            assert len(long.split()) <= 25, long
        exact, mean = (float(f) for f in (metric(rank, n), sd.expected(metric, rank, sampling)))
        assert len(explore.sentence(metric, rank, sampling, exact, mean).split()) <= 25
        steps = explore.formula(metric, rank, sampling, exact, mean)
        assert all(step.count("{") == step.count("}") for step in steps)
        assert text.tex_equals(mean) in steps[2]
        assert text.tex_equals(exact) in steps[3]


def fitted(name, n=N, m=100, metric="Recall@10"):
    return sd.parse_correction(name).fit(metric, sd.Sampling(n, m))


#: Parts of the formulas that the page shows, after eq. 20, 22, 23 and 25 of Krichene & Rendle.
FORMULAS = {
    "uncorrected": (r"= \mathrm{Recall}(\tilde r)", ""),
    "rank estimate": (r"\lfloor", r"1 + \frac{9{,}999}{100} \to 100"),
    "CLS": (r"\operatorname*{argmin}", r"\hat M_1 \ge \hat M_2"),
    "BV 0.1": (r"(1 - 0.1)\, A^\top A + 0.1\, \mathrm{diag}(c)", ""),
    "BV 1": (r"\sum_r p(r \mid \tilde r)\, ", ""),
    "LS": (r"(A^\top A)^{-1} A^\top b", ""),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_correction_has_its_own_formula_with_its_numbers_and_its_script_gives_it(name):
    made, space = fitted(name), {}
    steps = correct.formula(made, 0.04, 0.09)
    own, part = FORMULAS[name]
    assert [text for text, _ in FORMULAS.values() if text in steps[0]] == [own]
    assert any(part in step for step in steps)
    assert r"\text{bias}^2 = 0.04" in steps[-1]
    assert all(step.count("{") == step.count("}") for step in steps)
    assert steps[-1].endswith("= 0.049") == (name == "BV 0.1")
    exec(correct.script(made), space)
    assert space["fit"].values.tobytes() == made.values.tobytes()


def corrected(before, after, scatter=0.0003, size=6_040, m=100):
    return correct.say.sentence(RECALL, m, BV, before, after, scatter, size)


def fraction(metric, scheme):
    return explore.formula(metric, 100, sd.Sampling(N, 99, scheme), 0.0, 0.0)[2]


NAN = float("nan")
DRAWN, REPLACED = (sd.Sampling(N, m, "with-replacement") for m in (100, 99))
OPEN = [{"table": "x", "open": "A and B"}, {"table": "", "open": "C and D"}]
# Counts over the 69 systems that are printed on 1,000 and on 5,000 images of MS-COCO.
WILD = SimpleNamespace(cells=207, inside_low=207, inside_low_if_falling=206, pairs=7038)
WILD.decided_low_if_falling = WILD.right_low_if_falling = 540
TOTAL = pd.Series({"pairs": 5, "decided": 1, "decided_if_falling": 2})
SOME, EVERY = (sd.Sampling(n, m, "without-replacement") for n, m in ((N, 100), (100, 99)))
RIGHT, FIRST = (np.array(x) / 10 for x in ([1, 2, 3], [1, 3, 2]))
UNDECIDED = rows(("right", 1), ("undecided", 5), ("undecided", 7))

#: Two users and three items; one (user, item) pair occurs twice.
ROWS = {"users": ["u", "v"], "items": ["a", "b", "c"], "user": [0, 0, 1, 0], "item": [0, 1, 2, 0]}
TAKEN, ONCE = Interactions(**ROWS), Interactions(["u"], ["a"], [0], [0])
RATED = Interactions(**ROWS, rating=[0.5, 5, 4.5, 3], time=[1, 2, 3, 4])
SWEPT = pd.DataFrame({"d": [8, 16, 4], "ATOP": [0.8, 0.9, 0.7], "RMSE": [0.8, 0.9, 1.0]})
TOPS = pd.DataFrame({"k": [0.01, 0.02, 0.04], "A": [0.1, 0.2, 0.4], "B": [0.2, 0.3, 0.5]})
OFF = {"measure": ["AUC", "AP"], "observed": [0.5, 0.01], "complete": [0.6, 0.02]}
OFF = pd.DataFrame(OFF | {"off": [-2.26, 1.0]})
GAMMAS = {"gamma": [0.001, 0.123, 1e-5], "mse": [0.04, 0.01, 0.09]}
GAMMAS = pd.DataFrame(GAMMAS | {"largest": [1.0, 2.0, 123.4], "condition": [1.0, 2.0, 1.23e9]})
CELL = namedtuple("CELL", "ours our_std text matched")
WORST = SimpleNamespace(states=np.array([[0, 3], [2, 2], [3, 2], [1, 0]]))
WORST.metrics = [*map(sd.parse_metric, ("NDCG", "AUC", "AP", "RR"))]
CLS, RANK = sd.correction("CLS"), sd.correction("rank-estimate")


def holds(name, n):
    return " ".join(sentences.cutoff_holds_all(sd.parse_metric(name), n, 9))


def stub(n, m, scheme="without-replacement", metrics=("AP",), **more):
    """Return a stub of the data that sentences need, with n of each instance of each system."""
    ranks = [2, 3, 1][: len(n[0])]
    sets = [sd.RankSet(x, ranks, some, **more) for x, some in zip("ABC", n, strict=False)]
    metrics, protocol = [*map(sd.parse_metric, metrics)], Protocol.of({"scheme": scheme})
    return SimpleNamespace(sets=sets, m=m, protocol=protocol, metrics=metrics)


def estimated(word, *values, won=()):
    systems = "ABCD"[: len(values)]
    orders = (sentences.ranking(systems, x) for x in (won or values, values))
    return estimates.say.sentence("AP", word, *orders, len(values), "mle")


def split(training, test, *, kept=False):
    return Split(training, None, test, "", exclude_seen=not kept)


def note(*values):
    law = sd.Sampling(N, len(values) - 1)
    return correct.vector_note(Fit(BV, AP, law, np.array(values, dtype=float)))


NAMES = {
    "start": start,
    "escape": escape,
    "consistency": consistency,
    "lab": lab,
    "paper": paper,
    "ranks": ranks,
}
NAMES |= {"checks": checks, "Prior": Prior}
TILE, ROW = (
    {"metric": "AP", "exact": 0.01, "sampled": -0.02, "probability": 0.3},
    ("Z", "#123", "━━"),
)
READ = {"rows": 1200, "n_low": 99, "n_high": 99, "smallest_rank": 1, "largest_rank": 90}
READ |= {"has_counts": True, "zero_based": False, "censored": 4, "relevant": 80, "beyond": 3}
FACTS = {"max_relevant": 2, "has_ties": False, "mass_above": np.zeros(9)}
SETS = [
    SimpleNamespace(system="A", n_instances=30.0, largest_cutoff=50, **FACTS),
    SimpleNamespace(system="B", n_instances=40.0, largest_cutoff=None, **FACTS),
]
READING = SimpleNamespace(sets=SETS, numbers=READ)
#: Lines of ``call | expected sentence``.
TABLE = (Path(__file__).parents[1] / "data" / "sentences.txt").read_text("utf-8")


def said():
    for line in filter(None, re.sub(r"\n    +", " ", TABLE).splitlines()):
        calls, _, wanted = line.partition(" |")
        yield " ".join(eval(f"[{calls}]", globals() | NAMES)), wanted.strip()


def test_every_branch_of_every_sentence_is_rendered_below(monkeypatch):
    tag, inline = (
        re.compile(r"{%-? *(?:macro|if|elif|else|for)\b.*?(-?)%}", re.DOTALL),
        templates.inline,
    )
    branches, rendered = {}, set()

    @pass_context  # keeps Jinja from evaluating the filter at compile time
    def mark(_, number):
        rendered.add(number)
        return ""

    def marked(source, **names):
        if not source.endswith("{% endmacro %}\n"):  # a formula, which has no branches
            return inline(source, **names)

        def with_mark(match):
            branches[len(branches)] = source[match.start() : match.end() + 60]
            return f"{match[0]}{{{{{match[1]} {len(branches) - 1} | mark {match[1]}}}}}"

        return inline(tag.sub(with_mark, source), mark=mark, **names)

    monkeypatch.setattr(templates, "inline", marked)
    for module in (sentences, estimates, consistency, correct, explore, lab, paper, ranks, review):
        module.say._module.cache_clear()
    for _ in said():
        pass
    for module in (sentences, estimates, consistency, correct, explore, lab, paper, ranks, review):
        module.say._module.cache_clear()
    assert len(branches) > 150
    assert [text for number, text in branches.items() if number not in rendered] == []


def test_what_is_said_of_what():
    for sentence, wanted in said():
        like(sentence, wanted)
    assert text.unbroken("m = 1 to 5.00 %") == "m\u00a0=\u00a01 to 5.00\u00a0%"


def test_the_first_page_draws_heights_and_keeps_labels_apart():
    assert sliding.heights(FIRST).tolist() == pytest.approx([0.0, 1.0, 0.5])
    spread = sliding.spread(np.array([0.0, 0.02, 1.0]), 0.2)
    assert spread.tolist() == pytest.approx([-0.09, 0.11, 1.0])


SHARES = {0.9999963: "> 99.99 %", 1 - 2e-12: "> 99.99 %", 1 - 1e-15: "100.00 %", 1: "100.00 %"}
SHARES |= {1 + 1e-15: "100.00 %", 1 + 1e-6: "> 100.00 %", 1.001: "100.10 %", 0.99994: "99.99 %"}
SHARES |= {0.0: "0.00 %", 1e-9: "< 0.01 %", -1e-9: "0.00 %"}


@pytest.mark.parametrize(("value", "printed"), SHARES.items())
def test_a_share_reads_as_100_percent_or_0_only_where_it_is(value: float, printed: str) -> None:
    assert text.percent(value) == printed
    assert text.rounded(-5e-5) == ("", "-0.01")
    sign = "" if printed[0] in "<>" else "= "
    assert text.equals(value) == sign + printed
    assert text.tex_equals(value) == (sign + printed).replace(" %", r"\,\%")
