"""One registry entry adds a metric, correction, estimator or scheme to all commands and pages."""

import gzip
import io
import json
from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sampledash as sd
from sampledash.analyses.explore.words import formula
from sampledash.command_line import main
from sampledash.correction import CORRECTIONS, vector
from sampledash.correction import Kind as CorrectionKind
from sampledash.estimation.estimate import standard_error
from sampledash.estimation.rank_distribution import LEARNED, Learned
from sampledash.metrics import KINDS, Kind
from sampledash.readers.upload_limits import FORMATS, Format
from sampledash.report.numbers import percent
from sampledash.report.paragraph import paragraph
from sampledash.sampling import parse_sampling
from sampledash.schemes import SCHEMES, Design
from tests.dashboard.driver import Page
from tests.oracles import UNIFORM, WITHOUT, chance_above, law_of_sum, samples
from tests.report.made import of_ranks

N, M, K, STAY = 30, 2, 4, 0.8
A, B = (1, 6, 9, 30), (2, 3, 4, 14)
TYPED = f"A: {', '.join(map(str, A))}\nB: {', '.join(map(str, B))}\nn = {N}"
GIVEN = {"n": str(N), "m": str(M), "k": str(K)}


@cache
def law_of_samples(scheme: str = WITHOUT) -> np.ndarray:
    """Return the probability of each sampled rank at each true rank, by enumeration: (N, M + 1)."""
    law = np.zeros((N, M + 1))
    for rank in range(1, N + 1):
        for p, (place,) in samples([rank], N, M, scheme):
            law[rank - 1, place - 1] += float(p)
    return law


def ranks_file(tmp_path):
    rows = [f"{x},{i},{r},{N}" for x, each in (("A", A), ("B", B)) for i, r in enumerate(each)]
    path = tmp_path / "ranks.csv"
    path.write_text("\n".join(["system,instance,rank,n_candidates", *rows]) + "\n")
    return str(path)


def printed(capsys, code: int, *asked: str) -> str:
    assert main([*asked]) == code
    return capsys.readouterr().out


def in_every_form(capsys, code: int, asked: list[str], *parts: str) -> dict[str, Any]:
    """Return the JSON output; CSV, Markdown and LaTeX output must contain the given parts."""
    for form, part in zip(("--csv", "--markdown", "--latex"), parts, strict=True):
        assert part in printed(capsys, code, *asked, form)
    return json.loads(printed(capsys, code, *asked, "--json"))


def page(name: str, metric: str = "AP", **query) -> Page:
    at = Page(name, **GIVEN, metric=metric, metrics=[metric], **query)
    assert not at.error
    assert not at.warning  # nothing in the link was refused
    return at


def sampled_page(metric: str = "AP", b: str = "1, 1, 2, 3", a: str = "1, 2, 2, 3", **more) -> Page:
    mode = {"what": "Sampled ranks", "sampled_source": "Paste sampled ranks"}
    at = page("correct", metric, **mode, **more)
    return at.write("sampled_typed", f"A: {a}\nB: {b}\nn = {N}, m = {M}")


def words(at: Page) -> str:
    assert not at.error
    return at.said


PULL = 0.3


def ridge(recipe, metric, sampling, position):
    """Return the least-squares vector, regularised towards the uncorrected vector: (m + 1,)."""
    law = sampling.pmf(np.arange(1, sampling.n + 1))
    plain = metric.of_above(np.arange(sampling.m + 1), sampling.m, position)
    target = metric.of_above(np.arange(sampling.n), sampling.n - 1, position) - law @ plain
    rows = np.vstack([law / sampling.n**0.5, PULL**0.5 * np.eye(sampling.m + 1)])
    free = np.r_[target / sampling.n**0.5, np.zeros(sampling.m + 1)]
    return plain + np.linalg.lstsq(rows, free, rcond=None)[0], None


def ridged(scheme: str) -> list[float]:
    """Return the vector that :func:`ridge` must give for RR, computed from all possible samples."""
    law, plain, exact = law_of_samples(scheme), 1 / np.arange(1, M + 2), 1 / np.arange(1, N + 1)
    matrix = law.T @ law / N + PULL * np.eye(M + 1)
    return np.linalg.solve(matrix, law.T @ exact / N + PULL * plain).tolist()


@pytest.fixture
def _correction(monkeypatch):
    formula = r"\hat M = (A^\top A + \lambda I)^{-1} (A^\top b + \lambda {{ name }})"
    row = CorrectionKind("ridge", "ridge correction", ridge, formula, ("rd",), fitted=True)
    monkeypatch.setitem(CORRECTIONS, "towards-uncorrected", row)
    vector.cache_clear()


@pytest.mark.usefixtures("_correction")
@pytest.mark.parametrize("scheme", UNIFORM)
def test_a_correction_in_python(scheme: str) -> None:
    for text in ("ridge", "RD", "towards uncorrected"):
        assert str(sd.parse_correction(text)) == "ridge"
    fit, values = sd.correction("ridge").fit("RR", sd.Sampling(N, M, scheme)), ridged(scheme)
    assert fit.values == pytest.approx(values, abs=1e-12)
    sets = [sd.RankSet("A", A, N), sd.RankSet("B", B, N)]
    row = sd.verdict(["RR"], sets, M, scheme=scheme, corrections=["ridge"]).iloc[0]
    corrected = law_of_samples(scheme) @ values
    gap = np.mean(corrected[np.array(A) - 1]) - np.mean(corrected[np.array(B) - 1])
    assert row.correction == "ridge"
    assert row.sampled == pytest.approx(gap if row.better == "A" else -gap, abs=1e-12)
    drawn = sd.SampledRankSet("A", [1, 2, 2, 3], N, M, scheme=scheme)
    estimate = np.mean([values[t - 1] for t in (1, 2, 2, 3)])
    assert sd.estimate("RR", drawn, "ridge").value == pytest.approx(estimate, abs=1e-12)
    with pytest.raises(ValueError, match=r"gamma = 0\.5 applies to 'bias-variance'"):
        sd.correction("ridge", gamma=0.5)


@pytest.mark.usefixtures("_correction")
def test_a_correction_on_the_command_line_and_every_page(tmp_path, capsys) -> None:
    path, asked = ranks_file(tmp_path), ["--metric", "RR", "--m", str(M), "--correction", "ridge"]
    in_every_form(capsys, 1, ["check", path, *asked], "RR", "RR", "RR")
    answer = json.loads(printed(capsys, 0, "correct", *asked, "--n", str(N), "--json"))
    assert answer["values"] == pytest.approx(ridged(WITHOUT), abs=1e-12)
    assert answer["correction"] == "ridge"
    assert "ridge" in printed(capsys, 0, "report", path, *asked)
    options = {"scheme": WITHOUT, "correction": "ridge"}
    findings = of_ranks({"A": A, "B": B}, N, ["RR"], M, options=options)
    assert "and the ridge correction (Krichene" in paragraph(findings)
    at = page("consistency", source="Paste ranks", ranks=TYPED, correction="ridge")
    assert "ridge" in words(at)
    at = page("correct", take="ridge", why="true")
    assert "ridge" in words(at)
    formulas = " ".join(each.value for each in at.latex)
    assert r"\lambda I" in formulas
    assert "gamma" not in formulas
    at = sampled_page()
    at.selectbox(key="estimator").set_value("ridge").run()
    assert "Estimated (ridge): B > A." in words(at)


RR = 1 / np.arange(1, N + 1)
PLACES = (1, 2, 2, 3, 1)  # sampled ranks


def posterior(learner, iterations, start):
    """Return the mean of p(rank | t) over the observed sampled ranks t, for the prior ``start``."""
    marginal = start @ learner.laws
    return (learner.outcomes.shares / marginal) @ learner.laws.T * start


def posteriors(places: tuple[int, ...] = PLACES) -> np.ndarray:
    """Return p(rank | sampled rank) of ranks 1..N for each sampled rank: (sampled ranks, N)."""
    law = law_of_samples()
    return (law / law.sum(axis=0)).T[np.array(places) - 1]


@pytest.fixture
def _estimator(monkeypatch):
    monkeypatch.setitem(LEARNED, "one-step", Learned("posterior mean", posterior))


@pytest.mark.usefixtures("_estimator")
def test_an_estimator_in_python() -> None:
    drawn = sd.SampledRankSet("A", PLACES, N, M, scheme=WITHOUT)
    learned = sd.rank_distribution(drawn, "one-step")
    assert learned == pytest.approx(posteriors().mean(axis=0), abs=1e-14)
    values = posteriors() @ RR
    for text in ("one-step", "Posterior mean", "one_step"):
        assert sd.estimate("RR", drawn, text).value == pytest.approx(values.mean(), abs=1e-14)
    # The estimate is a mean over instances, so its standard error follows from their values.
    error = values.std() / len(PLACES) ** 0.5
    assert standard_error("RR", drawn.outcomes, "one-step") == pytest.approx(error, rel=1e-7)
    with pytest.raises(ValueError, match=r"iterations = 3 has no effect on 'one-step'"):
        sd.rank_distribution(drawn, "one-step", iterations=3)
    unlike = sd.SampledRankSet("A", (1, 2, 2, 3), N, (2, 2, 3, 3), scheme=WITHOUT, adaptive=True)
    with pytest.raises(ValueError, match="use 'mle' or 'monotone-mle', where it cancels"):
        sd.estimate("RR", unlike, "one-step")


@pytest.mark.usefixtures("_estimator")
def test_an_estimator_on_the_command_line_and_the_page(tmp_path, capsys) -> None:
    path = tmp_path / "sampled.csv"
    rows = [f"{x},{r},{N},{M}" for x, ranks in (("A", PLACES), ("B", (1, 1, 2))) for r in ranks]
    path.write_text("\n".join(["system,sampled_rank,n,m", *rows]) + "\n")
    value, other = (float(np.mean(posteriors(x) @ RR)) for x in (PLACES, (1, 1, 2)))
    asked = ["correct", str(path), "--metric", "RR", "--correction", "posterior mean"]
    shares = f"{100 * value:.2f}"
    answer = in_every_form(capsys, 0, asked, f"{value:.8f}", shares, shares)
    assert answer["estimates"][0]["estimate"] == pytest.approx(value, abs=1e-12)
    assert other > value
    places = ", ".join(map(str, PLACES))
    at = sampled_page(a=places, b="1, 1, 2", estimator="posterior mean")
    assert "Estimated (posterior mean): B > A." in words(at)


def rbp(rank: int) -> float:
    """Return rank-biased precision of one relevant item (Moffat & Zobel 2008, eq. 4), cut at K."""
    return (1 - STAY) * STAY ** (rank - 1) * (rank <= K)


def chance(first, second, value, law) -> float:
    """Return the probability that ``first`` is ahead in one sampled run, by enumeration."""
    laws = ([[(value(t), p) for t, p in law(r)] for r in ranks] for ranks in (first, second))
    return chance_above(*map(law_of_sum, laws))


def test_a_metric_on_the_command_line_and_every_page(tmp_path, capsys, monkeypatch) -> None:
    row = Kind(
        "RBP", "always", ("rankbiased",), rf"(1 - {STAY}) \cdot {STAY}^{{r-1}}",
        "chance that a patient reader ends at a relevant item",
        lambda position, j: (1 - STAY) * STAY ** (position - 1), lambda relevant, k: 1.0,
        color="orange", chips=("RBP@k",),
    )  # fmt: skip
    monkeypatch.setitem(KINDS, "rbp", row)
    for text in (f"RBP@{K}", f"rank-biased@{K}", f"rbp at {K}"):
        assert str(sd.parse_metric(text)) == f"RBP@{K}"
    for recipe in map(sd.parse_correction, ("CLS", "BV 0.1", "LS")):
        assert np.all(np.isfinite(recipe.fit(f"RBP@{K}", sd.Sampling(N, M)).values))
    b_ahead = chance(B, A, rbp, lambda rank: enumerate(law_of_samples()[rank - 1], 1))
    path, asked = ranks_file(tmp_path), ["--metric", f"RBP@{K}", "--m", str(M)]
    # Exit code 1: expected values are in the right order, but a single run may not be.
    answer = in_every_form(capsys, 1, ["check", path, *asked], "RBP@4", "RBP@4", "RBP@4")
    assert answer["pairs"][0]["probability"] == pytest.approx(b_ahead, abs=1e-6)
    taken = [*asked, "--n", str(N), "--correction", "rank estimate", "--json"]
    values = json.loads(printed(capsys, 0, "correct", *taken))["values"]
    # The vector of the rank estimate is RBP at the estimated ranks 1, 16 and 30.
    assert values == pytest.approx([rbp(1), rbp(16), rbp(30)], abs=1e-14)
    assert percent(b_ahead) in printed(capsys, 0, "report", path, *asked)
    shown, mean = (
        words(page("explore", "RBP@k", rank="3")),
        law_of_samples()[2] @ [*map(rbp, (1, 2, 3))],
    )
    assert f"rank 3 scores RBP@4 = {percent(mean)} in expectation" in shown
    assert f"on all items {percent(rbp(3))}" in shown
    shown = words(page("consistency", "RBP@k", source="Paste ranks", ranks=TYPED))
    assert f"RBP@4 rightly ranks B > A; one run shows B > A in {percent(b_ahead)}" in shown
    assert "RBP@4" in words(page("correct", "RBP@k", take="rank estimate"))
    assert "RBP@4" in words(sampled_page("RBP@k"))


COLLAPSED = "duplicates dropped"


def sizes(m: int, negatives: np.ndarray) -> np.ndarray:
    """Return the distributions of the number of distinct items in m draws with replacement."""
    chances = np.tile(np.eye(m + 1)[0], (len(negatives), 1))
    seen = np.arange(m + 1) / negatives[:, None]
    for _ in range(m):
        new = chances[:, :-1] * (1 - seen[:, :-1])
        chances = chances * seen
        chances[:, 1:] += new
    return chances


@pytest.fixture
def _design(monkeypatch):
    row = Design(
        label=COLLAPSED, words=f"with replacement, {COLLAPSED},", sizes=sizes,
        paper=f"uniformly with replacement, {COLLAPSED}",
        law=r"\mathrm{Mixture}({{ m }}, {{ rank - 1 }})",
    )  # fmt: skip
    monkeypatch.setitem(SCHEMES, "dropped", row)
    vector.cache_clear()


@cache
def collapsed(rank: int, m: int = M) -> Counter[int]:
    """Return the distribution of the sampled rank if items drawn several times count once."""
    others, chances = [x for x in range(1, N + 1) if x != rank], Counter[int]()
    for draws in product(others, repeat=m):
        chances[1 + sum(x < rank for x in set(draws))] += 1
    return Counter({place: x / len(others) ** m for place, x in chances.items()})


def mean_rr(rank: int, m: int = M) -> float:
    return sum(p / place for place, p in collapsed(rank, m).items())


@pytest.mark.usefixtures("_design")
@pytest.mark.parametrize("scheme", ["dropped", "collapsed"])
def test_a_design_in_python(scheme) -> None:
    sampling, every = sd.Sampling(N, M, scheme), np.arange(1, N + 1)
    assert parse_sampling(str(sampling)) == sampling
    law = np.array([[collapsed(r)[place] for place in range(1, M + 2)] for r in every])
    assert sampling.pmf(every) == pytest.approx(law, abs=1e-15)
    means = law @ [1, 1 / 2, 1 / 3]
    assert sd.expected("RR", every, sampling) == pytest.approx(means, abs=1e-15)
    squares = law @ [1, 1 / 4, 1 / 9]
    assert sd.variance("RR", every, sampling) == pytest.approx(squares - means**2, abs=1e-15)
    assert sd.posterior(2, sampling) == pytest.approx(law[:, 1] / law[:, 1].sum(), abs=1e-14)
    sets = [sd.RankSet("A", A, N), sd.RankSet("B", B, N, ties=[0, 2, 0, 1])]
    curve = sd.curve("RR", sets, [3, 1], scheme=scheme)
    tied = [(2,), (3, 4, 5), (4,), (14, 15)]
    for m in (3, 1):
        of_b = [np.mean([mean_rr(r, m) for r in ranks]) for ranks in tied]
        ours = [np.mean([mean_rr(r, m) for r in A]), np.mean(of_b)]
        assert curve.loc[m].tolist() == pytest.approx(ours, abs=1e-14)
    std = sd.std_of_mean("RR", sets[0], M, scheme=scheme)
    variances = (squares - means**2)[np.array(A) - 1]
    assert std == pytest.approx(variances.sum() ** 0.5 / len(A), abs=1e-14)
    # The bias-variance vector solves its normal equations (eq. 25) with the matrix ``law``.
    gram = 0.9 * law.T @ law + 0.1 * np.diag(law.sum(axis=0))
    values = np.linalg.solve(gram, law.T @ RR)
    fit = sd.correction("BV", gamma=0.1).fit("RR", sampling)
    assert fit.values == pytest.approx(values, abs=1e-12)
    rng = np.random.default_rng(5)
    runs = sd.simulate("RR", sets[0], M, 4_000, rng, scheme=scheme)
    assert runs.mean() == pytest.approx(np.mean(means[np.array(A) - 1]), abs=4 * std / 4_000**0.5)
    many = sd.RankSet("A", [20] * 4_000, N)
    drawn = sd.sample_ranks(many, M, rng, scheme=scheme)
    assert (drawn.scheme, set(drawn.m.tolist())) == (WITHOUT, {1, 2})
    share = sizes(M, np.array([N - 1]))[0, 1]
    assert np.mean(drawn.m == 1) == pytest.approx(share, abs=4 * (share / 4_000) ** 0.5)


@pytest.mark.usefixtures("_design")
def test_a_design_refuses_what_its_ranks_do_not_tell() -> None:
    sets = [sd.RankSet(x, (*A, 3), N, instances=[*"abcda"]) for x in "AB"]
    options = {"scheme": "dropped"}
    for name in ("AUC", "ATOP", "TOPK@0.1"):
        for call in (
            lambda name=name: sd.expected(name, 3, sd.Sampling(N, M, "dropped")),
            lambda name=name: sd.expected_mean(name, sets[0], M, **options),
            lambda name=name: sd.correction("CLS").fit(name, sd.Sampling(N, M, "dropped")),
            lambda name=name: sd.std_of_mean(name, sd.RankSet("A", A, N), M, **options),
            lambda name=name: sd.probability_of_order(
                name, [sd.RankSet("A", A, N), sd.RankSet("B", (1, 1, 1, 2), N)], M, **options
            ),
        ):
            with pytest.raises(ValueError, match="if drawn with replacement"):
                call()
    together = "how several items of an instance are sampled together is not available"
    with pytest.raises(ValueError, match=f"system 'A': for negatives drawn with .*{together}"):
        sd.std_of_mean("Recall@1", sets[0], M, **options)
    with pytest.raises(ValueError, match=together):
        sd.probability_if_shared("RR", [sd.RankSet(x, A, N) for x in "AB"], M, **options)
    with pytest.raises(ValueError, match="give the number of different negatives of each instance"):
        sd.SampledRankSet("A", [1], N, M, scheme="dropped")
    with pytest.raises(ValueError, match="a law without components by degree"):
        sd.retained(sd.Sampling(N, M, "dropped"), 0.1)


def a_ahead() -> float:
    """Return the probability that A is ahead by RR in one sampled run."""
    return chance(A, B, lambda place: 1 / place, lambda rank: collapsed(rank).items())


@pytest.mark.usefixtures("_design")
def test_a_design_on_the_command_line(tmp_path, capsys) -> None:
    path, how = ranks_file(tmp_path), ["--m", str(M), "--scheme", "dropped"]
    asked = ["--metric", "RR", *how]
    (row,) = in_every_form(capsys, 1, ["check", path, *asked], "RR", "RR", "RR")["pairs"]
    of_a, of_b = (np.mean([mean_rr(r) for r in ranks]) for ranks in (A, B))
    assert (row["better"], row["sampled"]) == ("A", pytest.approx(of_a - of_b, abs=1e-12))
    assert row["probability"] == pytest.approx(a_ahead(), abs=1e-6)
    written = printed(capsys, 0, "report", path, *asked)
    assert f"with replacement, {COLLAPSED}" in written
    assert percent(a_ahead()) in written
    taken = [*asked, "--n", str(N), "--correction", "rank estimate", "--json"]
    values = json.loads(printed(capsys, 0, "correct", *taken))["values"]
    assert values == pytest.approx([1, 1 / 15, 1 / 30], abs=1e-14)
    assert main(["check", path, "--metric", "AUC", *how]) == 2
    assert "AUC depends on how many negatives are ranked" in capsys.readouterr().err


@pytest.mark.usefixtures("_design")
def test_a_design_on_every_page() -> None:
    drawn, value = {"scheme": COLLAPSED}, percent(mean_rr(6))
    shown = words(page("explore", **drawn, rank="6"))
    assert f"rank 6 scores AP = {value} in expectation" in shown
    steps = formula(sd.parse_metric("AP"), 6, sd.Sampling(N, M, "dropped"), 1 / 6, 0.5)
    assert r"\tilde r - 1 \sim \mathrm{Mixture}(2, 5)" in steps[1]
    assert f"1 + {sizes(M, np.array([N - 1]))[0] @ [0, 1, 2]:.6g} " in steps[1]
    assert not any("Binomial" in step or "(1-p)" in step for step in steps)
    shown = words(page("consistency", **drawn, source="Paste ranks", ranks=TYPED))
    assert percent(a_ahead()) in shown
    assert "AP" in words(page("correct", **drawn, take="BV"))
    refused = " ".join(each.value for each in sampled_page(**drawn).error)
    assert "give the number of different negatives of each instance as its m" in refused


def arrow_to_parquet(data: bytes, _name: str) -> bytes:
    written = io.BytesIO()
    parquet.write_table(pa.ipc.open_file(pa.BufferReader(data)).read_all(), written)
    return written.getvalue()


def arrow(table: dict) -> bytes:
    written, columns = io.BytesIO(), pa.table(table)
    with pa.ipc.new_file(written, columns.schema) as file:
        file.write_table(columns)
    return written.getvalue()


RANKS = {"system": ["A"] * 4 + ["B"] * 4, "instance": [*"wxyz"] * 2, "rank": [*A, *B], "n": [N] * 8}


def test_a_file_format_everywhere(tmp_path, capsys, monkeypatch) -> None:
    with pytest.raises(ValueError, match="is an Arrow file or a database; save the table"):
        sd.read_rank_sets(io.BytesIO(arrow(RANKS)), name="r.arrow")
    monkeypatch.setitem(FORMATS, "Arrow", Format(b"ARROW1", "columns", arrow_to_parquet))
    for data in (arrow(RANKS), gzip.compress(arrow(RANKS))):
        sets = sd.read_rank_sets(io.BytesIO(data), name="r.arrow")
        ours = [(x.system, x.ranks.tolist(), x.n.tolist()) for x in sets]
        assert ours == [("A", [*A], [N] * 4), ("B", [*B], [N] * 4)]
    sampled = {"system": ["A"] * 3, "sampled_rank": [1, 3, 2], "n": [N] * 3, "m": [M] * 3}
    (one,) = sd.read_sampled_ranks(io.BytesIO(arrow(sampled)), name="s.arrow")
    assert (one.sampled_ranks.tolist(), set(one.m.tolist())) == ([1, 3, 2], {M})
    taken = {"user": ["u", "u", "v"], "item": ["p", "q", "p"]}
    data = sd.read_interactions(io.BytesIO(arrow(taken)), name="i.arrow")
    assert (data.n_users, data.n_items, data.size) == (2, 2, 3)
    with pytest.raises(ValueError, match=r"bad\.arrow cannot be read as Arrow: it is damaged"):
        sd.read_rank_sets(io.BytesIO(arrow(RANKS)[:99]), name="bad.arrow")
    lists = {"system": ["A"] * 3, "user": ["u", "u", "v"], "item": [*"pqp"], "score": [2.0, 1, 3]}
    tested = {"user": ["u", "v"], "item": ["q", "p"]}
    how = {"name": "l.arrow", "qrels": io.BytesIO(arrow(tested)), "n": N}
    (ranked,) = sd.read_rank_sets(io.BytesIO(arrow(lists)), **how)
    assert ranked.ranks.tolist() == [2, 1]
    file = tmp_path / "ranks.arrow"
    file.write_bytes(arrow(RANKS))
    asked = ["--metric", "AP", "--m", str(M), "--json"]
    given = json.loads(printed(capsys, 1, "check", str(file), *asked))["pairs"]
    assert given == json.loads(printed(capsys, 1, "check", ranks_file(tmp_path), *asked))["pairs"]
    at = page("consistency")
    at.upload("ranks.arrow", arrow(RANKS))
    assert "B > A" in words(at) or "A > B" in words(at)
