"""The Paper page: tables, figures and statements of papers, beside the values that we compute."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import choices
from sampledash.analyses.consistency.pictures import legend
from sampledash.analyses.correct.pictures import movielens_curves
from sampledash.analyses.correct.result import MOVIELENS
from sampledash.analyses.estimate import pictures as estimate_pictures
from sampledash.analyses.estimate import result as estimate
from sampledash.analyses.memory import once
from sampledash.analyses.paper import pictures, wild, words
from sampledash.comparison.means import step_of
from sampledash.correction import parse_correction
from sampledash.dashboard import page, state
from sampledash.estimation.rank_distribution import LEARNED, SHAPED
from sampledash.metrics import parse_metric
from sampledash.papers.krichene import METRICS_34, SETTINGS, check_text, match
from sampledash.papers.steck import check_steck, match_table_2, theorem
from sampledash.readers.files import example
from sampledash.report.numbers import percent

TABLES = (1, 2, 3, 4)
FIGURES = tuple(f"Figure {i}" for i in range(1, 7))
WILD = (words.ON_BOTH, words.PUBLISHED)
PAPERS = (*(f"Table {t}" for t in TABLES), *FIGURES, "The text", "Steck 2010", "Steck, Table 2")
ITEMS = (*PAPERS, *WILD)
DEFAULTS: dict[str, Any] = {"item": "Table 3", "cell_metric": METRICS_34[0], "times": 9}
CUTOFFS = {f"R@{k}": k for k in wild.CUTOFFS}
SORTED = {"on 1,000": "on_sample", "on 5,000": "on_all"}
DEFAULTS |= {"wild_k": next(iter(CUTOFFS)), "wild_by": next(iter(SORTED))}


@once
def tables() -> dict[int, pd.DataFrame]:
    """Return Tables 1-4 of Krichene & Rendle by number: a row for each cell.

    A row has the printed value and the value that we compute.
    """
    with page.progress("Computing every cell of the tables") as report:
        return {t: match(t, example, step_of(report, t - 1, len(TABLES))) for t in TABLES}


@once
def statements() -> pd.DataFrame:
    """Return statements in Krichene & Rendle's text and figures, with values that we compute."""
    with page.progress("Checking what the text states") as report:
        return check_text(example, tables(), report)


@once
def steck() -> pd.DataFrame:
    """Return the statements of Steck's paper, each with the value that we compute."""
    return check_steck(example)


@once
def missing() -> pd.DataFrame:
    """Return Steck's metrics TOPK and ATOP if better-ranked relevant items are observed more often.

    The best-ranked relevant item is observed ``times`` times as often as the worst-ranked;
    ``times`` is a column of the result. If ``times`` is 1, ratings are missing at random, as
    Steck's theorem assumes.
    """
    times = range(1, pictures.MOST_TIMES + 1)
    parts = [theorem(t, np.random.default_rng(2010)).assign(times=t) for t in times]
    return pd.concat(parts, ignore_index=True)


def show() -> None:
    """Draw the page."""
    offered = {"item": ITEMS, "wild_k": CUTOFFS, "wild_by": SORTED, "cell_metric": METRICS_34}
    state.stamp(state.offer(offered, DEFAULTS))
    page.note(DEFAULTS)
    headline = st.container()
    options = page.bound("item", default=DEFAULTS["item"], required=True, wrap=True)
    item = st.pills("Shown", list(ITEMS), **options) or DEFAULTS["item"]
    if item in WILD:
        (_printed_twice if item == words.ON_BOTH else _published)(headline)
    else:
        _item(item, headline)
    if item in words.OPENS:
        target, query = words.OPENS[item]
        page.link(target, f"Open in {target.capitalize()}", ":material/open_in_new:", query)
    page.copy_link(DEFAULTS)


def _printed_twice(headline: DeltaGenerator) -> None:
    """Draw metrics of image search that papers print for 1,000 and for 5,000 candidates."""
    with headline:
        cells = wild.ranges()
        summary = wild.summary(cells)
        holds, *sentences = words.on_both(cells, summary)
        st.markdown("\n\n".join([f"### {holds}", *sentences]))
    with st.container(horizontal=True):
        k = CUTOFFS[page.segments("Printed number", CUTOFFS, "wild_k")]
        by = SORTED[page.segments("Sorted by the number", SORTED, "wild_by")]
    fig = pictures.on_both(cells[cells["k"] == k], by, page.is_dark())
    systems, pick = wild.systems().to_dict("records"), "_wild_place"
    save = partial(st.session_state.__setitem__, pick)
    page.picture(fig, key="paper_on_both", alt=f"R@{k}. {holds}", on_pick=save)
    st.caption(words.TEXTS[words.ON_BOTH])
    page.cells(words.summary_rows(summary))
    page.take(cells.drop(columns="place"), "printed-on-both")

    def address(system: Mapping[Hashable, Any]) -> dict[str, str]:
        table = {"what": "A printed table", "printed": wild.as_printed(system)}
        table["candidates"] = choices.CANDIDATES[1]
        return table | {"scheme": state.DEFAULTS["scheme"], "metric": "Recall@k", "k": str(k)}

    if (place := st.session_state.pop(pick, None)) in range(len(systems)):
        page.open_page("correct", address(systems[int(place)]))
    first = next((cell["place"] for cell in wild.outside(cells)), 0)
    chosen = st.selectbox("System", systems, first, lambda x: f"{x['system']}, {x['note']}")
    page.link("correct", "Open its table in Correct", ":material/open_in_new:", address(chosen))


def _published(headline: DeltaGenerator) -> None:
    """Draw sampled metrics of two published models (He et al. 2017), and their expected values.

    Also draw estimates of the metrics on all items.
    """
    rows = wild.expectations()
    off = rows["off"].abs()
    with headline:
        st.markdown(f"### {words.say.expectations(len(rows), int((off <= 2).sum()), off.max())}")
    lines = {
        "Metric": rows["metric"] + ", " + rows["system"],
        "Published → expected, %": list(map(words.say.published, rows.to_dict("records"))),
        "Off by, std.": [f"{x:+.1f}".replace("-", "−") for x in rows["off"]],
        "On all items": rows["on_all"].map(percent),
    }
    page.cells(pd.DataFrame(lines))
    st.caption(words.TEXTS[words.PUBLISHED])
    page.take(rows, "published-negatives")
    about = parse_metric("Recall@10"), estimate.TOGETHER, state.DEFAULTS["gamma"]
    question = estimate.Question(wild.published_samples(), *about, tuple(example(wild.NCF)))
    with page.progress("What these samples leave open") as report:
        answer = estimate.compute(question, report)
    st.markdown(words.from_samples(answer, [estimate.TOGETHER, LEARNED[SHAPED].label]))
    title = f"{question.metric} on all items"
    fig = estimate_pictures.ranges(title, answer.rows, dark=page.is_dark())
    page.picture(fig, key="paper_from_samples", alt=answer.sentence)
    st.caption(answer.legend)


def _item(item: str, headline: DeltaGenerator) -> None:
    matched = pd.concat([table["matched"] for table in tables().values()])
    holds = (stated := statements())["holds"]
    with headline:
        st.markdown(f"### {words.say.matches(matched, holds)}")
        st.caption(words.TEXTS["rule"])
    if item.startswith("Table"):
        _table(int(item[-1]))
    elif item in FIGURES:
        _figure(item)
        _findings(stated[stated["where"] == item], item)
    elif item == "The text":
        _findings(stated[~stated["where"].str.startswith("Fig")], item)
    elif item == "Steck, Table 2":
        _trained()
    else:
        st.markdown(words.TEXTS["steck"])
        _missing()
        _findings(steck(), item)
        st.caption(words.TEXTS["steck left out"])
    if item in words.MADE:
        title, text, code = words.MADE[item]
        with st.expander(title):
            st.markdown(text)
            page.code(code, "paper_code")


def _figure(item: str) -> None:
    """Draw our version of a figure of Krichene & Rendle, in several panels.

    Figures 2 and 6 have one legend for all their panels.
    """
    dark = page.is_dark()
    if item in ("Figure 2", "Figure 6"):
        sets = example(pictures.TOY if item == "Figure 2" else MOVIELENS)
        st.html(legend([x.system for x in sets], dark=dark))
    if item in pictures.FIGURES:
        _panels(pictures.panels(item, dark))
        return
    for place, name in zip(st.columns(2), ("uncorrected", "BV 0.1"), strict=True):
        asked = parse_metric("Recall@10"), parse_correction(name), pictures.M
        fig, alt = movielens_curves(*asked, dark=page.is_dark())
        with place:
            page.picture(fig, key=f"paper_real_{name}", alt=alt)


def _panels(panels: Sequence[pictures.Panel]) -> None:
    """Draw panels, two in a row; a single panel takes the whole row."""
    for start in range(0, len(panels), 2):
        row = panels[start : start + 2]
        for place, panel in zip(st.columns(min(len(panels), 2)), row, strict=False):
            with place:
                page.picture(panel.fig, key=panel.key, alt=panel.alt)


def _missing() -> None:
    """Draw Steck's metrics TOPK and ATOP if better-ranked relevant items are observed more often.

    A slider sets how much more often. Steck's theorem assumes that all relevant items are observed
    with the same probability.
    """
    st.markdown(words.TEXTS["missing"])
    label = "The best-ranked relevant item is observed so many times as often as the worst"
    about = "1: ratings are missing at random, as the theorem assumes."
    options = page.bound("times", about, format="%d times")
    times = st.slider(label, 1, pictures.MOST_TIMES, DEFAULTS["times"], **options)
    rows = missing()
    st.markdown(words.say.missing(times, rows[rows["times"] == times].to_dict("records")))
    _panels(pictures.missing(times, rows, page.is_dark()))


def _table(number: int) -> None:
    """Draw a table of Krichene & Rendle, with each cell's printed value and ours.

    For Tables 3 and 4, the reader chooses one metric at a time.
    """
    rows = tables()[number]
    st.markdown(f"**{rows['matched'].sum()} of {len(rows)} cells match.**")
    chosen, down, across = rows, "row", "metric"
    if number >= 3:
        metric = page.segments("Metric", METRICS_34, "cell_metric")
        chosen, down, across = rows[rows["metric"] == metric], "column", "row"
    texts = [words.cell(x, SETTINGS[number].decimals) for x in chosen.itertuples()]
    chosen = chosen.assign(texts=texts, row=chosen["row"].map(", ".join))  # systems "XY" -> "X, Y"
    shown = chosen.pivot(index=down, columns=across, values="texts")
    shown = shown.loc[chosen[down].unique(), chosen[across].unique()].rename_axis(columns=None)
    page.cells(shown.reset_index(names="System" if down == "row" else "Column"))
    st.caption(words.TEXTS[f"Table {number}"])
    for reason, cells in rows[~rows["matched"]].groupby("reason", sort=False):
        names = "; ".join(map(words.say.unmatched, cells["cell"], cells["text"], cells["ours"]))
        st.markdown(f"- {names}: **{str(reason) or 'not explained'}**.")
    page.take(rows.drop(columns=["metric", "row", "column", "text"]), f"table-{number}")


def _trained() -> None:
    """Draw Table 2 of Steck (2010) with the values that we compute, a row per trained model."""
    rows = match_table_2(example)
    st.markdown(f"**{rows['matched'].sum()} of {len(rows)} cells match.**")
    printed = rows.assign(text=rows["printed"].map("{:.3f}".format), our_std=np.nan)
    lines = {
        "Training": rows["objective"],
        "Printed, tuning half": rows["validation"].map("{:.3f}".format),
        "Printed → ours, test half": [words.cell(x, 3) for x in printed.itertuples()],
        "Recommender": rows["recommender"],
    }
    page.cells(pd.DataFrame(lines))
    st.caption(words.TEXTS["Steck, Table 2"])
    page.take(rows, "steck-table-2")


def _findings(rows: pd.DataFrame, name: str) -> None:
    """Draw a table of statements of a paper, with the values that we compute: do they hold?

    ``rows`` holds the statements, and ``name`` is the name of the downloaded table.
    """
    rows = rows.reset_index(drop=True)
    lines = {
        "Where": rows["where"],
        "Statement": [f"“{quote}”" for quote in rows["quote"]],
        "Ours": list(map(words.ours, rows["ours"], rows["what"])),
        "Verdict": list(map(words.say.verdict, rows["holds"], rows["note"])),
    }
    page.cells(pd.DataFrame(lines))
    page.take(rows, name.lower().replace(" ", "-"))
