"""The Correct page on sampled ranks, and on a printed table: what they tell of all items."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.dashboard import page, sidebar, state
from sampledash.dashboard.correct.page import metric_choice
from sampledash.dashboard.estimate import pictures, result, source, words
from sampledash.dashboard.estimate.result import METHODS, Question, Result, TableQuestion
from sampledash.dashboard.page import Problem
from sampledash.dashboard.words import NO_GAMMA, escaped, outside, system_name
from sampledash.metrics import Metric
from sampledash.readers import PrintedTable
from sampledash.report.numbers import count, percent, span
from sampledash.sampling import Sampling

POPULARITY = (
    "Popularity-weighted samples cannot be corrected: how often an item is drawn then depends on "
    "what it is, which its rank does not tell. Choose how uniform negatives were drawn."
)
NO_TABLE = "Paste a table: a line of names, then one system a line."
HELP = {
    "estimator": "Side by side: as the shape-constrained MLE, begun from one distribution for all "
    "systems, so that errors cancel in differences. Shape-constrained MLE: most likely if no rank "
    "is more frequent than a better one. MLE, MES: most likely, and of maximum entropy. BV-…: the "
    "corrected vector with that prior. MN: bias² and variance weighed by the number of instances. "
    "Priors are learned from the same sampled ranks.",
    "printed": "As printed, also from LaTeX or a PDF: a line of names (HR@10, NDCG@10, MRR, AUC "
    "…), then one system a line. The digits say how far the values were rounded. A line "
    "'m = 99, n = 1000' tells both.",
    "instances": "Over how many users the values are means: each may then be off by two standard "
    "errors besides its rounding. 0: taken as expectations, off by rounding alone.",
    "free": "Whatever the ranks behind these samples were, at 95 %.",
    "falling": "Decided where no rank is more frequent than a better one: an assumption. Where "
    "what was drawn decided m, ranges with it were found not to hold.",
}
TABS = ("Estimates", "True ranks", "Which γ")
VIEWS = ("Every estimator", "Pairs")
MORE: dict[str, Any] = {"estimate_tab": TABS[0], "estimates_view": VIEWS[0]}  # in a link besides
CHOICES: dict[str, Any] = {"estimator": next(iter(METHODS)), "metric": "Recall@k"}
# What a link can choose, and the default.
OFFERED: state.Offered = {
    "estimator": (METHODS, CHOICES["estimator"]),
    "sampled_source": (source.SOURCES, source.SOURCES[0]),
    "estimate_tab": (TABS, TABS[0]),
    "estimates_view": (VIEWS, VIEWS[0]),
}


def show_ranks(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw what sampled ranks tell."""
    own = {**defaults, **source.DEFAULTS, **CHOICES}
    given, lacking = None, Problem("")
    try:
        given = source.choose()
    except ValueError as error:
        lacking = Problem.of(error)
    systems = st.container()
    left, right = st.columns([7, 3], vertical_alignment="bottom")
    with left:
        metric_choice()
    with right:
        options = list(METHODS)
        about = HELP["estimator"]
        st.selectbox("Estimate by", options, key="estimator", bind="query-params", help=about)
    gamma = {} if state.value("estimator", CHOICES) == "BV" else {"gamma": "BV only"}
    n, m = _of_ranks(given)
    sidebar.draw(lock_n=n, unused={**gamma, **m}, page_defaults=own)
    page.link_notes()

    def check() -> Question:
        if given is None:
            raise lacking
        metric = _metric()
        method, weight = state.value("estimator", CHOICES), state.current().gamma
        with systems:
            found = source.shown(source.sampled(given), given)
        if not found.sets:
            raise Problem("Choose at least one system to show.", asking=True)
        if method == "BV" and weight == 0:
            raise ValueError(
                "gamma = 0 has no usable vector beyond m of about 20: take gamma above 0"
            )
        return Question(found, metric, method, weight)

    def compute(q: Question) -> Result[Question]:
        with page.progress("What these samples leave open") as report:
            return result.compute(q, report)

    explain = partial(source.trouble, ident="" if given is None else given.ident)
    found, problem = page.answer("sampled", check, compute, explain)
    if not _shown(found, problem, headline, "estimate") or found is None:
        return
    if given is None or given.lacks[1]:
        sidebar.narrow_m()
    page.strip(_numbers(found))
    pasted = {source.IN_LINK: ""} if source.IN_LINK in st.query_params else {}
    page.copy_link({**own, **MORE, **pasted})
    draws = _estimates, _true_ranks, _which_gamma
    page.tabs(dict(zip(TABS, draws, strict=True)), "estimate_tab", found)


def show_table(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw what a printed table tells."""
    example = _example_table()
    choices = {"printed": example, "table_instances": 0}
    own = {**defaults, **choices, "metric": CHOICES["metric"]}
    metric_choice()
    text = _table_choice(example)
    table, wrong = None, Problem(NO_TABLE, asking=True)
    try:
        table = result.read_table(text) if text.strip() else None
    except ValueError as error:
        wrong = Problem.of(error)
    lock, unused = _of_table(table)
    if text == example:
        lock = _of_ranks(source.Given(""))[0]
    sidebar.draw(lock_n=lock, unused={"gamma": "not used", **unused}, page_defaults=own)
    page.link_notes()

    def check() -> TableQuestion:
        metric, settings = _metric(), state.current()
        if table is None:
            raise wrong
        sampling = Sampling(settings.n, table.m or settings.m, settings.scheme)
        instances = int(state.value("table_instances", choices))
        return TableQuestion(table, metric, sampling, instances)

    def compute(q: TableQuestion) -> Result[TableQuestion]:
        with page.progress("What this table leaves open") as report:
            return result.compute_table(q, report)

    found, problem = page.answer("table", check, compute)
    if not _shown(found, problem, headline, "table") or found is None:
        return
    sidebar.narrow_m()
    rows = (*found.rows, *found.pairs)
    printed = pd.DataFrame(
        {
            "System": [" − ".join(map(system_name, filter(None, row[:2]))) for row in rows],
            "No assumption": [_range(row.free, row.other) for row in rows],
            "If ranks fall off": [_range(row.falling, row.other) for row in rows],
        }
    )
    page.table(printed, result.bounds(found), "table-bounds")
    page.copy_link(own)


def _metric() -> Metric:
    settings = state.current()
    if settings.scheme == "popularity":
        raise Problem(POPULARITY)
    return state.chip_metric(state.value("metric", CHOICES), settings.k, settings.n)


@st.cache_data(max_entries=1, show_spinner=False)
def _example_table() -> str:
    return result.example_table()


def _table_choice(example: str) -> str:
    """Draw the field in which the table stands, and that for its instances."""
    left, right = st.columns([4, 1])
    how: dict[str, Any] = {"bind": "query-params", "help": HELP["printed"]}
    typed = left.text_area("The printed table", example, 150, key="printed", **how)
    how["help"] = HELP["instances"]
    right.number_input("Instances, if known", 0, value=0, step=1, key="table_instances", **how)
    return str(typed or "")


Known = tuple[tuple[int, str] | None, dict[str, str]]  # for the sidebar: n, and why m is not used


def _of_ranks(given: source.Given | None) -> Known:
    """n and m as the data have them, in place of the sidebar's."""
    if given is None:
        return None, {}
    if given.opened is None:
        mean = round(float(np.mean(source.true_ranks()[0].n)))
        return (mean, f"{count(mean)}, mean of the users"), {}
    frames = [part.frame for part in given.opened.tables]
    lacks_n, lacks_m = given.lacks
    n, m = None, {}
    if frames and not lacks_n:
        found = np.concatenate([frame["n_candidates"] for frame in frames])
        mean = round(float(found.mean()))
        n = mean, f"{count(mean)}, {'from the data' if np.ptp(found) == 0 else 'mean'}"
    if frames and not lacks_m:
        found = np.concatenate([frame["negatives"] for frame in frames])
        m = {"m": f"{span(found.min(), found.max())}, from the data"}
    return n, m


def _of_table(table: PrintedTable | None) -> Known:
    """The same as a printed table has them."""
    n, m = (None, None) if table is None else (table.n, table.m)
    unused = {} if m is None else {"m": f"{count(m)}, from the table"}
    return None if n is None else (n, f"{count(n)}, from the table"), unused


def _shown(
    found: Result[Any] | None, problem: Problem | None, headline: DeltaGenerator, key: str
) -> bool:
    """Draw the sentence and the picture; whether it is what was asked for."""
    with headline:
        if problem is not None:
            problem.show()
        elif found is not None:
            icon, color = words.VERDICTS[found.word]
            badge = f":{color}-badge[{icon} {found.word}] " if found.pairs else ""
            st.markdown(f"### {badge}{found.sentence}")
            for note in found.notes:
                st.caption(escaped(note))
    if found is None or (problem is not None and problem.asking):
        return False
    fig = pictures.ranges(str(found.question.metric), found.rows, dark=page.is_dark())
    alt = "; ".join(f"{row.name}: {_range(row.free)}" for row in found.rows)
    page.picture(fig, key=f"{key}_ranges", dim=problem is not None, alt=alt)
    if problem is None:
        st.caption(found.legend)
    return problem is None


def _numbers(found: Result[Question]) -> list[tuple[str, str, str]]:
    """The strip."""
    q, total = found.question, len(found.pairs)
    widest = max(row.free[1] - row.free[0] for row in found.rows)
    falling = f"{result.decided(pair.falling for pair in found.pairs)} of {total}"
    if any(row.falling is None for row in found.rows):
        falling = "not offered" if q.adaptive else "contradicted"
    free = f"{result.decided(pair.free for pair in found.pairs)} of {total}"
    pairs = [("Pairs decided", free, HELP["free"]), ("If ranks fall off", falling, HELP["falling"])]
    about = f"Widest range of {q.metric} that one system's samples allow."
    largest = count(max(one.n_instances for one in q.sets))
    return [
        *(pairs if total else []),
        ("Left open", f"{100 * widest:.2f} points", about),
        ("Sampled ranks", largest, "Of a system, its instances counted."),
    ]


def _range(span: result.Range | None, other: str = "") -> str:
    if span is None:
        return "contradicted"
    return words.span(*span) if other else f"{percent(span[0])} to {percent(span[1])}"


def _estimates(found: Result[Question]) -> None:
    """All estimators side by side, or all pairs."""
    if page.segments("Estimates", VIEWS, "estimates_view", hidden=True) == VIEWS[1]:
        _pairs(found)
        return
    table, wanted = result.estimates(found), found.question.methods
    printed = {"Estimator": wanted}
    for row, values in zip(found.rows, table[wanted].to_numpy(dtype=float), strict=True):
        printed[system_name(row.name)] = [percent(float(x)) for x in values]
    frame = pd.DataFrame(printed)
    if found.rows[0].exact is not None:
        known = [percent(row.exact or 0.0) for row in found.rows]
        frame.loc[len(frame)] = ["**on all items**", *known]
    st.table(frame, hide_index=True)
    for note in outside({name: table[name].tolist() for name in wanted}):
        st.caption(escaped(note))
    page.take(table, "estimates")


def _pairs(found: Result[Question]) -> None:
    """Every pair: the range of its difference, without and with the assumption."""
    if not found.pairs:
        lacking = "One system alone has no pair: add the sampled ranks of a second one."
        st.info(lacking, icon=":material/info:")
        return
    table = result.pair_ranges(found)
    first, second = table["first"].map(system_name), table["second"].map(system_name)
    low, high = table["low"], table["high"]
    printed = pd.DataFrame(
        {
            "Pair": first + " − " + second,
            "Assumption": table["assumption"],
            "Difference lies in": list(map(words.span, low, high)),
            "So": list(map(words.told, first, second, low, high)),
        }
    )
    page.table(printed, table, "pairs")


def _true_ranks(found: Result[Question]) -> None:
    """Where the relevant items stand, as estimated."""
    q = found.question
    try:
        grid, estimated = q.shares_below()
    except ValueError as error:
        st.info(escaped(str(error)), icon=":material/info:")
        return
    exact = {
        ranks.system: np.asarray(rank_distribution_at(ranks, grid, ties="expected"))
        for ranks in q.source.true
    }
    fig = pictures.ranks_below(grid, estimated, exact, dark=page.is_dark())
    alt = f"Share of relevant items up to each true rank of {len(estimated)} systems."
    page.picture(fig, key="estimate_below", alt=alt)
    st.caption(
        "Estimated as the most likely distribution in which no rank is more frequent than a better "
        "one." + (" Dashed: as it is." if exact else "")
    )


def _which_gamma(found: Result[Question]) -> None:
    """Bias, scatter and error of the corrected mean against γ, for one system's ranks."""
    q = found.question
    names = [one.system for one in q.sets]
    place = names.index(st.selectbox("System", names, key="gamma_of")) if len(names) > 1 else 0
    if q.sets[place].is_adaptive:
        st.info(NO_GAMMA, icon=":material/info:")
        return
    table = q.gammas(q.sets[place])
    suggested, best = table.iloc[0], table.iloc[int(table["mse"].to_numpy().argmin())]
    st.markdown(f"**{words.best_gamma(dict(best), dict(suggested), str(q.metric))}**")
    ordered = table.sort_values("gamma")
    at = {"suggested": float(suggested["gamma"]), "best": float(best["gamma"])}
    fig = pictures.errors_over_gamma(ordered, **at, dark=page.is_dark())
    alt = f"Bias, scatter and error over γ; least at γ = {best['gamma']:g}."
    page.picture(fig, key="estimate_gamma", alt=alt)
    st.caption(words.price_of_gamma(dict(ordered.iloc[0])))
    page.take(table, "gamma")
