"""A new row and nothing else: every surface offers and computes what it says."""

import gzip
import io
import json
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sampledash as sd
from sampledash.command_line import main
from sampledash.correction import CORRECTIONS, vector
from sampledash.correction import Kind as CorrectionKind
from sampledash.metrics import KINDS, Kind
from sampledash.readers.upload_limits import FORMATS, Format
from sampledash.report.numbers import percent
from sampledash.report.paragraph import paragraph
from tests.dashboard.driver import Page
from tests.oracles import UNIFORM, WITHOUT, chance_above, law_of_sum, samples
from tests.report.made import of_ranks

N, M, K, STAY = 30, 2, 4, 0.8
A, B = (1, 6, 9, 30), (2, 3, 4, 14)
TYPED = f"A: {', '.join(map(str, A))}\nB: {', '.join(map(str, B))}\nn = {N}"


def rbp(rank: int) -> float:
    """Rank-biased precision of one relevant item (Moffat & Zobel 2008, eq. 4), cut at K."""
    return (1 - STAY) * STAY ** (rank - 1) * (rank <= K)


def sampled(rank: int, scheme: str = WITHOUT, value=rbp) -> float:
    """The mean over every sample of M negatives."""
    return sum(float(p) * value(s[0]) for p, s in samples([rank], N, M, scheme))


@pytest.fixture
def _metric(monkeypatch):
    row = Kind(
        "RBP", "always", ("rankbiased",), rf"(1 - {STAY}) \cdot {STAY}^{{r-1}}",
        "chance that a patient reader ends at a relevant item",
        lambda position, j: (1 - STAY) * STAY ** (position - 1), lambda relevant, k: 1.0,
        color="orange", chips=("RBP@k",),
    )  # fmt: skip
    monkeypatch.setitem(KINDS, "rbp", row)


PULL = 0.3


def ridge(recipe, metric, sampling, position):
    """Least squares over all ranks, pulled towards the uncorrected vector: (m + 1,)."""
    law = sampling.pmf(np.arange(1, sampling.n + 1))
    plain = metric.of_above(np.arange(sampling.m + 1), sampling.m, position)
    target = metric.of_above(np.arange(sampling.n), sampling.n - 1, position) - law @ plain
    rows = np.vstack([law / sampling.n**0.5, PULL**0.5 * np.eye(sampling.m + 1)])
    free = np.r_[target / sampling.n**0.5, np.zeros(sampling.m + 1)]
    return plain + np.linalg.lstsq(rows, free, rcond=None)[0], None


def ridged(scheme: str) -> list[float]:
    """The same vector of RR from its normal equations, over every sample."""
    law = np.zeros((N, M + 1))
    for rank in range(1, N + 1):
        for p, (place,) in samples([rank], N, M, scheme):
            law[rank - 1, place - 1] += float(p)
    plain, exact = 1 / np.arange(1, M + 2), 1 / np.arange(1, N + 1)
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
    corrected = partial(sampled, scheme=scheme, value=lambda place: values[place - 1])
    gap = np.mean([*map(corrected, A)]) - np.mean([*map(corrected, B)])
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
    for form in ("--csv", "--markdown", "--latex"):
        main(["check", path, *asked, form])
        assert "RR" in capsys.readouterr().out
    assert main(["correct", *asked, "--n", str(N), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["values"] == pytest.approx(ridged(WITHOUT), abs=1e-12)
    assert answer["correction"] == "ridge"
    main(["report", path, *asked])
    assert "ridge" in capsys.readouterr().out
    options = {"scheme": WITHOUT, "correction": "ridge"}
    findings = of_ranks({"A": A, "B": B}, N, ["RR"], M, options=options)
    assert "and the ridge correction (Krichene" in paragraph(findings)
    given = {"n": str(N), "m": str(M), "k": str(K), "metrics": ["AP"], "metric": "AP"}
    at = page("consistency", **given, source="Paste ranks", ranks=TYPED, correction="ridge")
    assert "ridge" in words(at)
    at = page("correct", **given, take="ridge")
    assert "ridge" in words(at)
    formulas = " ".join(each.value for each in at.latex)
    assert r"\lambda I" in formulas
    assert "gamma" not in formulas
    at = sampled_page(given)
    at.selectbox(key="estimator").set_value("ridge").run()
    assert "Estimated (ridge): B > A." in words(at)
    assert not at.error


def page(name: str, **query) -> Page:
    at = Page(name, **query)
    assert not at.error
    assert not at.warning  # the link is read back whole
    return at


def sampled_page(given: dict[str, Any]) -> Page:
    at = page("correct", **given, what="Sampled ranks", sampled_source="Paste sampled ranks")
    return at.write("sampled_typed", f"A: 1, 2, 2, 3\nB: 1, 1, 2, 3\nn = {N}, m = {M}")


def words(at: Page) -> str:
    return " ".join(each.value for each in at.markdown)


def ranks_file(tmp_path):
    rows = [f"{x},{i},{r},{N}" for x, each in (("A", A), ("B", B)) for i, r in enumerate(each)]
    path = tmp_path / "ranks.csv"
    path.write_text("\n".join(["system,instance,rank,n_candidates", *rows]) + "\n")
    return str(path)


@pytest.mark.usefixtures("_metric")
@pytest.mark.parametrize("scheme", UNIFORM)
def test_a_metric_in_python(scheme: str) -> None:
    for text in (f"RBP@{K}", f"rank-biased@{K}", f"rbp at {K}"):
        assert str(sd.parse_metric(text)) == f"RBP@{K}"
    metric, every = sd.parse_metric(f"RBP@{K}"), np.arange(1, N + 1)
    means = [sampled(r, scheme) for r in every]
    values = sd.expected(metric, every, sd.Sampling(N, M, scheme))
    assert values == pytest.approx(means, abs=1e-14)
    sets = [sd.RankSet("A", A, N), sd.RankSet("B", B, N)]
    row = sd.verdict([metric], sets, M, scheme=scheme).iloc[0]
    assert (row.better, row.worse) == ("B", "A")
    exact = [np.mean([rbp(r) for r in ranks]) for ranks in (B, A)]
    drawn = [np.mean([sampled(r, scheme) for r in ranks]) for ranks in (B, A)]
    assert row.exact == pytest.approx(exact[0] - exact[1], abs=1e-14)
    assert row.sampled == pytest.approx(drawn[0] - drawn[1], abs=1e-14)
    # Every correction is fitted to it: the rank estimate is the metric at the estimated rank.
    fit = sd.correction("rank-estimate").fit(metric, sd.Sampling(N, M, scheme))
    places = [round(1 + (N - 1) * i / M) for i in range(M + 1)]
    assert fit.values == pytest.approx([rbp(r) for r in places], abs=1e-14)
    for recipe in map(sd.parse_correction, ("CLS", "BV 0.1", "LS")):
        assert np.all(np.isfinite(recipe.fit(metric, sd.Sampling(N, M)).values))


def chance() -> float:
    """That B is ahead in one sampled run, over every draw of all eight instances."""
    laws = ([samples([rank], N, M, WITHOUT) for rank in ranks] for ranks in (B, A))
    sums = (law_of_sum([(rbp(x), p) for p, (x,) in law] for law in of_system) for of_system in laws)
    return chance_above(*sums)


@pytest.mark.usefixtures("_metric")
def test_a_metric_on_the_command_line_and_every_page(tmp_path, capsys) -> None:
    path, asked = ranks_file(tmp_path), ["--metric", f"RBP@{K}", "--m", str(M)]
    assert main(["check", path, *asked, "--json"]) == 1  # right on average, undecided in one run
    (row,) = json.loads(capsys.readouterr().out)["pairs"]
    assert row["probability"] == pytest.approx(chance(), abs=1e-6)
    for form in ("--csv", "--markdown", "--latex"):
        assert main(["check", path, *asked, form]) == 1
        assert "RBP@4" in capsys.readouterr().out
    assert main(["correct", *asked, "--n", str(N), "--correction", "rank estimate", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]
    assert values == pytest.approx([rbp(1), rbp(16), rbp(30)], abs=1e-14)
    assert main(["report", path, *asked]) == 0
    assert percent(chance()) in capsys.readouterr().out
    given = {"n": str(N), "m": str(M), "k": str(K), "metrics": ["RBP@k"], "metric": "RBP@k"}

    shown = words(page("explore", **given, rank="3"))
    assert f"rank 3 scores RBP@4 = {percent(sampled(3))} in expectation" in shown
    assert f"on all items {percent(rbp(3))}" in shown
    shown = words(page("consistency", **given, source="Paste ranks", ranks=TYPED))
    assert f"RBP@4 rightly ranks B > A; one run shows B > A in {percent(chance())}" in shown
    at = page("correct", **given, take="rank estimate")
    assert "RBP@4" in words(at)
    at = sampled_page(given)
    assert "RBP@4" in words(at)
    assert not at.error


def arrow_to_parquet(data: bytes) -> bytes:
    written = io.BytesIO()
    parquet.write_table(pa.ipc.open_file(pa.BufferReader(data)).read_all(), written)
    return written.getvalue()


def arrow(table: dict) -> bytes:
    """A table in Arrow's file format, without the help of the reader."""
    written, columns = io.BytesIO(), pa.table(table)
    with pa.ipc.new_file(written, columns.schema) as file:
        file.write_table(columns)
    return written.getvalue()


RANKS = {"system": ["A"] * 4 + ["B"] * 4, "instance": [*"wxyz"] * 2, "rank": [*A, *B], "n": [N] * 8}


@pytest.fixture
def _format(monkeypatch):
    row = Format(b"ARROW1", "columns", arrow_to_parquet)
    monkeypatch.setitem(FORMATS, "Arrow", row)


def test_a_file_format_is_refused_without_its_row() -> None:
    with pytest.raises(ValueError, match="is an Arrow file or a database; save the table"):
        sd.read_rank_sets(io.BytesIO(arrow(RANKS)), name="r.arrow")


@pytest.mark.usefixtures("_format")
def test_a_file_format_in_python_on_the_command_line_and_the_pages(tmp_path, capsys) -> None:
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
    assert main(["check", str(file), "--metric", "AP", "--m", str(M), "--json"]) == 1
    given = json.loads(capsys.readouterr().out)["pairs"]
    main(["check", ranks_file(tmp_path), "--metric", "AP", "--m", str(M), "--json"])
    assert given == json.loads(capsys.readouterr().out)["pairs"]
    at = page("consistency", m=str(M), metrics=["AP"])
    at.upload("ranks.arrow", arrow(RANKS))
    assert "B > A" in words(at) or "A > B" in words(at)
    assert not at.error
