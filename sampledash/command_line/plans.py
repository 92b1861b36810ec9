"""``plan``: how many negatives or instances show the true order, and what exactness costs."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from sampledash.command_line.output import Answer
from sampledash.command_line.sources import metrics_of, options_of, rank_sets
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.report.numbers import count, spell
from sampledash.stopping import mean_stopping_cost
from sampledash.types import Progress


def plan(args: argparse.Namespace, progress: Progress) -> Answer:
    """Negatives or instances that show the true order, and what stopping when decided costs."""
    sets, options, metrics = rank_sets(args), options_of(args), metrics_of(args)
    needed, costs, said = [], [], []
    for metric in metrics:
        about, chance = (metric, sets), args.probability
        negatives = negatives_needed(*about, chance, progress=progress, **options)
        instances = instances_needed(*about, args.m, chance, **options)
        both = negatives.merge(instances, on=["better", "worse"])
        both.insert(0, "metric", str(metric))
        needed.append(both)
        try:
            found = [(each, mean_stopping_cost(metric, each)) for each in sets]
        except ValueError as error:  # nothing decides a metric without a cutoff
            said.append(spell(str(error)))
            continue
        for each, cost in found:
            every = each.counted()
            first = every[every.position == 1]
            whole = float(np.average(first.negatives, weights=first.count))
            costs.append((str(metric), each.system, cost.mean, cost.std, whole))
        most = max(costs[-len(found) :], key=lambda row: row[2])
        said.append(
            f"Exact {metric} by stopping when decided: up to {count(round(most[2]))} scores an "
            f"instance ({most[1]}), of {count(round(most[4]))}."
        )
    columns = ["metric", "system", "scores", "std_of_scores", "scores_of_full_ranking"]
    tables = {"needed": pd.concat(needed, ignore_index=True)}
    if costs:
        tables["stopping"] = pd.DataFrame(costs, columns=columns)
    facts = {"m": args.m, "scheme": args.scheme, "probability": args.probability}
    return Answer(said, tables, facts)
