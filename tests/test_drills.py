"""A new row and nothing else: every surface offers and computes what it says."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest

import sampledash as sd
from sampledash.command_line import main
from sampledash.metrics import KINDS, Kind
from sampledash.report.numbers import percent
from tests.dashboard.driver import Page
from tests.oracles import UNIFORM, WITHOUT, samples

N, M, K, STAY = 30, 2, 4, 0.8
A, B = (1, 6, 9, 30), (2, 3, 4, 14)


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
    for recipe in ("CLS", "BV 0.1", "LS"):
        assert np.all(
            np.isfinite(sd.parse_correction(recipe).fit(metric, sd.Sampling(N, M)).values)
        )


def chance() -> float:
    """That B is ahead in one sampled run, over every draw of all eight instances."""
    sums = [Counter({0.0: 1.0}), Counter({0.0: 1.0})]
    for x, ranks in enumerate((A, B)):
        for rank in ranks:
            after: Counter[float] = Counter()
            for (total, p), (q, (place,)) in product(
                sums[x].items(), samples([rank], N, M, WITHOUT)
            ):
                after[round(total + rbp(place), 12)] += p * float(q)
            sums[x] = after
    return sum(
        p * q for (a, p), (b, q) in product(*(each.items() for each in sums)) if b > a + 1e-9
    )


@pytest.mark.usefixtures("_metric")
def test_a_metric_on_the_command_line(tmp_path, capsys) -> None:
    path, asked = ranks_file(tmp_path), ["--metric", f"RBP@{K}", "--m", str(M)]
    assert main(["check", path, *asked, "--json"]) == 1  # right on average, undecided in one run
    (row,) = json.loads(capsys.readouterr().out)["pairs"]
    assert row["probability"] == pytest.approx(chance(), abs=1e-6)
    for form, written in (("--csv", "RBP@4"), ("--markdown", "RBP@4"), ("--latex", "RBP@4")):
        assert main(["check", path, *asked, form]) == 1
        assert written in capsys.readouterr().out
    assert main(["correct", *asked, "--n", str(N), "--correction", "rank estimate", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]
    assert values == pytest.approx([rbp(1), rbp(16), rbp(30)], abs=1e-14)
    assert main(["report", path, *asked]) == 0
    assert percent(chance()) in capsys.readouterr().out


@pytest.mark.usefixtures("_metric")
def test_a_metric_on_every_page() -> None:
    ranks = "\n".join(f"{x}: {', '.join(map(str, each))}" for x, each in (("A", A), ("B", B)))
    given = {"n": str(N), "m": str(M), "k": str(K), "metrics": ["RBP@k"], "metric": "RBP@k"}

    def page(name: str, **query: str) -> Page:
        at = Page(name, **(given | query))
        assert not at.error
        assert not at.warning  # the link is read back whole
        return at

    def words(at: Page) -> str:
        return " ".join(each.value for each in at.markdown)

    shown = words(page("explore", rank="3"))
    assert f"rank 3 scores RBP@4 = {percent(sampled(3))} in expectation" in shown
    assert f"on all items {percent(rbp(3))}" in shown
    shown = words(page("consistency", source="Paste ranks", ranks=f"{ranks}\nn = {N}"))
    assert f"RBP@4 rightly ranks B > A; one run shows B > A in {percent(chance())}" in shown
    at = page("correct", take="rank estimate")
    assert "RBP@4" in words(at)
    at = page("correct", what="Sampled ranks", sampled_source="Paste sampled ranks")
    at.write("sampled_typed", f"A: 1, 2, 2, 3\nB: 1, 1, 2, 3\nn = {N}, m = {M}")
    assert "RBP@4" in words(at)
    assert not at.error
