"""Tables 1-4 of Krichene & Rendle (KDD 2020), computed from the bundled rank sets."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln

import sampledash as sd
from sampledash.papers import krichene
from tests.oracles import WITH, WITHOUT

#: How the paper sampled and fitted corrections, as its numbers show.
AS_PAPER = {"scheme": WITHOUT, "fit_scheme": WITH}

TOY = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}

RERUN, SCALED_AND_TIED, TIES_OF_Z, RANK_ESTIMATE = krichene.REASONS.values()

#: Cells of Table 3 that do not match: our value, confirmed by the tests below, and the reason.
UNMATCHED = {
    **{f"{cell}, X, exact": (value, RERUN)
       for cell, value in (("Recall@10", 7.583), ("AP", 3.760), ("AUC", 89.120))},
    "AUC, X, rank estimate": (89.130, RANK_ESTIMATE),
    "AUC, Y, rank estimate": (85.339, RANK_ESTIMATE),
    "AUC, Z, rank estimate": (74.811, SCALED_AND_TIED),
    **{f"AUC, Z, {column}": (value, TIES_OF_Z)
       for column, value in (("uncorrected", 74.802), ("CLS", 74.802), ("BV 1", 74.318),
                             ("BV 0.1", 74.752), ("BV 0.01", 74.797), ("BV 0.001", 74.801))},
}  # fmt: skip


def by_name(sets: list[sd.RankSet]) -> dict[str, sd.RankSet]:
    return {ranks.system: ranks for ranks in sets}


def test_every_cell_has_a_name_and_a_setting_that_quotes_the_paper() -> None:
    found = {table: krichene.cells(table) for table in (1, 2, 3, 4)}
    assert len({name for each in found.values() for name in each["cell"]}) == 204
    assert found[4]["cell"][4] == "Table 4, Recall@10, X vs Y, BV 0.1"
    assert found[2]["cell"][0] == "Table 2, AUC, A"
    for table, each in found.items():
        systems = {ranks.system for ranks in sd.example(krichene.SETTINGS[table].example)}
        assert set("".join(each["row"])) <= systems
        assert all(str(sd.parse_metric(metric)) == metric for metric in each["metric"])
    assert all(str(sd.parse_correction(column)) == column for column in krichene.CORRECTIONS)
    # Section 4.2 of the paper has m = 99, n = 10,000 and 1000 runs; section 6 m = 100, 100 runs.
    toy, *of_movies = (krichene.SETTINGS[table] for table in (2, 3, 4))
    assert [(each.m, each.runs) for each in (toy, *of_movies)] == [(99, 1000)] + [(100, 100)] * 2
    assert {int(n) for ranks in sd.example(toy.example) for n in ranks.n} == {10_000}
    for ranks in sd.example(of_movies[0].example):  # corrections are fitted at the mean n
        assert round(float(np.mean(ranks.n))) == 3541


def test_192_of_204_cells_match(tables: dict[int, pd.DataFrame]) -> None:
    counts = {table: (found["matched"].sum(), len(found)) for table, found in tables.items()}
    assert counts == {1: (12, 12), 2: (12, 12), 3: (84, 96), 4: (84, 84)}
    found = pd.concat(tables.values()).set_index("cell")
    left = found[~found["matched"]]
    unmatched = {f"Table 3, {cell}": row for cell, row in UNMATCHED.items()}
    assert set(left.index) == set(unmatched)
    for name, (value, reason) in unmatched.items():
        assert left.loc[name, "ours"] == pytest.approx(value, abs=0.0006)
        assert left.loc[name, "reason"] == reason
    assert ((found["reason"] == "") == found["matched"]).all()
    assert (found["difference"] == found["ours"] - found["printed"]).all()


def test_matched_cells_lie_within_the_printed_uncertainty(tables: dict[int, pd.DataFrame]) -> None:
    found = {table: each[each["matched"]] for table, each in tables.items()}
    assert [f"{ours:.3f}" for ours in found[1]["ours"]] == found[1]["text"].tolist()
    exact = found[3][found[3]["column"] == "exact"].set_index(["row", "metric"])
    for (row, metric), cell in exact.iterrows():
        if row == "Y":
            assert f"{cell.ours:.2f}" == cell.text
        elif row == "Z":  # ties in random order: AUC has a standard deviation of 0.2225
            assert abs(cell.ours - cell.printed) <= 0.005 + 2 * 0.23 * (metric == "AUC")
    for table, rounding in ((2, 0.0005), (3, 0.005)):
        sampled, runs = found[table].query("column != 'exact'"), krichene.SETTINGS[table].runs
        # Allowed: two standard errors of the printed mean, and half a unit of the last digit.
        off = (sampled["ours"] - sampled["printed"]).abs()
        assert (off <= 2 * sampled["printed_std"] / np.sqrt(runs) + rounding + 1e-9).all()
        # A standard deviation from that many runs has a standard error of s / sqrt(2 (runs - 1)).
        every = tables[table][tables[table]["column"] != "exact"]
        off = (every["our_std"] - every["printed_std"]).abs()
        assert (off <= 2 * every["our_std"] / np.sqrt(2 * (runs - 1)) + rounding).all()
    p = found[4]["ours"] / 100
    off = (p - found[4]["printed"] / 100).abs()
    assert (off <= 2 * np.sqrt(p * (1 - p) / 100) + 0.005 + 1e-9).all()


def log_ways(of: np.ndarray, some: np.ndarray) -> np.ndarray:
    ways = gammaln(of + 1) - gammaln(some + 1) - gammaln(np.maximum(of - some, 0) + 1)
    return np.where(some <= of, ways, -np.inf)


def test_auc_of_the_rank_estimate(xyz: list[sd.RankSet]) -> None:
    """Ranks by eq. 20 give our AUC; sampled ranks times (n - 1)/(m + 1) give the printed AUC."""
    s, sets = np.arange(101), by_name(xyz)
    ours, scaled = (1 - (3540 * s // by) / 3540 for by in (100, 101))
    for system, value, printed in (("X", 89.130, 89.24), ("Y", 85.339, 85.48)):
        above, total = sets[system].ranks[:, None] - 1, sets[system].n[:, None] - 1
        logs = log_ways(above, s) + log_ways(total - above, 100 - s) - log_ways(total, 100)
        law = np.mean(np.exp(logs), axis=0)
        assert 100 * law @ ours == pytest.approx(value, abs=0.0006)
        # 0.04 is the printed standard deviation over 100 runs.
        assert abs(100 * law @ scaled - printed) <= 2 * 0.04 / 10 + 0.005


def test_every_auc_column_of_tied_items(xyz_ties: list[sd.RankSet]) -> None:
    """Random orders of Z's ties give our AUC; no relevant item tied last gives the printed AUC."""
    z, rng = by_name(xyz_ties)["Z"], np.random.default_rng(3)
    above, total = z.ranks - 1, z.n - 1
    assert 100 * np.mean(1 - (above + z.ties / 2) / total) == pytest.approx(74.802, abs=0.0006)
    law = sd.Sampling(3541, 100, "with-replacement")
    fits = [sd.parse_correction(x).fit("AUC", law).values for x in krichene.CORRECTIONS]
    # The rank estimate is scaled by (n - 1)/(m + 1), as in the test above.
    fits[1] = np.array([(3541 - (1 + 3540 * s // 101)) / 3540 for s in range(101)])
    sums = np.concatenate([np.zeros((7, 1)), np.cumsum(fits, axis=1)], axis=1)
    runs = np.empty((60, 7))
    for run in range(60):
        over = rng.hypergeometric(above, total - above, 100)
        tied = rng.hypergeometric(z.ties, total - above - z.ties, 100 - over)
        places = np.maximum(tied, 1)  # 0 .. tied - 1 tied items are above
        runs[run] = 100 * np.mean((sums[:, over + places] - sums[:, over]) / places, axis=1)
    error = runs.std(axis=0, ddof=1) / np.sqrt(60)
    printed = krichene.cells(3).query("metric == 'AUC' and row == 'Z' and column != 'exact'")
    within = 2.6 * printed["printed_std"] / 10 + 0.005 + 4 * error
    assert np.all(np.abs(runs.mean(axis=0) - printed["printed"]) <= within)


def test_the_toy_ranks_are_those_of_the_text_and_progress_reaches_the_end(abc):
    for rs in abc:
        assert sorted(rs.ranks.tolist()) == sorted(TOY[rs.system])
    seen: list[float] = []
    krichene.match(2, sd.example, progress=seen.append)
    assert (seen, seen[-1]) == (sorted(seen), 1.0)


def test_the_public_functions_say_the_same(tables, abc, xyz_ties):
    sets = by_name([*abc, *xyz_ties])
    of_toy = pd.concat([tables[1], tables[2]]).assign(m=99, unit=1)
    for cell in pd.concat([of_toy, tables[3][4::9].assign(m=100, unit=100)]).itertuples():
        rs, options = sets[cell.row], AS_PAPER if cell.unit == 100 else {"scheme": WITH}
        if cell.column == "exact":
            assert cell.ours == pytest.approx(cell.unit * sd.mean(cell.metric, rs), rel=1e-12)
            continue
        how = {"correction": cell.column, **options}
        moments = (f(cell.metric, rs, cell.m, **how) for f in (sd.expected_mean, sd.std_of_mean))
        ours = cell.ours / cell.unit, cell.our_std / cell.unit
        assert ours == pytest.approx(tuple(moments), rel=1e-9)
    for cell in tables[4][3::29].itertuples():
        pair, options = [sets[s] for s in cell.row], {"correction": cell.column, **AS_PAPER}
        chance = sd.probability_of_order(cell.metric, pair, 100, **options).probability[0]
        assert cell.ours == pytest.approx(100 * chance, abs=1e-9)
