"""The Consistency page: do sampled metrics order recommenders as the exact metrics do?"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import choices, memory, theme
from sampledash.analyses.consistency import pictures, words
from sampledash.analyses.consistency.result import Focus, Result, compute
from sampledash.analyses.source import Source
from sampledash.comparison.counterexample import counterexample
from sampledash.comparison.means import exact_means, expected_means
from sampledash.comparison.order import TIED
from sampledash.comparison.verdict import CODES
from sampledash.correction import USABLE, weighs
from sampledash.dashboard import judged, live, page, pins, ranks, sliders, state
from sampledash.dashboard.consistency import cut, instead, tabs
from sampledash.dashboard.page import Problem
from sampledash.grids import MOST
from sampledash.protocol import Protocol
from sampledash.report.escape import escaped, short_name, system_name
from sampledash.report.numbers import count, in_runs, percent
from sampledash.report.sentences import headline, other_metrics
from sampledash.sampling import Sampling

TIES = ("expected", "optimistic", "pessimistic")
CUTOFFS = (1, 5, 10, 20, 50, 100)
DEFAULTS: dict[str, Any] = {**ranks.DEFAULTS, **judged.DEFAULTS, "curve": pictures.DIFFERENCE}
_CHOICES = {"correction": USABLE, "also_k": [*map(str, CUTOFFS)], "weighting": judged.WEIGHTINGS}
_CHOICES |= {"ties": TIES, "curve": pictures.VIEWS, "scheme": choices.SCHEMES}
OFFERED = {**ranks.OFFERED, **tabs.OFFERED, **state.offer(_CHOICES, DEFAULTS)}
TILES, CURVE = "consistency_tiles", "consistency_curve"
# Name of each pin (settings that the reader keeps for comparison), and picture of the result.
Before = Sequence[tuple[str, theme.Picture]]
MOST_LISTED = 1_000  # a menu lists the 1,000 pairs of systems that sampling orders worst
MOST_RANKS = 12  # largest number of ranks of a system in the table of a counterexample (_why)


def show() -> None:
    """Draw the Consistency page: the choice of true ranks of systems, then the result."""
    state.stamp(OFFERED)
    # The choice of ranks is drawn first, because the ranks determine n, the number of candidates.
    with st.container(key="above"):
        source, problem = ranks.choose()
        ends = None if source is None else source.largest_cutoff
        with st.container(horizontal=True, vertical_alignment="center"):
            sliders.metrics()
            if ends is None:
                _settings(source)
    lock = (state.DEFAULTS["n"], "") if source is None else judged.locked_n(source)
    if problem is not None:  # the new data are invalid: ``source`` holds the last valid data
        lock = lock[0], ranks.NOT_KNOWN
    if source is not None and ends is not None:
        _cut(source, problem, lock)
        return
    live.listen()
    _answer(source, problem, lock)
    live.below(_below)


def _cut(source: Source, problem: Problem | None, lock: tuple[int, str]) -> None:
    """Draw the result if some ranks are unknown: metrics on all items, but no sampled metrics.

    ``lock`` holds n, the number of candidates, and a text that shows n.
    """
    numbers = [*["k"] * sliders.uses_cutoff(), "n"]
    sliders.bar(sliders.place(), *numbers, n=lock, sampled=False)
    page.note(DEFAULTS)
    if problem is not None:
        problem.show()
        st.caption(f"Below, the last that could be shown: {escaped(source.name)}.")
    try:
        cut.show(source, judged.chosen_metrics(), {**DEFAULTS, **tabs.DEFAULTS})
    except ValueError as error:
        Problem.of(error).show()


@st.fragment
def _answer(source: Source | None, problem: Problem | None, lock: tuple[int, str]) -> None:
    """Draw the bar of sliders, and everything that depends on the sliders.

    The main result is the verdict: does sampling order the systems rightly? ``lock`` holds n, the
    number of candidates, and a text that shows n.
    """
    top, bar = st.container(key="headline"), sliders.place()
    numbers = ["m", "n", *["k"] * sliders.uses_cutoff()]
    numbers += ["gamma"] * weighs(state.value("correction", DEFAULTS))
    late, sets = ["k", "gamma", *["m"] * judged.anew()], () if source is None else source.sets
    controls = live.controls(partial(sliders.bar, bar, *numbers, n=lock, late=late, sets=sets))
    result = None
    if source is not None:
        with bar.whole:  # a progress bar replaces an earlier error message
            result, wrong = judged.answered(source, "consistency")
        problem = problem or wrong
    dim, link = problem is not None, {**DEFAULTS, **tabs.DEFAULTS, "shown": None, "pair": ""}
    page.tell(problem, bar.whole)
    with top:
        page.note(DEFAULTS)
    if result is None:
        controls()
        with bar.row:
            page.copy_link(link)
        live.follow()
        return
    tile_map, curve = st.container(key="picture").columns([5, 7])
    above = curve.container(horizontal=True, vertical_alignment="bottom")
    choose = live.controls(partial(_choose, result, bar.row, above))
    q, defaults, focus = result.question, judged.DEFAULTS, _focus(result)
    check, about = partial(judged.check, q.source), lambda x: [str(x.protocol.correction)]
    dark, view = page.is_dark(), state.value("curve", DEFAULTS)
    pinned, draw_pins = pins.pins(q, check, compute, defaults, about)
    was = [(x.name, _before(focus, x.answer)) for x in pinned]
    before = [(name, pictures.curve(x, view, dark=dark)) for name, x in was]
    with tile_map:
        _tiles(focus, dim)
    with curve:
        _curve(focus, before, view, dim)
        pins.note(pinned)
    with top:
        judged.say(result, focus.x, dim=dim)
    controls()
    choose()
    with bar.row:
        draw_pins()
        page.copy_link(link | {"shown": str(result.metrics[0])})
    with tile_map:
        page.strip(_numbers(focus), _numbers(was[-1][1]) if was else (), dim=dim)
    # ``of_curve`` holds the pictures for all steps of the slider of m, the number of negatives. It
    # is empty if the result is outdated, or if each m needs a slow computation, such as a new fit
    # of the correction.
    known = tuple((x.name, x.question.key, x.question.m) for x in pinned)
    still = dim or result.question.protocol.anew
    of_curve = [] if still else [_follows(focus, before, known, view, dark)]
    answers = result.question.key, result.m, *focus.systems, focus.x, focus.pair, dim
    live.follow(focus, [*of_curve, instead.follows(focus, dark)], answers)


def _below(focus: Focus) -> None:
    """Draw the part of the page below the pictures: explanation, download and tabs."""
    result = focus.result
    page.why(lambda: _why(focus))
    with st.container(horizontal=True):
        icon = ":material/download:"
        fold = st.popover("Download verdict", icon=icon, key="verdict_fold", on_change="rerun")
        if fold.open:
            with fold:
                st.caption("Every pair and metric at this m: state, right from, chance in one run.")
                page.take(lambda: result.verdict, "verdict")
        if st.button("For your paper", icon=":material/article:", key="paper", type="primary"):
            tabs.for_paper(focus)
    tabs.show(focus)


# -------------------------------------------------------------------------------------- settings


def _settings(source: Source | None) -> None:
    """Draw the settings: correction and further cutoffs.

    If an instance has several relevant items, also draw the choice of the instances' weights in the
    mean. If ranks have ties, also draw the choice of how to rank tied items.
    """
    correction, also = state.value("correction", DEFAULTS), st.session_state.get("also_k") or []
    labels = [correction, *(["k = " + ", ".join(map(str, also)) + " too"] if also else [])]
    with st.popover(", ".join(labels), icon=":material/tune:", key="settings"):
        page.segments("Correction", USABLE, "correction", help=words.TEXTS["correction"])
        about = "Several cutoffs at once, for metrics with @k."
        page.chips("Also at k =", CUTOFFS, "also_k", DEFAULTS["also_k"], about)
        if source is not None and judged.several(source.sets):
            about = words.TEXTS["weighting"]
            page.segments("Mean over", judged.WEIGHTINGS, "weighting", help=about)
        if source is not None and any(x.has_ties for x in source.sets):
            page.segments("Ties read", TIES, "ties", help=words.TEXTS["ties"])


# ----------------------------------------------------------- the focus: a metric and a marked pair


def _focus(result: Result) -> Focus:
    """Return the metric and the pair of systems that the page is about.

    Until the reader chooses a pair, the page is about the worst pair (:meth:`Result.worst_pair`).
    If sampling orders some pairs wrongly, the worst pair is one of these.
    """
    x, key, every = judged.chosen_metric(result), _pair_key(result), range(result.pairs)
    worst, chosen = result.worst_pair(x), st.session_state.get(key)
    followed: dict[str, int] = st.session_state.setdefault("_consistency_worst", {})
    # The link that the reader followed may name a pair of systems. It is read only once, so that
    # the reader can then choose another pair.
    asked = st.query_params.get("pair") if "pair" not in st.session_state else None
    linked = next((pair for pair in every if asked and result.label(pair) == asked), None)
    pair = worst if chosen in (None, followed.get(key)) else int(chosen)
    pair = pair if linked is None else linked
    followed[key] = worst
    if pair != chosen:
        st.session_state[key] = pair
    st.session_state["pair"] = "" if pair == worst else result.label(pair)
    state.put_in_address("pair", st.session_state["pair"])
    return Focus(result, x, pair)


def _choose(result: Result, row: DeltaGenerator, above: DeltaGenerator) -> None:
    """Draw the choice of the metric in the bar of sliders, ``row``.

    In ``above``, a container over the picture, draw the choice of a pair of systems, and the choice
    of what the curves show.
    """
    with row:
        judged.choose_metric(result, "Sentence, curve, numbers and tabs for")
    focus = _focus(result)
    listed = sorted({result.worst_pair(focus.x), focus.pair, *result.worst_pairs(MOST_LISTED)})
    options: dict[str, Any] = {"format_func": result.label, "width": 220, "key": _pair_key(result)}
    options |= {"help": words.TEXTS["marked pair"], "label_visibility": "collapsed"}
    # Set the value in each run: if a run is stopped, the browser may not receive what the run set.
    st.session_state[options["key"]] = focus.pair
    with above:
        st.selectbox("Marked pair", listed, **options)
        page.segments("Shown over m", pictures.VIEWS, "curve", hidden=True)


def _pair_key(result: Result) -> str:
    """Return the session key of the widget with which the reader chooses a pair of systems."""
    return f"pair_{result.pairs}_{result.question.source.key[0][:12]}"


# -------------------------------------------------------------------------- pictures and numbers


def _tiles(focus: Focus, dim: bool) -> None:
    """Draw a tile for each pair of systems and each metric: is the sampled order right?

    If there are many pairs, only the worst pairs and the marked pair have tiles. A click on a tile
    selects its pair and its metric.
    """
    result, metrics, pairs = focus.result, focus.result.metrics, focus.tile_pairs
    if len(pairs) < result.pairs:
        st.caption(f"The {len(result.few_pairs())} worst of {count(result.pairs)} pairs.")

    def picked(tile: tuple[str, int]) -> None:
        metric, pair = tile
        if metric in map(str, metrics) and 0 <= pair < result.pairs:
            if len(metrics) > 1:
                st.session_state["shown"] = metric
            st.session_state[_pair_key(result)] = pair

    rows = [row for x in range(len(metrics)) for row in result.rows(x, pairs)]
    fig = pictures.tile_map(result, pairs, focus, dark=page.is_dark())
    sentences = (f"{x['metric']}: {x['better']} over {x['worse']}: {x['state']}" for x in rows[:12])
    alt = "; ".join(sentences)
    page.picture(fig, key=TILES, dim=dim, on_pick=None if dim else picked, alt=alt)


def _before(focus: Focus, was: Result) -> Focus:
    """Return ``was`` with the metric and the pair of systems of ``focus``.

    ``was`` is the result of settings that the reader pinned for comparison. If ``was`` lacks this
    metric or this pair, its first metric or its worst pair is used.
    """
    names, label = list(map(str, was.metrics)), focus.result.label(focus.pair)
    name = str(focus.metric)
    x = names.index(name) if name in names else 0
    same = (pair for pair in range(was.pairs) if was.label(pair) == label)
    return Focus(was, x, next(same, was.worst_pair(x)))


def _curve(focus: Focus, before: Before, view: str, dim: bool) -> None:
    """Draw the chosen metric of the systems, or the difference of two systems, against m.

    m is the number of negatives. Curves of ``before``, for settings that the reader pinned for
    comparison, are behind the others.
    """
    r, systems = focus.result, focus.result.drawn(focus.pair)
    if view != pictures.DIFFERENCE:
        names, more = [r.systems[i] for i in systems], len(r.systems) - len(systems)
        st.html(pictures.legend(names, more=more, dark=page.is_dark()))
    fig = theme.behind(pictures.curve(focus, view, dark=page.is_dark()), before)
    page.picture(fig, key=CURVE, dim=dim, alt=words.marked_flips(focus, focus.x), drags="m")
    if not dim:
        st.caption(words.marked_flips(focus, focus.x, system_name))


def _follows(focus: Focus, before: Before, pinned: Hashable, view: str, dark: bool) -> live.Follows:
    """Return what the page shows at each step of the slider of m, the number of negatives.

    This is the verdict, the pictures and the numbers. ``before`` holds pictures for settings that
    the reader pinned for comparison; ``pinned`` identifies these settings in a cache key. All steps
    show the pairs of systems that are shown now, even if others are worse at another m.
    """
    q, result, pairs = focus.result.question, focus.result, focus.tile_pairs
    systems, x = result.drawn(focus.pair), focus.x

    def at(m: int) -> live.Frame:
        now = replace(focus, result=compute(replace(q, m=m)))
        word, icon, _ = judged.verdict(now.result, x)
        drawn = {
            TILES: pictures.tile_map(now.result, pairs, now, dark=dark),
            CURVE: theme.behind(pictures.curve(now, view, systems, dark=dark), before),
        }
        sentence = icon, f" {word}", f" {headline(now.result, x, short_name)}"
        badge = {".st-key-headline .stMarkdownBadge": pictures.badge(word, dark)}
        frame = live.frame(drawn, sentence, _numbers(now), badge)
        others = {f".st-key-{judged.OTHERS} p": [other_metrics(now.result, x)]}
        return replace(frame, texts={**frame.texts, **others})

    drawn = x, focus.pair, view, tuple(pairs), tuple(systems), pinned, dark
    depends = q.key, result.m_max, *drawn
    stops = choices.stops(1, min(result.m_max, MOST))
    return live.Follows("m", depends, stops, at, lines=False, shared=q.shared)


def _numbers(focus: Focus) -> list[tuple[str, str, str]]:
    """Return label, value and meaning of the four numbers below the picture.

    They are about the metric that the reader chose.
    """
    result, x, metric = focus.result, focus.x, focus.metric
    ordered = np.flatnonzero(result.states[x] != CODES.index("tied"))
    last, lowest, least = result.last_right(x), float("nan"), "any pair"
    if len(ordered):
        pair = int(ordered[result.chances[x][ordered].argmin()])
        lowest, least = float(result.chances[x, pair]), focus.label(pair, system_name)
    true_now, total = int((result.ahead[x][ordered] > TIED).sum()), len(ordered)
    share = f"{true_now} of {total}"
    late = count(int(last)) if 0 < last < np.inf else "–"
    instances = count(max(rank_set.n_instances for rank_set in result.question.sets))
    say = words.say
    return [
        ("Pairs in true order", share, say.in_true_order(metric, true_now, total)),
        ("All right from m", late, say.right_from(metric)),
        ("Lowest chance", in_runs(lowest), say.lowest_chance(metric, least)),
        ("Instances", instances, "Each with its relevant items and its negatives."),
    ]


# ------------------------------------------------------------------------ the explanation "Why?"


def _why(focus: Focus) -> None:
    """Draw the definition of a consistent metric with the page's numbers, and a counterexample.

    A metric is consistent if the expected sampled metric keeps the true order of recommenders
    (Definition 1 of Krichene & Rendle).
    """
    question, metric = focus.result.question, focus.metric
    st.markdown(words.TEXTS["consistent"])
    instances = max(x.n_instances for x in question.sets)
    for step in words.formula(str(metric), question.m, instances):
        st.latex(step)
    st.caption(words.TEXTS["definition"])
    protocol, n = question.protocol, max(int(x.n.max()) for x in question.sets)
    if not protocol.design.uniform:
        st.markdown(words.TEXTS["not by rank"].format(words=protocol.design.words))
        return
    st.markdown(f"#### Smallest counterexample for {metric}, uncorrected")
    m = min(question.m, n - 1) if protocol.design.distinct else question.m
    sampling = Sampling(n, m, protocol.scheme)
    make = partial(counterexample, metric, sampling)
    sets = memory.cached(("counterexample", metric, sampling), make, shared=True)
    if sets is None:
        every = metric.linear and not protocol.design.weighted
        st.markdown(words.TEXTS["no counterexample" if every else "none"].format(metric=metric))
        return
    plain = Protocol.of({"scheme": protocol.scheme})
    names = [x.system for x in sets]
    st.markdown(words.say.counterexample(*names, metric, m))
    every_rank = [np.repeat(x.ranks, x.counts.astype(int)).tolist() for x in sets]
    expected = expected_means([metric], sets, [m], plain)[0, :, 0]
    table = {
        "System": names,
        f"Ranks among {count(n)}": [
            ", ".join(map(count, some[:MOST_RANKS])) + (" …" if len(some) > MOST_RANKS else "")
            for some in every_rank
        ],
        "On all items": map(percent, exact_means([metric], sets, plain)[:, 0]),
        f"Expected, m = {count(m)}": map(percent, expected),
    }
    page.cells(pd.DataFrame(table))
    ranked = zip(names, every_rank, strict=True)
    lines = [f"{name}: {', '.join(map(str, some))}" for name, some in ranked]
    load = partial(ranks.load_text, "\n".join([f"n = {n}", *lines]))
    options: dict[str, Any] = {"icon": ":material/input:", "key": "load_counterexample"}
    options["help"] = "Puts these ranks into the page, in place of yours."
    st.button("Load it", on_click=load, **options)
