"""The tabs of the Consistency page, and its dialog with texts for a paper.

The tabs show: the chance that a run orders two systems as the exact metric does; simulated runs;
tables of mean metrics, of the numbers of negatives at which two systems change order, and of ranks;
and the errors of evaluation designs that compute equally many scores.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.analyses.consistency import pictures, tables, words
from sampledash.analyses.consistency.report import report
from sampledash.analyses.consistency.result import MOST_OVER_M, MOST_PAIRS, SEED, Focus
from sampledash.dashboard import page, state
from sampledash.dashboard.consistency import instead
from sampledash.report.escape import escaped, plain, system_name
from sampledash.report.numbers import count, in_runs, points, spell
from sampledash.report.paragraph import bibtex, paragraph
from sampledash.report.script import python_script
from sampledash.report.sentences import drawn_negatives
from sampledash.types import Floats

NAMES = ("How sure", "Repeat it", "Numbers", "What to do instead")
SURE = ("One run", "Over instances", "Plan")
NUMBERS = ("Means", "Flips", "Distribution")
RANKS = ("whole range", "the top")
PROBABILITIES = {f"{p} %": p / 100 for p in (80, 90, 95, 99)}
REPEATS = {count(runs): runs for runs in (100, 200, 500, 1_000)}
# Options of each setting, by its key in the session and in links. ``OFFERED`` adds the defaults.
_VIEWS = {"answers": NAMES, "numbers_view": NUMBERS, "distribution_view": RANKS, "sure_view": SURE}
_CHOICES = {**_VIEWS, "wanted": PROBABILITIES, "repeats": REPEATS}
OFFERED = state.offer(_CHOICES, {"wanted": "95 %", "repeats": "200"})
DEFAULTS: dict[str, Any] = {key: default for key, (_, default) in OFFERED.items()}
DEFAULTS |= {"why": False, **instead.DEFAULTS, "seed": 1}
_NAN = float("nan")


def show(focus: Focus) -> None:
    """Draw the tabs. To save time, only the open tab is computed and, in it, only the open view."""
    page.tabs(NAMES, (_how_sure, _repeat_it, _numbers, instead.show), "answers", focus)


def _how_sure(focus: Focus) -> None:
    view = page.segments("How sure", SURE, "sure_view", hidden=True)
    if some := words.some_systems(focus):
        st.caption(some)
    {SURE[0]: _one_run, SURE[1]: _over_instances, SURE[2]: _plan}[view](focus)


def _one_run(focus: Focus) -> None:
    """Draw the chance that one run orders two systems as the exact metric does.

    A run draws new negatives. See Table 4 of Krichene & Rendle. The chance holds if each system has
    its own negatives. If the reader asks, also draw bounds on the chance for systems that share
    their negatives.
    """
    r, x = focus.result, focus.x
    pairs = focus.pairs[: page.MOST_ROWS]
    picture = st.container()
    bounds, why = _bounds_if_asked(focus, pairs)
    chances = [float(r.chances[x, pair]) for pair in pairs]
    ends = [bounds.get(pair, (_NAN, _NAN)) for pair in pairs]
    names, chance = focus.ordered(focus.pair, system_name), float(r.chances[x, focus.pair])
    shared = bounds.get(focus.pair)
    sentence = words.say.one_run(*names, drawn_negatives(r), chance, shared)
    with picture:
        st.markdown(words.tied(focus) or sentence)
        labels, dark = [plain(focus.label(pair)) for pair in pairs], page.is_dark()
        fig = pictures.chances(labels, chances, ends, dark=dark)
        labelled = zip(map(focus.label, pairs), map(in_runs, chances), strict=True)
        page.picture(fig, key="consistency_chances", alt="; ".join(map(": ".join, labelled)))
    overlaps = any(ranks.overlaps for ranks in focus.sets)
    about = words.TEXTS["overlaps" if overlaps else "shared"] if bounds else ""
    st.caption(words.OWN + (f"No bounds for shared ones: {why}" if why else about))
    if bounds or why:
        try:
            st.markdown(words.one_list(focus))
        except ValueError as error:
            st.caption(f"One list for all instances: {escaped(spell(error))}")
    printed = tables.chances(focus, pairs, bounds)
    whole = partial(tables.every_chance, focus, bounds)
    page.table(printed, whole, "chances", rows=r.pairs)


def _bounds_if_asked(focus: Focus, pairs: list[int]) -> tuple[tables.Bounds, str]:
    """Return bounds on the chance that a run orders two systems as the exact metric does.

    The bounds hold if the two systems share their negatives. They are computed for all ``pairs`` of
    systems, but only if the reader asks for them. Also return why the computation failed, or "" if
    it did not.
    """
    what, label = (focus.result.question.key, focus.x), "Bounds for shared negatives"
    about = "The chance where both systems are ranked against the same negatives."
    if not page.asked(what, "bounds", label, about):
        return {}, ""
    bounds = dict[int, tuple[float, float]]()
    with page.progress(label) as report:
        for done, pair in enumerate(pairs):
            report(done / len(pairs))
            try:
                bounds[pair] = focus.bounds(pair)
            except ValueError as error:  # for example if the systems have different instances
                return {}, escaped(spell(error))
    return bounds, ""


def _over_instances(focus: Focus) -> None:
    """Draw significance tests of the differences between systems in the exact metric.

    Also draw the chance that a run with new instances and new negatives orders two systems as the
    exact metric does.
    """
    with page.progress("Resampling the instances") as report:
        table = focus.significance(progress=report)
    rows = focus.rows(table)
    st.markdown(words.over_instances(focus, table))
    head = rows.head(page.MOST_ROWS)
    fig = pictures.differences(head, dark=page.is_dark())
    names = head["better"].map(plain) + " − " + head["worse"].map(plain)
    alt = "; ".join(names + ": " + head["difference"].map(points))
    page.picture(fig, key="consistency_differences", alt=alt)
    page.table(tables.significance(rows), table, "significance")
    again = words.TEXTS["repeated"] + " " if focus.result.question.source.averaged else ""
    st.caption(f"{words.TEXTS['redrawn']} {again}10,000 resamples, seed {SEED}.")


def _plan(focus: Focus) -> None:
    """Draw how many negatives or instances a run needs to order systems as the exact metric does.

    The reader chooses the probability with which the run should have this order.
    """
    label = "The true order in this share of runs"
    wanted = page.segments(label, PROBABILITIES, "wanted", default=DEFAULTS["wanted"])
    r, probability = focus.result, PROBABILITIES[wanted]
    sentence = st.empty()
    with page.progress("Looking for the number of negatives") as report:
        needed = focus.needed(probability, progress=report)
    with page.progress("The chance over m") as report:
        ms, series = focus.over_m(probability, progress=report)
    curves = {plain(focus.label(pair)): series[pair] for pair in focus.pairs[:MOST_OVER_M]}
    fig = pictures.chance_over_m(ms, curves, at=r.m, target=probability, dark=page.is_dark())
    alt = f"Chance of the true order over m, up to {count(ms[-1])}, of {len(curves)} pairs."
    page.picture(fig, key="consistency_over_m", alt=alt)
    rows = focus.rows(needed)
    m, instances = (None if pd.isna(x) else int(x) for x in rows[["m", "instances"]].iloc[0])
    has = max(ranks.n_instances for ranks in r.question.sets)
    names = focus.ordered(focus.pair, system_name)
    text = words.say.plan(*names, probability, r.m, m, instances, has)
    sentence.markdown(words.tied(focus) or text)
    page.table(tables.plan(focus, rows, probability), lambda: focus.plan(probability), "plan")
    st.caption(words.TEXTS["plan"].format(m_max=count(r.m_max)))


def _repeat_it(focus: Focus) -> None:
    """Draw fields for the number of runs and the random seed; on request, simulate these runs."""
    if some := words.some_systems(focus):
        st.caption(some)
    help_ = words.TEXTS["repeat"].format(drawn=drawn_negatives(focus.result))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = page.segments("Runs", REPEATS, "repeats", default=DEFAULTS["repeats"])
        about = "The same seed draws the same negatives."
        seed = page.whole_number("Seed", "seed", DEFAULTS["seed"], width=120, help=about)
        repeats = REPEATS[label]
        what = focus.result.question.key, focus.result.m, *focus.systems, repeats, seed
        asked = page.asked(what, "repeat_start", f"Repeat it {count(repeats)} times", help_)
    if not asked:
        st.info(help_, icon=":material/casino:")
        return
    with page.progress(f"Repeating it {count(repeats)} times") as report:
        values = focus.repeated(repeats, seed, report)
    _seen_runs(focus, values)


def _seen_runs(focus: Focus, values: Floats) -> None:
    """Draw the mean metrics in simulated runs, and their exact distribution.

    ``values`` holds the mean metrics, with shape (systems, runs, metrics).
    """
    r, x, metric, made = focus.result, focus.x, str(focus.metric), values.shape[1]
    stds, systems = np.nan_to_num(r.std_of(focus.sets)[:, x]).tolist(), []
    for i, std, means in zip(focus.systems, stds, values[:, :, x], strict=True):
        exact = focus.law_of_mean(i) or (None, None)
        law = pictures.MeanLaw(float(r.sampled[i, x]), std, *exact)
        systems.append((plain(r.systems[i]), means, law, i))
    table, seen = focus.runs(values), focus.seen(values)
    if not focus.tied:
        share = float(focus.rows(tables.first(seen, metric))["share_of_runs"].iloc[0])
        pair = focus.ordered(focus.pair, system_name)
        st.markdown(words.say.repeated(*pair, share, made, float(r.chances[x, focus.pair])))
    fig = pictures.histogram(metric, systems, dark=page.is_dark())
    alt = f"Means of {count(made)} runs beside their exact law, {metric}."
    page.picture(fig, key="consistency_runs", alt=alt)
    page.table(tables.runs(table, metric, made), table, "runs")
    st.markdown("Runs that show the true order, beside the exact chance:")
    page.table(tables.orders(seen, metric), seen, "orders")


def _numbers(focus: Focus) -> None:
    view = page.segments("Numbers", NUMBERS, "numbers_view", hidden=True)
    {NUMBERS[0]: _means, NUMBERS[1]: _flips, NUMBERS[2]: _distribution}[view](focus)


def _means(focus: Focus) -> None:
    """Draw a table of exact and sampled mean metrics, the chosen metric first.

    Tables 1-3 of Krichene & Rendle are such tables.
    """
    r, size = focus.result, len(focus.result.systems)
    with st.spinner("The scatter of one run", show_time=True):
        table = r.means_table()
    used = r.question.protocol.correction
    what = str(used) if used.by_rank else "Sampled"
    page.table(tables.means(focus, table, what, page.MOST_ROWS), table, "means", rows=len(table))
    rows = table.iloc[focus.x * size : (focus.x + 1) * size]
    st.caption(words.scatter_note(list(rows["expected_sampled"]), list(rows["std_of_mean"])))


def _flips(focus: Focus) -> None:
    """Draw a table of each number of negatives m at which two systems change their order.

    Systems are ordered by the expected sampled metric. The table also gives the smallest m from
    which on this order is the order by the exact metric.
    """
    r = focus.result
    table = r.flips(r.few_pairs(focus.pair))
    page.table(tables.flips(focus, table).head(page.MOST_ROWS), table, "flips", rows=len(table))
    if r.pairs > MOST_PAIRS:
        st.caption(f"The marked and the {MOST_PAIRS} worst of {count(r.pairs)} pairs.")


def _distribution(focus: Focus) -> None:
    """Draw the distribution of the true ranks of relevant items (Krichene & Rendle, Figure 5)."""
    r, systems = focus.result, focus.result.drawn(focus.pair)
    sets, names = [r.question.sets[i] for i in systems], [r.systems[i] for i in systems]
    view = page.segments("Ranks shown", RANKS, "distribution_view")
    ties = r.question.protocol.ties
    edges, shares = pictures.rank_shares(sets, ties, top=view == RANKS[1])
    fig = pictures.distribution(edges, names, shares, dark=page.is_dark())
    alt = f"Share of relevant items in {len(edges)} stretches of ranks, per system."
    page.picture(fig, key="consistency_distribution", alt=alt)
    st.markdown(escaped(words.leaders(edges, names, shares)))
    table = pd.DataFrame({"rank_up_to": edges} | dict(zip(names, shares.T, strict=True)))
    page.take(table, "distribution")


@st.dialog("For your paper", width="large")
def for_paper(focus: Focus) -> None:
    """Draw what the reader may use in a paper: paragraph, references, script, and report."""
    facts = focus.result
    text, latex, cite, script = st.tabs(["Paragraph", "LaTeX", "BibTeX", "Python"])
    with text:
        page.code(paragraph(facts), "paper_text")
        st.caption(words.TEXTS["paragraph"])
    with latex:
        page.code(paragraph(facts, latex=True), "paper_latex")
    with cite:
        page.code(bibtex(facts), "paper_bibtex")
    with script:
        page.code(python_script(facts), "paper_script", 360)
        st.caption("Prints the same numbers from Python.")
    code, name = partial(python_script, facts), "sampledash_verdict.py"
    with st.container(horizontal=True):
        page.download("HTML report", lambda: report(focus), "sampledash-report.html", "text/html")
        page.download("BibTeX", lambda: bibtex(facts), "sampledash.bib", "application/x-bibtex")
        page.download("Script", code, name, "text/x-python")
