"""The Explore page: a metric at one true rank, exact and on sampled negatives."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from sampledash.analyses import choices, theme
from sampledash.analyses.explore import pictures, words
from sampledash.analyses.explore import result as results
from sampledash.analyses.explore.result import LARGEST_POSTERIOR, Question, Result
from sampledash.catalogue import Catalogue
from sampledash.dashboard import live, page, pins, sliders, state
from sampledash.grids import LIVE, MOST, rank_grid
from sampledash.report.numbers import count, decimal, percent
from sampledash.report.sentences import cutoff_holds_all
from sampledash.sampling import Sampling

VIEWS: dict[str, int | None] = {"all ranks": None, "top 1,000": 1_000, "top 100": 100}
TABS = ("One draw", "Law", "Family")
PICTURE = "explore_curves"
FAMILY = (10, 100, 1_000)
# Each pin (settings that the reader keeps for comparison): its name, and the picture of its result.
Before = Sequence[tuple[str, theme.Picture]]
MOST_DRAWS = 100_000
_POPULARITY = "popularity"  # label of a scheme; old links mean choices.ODDS by this label
DEFAULTS: dict[str, Any] = {"rank": 100, "view": "all ranks"}
# Further settings that links to the Explore page can hold, besides ``DEFAULTS`` -> their defaults.
MORE: dict[str, Any] = {"tab": TABS[0], "turn": False, "why": False, "draws": 30, "draws_seed": 1}


def show() -> None:
    """Draw the Explore page."""
    asked = st.query_params
    # In old links, the label "popularity" means the sampling scheme ``choices.ODDS``. A link is old
    # if its version ``v`` is 1, or if it has a parameter ``odds`` but no version.
    if asked.get("scheme") == _POPULARITY and asked.get("v", "1" * ("odds" in asked)) == "1":
        asked.update(scheme=choices.ODDS, v=state.VERSION)
        st.rerun()
    offered: dict[str, Any] = {"scheme": [*choices.offered(choices.CATALOGUE), choices.ODDS]}
    offered |= {"view": VIEWS, "tab": TABS, "focus": choices.CHIPS}
    state.stamp(state.offer(offered, {"focus": "the first metric"}))
    with st.container(horizontal=True, vertical_alignment="center", key="above"):
        sliders.metrics()
        about = "All ranks on a logarithmic axis, or the first ones on an even axis."
        page.segments("Ranks", VIEWS, "view", help=about)
    live.listen()
    _answer()
    live.below(_below)


@st.fragment
def _answer() -> None:
    """Draw the bar of sliders, and everything that depends on the sliders."""
    headline, bar = st.container(key="headline"), sliders.place()
    picture, controls = st.container(key="picture"), live.controls(partial(_controls, bar))
    doing = "Computing the metrics"
    result, problem = page.answer("explore", _check, results.compute, lambda _: doing)
    dim, dark, q = problem is not None, page.is_dark(), None if result is None else result.question
    given, about = {**DEFAULTS, "focus": None}, lambda x: [str(x.focus), f"r = {count(x.rank)}"]
    pinned, draw_pins = pins.pins(q, _check, results.compute, given, about)
    if result is not None and q is not None:
        s, many = q.sampling, len(q.metrics)
        alike = (x for x in pinned if len(x.question.metrics) == many)
        before = [(x.name, _drawn(x.answer, dark)) for x in alike]
        sentences = (words.say.picture(x, q.rank, s, *result.at_rank(x)[:2]) for x in q.metrics)
        fig, alt = _drawn(result, dark, before), " ".join(sentences)
        with picture:
            page.panels(fig, many, key=PICTURE, alt=alt, dim=dim, drags="rank")
            for metric in q.metrics:
                for note in cutoff_holds_all(metric, s.n, s.m):
                    st.caption(note)
            pins.note(pinned)
    with headline:
        page.note(DEFAULTS)
        if state.value("scheme") == choices.ODDS:
            st.caption(words.say.odds_replaced(state.value("odds")))
        if result is not None:
            page.say(_sentence(result), dim=dim, about="earlier settings")
    page.tell(problem, bar.whole)
    controls()
    focus = next(iter(state.current().chips), None)  # default metric of the page's main sentence
    with bar.row:
        draw_pins()
        page.copy_link({**DEFAULTS, "focus": focus, **MORE})
    if result is None or q is None:
        live.follow()
        return
    page.strip(_numbers(result), _numbers(pinned[-1].answer) if pinned else (), dim=dim)
    known = tuple((x.name, x.question) for x in pinned)
    live.follow(result, () if dim else _follows(q, before, known, dark), (q, dim))


def _below(result: Result) -> None:
    """Draw the part of the page below the pictures: explanation, download and tabs."""
    page.why(lambda: _why(result))
    page.download("Download data", result.csv, "sampledash-explore.csv", "text/csv")
    page.tabs(TABS, (_one_draw, _law, _family), "tab", result)


def _follows(q: Question, before: Before, pinned: Hashable, dark: bool) -> list[live.Follows]:
    """Return pictures, sentence and numbers for the steps of the sliders.

    With a scheme that draws by stratum or by class of equal weight, return them for the slider of
    the true rank only, because a step of another slider takes long. ``before`` holds pictures for
    settings that the reader pinned for comparison; ``pinned`` identifies these settings in a cache
    key. While the reader drags the slider of n (candidates), the axis of the ranks still ends at
    the old n.
    """
    now, rank, distinct = state.current(), q.rank, q.sampling.design.distinct
    most = min(LIVE, now.n - 1) if distinct else LIVE
    least = max(now.m + 1 if distinct else 2, rank, now.k)
    stops: dict[str, Sequence[float]] = {
        "m": choices.stops(1, most),
        "n": choices.stops(least, choices.NUMBERS["n"].high, (1, 2, 5)),
        "rank": choices.stops(1, now.n),
    }
    if sliders.uses_cutoff():
        stops["k"] = choices.stops(1, now.n, (1, 2, 3, 5))
    if q.sampling.design.by_class is not None:
        stops = {"rank": stops["rank"]}
    elif isinstance(q.sampling, Catalogue):
        stops |= {"zipf": [x / 20 for x in range(41)], "bestsellers": [x / 20 for x in range(21)]}
    elif q.sampling.design.weighted:
        stops["odds"] = [x / 100 for x in choices.stops(1, 10_000)]

    def frame(key: str, number: float) -> live.Frame:
        if key == "rank":
            question = replace(q, rank=int(number))
        else:
            question = _question(now.at(key, number), rank)
        there = results.compute(question)
        return live.frame({PICTURE: _drawn(there, dark, before)}, _sentence(there), _numbers(there))

    follows = []
    for key, numbers in stops.items():
        others = (now.at(key, 0), rank) if key != "rank" else (now,)
        depends = others, q.focus.name, q.top, pinned, dark
        draw = partial(frame, key)
        follows.append(live.Follows(key, depends, numbers, draw, lines=key != "rank"))
    return follows


def _controls(bar: sliders.Bar) -> None:
    """Draw the bar of sliders, with the choice of a metric for the page's main sentence."""
    numbers = ("m", "n", "k", "rank") if sliders.uses_cutoff() else ("m", "n", "rank")
    sliders.bar(bar, *numbers, sets=choices.CATALOGUE, defaults=DEFAULTS)
    if len(chips := state.current().chips) > 1:
        with bar.row:
            about = "The metric of the sentence, the numbers and the tabs below."
            options: dict[str, Any] = {"width": 150, "label_visibility": "collapsed", "help": about}
            st.selectbox("In words and numbers", chips, key="focus", bind="query-params", **options)


def _check() -> Question:
    """Return the settings as a Question; raise a ValueError if a setting is invalid."""
    settings = state.current()
    sampling, metrics = settings.drawn(), settings.metrics
    m, by_class = sampling.m, sampling.design.by_class is not None
    if m > (most := LIVE if by_class else MOST):
        by = f" {sampling.design.words}" * by_class
        python = ", or call sampledash.expected from Python" * (not by_class)
        raise ValueError(f"m = {m} is more than this page draws{by}: take m ≤ {most}{python}")
    if not metrics:
        raise ValueError("no metric is chosen: pick at least one above the picture")
    rank = int(state.value("rank", DEFAULTS))
    metrics[0](rank, sampling.n)  # raises a ValueError for a rank that is not in 1..n
    if sampling.design.anew:  # the pictures of other schemes take only a third of a second
        page.require_agreed(sampling, m, "some seconds")
    return _question(settings, rank)


def _question(settings: state.Settings, rank: int) -> Question:
    chip, metrics = state.value("focus", {"focus": None}), settings.metrics
    focus = metrics[settings.chips.index(chip)] if chip in settings.chips else metrics[0]
    top = VIEWS[state.value("view", DEFAULTS)]
    return Question(metrics, settings.drawn(), rank, top, focus)


def _sentence(result: Result) -> str:
    q = result.question
    return words.sentence(q.focus, q.rank, q.sampling, *result.at_rank(q.focus))


def _drawn(result: Result, dark: bool, before: Before = ()) -> theme.Picture:
    """Return the picture, which has a panel per metric.

    Curves of ``before``, for settings that the reader pinned for comparison, are behind the others.
    """
    metrics = result.question.metrics
    every = [pictures.expected_curve(result, metric, dark=dark) for metric in metrics]
    return theme.behind(theme.beside(every), before)


def _numbers(result: Result) -> list[tuple[str, str, str]]:
    """Return label, value and meaning of the numbers below the picture."""
    q = result.question
    exact, mean, std = result.at_rank(q.focus)[:3]
    return [
        (f"{q.focus}, exact", percent(exact), "Over all candidates."),
        (f"{q.focus}, sampled", percent(mean), "Expectation over the draw of negatives."),
        ("Scatter of one draw", percent(std), "Standard deviation over the draw."),
        ("Sampled rank, mean", decimal(q.seen), "Expected rank among the drawn negatives."),
    ]


def _why(result: Result) -> None:
    """Draw the formula of the expected sampled metric, with the numbers of the picture put in."""
    q = result.question
    exact, mean = result.at_rank(q.focus)[:2]
    if isinstance(q.sampling, Catalogue):
        st.markdown(words.say.catalogue(q.sampling))
    st.markdown(words.looks_like(q.focus, q.rank, q.sampling))
    for step in words.formula(q.focus, q.rank, q.sampling, exact, mean):
        st.latex(step)
    st.caption(words.say.source(q.focus))


def _more(draws: int) -> None:
    st.session_state["draws"] = min(state.value("draws", MORE) + draws, MOST_DRAWS)


def _one_draw(result: Result) -> None:
    """Show the last sample of negatives, and a histogram of the sampled ranks of all samples."""
    q = result.question
    sampling, rank, focus = q.sampling, q.rank, q.focus
    catalogue = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Draw again", icon=":material/casino:", on_click=_more, args=(1,))
        st.button("Draw 100", on_click=_more, args=(100,))
        about = "The last one is shown; more keep the earlier."
        most, options = MOST_DRAWS, {"width": 130}
        done = page.whole_number("Draws", "draws", MORE["draws"], 1, most, help=about, **options)
        about = "Another seed draws other negatives."
        seed = page.whole_number("Seed", "draws_seed", MORE["draws_seed"], help=about, **options)
    seen = results.sampled_ranks(sampling, rank, seed, done)
    last = int(seen[-1])
    with catalogue:
        sentence = words.one_draw(focus, last - 1, sampling)
        st.markdown(sentence)
        if isinstance(sampling, Sampling):
            drawn = results.negatives(sampling, rank, last, seed, done)
            fig = pictures.catalogue(sampling.n, rank, drawn, dark=page.is_dark())
            page.picture(fig, key="explore_catalogue", alt=sentence)
    if done > 1:
        values = focus.of_above(seen - 1, sampling.m) * focus.scale(1)
        expected = result.at_rank(focus)[1]
        st.markdown(words.say.many_draws(focus, float(values.mean()), expected, done))
    st.caption("Bars: the sampled ranks drawn so far. Dots: their law.")
    p, k, mean = results.law(sampling, rank), focus.cut(sampling.m), float(seen.mean())
    fig = pictures.law(p, k=k, mean=mean, observed=seen, dark=page.is_dark())
    alt = f"Shares of the sampled ranks in {count(done)} draws as bars, their law as dots."
    page.picture(fig, key="explore_histogram", alt=alt)


def _law(result: Result) -> None:
    """Draw the distribution of the sampled rank, given the true rank.

    On request, also draw the posterior distribution of the true rank, given a sampled rank.
    """
    q, s = result.question, result.question.sampling
    p = results.law(s, q.rank)
    st.markdown(words.law(q.focus, q.rank, s, p.tolist()))
    fig = pictures.law(p, k=q.focus.cut(s.m), mean=q.seen, dark=page.is_dark())
    alt = f"Law of the sampled rank of true rank {count(q.rank)}, mean {q.seen:.2f}."
    page.picture(fig, key="explore_law", alt=alt)
    if isinstance(s, Catalogue) or s.n > LARGEST_POSTERIOR:
        few = f"up to n = {count(LARGEST_POSTERIOR)}"
        where = "for other negatives" if isinstance(s, Catalogue) else few
        st.caption(f"Turning it round (which true rank?) is shown {where}.")
        return
    asked = "Turn it round: which true rank is behind the likeliest sampled rank?"
    if not st.toggle(asked, key="turn", bind="query-params"):
        return
    seen = int(np.argmax(p)) + 1
    below = results.posterior(s, seen)
    low, high = (int(np.searchsorted(below, share)) + 1 for share in (0.05, 0.95))
    st.markdown(words.say.turned_round(seen, low, high))
    grid = rank_grid(s.n, keep=[q.rank])
    fig = pictures.posterior(grid, below[grid - 1], at=q.rank, dark=page.is_dark())
    alt = f"Probability that the true rank is at most r, given sampled rank {count(seen)}."
    page.picture(fig, key="explore_posterior", alt=alt)


def _family(result: Result) -> None:
    """Draw the expected sampled metric at each true rank, with 10, 100, 1,000 and all negatives."""
    q, n = result.question, result.question.sampling.n
    curves, at_rank = results.family(q, FAMILY)
    sentence = words.say.family(q.focus, q.rank, at_rank, float(q.focus(q.rank, n)))
    st.markdown(sentence)
    exact, log, dark = q.focus(q.ranks, n), q.top is None, page.is_dark()
    fig = pictures.family(q.focus, q.ranks, exact, curves, at=q.rank, log=log, dark=dark)
    page.picture(fig, key="explore_family", alt=sentence)
