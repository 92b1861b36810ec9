"""Lessons 1 to 4: what a metric rewards, and what a sampled metric rewards."""

from __future__ import annotations

import numpy as np

from sampledash.comparison import curve, expected_mean, mean
from sampledash.dashboard.explore import words as explore
from sampledash.dashboard.learn.words import Choice, Exercise, Lesson, Link, order, points
from sampledash.expectation import expected
from sampledash.metrics import Metric, parse_metric
from sampledash.readers import example
from sampledash.report.numbers import count, decimal, in_runs, percent, tex_count, tex_number
from sampledash.sampling import Sampling, Scheme

N, M = 10_000, 100
RANK = 100  # of the item in lesson 2
FAR = 500  # of the item in lesson 3
WITHOUT: Scheme = "without-replacement"
CHIPS = {"Recall@10": "Recall@k", "NDCG": "NDCG", "AP": "AP", "AUC": "AUC"}


def weights(look: str) -> Lesson:
    """Lesson 1: metrics weigh positions differently."""
    found = {name: parse_metric(name) for name in ("AP", "NDCG", "Recall@10", "AUC")}
    ratio = {name: float(m(1, N)) / float(m(2, N)) for name, m in found.items()}
    up = {name: float(m(1, N)) - float(m(2, N)) for name, m in found.items()}
    late = {name: float(m(100, N)) - float(m(101, N)) for name, m in found.items()}
    replies = {
        "AP": "it is 1/r, so rank 1 is worth twice rank 2.",
        "NDCG": f"it falls with the logarithm: rank 1 is worth {ratio['NDCG']:.2f} times rank 2.",
        "Recall@10": "ranks 1 to 10 are worth the same to it, and all others nothing.",
        "AUC": f"every step is worth the same to it, {points(up['AUC'])}, wherever it happens.",
    }
    choices = tuple(
        Choice(name, abs(ratio[name] - 2) < 1e-12, f"{name}: {replies[name]}") for name in found
    )
    return Lesson(
        title="Metrics weigh positions differently",
        setup=f"One relevant item among n = {count(N)} candidates.",
        question="The relevant item climbs from rank 2 to rank 1. Which metric doubles?",
        choices=choices,
        sentence=(
            f"From rank 2 to 1 AP doubles, {percent(float(found['AP'](2, N)))} to "
            f"{percent(float(found['AP'](1, N)))}; NDCG gains {points(up['NDCG'])}, AUC "
            f"{points(up['AUC'])}, Recall@10 nothing. From rank 101 to 100 AP gains "
            f"{points(late['AP'])}, NDCG {points(late['NDCG'])}, AUC {points(late['AUC'])}."
        ),
        formula=(
            r"\mathrm{AP}(r) = \tfrac1r,\quad \mathrm{NDCG}(r) = \tfrac{1}{\log_2(r+1)},\qquad "
            r"\mathrm{Recall}_{10}(r) = \delta(r \le 10),\quad \mathrm{AUC}(r) = \tfrac{n-r}{n-1}",
            rf"\frac{{\mathrm{{AP}}(1)}}{{\mathrm{{AP}}(2)}} = {ratio['AP']:.0f},\quad "
            rf"\frac{{\mathrm{{NDCG}}(1)}}{{\mathrm{{NDCG}}(2)}} = {ratio['NDCG']:.2f},\qquad "
            rf"\frac{{\mathrm{{AUC}}(1)}}{{\mathrm{{AUC}}(2)}} = {ratio['AUC']:.4f}",
        ),
        why=(
            "Users look at the top of a list. A metric is chosen for how much it cares about the "
            "top; sampling is about to change exactly that."
        ),
        source="Section 3.1, Figure 1, eq. 7-13",
        link=Link("explore", "The four metrics in Explore", {"metrics": list(CHIPS.values())}),
        minutes=5,
        misconceptions=(
            "“All metrics measure the same, more or less.” They agree on perfect and on hopeless "
            "rankings, and weigh everything between differently.",
            "“Recall@10 cares about the order in the top ten.” It does not.",
        ),
        exercises=(
            Exercise(
                "An item climbs from rank 11 to rank 10. What do Recall@10, AP and AUC "
                f"(n = {count(N)}) gain?",
                ", ".join(
                    f"{name} {points(float(found[name](10, N)) - float(found[name](11, N)))}"
                    for name in ("Recall@10", "AP", "AUC")
                )
                + ".",
            ),
        ),
    )


def draws(look: str) -> Lesson:
    """Lesson 2: a sampled rank is not a rank."""
    sampling = Sampling(N, M, WITHOUT)
    at = 1 + M * float(sampling.share_above(RANK))
    p = sampling.pmf(RANK)
    kept = float(p[:10].sum())
    options = (2, 10, RANK)
    right = min(options, key=lambda place: abs(place - at))
    why = {
        2: f"of the {count(RANK - 1)} items above it, one in {count(round((N - 1) / M))} is drawn.",
        10: f"that would take {count(9 * (N - 1) // M)} items above it; it has {count(RANK - 1)}.",
        RANK: (
            f"that is its rank among all {count(N)}. Only {count(M)} of its competitors "
            "are drawn, and hardly any of those above it."
        ),
    }
    return Lesson(
        title="A sampled rank is not a rank",
        setup=(
            f"The relevant item has rank {count(RANK)} among all {count(N)} candidates. Now it is "
            f"ranked among {count(M)} negatives drawn at random."
        ),
        question=f"Which sampled rank does the item at rank {count(RANK)} get, on average?",
        choices=tuple(
            Choice(f"about {count(o)}", o == right, f"About {decimal(at)}: {why[o]}")
            for o in options
        ),
        sentence=(
            f"True rank {count(RANK)} gets sampled rank {decimal(at)} on average. In "
            f"{in_runs(float(p[0]))} of the draws it is first, in {in_runs(kept)} among the first "
            "ten."
        ),
        formula=(
            rf"p = \frac{{r-1}}{{n-1}} = \frac{{{RANK - 1}}}{{{tex_count(N - 1)}}} = "
            rf"{tex_number((RANK - 1) / (N - 1))}",
            r"\tilde r - 1 \sim \mathrm{Hypergeometric}"
            rf"({tex_count(N - 1)},\,{RANK - 1},\,{M}),\qquad "
            rf"E[\tilde r] = 1 + {M}\,p = {tex_number(at)}",
        ),
        why=(
            "A metric at a sampled rank is a metric at another rank, much too good. Up to true "
            f"rank {count(half_way(parse_metric('Recall@10'), M))} an item is in the top ten of "
            "its sample more often than not."
        ),
        source="Section 4.3, eq. 15-16",
        link=Link(
            "explore", "Draw once, then a hundred times, in Explore",
            {"rank": str(RANK), "tab": "One draw"},
        ),
        minutes=8,
        misconceptions=(
            "“The sample is fair, so the rank is about right.” The share of items above is right "
            "on average; the rank is that share of a much shorter list.",
            "“A larger catalogue does not matter.” With m fixed it makes every rank look better.",
        ),
        exercises=(
            Exercise(
                f"The same item with m = {count(10 * M)} negatives: which sampled rank on average?",
                decimal(1 + 10 * M * (RANK - 1) / (N - 1)) + ".",
            ),
            Exercise(
                "Draw 100 negatives of your own for a rank you choose (Explore, One draw) and "
                "compare the average with 1 + m(r − 1)/(n − 1).",
                "The average of 100 draws lies within about two of its standard errors.",
            ),
        ),
    )  # fmt: skip


def half_way(metric: Metric, m: int) -> int:
    """The last rank whose expected sampled metric is at least half of that of rank 1."""
    sampling = Sampling(N, m, WITHOUT)
    values = expected(metric, np.arange(1, N + 1), sampling)
    return int(np.flatnonzero(values >= values[0] / 2)[-1]) + 1


def softness(look: str) -> Lesson:
    """Lesson 3: sharp metrics turn soft."""
    recall, metric = parse_metric("Recall@10"), parse_metric(look or "Recall@10")
    sampling = Sampling(N, M, WITHOUT)
    asked = float(expected(recall, FAR, sampling))
    value, exact = float(expected(metric, FAR, sampling)), float(metric(FAR, N))
    options = (0.0, 0.1, 0.5, 1.0)
    right = min(options, key=lambda share: abs(share - asked))
    why = {
        0.0: "that is Recall@10 on all items. In the sample the item is far better placed.",
        0.1: (
            "a tenth is right for an item at a random rank; only "
            f"{100 * FAR / N:g} % of the items are as good as rank {count(FAR)}."
        ),
        0.5: f"half is reached only at rank {count(half_way(recall, M))}.",
        1.0: (
            f"of {count(M)} negatives about {M * FAR // N} are above it, so its sampled rank is "
            f"about {1 + M * FAR // N}: in the top ten."
        ),
    }
    steps = explore.formula(metric, FAR, sampling, exact, value)
    half, true_half = half_way(metric, M), _exact_half(metric)
    return Lesson(
        title="Sharp metrics turn soft",
        setup=(
            f"n = {count(N)}. On all items Recall@10 is 100 % up to rank 10, and nothing after it."
        ),
        question=(
            f"With m = {count(M)} negatives, what is the expected Recall@10 at rank {count(FAR)}?"
        ),
        choices=tuple(
            Choice(f"about {o:.0%}".replace("%", " %"), o == right, f"{percent(asked)}: {why[o]}")
            for o in options
        ),
        sentence=(
            f"With {count(M)} negatives rank {count(FAR)} scores {metric} = {percent(value)} in "
            f"expectation, on all items {percent(exact)}. Half of its best value is reached at "
            f"rank {count(half)}, on all items at rank {count(true_half)}."
        ),
        formula=(*steps[1:-1], steps[-1].split(r",\qquad ")[-1]),
        why=(
            f"The sampled metric rewards rank {count(FAR)} nearly as the top. A recommender that "
            "avoids bad ranks can beat one that finds good ones, under the name of a top-10 metric."
        ),
        source="Section 4.3, Figure 3, eq. 16 and 18",
        link=Link(
            "explore", f"{metric} at rank {count(FAR)} in Explore",
            {"rank": str(FAR), "metrics": [CHIPS[str(metric)]], "view": "top 1,000"},
        ),
        minutes=8,
        misconceptions=(
            "“Sampling adds noise around the true metric.” It changes the expectation: no number "
            "of runs averages that away.",
            "“1,000 negatives are enough.” Move m: the curve is still far from the dashed one.",
        ),
        exercises=(
            Exercise(
                f"At which rank does the expected Recall@10 fall to one half for m = {count(M)} "
                f"and for m = {count(10 * M)} (n = {count(N)})?",
                f"{count(half_way(recall, M))} and {count(half_way(recall, 10 * M))}: "
                "about n·k/m.",
            ),
        ),
    )  # fmt: skip


def _exact_half(metric: Metric) -> int:
    values = metric(np.arange(1, N + 1), N)
    return int(np.flatnonzero(values >= values[0] / 2)[-1]) + 1


def one_negative(look: str) -> Lesson:
    """Lesson 4: with one negative everything is AUC."""
    sets, ap = example("movielens-xyz"), parse_metric("AP")
    names = [rs.system for rs in sets]
    single = curve(ap, sets, [1], scheme=WITHOUT).to_numpy()[0].tolist()
    orders = {
        "one": order(names, single),
        "auc": order(names, [mean("AUC", rs) for rs in sets]),
        "ap": order(names, [mean(ap, rs) for rs in sets]),
    }
    flat = expected_mean("Recall@10", sets[0], 1, scheme=WITHOUT)
    first, second = float(ap(1, N)), float(ap(2, N))
    here = float(expected(ap, RANK, Sampling(N, 1, WITHOUT)))
    top, last = (float(expected(ap, rank, Sampling(N, 1, WITHOUT))) for rank in (1, N))
    linear = (
        "the chance of sampled rank 1 falls evenly with the rank, so every metric is a straight "
        "line in it"
    )
    return Lesson(
        title="With one negative everything is AUC",
        setup=f"n = {count(N)}, and a single negative: the sampled rank is 1 or 2.",
        question="With one negative, which metric still cares most about the top?",
        choices=(
            Choice("AP", False, f"AP did, on all items. With one negative {linear}."),
            Choice("NDCG", False, f"NDCG did, on all items. With one negative {linear}."),
            Choice("Recall@10", False, f"It cannot tell 1 from 2: it is {percent(flat)} for all."),
            Choice("None of them", True, f"{linear[0].upper()}{linear[1:]}, as AUC is."),
        ),
        sentence=(
            f"With one negative AP falls from {percent(top)} at rank 1 to {percent(last)} at rank "
            f"{count(N)} in equal steps, as AUC does. By it the three recommenders on MovieLens 1M "
            f"rank {orders['one']}, as by AUC ({orders['auc']}); by AP on all movies "
            f"{orders['ap']}."
        ),
        formula=(
            r"E[M(\tilde r)] = \frac{n-r}{n-1}\,\big(M(1) - M(2)\big) + M(2)",
            rf"E[\mathrm{{AP}}\,|\,{RANK}] = \frac{{{tex_count(N - RANK)}}}{{{tex_count(N - 1)}}}"
            rf"\cdot {first - second:g} + {second:g} = {here:.4f}",
        ),
        why=(
            "One negative does not estimate your metric badly: it estimates AUC. Few negatives are "
            "not far from that, whatever the header of the table says."
        ),
        source="Section 4.4.4",
        link=Link(
            "consistency", "AP and AUC with one negative in Consistency",
            {"m": "1", "metrics": ["AP", "AUC"]},
        ),
        minutes=6,
        misconceptions=(
            "“A top-heavy metric stays top-heavy on a small sample.” It can only tell apart what "
            "the sample tells apart: one negative tells better from worse, not good from "
            "excellent.",
        ),
        exercises=(
            Exercise(
                f"Show that the expected NDCG with m = 1 and n = {count(N)} is linear in r, and "
                "give its values at r = 1 and r = n.",
                f"Section 4.4.4 with M(1) = 1 and M(2) = {1 / np.log2(3):.3f}: these are the "
                "values at the two ends.",
            ),
        ),
    )  # fmt: skip
