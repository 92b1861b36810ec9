"""The tables of the Consistency page, with text in the cells and escaped names of systems."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sampledash.analyses.consistency import words
from sampledash.analyses.consistency.result import Focus
from sampledash.report.escape import escaped, system_name
from sampledash.report.numbers import bare_points, count, in_runs, p_value, percent, plus_minus

# Index of a pair of systems -> bounds of the chance that one run shows the true order, if both
# systems share the negatives.
Bounds = Mapping[int, tuple[float, float]]


def chances(focus: Focus, pairs: Sequence[int], bounds: Bounds) -> pd.DataFrame:
    """Return a table of the chance that one run shows the true order of two systems.

    It has a row per pair of systems and a column per metric, the chosen metric first. The column
    "if shared" shows ``bounds``: the range of the chosen metric's chance if both systems share the
    negatives.
    """
    r, x = focus.result, focus.x
    columns = {"Pair": [r.label(pair, system_name) for pair in pairs]}
    for y in [x, *(y for y in range(len(r.metrics)) if y != x)]:
        columns[str(r.metrics[y])] = [in_runs(float(r.chances[y, pair])) for pair in pairs]
        if y == x and bounds:
            ends = (dict.fromkeys(map(in_runs, bounds[pair])) for pair in pairs)
            columns["if shared"] = list(map(" to ".join, ends))
    return pd.DataFrame(columns)


def every_chance(focus: Focus, bounds: Bounds) -> pd.DataFrame:
    """Return a table to download: the unrounded chance that a run shows the true order.

    It has a row for each metric and pair of systems. For the chosen metric and the pairs in
    ``bounds``, the columns "low" and "high" bound this chance if both systems share the negatives.
    """
    columns = ["metric", "correction", "better", "worse", "probability"]
    table = focus.result.verdict[columns].copy()
    if bounds:
        rows = [focus.x * focus.result.pairs + pair for pair in bounds]
        table[["low", "high"]] = np.nan
        table.loc[rows, ["low", "high"]] = list(bounds.values())
    return table


def significance(tests: pd.DataFrame) -> pd.DataFrame:
    """Return a table of pairs of systems: exact difference, bootstrap interval and p-values.

    If ``tests`` has the chance of the true order in a run with new instances, the table shows it.
    """
    columns = {
        "Metric": tests["metric"],
        "Pair": tests["better"].map(system_name) + " − " + tests["worse"].map(system_name),
        "Difference, points": tests["difference"].map(bare_points),
        "95 % interval": [" to ".join(map(bare_points, ends)) for ends in tests["interval"]],
        "p": tests["p"].map(p_value),
        "p, Holm": tests["p_holm"].map(p_value),
    }
    if "probability" in tests:
        columns["Redrawn"] = tests["probability"].map(in_runs)
    return pd.DataFrame(columns)


def plan(focus: Focus, needed: pd.DataFrame, probability: float) -> pd.DataFrame:
    """Return a table of how many negatives, or how many instances, each pair of systems needs.

    With either number, one run shows their true order with this ``probability``. The column
    "Chance now" is the probability with the current numbers of negatives and instances.
    """
    r = focus.result
    columns = {
        "Pair": [focus.label(pair, system_name) for pair in focus.pairs],
        f"Negatives for {100 * probability:.0f} %": needed["m"].map(words.needed),
        f"Instances at m = {count(r.m)}": needed["instances"].map(words.needed),
        "Chance now": list(map(in_runs, r.chances[focus.x, focus.pairs])),
    }
    return pd.DataFrame(columns)


def first(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a table with the rows of one metric moved to the top."""
    chosen = table["metric"] == metric
    return pd.concat([table[chosen], table[~chosen]])


def runs(table: pd.DataFrame, metric: str, made: int) -> pd.DataFrame:
    """Return a table of each system's mean metric ± standard deviation over runs.

    One column shows the result of simulated runs, whose number is ``made``; another column shows
    the exact values.
    """
    rows = first(table, metric)
    columns = {
        "Metric": rows["metric"],
        "System": rows["system"].map(system_name),
        f"{count(made)} runs": plus_minus(rows["mean_of_runs"], rows["std_of_runs"]),
        "Exact law": plus_minus(rows["expected_sampled"], rows["std_of_mean"]),
    }
    return pd.DataFrame(columns)


def orders(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a table of pairs of systems: how often simulated runs show the true order.

    Another column shows the exact probability of the true order.
    """
    rows = first(table, metric)
    # The value is NaN for two systems with equal exact metrics, because they have no true order.
    sign = rows["share_of_runs"].isna().map({True: " = ", False: " > "})
    columns = {
        "Metric": rows["metric"],
        "True order": rows["better"].map(system_name) + sign + rows["worse"].map(system_name),
        "Runs": rows["share_of_runs"].map(percent),
        "Exact chance": rows["probability"].map(percent),
    }
    return pd.DataFrame(columns)


def means(focus: Focus, table: pd.DataFrame, what: str, most: int) -> pd.DataFrame:
    """Return a table of exact and sampled mean metrics of the systems.

    It has at most ``most`` rows; the chosen metric comes first. Tables 1-3 of Krichene & Rendle are
    such tables.
    """
    r, size = focus.result, len(focus.result.systems)
    order = [focus.x, *(y for y in range(len(r.metrics)) if y != focus.x)]
    shown = order[: max(1, most // size)]
    rows = pd.concat([table.iloc[y * size : (y + 1) * size] for y in shown]).head(most)
    columns = {
        "Metric": rows["metric"],
        "System": rows["system"].map(escaped),
        "Exact": rows["exact"].map(percent),
        f"{what}, m = {count(r.m)}": plus_minus(rows["expected_sampled"], rows["std_of_mean"]),
    }
    return pd.DataFrame(columns)


def flips(focus: Focus, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the numbers of negatives m at which the order of two systems changes.

    The rows of the metric and of the pair that the user chose come first.
    """
    first_system, second_system = focus.result.names(focus.pair)
    marked = (table["first"] == first_system) & (table["second"] == second_system)
    rows = table.iloc[np.lexsort((~marked, table["metric"] != str(focus.metric)))]
    columns = {
        "Metric": rows["metric"],
        "Correction": rows["correction"],
        "Pair": rows["first"].map(system_name) + ", " + rows["second"].map(system_name),
        "Order changes at m": rows["flips"].map(words.flip_list),
        "Right from m": ["–" if pd.isna(m) else count(m) for m in rows["right_from"]],
    }
    return pd.DataFrame(columns)
