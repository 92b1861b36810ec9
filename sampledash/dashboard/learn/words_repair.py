"""Lessons 7 to 9: what can be repaired, what cannot, and what to do."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sampledash.comparison import expected_mean, mean, negatives_needed
from sampledash.correction import Fit, correction
from sampledash.dashboard.learn import words_order as learn_order
from sampledash.dashboard.learn.words import Choice, Exercise, Lesson, Link, order, points
from sampledash.estimation import bounds
from sampledash.metrics import parse_metric
from sampledash.readers import example
from sampledash.report.numbers import count, gamma, percent, tex_count
from sampledash.sampledranks import SampledRankSet
from sampledash.sampling import Sampling, Scheme
from sampledash.simulation import sample_ranks

N, M, GAMMA = 10_000, 100, 0.01
METRIC = "Recall@10"
WITHOUT: Scheme = "without-replacement"
SEED, MORE_USERS, SURE = 1, 100, 0.95
Range = tuple[float, float]


@lru_cache(maxsize=32)
def fit(weight: float | None) -> Fit:
    """Average precision corrected with this γ; None is uncorrected."""
    recipe = (
        correction("uncorrected") if weight is None else correction("bias-variance", gamma=weight)
    )
    return recipe.fit(parse_metric("AP"), Sampling(N, M, WITHOUT))


def errors(weight: float | None) -> Range:
    """Root mean squared bias and scatter of one draw, over equally likely ranks."""
    bias2, variance = fit(weight).risk()
    return float(bias2**0.5), float(variance**0.5)


def corrections(look: str) -> Lesson:
    """Lesson 7: less bias for more variance."""
    users = len(example("movielens-xyz")[0].ranks)
    raw_bias, (bias, std), (low, high) = errors(None)[0], errors(GAMMA), errors(GAMMA / 10)
    mean_std, last = std / users**0.5, high / users**0.5
    short = 1 - float(fit(GAMMA).expected(np.array([1]))[0])
    return Lesson(
        title="Corrections buy less bias with variance",
        setup=(
            f"n = {count(N)}, m = {count(M)}. A correction is free to choose a value for each "
            "sampled rank. γ says how much it minds variance; at γ = 0 only bias counts."
        ),
        question="A smaller γ makes the bias smaller. What does that cost?",
        choices=(
            Choice(
                "Nothing", False,
                f"A draw scatters by {percent(std)} at γ = {gamma(GAMMA)} and by {percent(high)} "
                f"at γ = {gamma(GAMMA / 10)}.",
            ),
            Choice(
                "More scatter", True,
                f"From {percent(std)} at γ = {gamma(GAMMA)} to {percent(high)} at "
                f"γ = {gamma(GAMMA / 10)} for one draw.",
            ),
            Choice(
                "More negatives", False,
                f"m stays {count(M)}. The values swing wildly instead, and a draw scatters by "
                f"{percent(high)} at γ = {gamma(GAMMA / 10)}.",
            ),
        ),
        sentence=(
            f"Corrected with γ = {gamma(GAMMA)} AP is off by {percent(bias)} instead of "
            f"{percent(raw_bias)}, in root mean square over all ranks; one draw scatters by "
            f"{percent(std)}, a mean over {count(users)} users by {percent(mean_std)}."
        ),
        formula=(
            r"\min_{\hat M} \sum_r p(r)\,\big(b_r^2 + \gamma\,\mathrm{Var}[\hat M_{\tilde r}\,|\,r]"
            r"\big),\qquad b_r = E[\hat M_{\tilde r}\,|\,r] - M(r)",
            rf"\gamma = {GAMMA:g}:\quad \text{{bias}} = {100 * bias:.2f}\,\%,\qquad "
            rf"\frac{{\text{{scatter}}}}{{\sqrt{{|D|}}}} = "
            rf"\frac{{{100 * std:.2f}\,\%}}{{\sqrt{{{tex_count(users)}}}}} = "
            rf"{100 * mean_std:.2f}\,\%",
        ),
        why=(
            "Averaged over many users the scatter shrinks, the bias does not: with many users take "
            "a small γ, about 1/|D|. A correction needs no new experiment, only the sampled ranks."
        ),
        source="Section 5.3 and 5.4, Figure 4, eq. 24-25",
        link=Link(
            "correct", f"AP with γ = {gamma(GAMMA)} in Correct",
            {"gamma": f"{GAMMA:g}", "metric": "AP", "take": "BV", "what": "A metric"},
        ),
        minutes=8,
        misconceptions=(
            "“An unbiased correction exists.” m + 1 values cannot match n ranks; the bias can be "
            "made small, not zero.",
            f"“At rank 1 it is {points(short)} too low, so it is useless.” It weighs all "
            f"{count(N)} ranks alike, and rank 1 is one of them; what the sample cannot tell apart "
            "no correction restores (lesson 8).",
            "“Negative corrected values are an error.” They are how the bias is cancelled; the "
            "mean over users is what counts.",
        ),
        exercises=(
            Exercise(
                f"At γ = {gamma(GAMMA / 10)} the bias is {percent(low)} and a draw scatters by "
                f"{percent(high)}. By how much does a mean over {count(users)} users scatter?",
                f"{percent(last)}.",
            ),
        ),
    )  # fmt: skip


@lru_cache(maxsize=8)
def run(m: int) -> tuple[SampledRankSet, ...]:
    """One sampled run of the bundled recommenders."""
    sets = example("movielens-xyz")
    return tuple(sample_ranks(rs, m, np.random.default_rng(SEED)) for rs in sets)


@lru_cache(maxsize=8)
def ranges(m: int) -> tuple[tuple[Range, Range | None], ...]:
    """What one run leaves open of each system: without an assumption, and with falling ranks."""
    return tuple((bounds(METRIC, srs), _falling(srs)) for srs in run(m))


def _falling(srs: SampledRankSet) -> Range | None:
    try:
        return bounds(METRIC, srs, shape="non-increasing")
    except ValueError:  # the samples contradict the assumption
        return None


@lru_cache(maxsize=1)
def with_more_users() -> Range:
    """The range of the first system if there were a hundred times as many users like these."""
    rs = example("movielens-xyz")[0]
    laws = [Sampling(n, M, WITHOUT).pmf(rs.ranks[rs.n == n]) for n in np.unique(rs.n).tolist()]
    law, seen = MORE_USERS * np.concatenate(laws).sum(axis=0), np.arange(1, M + 2)
    return bounds(METRIC, SampledRankSet(rs.system, seen, n=candidates(), m=M, counts=law))


def candidates() -> int:
    """The one n with which the sampled ranks of the run are read: the users' mean."""
    return run(M)[0].population


def limits(look: str) -> Lesson:
    """Lesson 8: what no correction can know."""
    sets = example("movielens-xyz")
    names, users = [rs.system for rs in sets], len(sets[0].ranks)
    (low, high), shaped = ranges(M)[0]
    more = with_more_users()
    exact = mean(METRIC, sets[0])
    still = f"{percent(more[0])} to {percent(more[1])}"
    free = f"{percent(low)} to {percent(high)}"
    assumed = "contradicted" if shaped is None else f"{percent(shaped[0])} to {percent(shaped[1])}"
    return Lesson(
        title="What no correction can know",
        setup=(
            f"One run: {count(M)} negatives for each of {count(users)} users of MovieLens 1M. Only "
            f"the sampled ranks are left, and n = {count(candidates())}, the users' mean."
        ),
        question=f"What would best pin down {METRIC} of {names[0]}?",
        choices=(
            Choice(
                "A cleverer correction", False,
                f"Every value from {free} agrees with these samples: no method can choose.",
            ),
            Choice(
                f"{count(MORE_USERS)} times as many users", False,
                f"The range would still be {still}: rank distributions that give the same sampled "
                "ranks stay apart.",
            ),
            Choice(
                "An assumption, or more negatives", True,
                f"If no rank is more frequent than a better one: {assumed}.",
            ),
        ),
        sentence=(
            f"From one run with {count(M)} negatives {METRIC} of {names[0]} can be anything from "
            f"{free}; with {count(MORE_USERS)} times as many users from {still}. If no rank is "
            f"more frequent than a better one: {assumed}. The truth is {percent(exact)}."
        ),
        formula=(
            r"\Big[\min_\pi,\ \max_\pi\Big] \sum_r \pi_r\, M(r),\qquad "
            r"\textstyle\pi \ge 0,\ \sum_r \pi_r = 1,\ \sum_r \pi_r\, p(\tilde r\,|\,r) \approx "
            r"\hat p(\tilde r)",
            rf"{M + 1}\ \text{{observed}} < {tex_count(candidates())}\ \text{{unknown shares}}",
        ),
        why=(
            "An estimate within the range is a choice, not a measurement: say which assumption "
            "made it. A pair is decided only if every allowed pair of values agrees."
        ),
        source="Eq. 16 and section 5.2: fewer sampled ranks than ranks; ranges at 95 %",
        link=Link(
            "correct", "The same run in Correct, sampled ranks",
            {"what": "Sampled ranks", "m": str(M), "metric": "Recall@k", "draw_seed": str(SEED)},
        ),
        minutes=8,
        misconceptions=(
            "“With enough users everything can be estimated.” More users tell the law of the "
            "sampled rank exactly; many rank distributions share it.",
            "“The dot in the middle of the range is most likely.” The range has no middle; an "
            "assumption does.",
        ),
        exercises=(
            Exercise(
                "With m = 1, which property of the rank distribution do the sampled ranks "
                "determine?",
                "Its mean, and so AUC; nothing else.",
            ),
        ),
    )  # fmt: skip


@lru_cache(maxsize=1)
def settled() -> tuple[int, int, str]:
    """From which m all pairs are right, in how many negatives one run shows it, and which pair."""
    sets = example("movielens-xyz")
    table = learn_order.right()
    last = table.iloc[int(np.argmax(table["m"].to_numpy(dtype=float)))]
    pair = [rs for rs in sets if rs.system in (last["better"], last["worse"])]
    needed = negatives_needed(METRIC, pair, SURE, scheme=WITHOUT)["m"]
    return int(table["m"].max()), int(needed.iloc[0]), f"{last['better']} and {last['worse']}"


def your_paper(look: str) -> Lesson:
    """Lesson 9: what to do in your own paper."""
    sets = example("movielens-xyz")
    names, largest = [rs.system for rs in sets], max(int(rs.n.max()) for rs in sets) - 1
    right, needed, pair = settled()
    shown = [expected_mean(METRIC, rs, M, scheme=WITHOUT) for rs in sets]
    true = [mean(METRIC, rs) for rs in sets]
    return Lesson(
        title="In your own paper",
        setup=(
            f"X, Y and Z on MovieLens 1M. With {count(M)} negatives {METRIC} says "
            f"{order(names, shown)}; on all movies it is {order(names, true)}."
        ),
        question="What makes the comparison right?",
        choices=(
            Choice(
                "Five seeds, mean and deviation", False,
                "All seeds share the same bias: they agree on the wrong order (lesson 6).",
            ),
            Choice(
                "A significance test", False,
                "It tests the difference of the sampled values, which is real, and has the wrong "
                "sign.",
            ),
            Choice(
                "Ranking all candidates", True,
                f"There is nothing to be wrong then; with negatives it takes {count(right)} of "
                f"at most {count(largest)}.",
            ),
        ),
        sentence=(
            f"All three pairs are right from m = {count(right)} on in expectation; one run shows "
            f"the order of {pair} in {SURE:.0%} of cases from m = {count(needed)} on, of "
            f"at most {count(largest)} possible negatives."
        ).replace("95%", "95 %"),
        formula=(
            rf"m \ge {tex_count(right)},\quad \frac{{m}}{{n-1}} \ge "
            rf"\frac{{{tex_count(right)}}}{{{tex_count(largest)}}} = "
            rf"{100 * right / largest:.0f}\,\%",
        ),
        why=(
            "Full ranking costs one score per item and a count of those above. Ranks that are "
            "saved once give every metric, and every m, afterwards."
        ),
        source="Sections 6.2, 6.3 and 7",
        link=Link(
            "consistency", "Check your own ranks in Consistency", {"source": "Upload a file"}
        ),
        minutes=8,
        misconceptions=(
            "“Everybody uses 100 negatives, so mine are comparable.” Only with the same n, m and "
            "scheme, and only as the softened metric.",
            "“A larger m is always affordable later.” Save the true ranks once: every table "
            "follows.",
        ),
        exercises=(
            Exercise(
                "Take a paper that prints metrics on sampled negatives. Note n, m, the scheme and "
                "whether AUC is printed; paste the table on the Correct page.",
                "What the table allows is shown as a range; pairs whose ranges overlap are "
                "undecided.",
            ),
        ),
        points=(
            "**Rank all candidates**, and save the true ranks.",
            "If you cannot: say n, m, the scheme and the seeds.",
            f"Check from which m the order is right: here {count(right)}, not {count(M)}.",
            "Report a corrected metric with its γ, and its scatter.",
            "Report AUC too: sampling leaves its expectation alone.",
        ),
    )  # fmt: skip
