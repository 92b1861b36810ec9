"""The printed results of Krichene & Rendle, compared with what the package computes.

The numbers in Tables 1-4 are compared with exactly computed values, not with a simulation: mean and
standard deviation of a metric, and the probability that a run orders two systems correctly, follow
from the distributions of the sampled ranks. The printed numbers have sampling errors, because they
come from 1,000 runs (Tables 1 and 2) or 100 runs (Tables 3 and 4).

References
----------
Walid Krichene and Steffen Rendle. On Sampled Metrics for Item Recommendation. KDD 2020.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampledash.comparison.chance import pair_chances
from sampledash.comparison.means import exact_means, expected_means
from sampledash.comparison.order import right_from, true_order
from sampledash.comparison.scatter import moments_of_means
from sampledash.correction import correction
from sampledash.expectation import expected, posterior
from sampledash.metrics import parse_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.sampling import Sampling
from sampledash.schemes import Scheme
from sampledash.types import Floats, Progress

Load = Callable[[str], Sequence[RankSet]]

_HERE = Path(__file__).parent
METRICS_34 = ("Recall@10", "NDCG@10", "AP", "AUC")
#: Columns of Tables 3 and 4 of Krichene & Rendle; Table 3 also has a column "exact".
CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 1", "BV 0.1", "BV 0.01", "BV 0.001")
#: Name of the bundled ranks of the recommenders X, Y and Z. Items with the same score stay tied,
#: because Krichene & Rendle order them at random in every run.
MOVIELENS = "movielens-xyz-ties"
#: The sampling scheme that the equations of Krichene & Rendle assume.
WITH: Scheme = "with-replacement"
_WITHOUT: Scheme = "without-replacement"
_N = 10_000  # number of candidates in Figures 1, 3 and 4 of Krichene & Rendle
_TOP_HEAVY = ["Recall@10", "NDCG@10", "AP"]
_DRAWN = 99  # number of sampled negatives in section 4.2 of Krichene & Rendle
_CLOSE = 0.005  # curves that differ by less look the same in Figure 2 of Krichene & Rendle

#: The number printed in a paper matches ours if they differ by at most the rounding error plus this
#: many standard errors.
ERRORS = 2.0

#: Maps a pattern of names of table cells, such as "Table 3, AP, X, BV 0.1", to the reason why our
#: numbers do not match the numbers in these cells. The first pattern that fits is used.
REASONS: dict[str, str] = dict(pd.read_csv(_HERE / "reasons.csv").to_numpy().tolist())


class Reproduction(NamedTuple):
    """The settings that reproduce a table of Krichene & Rendle, and how many decimals it prints.

    Each of the ``runs`` draws ``m`` negatives per instance by the ``scheme``. Corrections are
    fitted for sampling with replacement, and for the mean number of candidates of the rank sets in
    ``example``.
    """

    example: str
    scheme: Scheme
    m: int
    runs: int
    decimals: int


SETTINGS = {
    1: Reproduction("paper-abc", WITH, 99, 1000, 3),
    2: Reproduction("paper-abc", WITH, 99, 1000, 3),
    3: Reproduction(MOVIELENS, _WITHOUT, 100, 100, 2),
    4: Reproduction(MOVIELENS, _WITHOUT, 100, 100, 0),
}


def cells(table: int) -> pd.DataFrame:
    """Return the cells of one of Tables 1-4 of Krichene & Rendle, one row for each cell.

    Columns: ``cell``, a name such as ``"Table 3, AP, X, BV 0.1"``; ``metric``; ``row``, a system
    ``"X"`` or a pair of systems ``"XY"``; ``column``, ``"exact"`` or a correction; ``text``, the
    printed text; ``printed`` and ``printed_std``, the number in the text and its standard deviation
    (NaN if none is printed).
    """
    if table not in SETTINGS:
        raise ValueError(f"table must be 1, 2, 3 or 4, got {table!r}")
    lines = pd.read_csv(_HERE / "krichene.csv", dtype=str).set_index(["table", "metric", "row"])
    frame = lines.loc[str(table)].stack().dropna().reset_index()
    frame = frame.set_axis(["metric", "row", "column", "text"], axis=1)
    where = ", " + frame["column"] if table > 2 else ""
    name = f"Table {table}, " + frame["metric"] + ", " + frame["row"].str.join(" vs ") + where
    frame.insert(0, "cell", name)
    numbers = frame["text"].str.split("±", expand=True).reindex(columns=[0, 1])
    return frame.assign(printed=pd.to_numeric(numbers[0]), printed_std=numbers[1].astype(float))


def match(table: int, load: Load, progress: Progress | None = None) -> pd.DataFrame:
    """Compute every cell of a table of Krichene & Rendle exactly; compare with the printed number.

    ``load`` returns the bundled rank sets by name: :func:`sampledash.example`. The result has the
    columns of :func:`cells`, and further columns: ``ours`` and ``our_std``, the computed value and
    the exact standard deviation of one run, in the units of the cell; ``difference``, the computed
    value minus the printed number; ``allowed``, the largest difference that matches; ``matched``,
    whether all numbers of the cell match; ``reason``, why a cell does not match.

    The allowed difference is the rounding error plus two standard errors of the printed number. The
    number is a mean over runs or, in Table 4, a number of runs. An exact metric depends on one
    random order of tied items; its standard error is the standard deviation over such orders.
    """
    frame, setting = cells(table), SETTINGS[table]
    sets, m, runs = load(setting.example), setting.m, setting.runs
    systems, names = [ranks.system for ranks in sets], frame["metric"].unique().tolist()
    metrics, scale = [parse_metric(name) for name in names], 100.0 if table == 3 else 1.0
    half = 0.5 * 10.0**-setting.decimals  # largest rounding error of a printed number
    columns, parts = frame.groupby("column", sort=False), []
    for done, (column, cell) in enumerate(columns, start=1):
        recipe = None if column == "exact" else str(column)
        options = Options(scheme=setting.scheme, fit_scheme=WITH, correction=recipe)
        protocol, std = Protocol.of(options), np.full(len(cell), np.nan)
        if table == 4:
            pairs = [true_order(metric, sets, protocol) for metric in metrics]
            chance = np.ravel(pair_chances(metrics, sets, m, pairs, protocol), order="F")
            ours, error = runs * chance, np.sqrt(runs * chance * (1 - chance))
        else:
            at = [systems.index(x) for x in cell["row"]], [names.index(x) for x in cell["metric"]]
            if column == "exact":
                # A sample of ``beyond`` negatives, more than any instance has, holds all of them:
                # the sampled metric is the exact metric, and only the order of ties is random.
                beyond, error = max(ranks.max_negatives for ranks in sets) + 1, np.zeros(len(cell))
                if any(ranks.has_ties for ranks in sets):
                    error = np.sqrt(moments_of_means(metrics, sets, beyond, protocol)[1])[at]
                ours, error = scale * exact_means(metrics, sets, protocol)[at], scale * error
            else:
                means, variances = moments_of_means(metrics, sets, m, protocol)
                ours, std = scale * means[at], scale * np.sqrt(variances)[at]
                error = cell["printed_std"].to_numpy() / np.sqrt(runs)
        difference, allowed = ours - cell["printed"], half + ERRORS * error + 1e-9
        # The printed standard deviation over runs has a sampling error too. Its standard error is
        # std / sqrt(2 (runs - 1)), if the mean metrics of the runs are nearly normal.
        spread = half + ERRORS * std / np.sqrt(2 * (runs - 1))
        matched = (difference.abs() <= allowed) & ~((std - cell["printed_std"]).abs() > spread)
        held = {"difference": difference, "allowed": allowed, "matched": matched}
        parts.append(cell.assign(ours=ours, our_std=std, **held))
        if progress is not None:
            progress(done / len(columns))
    frame = pd.concat(parts).reindex(frame.index)
    return frame.assign(reason=np.where(frame["matched"], "", frame["cell"].map(_reason)))


def _reason(cell: str) -> str:
    return next((text for cells, text in REASONS.items() if re.fullmatch(cells, cell)), "")


#: Maps the name of each statement of a paper to a pair: our number, and whether the statement
#: holds. Other names map to a number or text that replaces ``$name`` in the file of statements.
Values = Mapping[str, Any]


def statements(paper: str, values: Values) -> pd.DataFrame:
    """Return a table of the statements of a paper, each with our number from ``values``.

    The file ``paper``.txt has a block ``[name] where: quote`` for each statement. In a block, the
    text after ``ours:`` describes our number. An optional text after ``note:`` says why the
    statement holds or does not hold. Wrapped lines are indented, and ``$x`` is replaced by
    ``values["x"]``.
    """
    rows, text = [], (_HERE / f"{paper}.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?=\[)", text.strip()):
        line = Template(re.sub(r"\n +", " ", block)).substitute(values)
        head, _, rest = line.partition(" ours: ")
        name, where, quote = re.split(r"\] |: ", head[1:], maxsplit=2)
        what, _, note = rest.partition(" note: ")
        ours, holds = values[name]
        rows.append((where, quote, float(ours), what, bool(holds), note))
    return pd.DataFrame(rows, columns=["where", "quote", "ours", "what", "holds", "note"])


def check_text(load: Load, tables: Mapping[int, pd.DataFrame], report: Progress) -> pd.DataFrame:
    """Check statements of Krichene & Rendle; return a table of them, with our numbers.

    The statements are about the paper's figures, toy example and experiment. ``load`` returns the
    bundled rank sets by name: :func:`sampledash.example`. ``tables`` holds the results of
    :func:`match` for Tables 3 and 4.
    """
    values = {**_metrics(), **_sampled(), **_one_negative(), **_corrections(), **_sizes()}
    values |= _toy(load("paper-abc"))
    report(0.9)
    by = {ranks.system: ranks for ranks in load(MOVIELENS)}
    values |= {**_ranks(by, _by_column(tables[3])["exact"]), **_experiment(tables[3])}
    values |= {**_figure_6(by), **_table_4(tables[4]), "rerun": _reason("Table 3, AP, X, exact")}
    report(1.0)
    return statements("krichene", values)


def _most(values: Floats) -> float:
    return float(np.max(np.abs(values)))


def _metrics() -> Values:
    """Check statements of Krichene & Rendle: section 3.1 and Figure 1, on exact metrics."""
    ap, ndcg, auc, recall = map(parse_metric, ("AP", "NDCG", "AUC", "Recall@10"))
    first, step = (float(np.ptp(auc([r, r + 1], _N))) for r in (1, 100))
    ranks = np.arange(1, 101)
    same = (("RR", "AP"), ("HitRate@10", "Recall@10"))
    pairs = [(parse_metric(a)(ranks, 100), parse_metric(b)(ranks, 100)) for a, b in same]
    tails = [float(np.ptp(metric([_N // 2, _N], _N))) for metric in (ap, ndcg, recall)]
    return {
        "equal": (x := max(_most(a - b) for a, b in pairs), x == 0),
        "twice": (x := float(ap(1, _N) / ap(2, _N)), x == 2),
        "gain": (x := float(ndcg(1, _N) / ndcg(2, _N)), round(x, 2) == 1.58),
        "step": (x := step - first, abs(x) < 1e-12),
        "tail": (x := max(tails), x < 0.01),
    }


def _sampled() -> Values:
    """Check statements of Krichene & Rendle about Figure 3: expected metrics by true rank.

    The true ranks are 1..1,000, as in the enlarged plots of the figure.
    """
    ranks, auc = np.arange(1, 1001), parse_metric("AUC")
    bias = []
    for m in (1, 10, 100, 1000):
        seen = auc(np.arange(1, m + 2), m + 1)
        # Compute the expected AUC as a sum over the sampled ranks. Its closed form presupposes what
        # is tested here: that AUC has no bias.
        for scheme in (WITH, _WITHOUT):
            bias.append(_most(Sampling(_N, m, scheme).pmf(ranks) @ seen - auc(ranks, _N)))
    recall = expected("Recall@10", ranks, Sampling(_N, 1000, WITH))
    return {
        "unchanged": (x := max(bias), x < 1e-12),
        "large_bias": (x := _largest_bias(1000), x > 0.1),
        "jump": (x := -np.diff(recall).min(), x < 0.02),
    }


def _largest_bias(m: int) -> float:
    """Return the largest difference between expected AP with m negatives and exact AP.

    The true ranks are 1..1,000.
    """
    ranks = np.arange(1, 1001)
    return _most(expected("AP", ranks, Sampling(_N, m, WITH)) - parse_metric("AP")(ranks, _N))


def _one_negative() -> Values:
    """Check statements of Krichene & Rendle, section 4.4.4, about a single sampled negative."""
    ranks, sampling = np.arange(1, _N + 1), Sampling(_N, 1, WITH)
    lines = [expected(name, ranks, sampling) for name in ("AP", "NDCG", "AUC", "Recall@1")]
    # Expected sampled AP and NDCG, minus the straight line through their values at the first and at
    # the last rank.
    left = [y - np.linspace(y[0], y[-1], len(y)) for y in lines[:2]]
    return {
        "bend": (x := max(_most(np.diff(y, 2)) for y in lines), x < 1e-12),
        "near": (x := max(map(_most, left)), x < 1e-12),
        "flat": (x := np.ptp(expected("Recall@2", ranks, sampling)), x == 0),
    }


def _corrections() -> Values:
    """Check statements of Krichene & Rendle, sections 5.1 to 5.4, on corrections.

    They are checked for AP with 10,000 candidates and 100 negatives.
    """
    sampling, ranks = Sampling(_N, 100, WITH), np.arange(1, _N + 1)
    gammas = 1.0, 0.1, 0.01, 0.001
    fits = {gamma: correction("BV", gamma=gamma).fit("AP", sampling) for gamma in gammas}
    monotone = correction("monotone").fit("AP", sampling)
    steps, exact = np.diff(monotone.values), parse_metric("AP")(ranks, _N)

    def error(values: Floats) -> float:
        return float(np.sqrt(np.mean((values - exact) ** 2)))

    raw = error(expected("AP", ranks, sampling))
    some = [1, 2, 51, 101]
    means = [float(posterior(t, sampling) @ exact) for t in some]
    turns = {gamma: _turns(fit.values) for gamma, fit in fits.items()}
    return {
        "over": (x := sampling.pmf(2)[2:].sum(), x == 0),
        "below": (x := np.max((1 + sampling.m * sampling.share_above(ranks)) - ranks), x <= 1e-9),
        "under_determined": (_N - 101, sampling.m + 1 > _N),
        "falling": (-steps.min(), steps.min() >= 0),
        "rising": (x := steps.max(), x <= 1e-12),
        "eq_26": (x := _most(fits[1.0](some) - means), x < 1e-9),
        "turns": (turns[0.001], turns[0.001] > turns[0.1] > turns[1.0]),
        "turns_some": turns[0.1],
        "turns_few": turns[1.0],
        "worst": (x := max(error(f.expected(ranks)) for f in (*fits.values(), monotone)), x < raw),
        "raw_error": f"{raw:.4f}",
        "caption": (_N, False),
    }


def _turns(values: Floats) -> int:
    """Return how often a sequence of values changes between falling and rising."""
    steps = np.diff(values)
    steps = steps[np.abs(steps) > 1e-12]
    return int(np.sum(steps[1:] * steps[:-1] < 0))


def _sizes() -> Values:
    """Check statements of Krichene & Rendle, section 5.5, on how bias depends on m and n.

    m is the number of negatives, n the number of candidates. The checks use AP, uncorrected and
    with the correction of least bias.
    """
    by_m = [_least_bias(1000, m) for m in (2, 4, 8, 16)]
    by_n = [_least_bias(n, 8) for n in (250, 500, 1000, 2000)]
    raw = [_largest_bias(m) for m in (10, 100, 1000)]
    return {
        "raw": (raw[-1] / raw[0], raw[0] > raw[1] > raw[2]),
        "by_m": (by_m[-1] / by_m[0], all(a > b for a, b in pairwise(by_m))),
        "by_n": (by_n[-1] / by_n[0], all(a < b for a, b in pairwise(by_n))),
    }


def _least_bias(n: int, m: int) -> float:
    """Return the least mean squared bias that corrected AP can have, divided by mean AP².

    Both means are over the true ranks 1..n. See eq. 21 of Krichene & Rendle.
    """
    exact = parse_metric("AP")(np.arange(1, n + 1), n)
    bias, _ = correction("least-squares").fit("AP", Sampling(n, m, WITH)).risk()
    return bias / float(np.mean(exact**2))


def _toy(abc: Sequence[RankSet]) -> Values:
    """Check statements of Krichene & Rendle, section 4.2 and Figure 2, on recommenders A, B, C."""
    names, protocol = ("AUC", "AP", "NDCG", "Recall@10"), Protocol.of({"scheme": WITH})
    metrics, (auc, ap, ndcg, recall) = [parse_metric(name) for name in names], range(4)
    exact = exact_means(metrics, abc, protocol)
    means = expected_means(metrics, abc, list(range(1, 10_000)), protocol)

    def order(values: Floats) -> str:
        return "".join("ABC"[i] for i in np.argsort(-values, kind="stable"))

    (a, b, c), sampled, last = exact[:, ap], means[_DRAWN - 1], means[-1, :, ap]
    unmoved = sum(order(sampled[:, x]) == order(exact[:, x]) for x in (ap, ndcg, recall))
    orders, ndcg_orders = ([order(row) for row in means[:, :, x]] for x in (ap, ndcg))
    lines = means[:, :, recall]
    # An order by Recall@10 is right if recommender C is first, and if A and B, whose exact values
    # are the same, look the same in Figure 2.
    apart = np.abs(lines[:, 0] - lines[:, 1]) >= _CLOSE
    wrong = (lines[:, 2] <= lines[:, :2].max(axis=1)) | apart
    same = {order(means[0, :, x]) for x in (auc, ap, ndcg)}
    return {
        "ten_times": (x := min(c / a, c / b), round(x) == 10),
        "lowest": (x := sampled[2, ap] - sampled[:2, ap].min(), x < 0),
        "alike": (x := abs(a - b), x < 0.0005),
        "two_times": (x := sampled[0, ap] / sampled[1, ap], round(x) == 2),
        "shift": (x := _most(sampled[:, auc] - exact[:, auc]), x < 1e-12 and unmoved == 0),
        "kept": unmoved,
        "first": (x := next(m for m, seen in enumerate(orders, 1) if seen != "ACB"), x >= 50),
        "at_200": (200, orders[199] == "ABC"),
        "order_200": " > ".join(orders[199]),
        "at_500": (500, orders[499] == "CAB"),
        "order_500": " > ".join(orders[499]),
        "at_end": (x := abs(last[0] - last[1]), x < 0.0005 and last[2] > last[:2].max()),
        "changes": (x := sum(a != b for a, b in pairwise(orders)), x > 1),
        "ndcg": (x := len(set(ndcg_orders)), x > 1),
        "recall": (x := int(np.flatnonzero(wrong)[-1]) + 2, 4000 < x < 6000),
        "constant": (x := np.max(np.ptp(means[:, :, auc], axis=0)), x < 1e-9),
        "one_negative": (len(same), same == {order(exact[:, auc])}),
    }


def _by_column(table: pd.DataFrame, what: str = "ours") -> pd.DataFrame:
    return table.pivot(index=["metric", "row"], columns="column", values=what)


def _ranks(by: Mapping[str, RankSet], exact: pd.Series[float]) -> Values:
    """Check statements of Krichene & Rendle, section 6.1 and Figure 5, on true ranks."""
    x, z = by["X"], by["Z"]
    # Count the users whose relevant item recommender Z ranks near the end. ``worst`` is the number
    # of relevant items in the last 1 % of their lists if each is ranked after all items tied with
    # it. ``drawn`` is the expected number in the last 10 % if tied items are in random order.
    worst = int(np.sum(z.ranks + z.ties > 0.99 * z.n))
    drawn = float(np.sum(np.clip(z.ranks + z.ties - 0.9 * z.n, 0, z.ties + 1) / (z.ties + 1)))
    sizes = [ranks.n_instances for ranks in by.values()]
    y_first, y_overall = (exact[name, "Y"] - exact[name, "X"] for name in ("Recall@10", "AUC"))
    return {
        "users": (min(sizes), set(sizes) == {6040}),
        "z_first": (y := exact["Recall@10", "Z"], y == max(exact["Recall@10", s] for s in "XYZ")),
        "z_worst": (worst, worst > 1600),
        "drawn": f"{drawn:.0f}",
        "x_top": (top := np.sum(x.ranks <= 100), top == 2310),
        "x_bottom": (bottom := np.sum(2 * x.ranks > x.n), bottom < 300),
        "y_overall": (y_overall, y_first > 0 > y_overall),
        "y_first": f"{y_first:+.2f}",
    }


def _best_first(means: pd.Series[float]) -> str:
    return "".join(system for _, system in means.sort_values(ascending=False).index)


def _experiment(table: pd.DataFrame) -> Values:
    """Check statements of Krichene & Rendle, section 6.2, and section 6.3 up to Figure 6."""
    ours, printed = _by_column(table), _by_column(table, "printed")
    exact, raw, fitted = ours["exact"], ours["uncorrected"], list(CORRECTIONS[1:])
    orders = ours.groupby("metric").agg(_best_first)
    true, sampled = orders["exact"], orders["uncorrected"]
    bias = (raw - exact)[_TOP_HEAVY].min()
    spread = _by_column(table, "our_std")["uncorrected"][_TOP_HEAVY].max()
    off = ours.sub(exact, axis=0).abs()
    closer = off[fitted].lt(off["uncorrected"], axis=0)
    top, auc = closer.loc[_TOP_HEAVY].to_numpy(), closer.loc[["AUC"]].to_numpy()
    corrected = orders.loc[_TOP_HEAVY, fitted]
    sampling, estimate = Sampling(3_541, 100, WITH), correction("rank-estimate")
    recall, ndcg = (estimate.fit(name, sampling).values for name in ("Recall@10", "NDCG@10"))
    before, end = (printed[name]["Recall@10", "X"] for name in CORRECTIONS[-2:])
    return {
        "true_order": (x := (true[_TOP_HEAVY] == "ZYX").sum(), x == 3),
        "reversed": (raw["Recall@10", "X"] - raw["Recall@10", "Y"], sampled["Recall@10"] == "XYZ"),
        "x_first": (x := (sampled[["NDCG@10", "AP"]] == "XZY").sum(), x == 2),
        "auc_order": (sampled["AUC"] == true["AUC"], sampled["AUC"] == true["AUC"] == "XYZ"),
        "bias": (bias / spread, bias > 10 * spread),
        "list_end": (end - before, end == before),
        "closer": (top.sum(), top.all()),
        "top_cells": top.size,
        "closer_auc": (auc.sum(), auc.all()),
        "auc_cells": auc.size,
        "z_best": (x := corrected.isin(["ZXY", "ZYX"]).to_numpy().sum(), x == 18),
        "low_gamma": (x := (corrected[fitted[-3:]] == "ZYX").all().sum(), x == 3),
        "identical": (y := _most(recall - ndcg), y == 0),
    }


def _figure_6(by: Mapping[str, RankSet]) -> Values:
    pair = [by["X"], by["Y"]]
    corrected = Options(scheme=_WITHOUT, fit_scheme=WITH, correction="BV 0.1")
    raw = int(right_from("Recall@10", pair, scheme=_WITHOUT).m[0])
    fixed = int(right_from("Recall@10", pair, 200, **corrected).m[0])
    return {
        "more_than": (raw, raw > 1000),
        "needs": (raw, 900 < raw <= 1000),
        "share": (x := 1000 / np.mean(by["X"].n), round(1 / x) == 3),
        "fixed": (fixed, fixed < 60),
    }


def _table_4(table: pd.DataFrame) -> Values:
    printed, chances = _by_column(table, "printed"), _by_column(table)
    better = chances["rank estimate"] > chances["uncorrected"] + 0.5
    return {
        "likely": (x := (chances["BV 0.1"] > 90).sum(), x == 11),
        "better": (better.sum(), better.sum() == 12),
        "printed_better": (printed["rank estimate"] > printed["uncorrected"]).sum(),
    }
