"""Alternatives to sampled negatives: errors of other evaluation designs that cost the same.

The cost is the number of scores that are computed. A design says how many instances are evaluated,
and how many candidates are scored per instance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import choices, memory, theme
from sampledash.analyses.consistency.result import Focus
from sampledash.analyses.consistency.words import say
from sampledash.analyses.line_names import names_at
from sampledash.comparison.designs import FULL, STOPPED, Designs, designs
from sampledash.correction import as_correction
from sampledash.report.escape import system_name
from sampledash.report.numbers import bare_points, count, in_runs, short_count
from sampledash.report.templates import template
from sampledash.stopping import mean_stopping_cost
from sampledash.types import Progress

BUDGETS = choices.stops(1, 1000, (1, 2, 5))
CORRECTIONS = ("uncorrected", "CLS", "BV 0.1", "BV 0.01")
SAMPLED = CORRECTIONS[0]
ORDER = "best order"
BEST = f"{STOPPED}, {ORDER}"
_MOST_ITEMS = 10**6  # largest number of items in the script of :func:`snippet`, to save memory


@dataclass(frozen=True)
class Priced:
    """Results of several ways to evaluate (designs), by budget.

    The budget is the number of scores per instance and system. A design says how many instances are
    evaluated, and how many candidates are scored for each of these instances.
    """

    by_price: Mapping[int, Designs]

    def error(self, budget: int) -> dict[str, float]:
        """Map each way to evaluate (design) to the root mean square of the errors of all systems.

        The ``budget`` is the number of scores per instance.
        """
        return {name: _mean_root(x["rmse"]) for name, x in self.by_design(budget).items()}

    def by_design(self, budget: int) -> dict[str, pd.DataFrame]:
        """Map each way to evaluate (design) to its table of errors, which has a row per system.

        Designs that the ``budget`` of scores per instance does not allow are left out.
        """
        errors = self.by_price[budget].errors.dropna()
        return {str(name): rows for name, rows in errors.groupby("design", sort=False)}


def _mean_root(values: Any) -> float:
    return float(np.sqrt((values**2).mean()))


def most_of(focus: Focus) -> int:
    """Return the largest budget, in scores per instance: enough to score every negative.

    With some sampling schemes, computing the result for one m takes long. Then return ``m_max``,
    the largest m for which the page computes results.
    """
    if focus.result.protocol.design.by_class is not None:
        return focus.result.m_max
    return max(ranks.max_negatives for ranks in focus.sets)


def ladder(focus: Focus, *budgets: int) -> list[int]:
    """Return all budgets (scores per instance) to compute, in increasing order.

    They are ``budgets`` and the steps of the slider up to :func:`most_of`.
    """
    return sorted({*budgets, *(int(b) for b in BUDGETS if b <= most_of(focus))})


def compute(focus: Focus, budgets: Sequence[int], progress: Progress | None = None) -> Priced:
    """Return the errors of the chosen metric with each evaluation design and budget.

    A budget is a number of scores per instance; a design is a way to spend it, such as full ranking
    of some instances.
    """
    q, metric, most = focus.result.question, focus.metric, most_of(focus)
    for budget in budgets:
        if not 1 <= budget <= most:
            whole = f"{most}, for which all candidates of the longest list can be ranked"
            wrong = f"the price is {budget} scores per instance"
            raise ValueError(f"{wrong}: take a whole number from 1 to {whole}")
    design, weights = q.protocol.design, ("mass_above", "classes")
    known = any(getattr(ranks, name) is not None for ranks in focus.sets for name in weights)
    by_rank = design.by_class is None and not (design.weighted and known)
    options: Any = {key: x for key, x in q.options.items() if key != "correction"}
    proxies = {}
    if metric.k is not None or metric.share is not None:
        proxies[ORDER] = [mean_stopping_cost(metric, x, order="best").mean for x in focus.sets]
    plain, by_price = {**options, "scheme": q.protocol.scheme}, {}
    for done, price in enumerate(budgets):
        if progress:
            progress(done / len(budgets))
        # Corrections are left out if the budget (scores per instance) is above the slider's largest
        # budget, because fitting a correction would then take seconds.
        corrected = price <= BUDGETS[-1] and by_rank
        options["corrections"] = CORRECTIONS if corrected else (SAMPLED,)
        make = partial(designs, metric, focus.sets, price, proxies=proxies, **options)
        key = "designs", q.source.key, metric, *focus.systems, price, repr(plain)
        by_price[price] = memory.cached(key, make, shared=focus.shared)
    return Priced(by_price)


# ------------------------------------------------------------------------ sentences and tables


def sentence(focus: Focus, priced: Priced, m: int) -> str:
    """Return a sentence that compares ways to evaluate (designs) with m scores per instance."""
    errors, whole = priced.error(m), _instances(focus)
    corrected = errors.keys() - {SAMPLED, FULL, STOPPED, BEST}
    best = min(corrected, key=errors.__getitem__, default=None)
    design = next((name for name in (STOPPED, FULL) if name in errors), "")
    counts = ("instances", "scores") if design else ()
    reached = [round(priced.by_design(m)[design][x].mean()) for x in counts] or [0, 0]
    named = {"sampled": SAMPLED, "exact": design, "corrected": best or ""}
    off = {name: errors.get(used) for name, used in named.items()}
    return say.instead(focus.metric, m, off, best, design == STOPPED, whole, *reached)


def _instances(focus: Focus) -> int:
    return round(float(np.mean([ranks.n_instances for ranks in focus.sets])))


def table(focus: Focus, priced: Priced, budget: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables of all evaluation designs at one budget: one to show, one to download.

    A design is a way to spend the budget, the number of scores per instance and system: see
    :func:`~sampledash.comparison.designs.designs`. The table to show has formatted means over the
    systems, and the chance that a run shows the true order of the two systems that the user chose.
    The table to download has a row per design and system.
    """
    errors, orders = priced.by_price[budget]
    better, worse = focus.ordered(focus.pair)
    marked = orders[(orders["better"] == better) & (orders["worse"] == worse)]
    chances = dict(zip(marked["design"], marked["probability"], strict=True))
    known = priced.by_design(budget)

    def row(design: str) -> list[str]:
        if design not in known:  # the budget of scores is too small to evaluate one instance
            return ["–"] * 5
        rows, off = known[design], _mean_root(known[design]["rmse"])
        errors = (bare_points(_mean_root(rows[x])) for x in ("bias", "standard_error"))
        # Two systems with equal exact metrics have no true order: the chance that a run shows it is
        # NaN, written as a dash.
        shown = "always" if chances[design] == 1 and not off else in_runs(chances[design])
        return [count(round(rows["instances"].mean())), *errors, bare_points(off), shown]

    names = list(priced.by_price[min(priced.by_price)].errors["design"].unique())
    shows = f"Shows {focus.label(focus.pair, system_name)}"
    columns = ["Design", "Instances", "Bias, points", "Std. error", "Off by", shows]
    printed = pd.DataFrame([[name, *row(name)] for name in names], columns=columns)
    wide = orders.assign(pair=orders["better"] + " > " + orders["worse"])
    wide = wide.pivot(index="design", columns="pair", values="probability").reset_index()
    return printed, errors.merge(wide, on="design") if len(orders) else errors


def snippet(focus: Focus, price: int) -> str:
    """Return a runnable Python script that evaluates a user's scoring function.

    ``price`` is the number of scores that the script computes per instance.
    """
    size = min(max(int(ranks.n.max()) for ranks in focus.sets), _MOST_ITEMS)
    script = template(Path(__file__).with_name("snippet.py.jinja"))
    return script.render(metric=focus.metric, price=price, items=size, users=_instances(focus))


# ----------------------------------------------------------------------------------------- picture


def picture(focus: Focus, priced: Priced, budget: int, *, dark: bool) -> theme.Picture:
    """Draw the error of the metric over the budget (scores per instance), a line per design.

    A design is a way to spend the budget. The chosen ``budget`` is marked.
    """
    c, budgets = theme.look(dark), [b for b in priced.by_price if b in BUDGETS]
    errors = pd.DataFrame({b: priced.error(b) for b in budgets}).T * 100
    names, colors, lines, data = [], [], [], []
    for design in errors.columns[(errors > 0).any()]:
        if design in (FULL, STOPPED, BEST):
            line: dict[str, Any] = {"color": c.muted if design == FULL else c.ink, "width": 3}
            line |= {"dash": "dot", "width": 2} if design == BEST else {}
        else:
            line = theme.correction_line(as_correction(design).name, dark)
            line |= {"dash": "dot"} if design == CORRECTIONS[-1] else {}
        y = errors[design].where(errors[design] > 0).to_numpy()
        data.append(theme.curve(budgets, y, line, design, customdata=budgets))
        names.append(ORDER if design == BEST else str(design))
        colors.append(line["color"])
        lines.append(y)
    if not lines:  # no design has an error to draw: the title says so
        title, hidden = f"Every design gives the exact {focus.metric}", {"visible": False}
        return theme.figure([], dark=dark, height=60, title=title, xaxis=hidden, yaxis=hidden)
    finite = np.concatenate([y[np.isfinite(y)] for y in lines])
    low, top = float(finite.min()) / 1.6, float(finite.max()) * 1.6
    ends = [float(np.log10(budgets[0])) - 0.05, float(np.log10(budgets[-1])) + 0.05]
    up = np.log10([low, top]).tolist()
    heights = list(map(np.log10, lines))
    notes = names_at(names, colors, np.log10(budgets), heights, ends, up, height=300)
    now = priced.error(budget)
    for name, color in zip(names, colors, strict=True):
        # A logarithmic axis cannot show an error of 0: the dot is put below the visible range.
        off = 100 * now.get(BEST if name == ORDER else name, 0.0) or low / 10
        marker = {"color": color, "size": 9}
        data.append(theme.dots([budget], [off], marker, name="", hoverinfo="skip"))
    ticks = [10.0**e for e in range(int(np.floor(up[0])), int(np.ceil(up[1])) + 1)]
    return theme.figure(
        data,
        dark=dark,
        height=400,
        title=f"Error of {focus.metric} against its price",
        annotations=notes,
        shapes=[theme.upright(budget, c.ink)],
        xaxis=theme.log_axis(ends, budgets, short_count, "scores per instance"),
        yaxis=theme.log_axis(up, ticks, "{:g} %".format, "off by"),
    )
