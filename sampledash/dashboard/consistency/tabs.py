"""The tabs of the Consistency page: how sure the order is, the numbers; and what a paper needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.dashboard import page, state
from sampledash.dashboard.consistency import pictures, tabs_repeat, words
from sampledash.dashboard.consistency.result import CORRECTIONS, MOST_PAIRS, SEED, Focus, recipe
from sampledash.dashboard.words import escaped, outside, plain, system_name
from sampledash.report.bibtex import bibtex
from sampledash.report.html import html_report
from sampledash.report.numbers import count, in_runs, percent, points
from sampledash.report.paragraph import paragraph
from sampledash.report.script import python_script

NAMES = ("How sure", "Repeat it", "Numbers")
SURE = ("One run", "Over instances", "Plan")
NUMBERS = ("Means", "Flips", "Distribution")
RANKS = ("whole range", "the top")
PROBABILITIES = {f"{p} %": p / 100 for p in (80, 90, 95, 99)}
# What a link carries besides the choices of the page.
DEFAULTS: dict[str, Any] = {
    "answers": NAMES[0],
    "why": False,
    "numbers_view": NUMBERS[0],
    "distribution_view": RANKS[0],
    "sure_view": SURE[0],
    "wanted": "95 %",
    **tabs_repeat.DEFAULTS,
}
MOST_OVER_M = 6  # pairs in the picture
MOST_TESTED = 50_000  # ranks whose instances are resampled for the report
_NAN = float("nan")

Bounds = dict[int, tuple[float, float]]  # by pair


def show(focus: Focus) -> None:
    """Draw the tabs; of each only the open view is computed."""
    draws = _how_sure, tabs_repeat.show, _numbers
    page.tabs(dict(zip(NAMES, draws, strict=True)), "answers", focus)


def _how_sure(focus: Focus) -> None:
    view = page.segments("How sure", SURE, "sure_view", hidden=True)
    if some := words.some_systems(focus):
        st.caption(some)
    try:
        {SURE[0]: _one_run, SURE[1]: _over_instances, SURE[2]: _plan}[view](focus)
    except ValueError as error:  # what these data do not allow, such as fractions as counts
        st.info(escaped(state.spelled(error)), icon=":material/info:")


def _one_run(focus: Focus) -> None:
    """Chance of the true order, with negatives of one's own or shared ones (Table 4)."""
    r, x = focus.result, focus.x
    pairs = focus.pairs[: page.MOST_ROWS]
    picture = st.container()
    bounds, why = _bounds_if_asked(focus, pairs)
    chances = [float(r.chances[x, pair]) for pair in pairs]
    low, high = zip(*(bounds.get(pair, (_NAN, _NAN)) for pair in pairs), strict=True)
    here, names = pairs.index(focus.pair), focus.ordered(focus.pair, system_name)
    said = words.one_run(*names, r.m, chances[here], low[here], high[here])
    with picture:
        st.markdown(words.tied(focus) or said)
        page.picture(
            pictures.chances(_labels(focus, pairs), chances, low, high, dark=page.is_dark()),
            key="consistency_chances",
            alt="; ".join(
                f"{focus.label(pair)}: {in_runs(chance)}"
                for pair, chance in zip(pairs, chances, strict=True)
            ),
        )
    shared = words.SHARED if bounds else ""
    st.caption(words.OWN + (f"No bounds for shared ones: {why}" if why else shared))
    printed = {"Pair": [r.label(pair, system_name) for pair in pairs]}
    for y in [x, *(y for y in range(len(r.metrics)) if y != x)]:
        printed[str(r.metrics[y])] = [in_runs(float(r.chances[y, pair])) for pair in pairs]
        if y == x and bounds:
            printed["if shared"] = [
                " to ".join(dict.fromkeys(map(in_runs, ends)))
                for ends in zip(low, high, strict=True)
            ]
    whole = partial(chances_table, focus, bounds)
    page.table(pd.DataFrame(printed), whole, "chances", rows=r.pairs)


def _labels(focus: Focus, pairs: Sequence[int]) -> list[str]:
    return [plain(focus.label(pair)) for pair in pairs]


def _bounds_if_asked(focus: Focus, pairs: list[int]) -> tuple[Bounds, str]:
    """Bounds for shared negatives, or why there are none; once asked for, they follow m."""
    what, label = (focus.result.question.key, focus.x), "Bounds for shared negatives"
    about = "The chance where both systems are ranked against the same negatives."
    if not page.asked(what, "bounds", label, about):
        return {}, ""
    found: Bounds = {}
    with page.progress(label) as report:
        for done, pair in enumerate(pairs):
            report(done / len(pairs))
            try:
                found[pair] = focus.bounds(pair)
            except ValueError as error:  # not the same instances, or not as many negatives
                return {}, escaped(state.spelled(error))
    return found, ""


def chances_table(focus: Focus, bounds: Bounds) -> pd.DataFrame:
    """Chance in one run of every pair and metric; the bounds that were asked for."""
    columns = ["metric", "correction", "better", "worse", "probability"]
    table = focus.result.verdict[columns].copy()
    if bounds:
        rows = [focus.x * focus.result.pairs + pair for pair in bounds]
        table[["low", "high"]] = np.nan
        table.loc[rows, ["low", "high"]] = list(bounds.values())
    return table


def _over_instances(focus: Focus) -> None:
    """Is there anything to order? Significance, and the chance with new instances."""
    with page.progress("Resampling the instances") as report:
        table = focus.significance(progress=report)
    rows = focus.rows(table)
    better, worse = (rows[end].map(system_name).tolist() for end in ("better", "worse"))
    first = rows.iloc[0]
    size, p = float(first["difference"]), float(first["p_holm"])
    said = words.anything_to_order(
        better[0], worse[0], size, first["interval"], p, pairs=len(table)
    )
    st.markdown(words.tied(focus) or said)
    head = rows.head(page.MOST_ROWS)
    labels = (head["better"].map(plain) + " − " + head["worse"].map(plain)).tolist()
    sizes, (lows, highs) = head["difference"].tolist(), zip(*head["interval"], strict=True)
    told = zip(labels, map(points, sizes), strict=True)
    page.picture(
        pictures.differences(labels, sizes, lows, highs, dark=page.is_dark()),
        key="consistency_differences",
        alt="; ".join(f"{label}: {size}" for label, size in told),
    )
    bare = words.bare_points
    printed = {
        "Pair": list(map(" − ".join, zip(better, worse, strict=True))),
        "Difference, points": rows["difference"].map(bare),
        "95 % interval": [" to ".join(map(bare, interval)) for interval in rows["interval"]],
        "p": rows["p"].map(words.p_value),
        "p, Holm": rows["p_holm"].map(words.p_value),
        "Redrawn": rows["probability"].map(in_runs),
    }
    page.table(pd.DataFrame(printed), table, "significance")
    again = words.REPEATED if focus.result.question.source.averaged else ""
    st.caption(f"{words.REDRAWN} {again}10,000 resamples, seed {SEED}.")


def _plan(focus: Focus) -> None:
    """Negatives needed, and instances needed at this m."""
    label = "The true order in this share of runs"
    wanted = page.segments(label, PROBABILITIES, "wanted", default=DEFAULTS["wanted"])
    r, probability = focus.result, PROBABILITIES[wanted]
    sentence = st.empty()
    with page.progress("The chance over m") as report:
        ms, series = focus.over_m(progress=report)
    pairs = focus.pairs[:MOST_OVER_M]
    curves = {label: series[pair] for label, pair in zip(_labels(focus, pairs), pairs, strict=True)}
    page.picture(
        pictures.chance_over_m(ms, curves, at=r.m, target=probability, dark=page.is_dark()),
        key="consistency_over_m",
        alt=f"Chance of the true order over m, up to {count(ms[-1])}, of {len(pairs)} pairs.",
    )
    # The picture stands while the numbers, which take longer, are looked for.
    with page.progress("Looking for the number of negatives") as report:
        needed = focus.needed(probability, progress=report)
    rows = focus.rows(needed)
    m, instances = (None if pd.isna(x) else int(x) for x in rows[["m", "instances"]].iloc[0])
    has = max(ranks.n_instances for ranks in r.question.sets)
    names = focus.ordered(focus.pair, system_name)
    said = words.plan(*names, probability, r.m, m, instances, has)
    sentence.markdown(words.tied(focus) or said)
    printed = {
        "Pair": [focus.label(pair, system_name) for pair in focus.pairs],
        f"Negatives for {100 * probability:.0f} %": rows["m"].map(words.needed),
        f"Instances at m = {count(r.m)}": rows["instances"].map(words.needed),
        "Chance now": list(map(in_runs, r.chances[focus.x, focus.pairs])),
    }
    page.table(pd.DataFrame(printed), lambda: focus.plan(probability), "plan")
    st.caption(
        f"Negatives from which on the chance stays that high, up to m = {count(r.m_max)}; it may "
        "be that high at single values before. The downloads hold every metric chosen, which "
        "takes as long for each."
    )


def _numbers(focus: Focus) -> None:
    view = page.segments("Numbers", NUMBERS, "numbers_view", hidden=True)
    {NUMBERS[0]: _means, NUMBERS[1]: _flips, NUMBERS[2]: _distribution}[view](focus)


def _means(focus: Focus) -> None:
    """Tables 1-3: printed as the papers print them, the metric in focus first."""
    r, size = focus.result, len(focus.result.systems)
    with st.spinner("The scatter of one run", show_time=True):
        table = r.findings.means_table()
    order = [focus.x, *(y for y in range(len(r.metrics)) if y != focus.x)]
    most = max(1, page.MOST_ROWS // size)  # no metric is cut in two
    rows = pd.concat([table.iloc[y * size : (y + 1) * size] for y in order[:most]])
    rows = rows.head(page.MOST_ROWS)
    used = r.question.protocol.correction
    what = str(used) if used.by_rank else "Sampled"
    sampled = words.plus_minus(rows["expected_sampled"], rows["std_of_mean"])
    printed = {
        "Metric": rows["metric"],
        "System": rows["system"].map(escaped),
        "Exact": rows["exact"].map(percent),
        f"{what}, m = {count(r.m)}": sampled,
    }
    page.table(pd.DataFrame(printed), table, "means", rows=len(table))
    named = (table["metric"] + " of " + table["system"]).tolist()
    values = table[["expected_sampled"]].to_numpy().tolist()
    for note in outside(dict(zip(named, values, strict=True)), what):
        st.caption(escaped(note))
    here = table.iloc[focus.x * size : (focus.x + 1) * size]
    st.caption(words.scatter_note(list(here["expected_sampled"]), list(here["std_of_mean"])))


def _flips(focus: Focus) -> None:
    """Where the order of every pair changes and from where it is right, per correction."""
    r, gamma = focus.result, state.current().gamma
    shown = st.container()
    about = "The same for rank estimate, CLS and BV; takes some seconds."
    what = r.question.key, r.m, gamma
    everything = page.asked(what, "flips_every", "Every correction", about)
    found = {str(r.question.protocol.correction): r.orders}
    for name in CORRECTIONS if everything else ():
        which = recipe(name, gamma or 0.1)
        if str(which) not in found:
            with page.progress(words.looking(which)) as report:
                found[str(which)] = r.question.corrected(which).orders(report)
    table = r.flips(r.few_pairs(focus.pair), found)
    here = table["metric"] == str(focus.metric)
    one, other = r.names(focus.pair)
    marked = (table["first"] == one) & (table["second"] == other)
    rows = table.iloc[np.lexsort((~marked, ~here))].head(page.MOST_ROWS)
    printed = {
        "Metric": rows["metric"],
        "Correction": rows["correction"],
        "Pair": rows["first"].map(system_name) + ", " + rows["second"].map(system_name),
        "Order changes at m": rows["flips"].map(words.flip_list),
        "Right from m": ["–" if pd.isna(m) else count(m) for m in rows["right_from"]],
    }
    with shown:
        page.table(pd.DataFrame(printed), table, "flips", rows=len(table))
        if r.pairs > MOST_PAIRS:
            st.caption(f"The marked and the {MOST_PAIRS} worst of {count(r.pairs)} pairs.")
        if everything:
            st.caption(words.EVERY_CORRECTION)


def _distribution(focus: Focus) -> None:
    """Where the relevant items stand (Figure 5)."""
    r = focus.result
    systems = r.drawn(focus.pair)
    sets, names = [r.question.sets[i] for i in systems], [r.systems[i] for i in systems]
    largest = max(int(ranks.n.max()) for ranks in sets)
    view = page.segments("Ranks shown", RANKS, "distribution_view")
    edges = pictures.rank_edges(largest, top=view == RANKS[1])
    ties = r.question.protocol.ties
    shares = np.column_stack([rank_distribution_at(ranks, edges, ties=ties) for ranks in sets])
    shares = np.diff(shares, axis=0, prepend=0.0)
    page.picture(
        pictures.distribution(edges, names, shares, dark=page.is_dark()),
        key="consistency_distribution",
        alt=f"Share of relevant items in {len(edges)} stretches of ranks, per system.",
    )
    st.markdown(escaped(words.leaders(edges, names, shares)))
    table = pd.DataFrame({"rank_up_to": edges} | dict(zip(names, shares.T, strict=True)))
    page.take(table, "distribution")


def paper_button(focus: Focus) -> None:
    """Draw the button that opens what a paper needs: paragraph, references, script, report."""
    if st.button("For your paper", icon=":material/article:", key="paper", type="primary"):
        _dialog(focus)


def report(focus: Focus) -> str:
    """The page as one HTML file: pictures and tables, on white."""
    r, systems = focus.result, focus.result.drawn(focus.pair)
    every, pairs = range(len(r.metrics)), r.few_pairs()
    names = [pictures.pair_name(*r.names(pair)) for pair in pairs]
    few = "" if len(pairs) == r.pairs else f", the {len(pairs)} worst of {count(r.pairs)}"
    rows = [row for x in every for row in r.rows(x, pairs)]
    drawn = [(f"Verdict at m = {count(r.m)}{few}", pictures.tiles(rows, names, m_max=r.m_max))]
    for x in every:
        caption = f"{r.metrics[x]}. {words.marked_flips(focus, x)}"
        drawn.append((caption, pictures.panel(focus, x, systems, dark=False)))
    orders = {str(r.question.protocol.correction): r.orders}
    tables: dict[str, pd.DataFrame] = {
        # There is one correction, and the settings name it.
        "Verdict": r.verdict.drop(columns="correction"),
        "Means": r.findings.means_table(),
        "Where the order changes": r.flips(r.few_pairs(focus.pair), orders),
    }
    if sum(map(len, r.question.sets)) <= MOST_TESTED:
        try:
            found = [replace(focus, x=x).significance() for x in every]
            tests = pd.concat(found, ignore_index=True)
            tables["Over instances"] = tests[["metric", *tests.columns.drop("metric")]]
        except ValueError:  # fractions as counts: the page says so where it is asked
            pass
    more = len(r.systems) - len(systems)
    legend = pictures.legend([r.systems[i] for i in systems], more=more)
    return html_report(r.findings, drawn, tables, legend=legend)


@st.dialog("For your paper", width="large")
def _dialog(focus: Focus) -> None:
    facts = focus.result.findings
    text, latex, cite, script = st.tabs(["Paragraph", "LaTeX", "BibTeX", "Python"])
    with text:
        st.code(paragraph(facts), language=None, wrap_lines=True)
        st.caption(
            "For the evaluation section, from the numbers of this page. The copy button is at the "
            "upper right of the text."
        )
    with latex:
        st.code(paragraph(facts, latex=True), language="latex", wrap_lines=True)
    with cite:
        st.code(bibtex(facts), language=None, wrap_lines=True)
    with script:
        st.code(python_script(facts), language="python", wrap_lines=True, height=360)
        st.caption("Prints the same numbers from Python.")
    files = (
        ("HTML report", lambda: report(focus), "sampledash-report.html", "text/html"),
        ("BibTeX", lambda: bibtex(facts), "sampledash.bib", "application/x-bibtex"),
        ("Script", lambda: python_script(facts), "sampledash_verdict.py", "text/x-python"),
    )
    with st.container(horizontal=True):
        for file in files:
            page.download(*file)
