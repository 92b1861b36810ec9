"""The page "Correct", if the data are sampled ranks: it estimates metrics on all items."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses import memory
from sampledash.analyses.estimate import pictures, result
from sampledash.analyses.paper.wild import NCF, published_samples
from sampledash.correction import USABLE, usable, weighs
from sampledash.dashboard import page, state
from sampledash.dashboard.estimate import shared
from sampledash.dashboard.ranks import NOT_KNOWN, ask_n
from sampledash.dashboard.uploads import carry, pasted, template, upload
from sampledash.estimation.bounds import decided, side
from sampledash.estimation.rank_distribution import LEARNED, SHAPED, obstacle
from sampledash.rank_sets import RankSet, rank_distribution_at
from sampledash.readers.assemble import Opened
from sampledash.readers.files import EXAMPLES, example, lacks, read_sampled_ranks, samples_of_corpus
from sampledash.readers.pasted import open_text
from sampledash.readers.upload_limits import MissingCandidates, MissingNegatives, ZeroBasedRanks
from sampledash.report import estimates as words
from sampledash.report.escape import escaped, short_name, system_name
from sampledash.report.numbers import count, percent, span, spell
from sampledash.report.sentences import outside
from sampledash.sampled_rank_sets import SampledRankSet, TieRule
from sampledash.simulation import sample_ranks

EXAMPLE, UPLOAD, PASTE = "MovieLens 1M: one run", "Upload a file", "Paste sampled ranks"
PUBLISHED = EXAMPLES[NCF].title
SOURCES = (EXAMPLE, PUBLISHED, UPLOAD, PASTE)
PLACEHOLDER = (
    "m = 100, n = 3706\nsystem,sampled_rank,count\nA,1,310\nA,2,120\nA,7,41\nB,1,290\nB,9,30"
)
MOST_M = 5_000
MOST_SYSTEMS = 8  # largest number of systems on the page, because every two are compared
MOST_IN_LINK = 1_000
TABS = ("Estimates", "True ranks", "Which γ")
VIEWS = ("Every estimator", "Pairs")
#: What the reader says about m, the number of negatives, if instances differ in m -> whether m
#: depended on the drawn negatives; None if unknown (see ``SampledRankSet.adaptive``).
_SAID = {"As the data say": None, "m was set beforehand": False, "The draw decided m": True}
#: Rule for items tied with the relevant item: its name on the page -> its name in
#: :meth:`SampledRankSet.with_ties`.
_TIES = {rule.replace("-", " ").capitalize(): rule for rule in get_args(TieRule)}
# Key of a setting in a link -> its options. ``OFFERED`` also holds the default of each setting.
_NAMES: dict[str, Any] = {"m_set": _SAID, "tied_scores": _TIES, "estimator": result.METHODS}
_NAMES |= {"sampled_source": SOURCES, "estimate_tab": TABS, "estimates_view": VIEWS}
OFFERED = state.offer(_NAMES, {"estimator": result.TOGETHER})
_IN_LINK = "sampled"
CHOICES: dict[str, Any] = {key: default for key, (_, default) in OFFERED.items()}
CHOICES |= {_IN_LINK: "", "draw_seed": 1, **shared.DEFAULTS}
Sets = tuple[SampledRankSet, ...]
_SHIFT = "_sampled_from_0"
# The n (number of candidates) that the page uses while n is unknown, and the text shown for n.
_UNKNOWN = (state.DEFAULTS["n"], NOT_KNOWN)


class Given(NamedTuple):
    """The sampled ranks that the reader chose.

    If the data do not give m (the number of negatives), a slider on the page sets m.
    """

    ident: str  # identifies the data: if their content changes, this value changes
    # The number of candidates n, of the data or typed by the reader, and a text that shows n. None
    # if a slider sets n.
    n: tuple[int, str] | None
    m: str  # text that shows m (number of negatives), or "" if the data lack m and a slider sets m
    read: Callable[[], Sets]
    true: tuple[RankSet, ...] = ()  # the true ranks, if they are known


def show(row: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw the page "Correct" for sampled ranks.

    ``row`` is the container of the choice of what to correct. ``defaults`` holds the default of
    this choice.
    """
    page_defaults, (headline, place, found) = {**defaults, **CHOICES}, shared.places()
    chosen, systems, options = st.container(), st.container(), st.container(horizontal=True)
    # Draw the widgets in ``options`` first: the choice of ranks depends on their values.
    with options:
        bound = page.bound("estimator", shared.HELP["estimator"], width=320)
        st.selectbox("Estimate by", list(result.METHODS), **bound)
        shared.ask_candidates()
    given: Given | page.Problem
    try:
        with chosen:
            given = _choose(row)
    except ValueError as error:
        given = page.Problem.of(error)
    unknown = None if shared.is_corpus() else _UNKNOWN
    n, m = (unknown, "") if isinstance(given, page.Problem) else (given.n, given.m)
    gamma = ["gamma"] * weighs(state.value("estimator", CHOICES))
    shared.bar(place, page_defaults, n, m, *gamma)

    def check() -> result.Question:
        if isinstance(given, page.Problem):
            raise given
        metric = shared.metric_asked()
        method, weight = state.value("estimator", CHOICES), state.current().gamma
        with systems:
            shown = _shown(given.read(), given.ident)
        if not shown:
            raise page.Problem("Choose at least one system to show.", asking=True)
        if method in USABLE:
            usable(method, weight)
        return result.Question(shown, metric, method, weight, given.true, shared.is_corpus())

    def explain(error: ValueError) -> page.Problem:
        if isinstance(error, ZeroBasedRanks) and isinstance(given, Given):
            shift = partial(st.session_state.update, {_SHIFT: given.ident})
            return page.Problem(spell(error), ("The ranks count from 0: add 1", shift))
        if isinstance(error, MissingCandidates | MissingNegatives):
            return page.Problem(spell(error), asking=True)
        return page.Problem.of(error)

    doing = "What these samples leave open"
    asked = check, result.compute, doing, explain
    answer, dim = shared.answered(headline, found, "estimate", *asked)
    if answer is None:
        return
    with found:
        page.strip(_numbers(answer), dim=dim)
    with st.container(key="given_dimmed" if dim else "given"):
        page.tabs(TABS, (_estimates, _true_ranks, _which_gamma), "estimate_tab", answer)


def _choose(row: DeltaGenerator) -> Given:
    """Draw the choice of sampled ranks; return the chosen ranks.

    Raise a ValueError if there are none. ``row`` is the container of the choice.
    """
    help_ = shared.HELP["sampled_source"]
    with row:
        chosen = page.segments("Sampled ranks of", SOURCES, "sampled_source", help=help_)
    if chosen != PASTE:
        carry(_IN_LINK, "")
    if chosen == EXAMPLE:
        return _one_run()
    if chosen == PUBLISHED:
        st.caption(shared.HELP["published"])
        mean, true = shared.mean_n(NCF), tuple(example(NCF))
        return Given(NCF, mean, "98 or 99", lambda: published_samples(shared.scheme()), true)
    if chosen == UPLOAD:
        label, about = shared.HELP["sampled formats"], shared.HELP["sampled_file"]
        button = partial(template, "Template", "sampled.csv", "sampled-ranks.csv", "text/csv")
        asking = "Choose a file of sampled ranks."
        last = upload(label, button, key="sampled_file", help=about, asking=asking)
        ident, parse, called = last.ident, last.parse, last.called
    else:
        (ident, parse), called = _typed(), "the sampled ranks"
    with st.spinner(escaped(f"Reading {called}"), show_time=True):
        opened = memory.cached(("opened", ident), parse, shared=False, large=True)
    n, m = _of_data(opened)
    # Whether items were ranked among all candidates of a test, and these candidates are a sample of
    # a larger corpus. If so, all candidates but the relevant item are the sampled negatives.
    tested = shared.is_corpus() and not any(part.source.sampled for part in opened.tables)
    asked = n is None and (tested or bool(opened.tables and not shared.is_corpus()))
    typed_n = ask_n(ident) if asked else None
    n = n if typed_n is None else (typed_n, f"{count(typed_n)}, as given")
    read = partial(_read, ident, opened, typed_n, tested)
    if tested:
        return Given(ident, None, f"{count(n[0] - 1)}, from the data" if n else "", read)
    return Given(ident, n if shared.is_corpus() else n or _UNKNOWN, m, read)


def _typed() -> tuple[str, Callable[[], Opened]]:
    label = "Sampled ranks: a table with a header, or one system a line"
    field = {"height": 140, "placeholder": PLACEHOLDER, "help": shared.HELP["sampled_typed"]}
    typed = pasted(label, key="sampled_typed", address=_IN_LINK, **field)
    carry(_IN_LINK, typed if len(typed) <= MOST_IN_LINK else "")
    if len(typed) > MOST_IN_LINK:
        st.caption(f"Up to {count(MOST_IN_LINK)} characters travel in a link; these do not.")
    if not typed.strip():
        raise page.Problem("Paste sampled ranks, as in the example.", asking=True)
    return f"typed-{hash(typed)}", lambda: open_text(typed)


def _one_run() -> Given:
    """Draw a field for a random seed; return the sampled ranks of one simulated run.

    The run draws negatives for the bundled true ranks.
    """
    left, right = st.columns([1, 5], vertical_alignment="bottom")
    with left:
        seed = page.whole_number("Seed", "draw_seed", 1, help=shared.HELP["draw_seed"])
    true = tuple(example(result.DATA))

    def read() -> Sets:
        m, drawn = state.current().m, shared.scheme()
        _require_few(m)

        def draw() -> Sets:
            rng = np.random.default_rng(seed)
            return tuple(sample_ranks(ranks, m, rng, fit_scheme=drawn) for ranks in true)

        sets = memory.cached(("run", result.DATA, m, drawn, seed), draw, shared=True)
        right.caption(words.say.about_example(len(true[0]), m, seed))
        return sets

    return Given(result.DATA, shared.mean_n(), "", read, true)


def _of_data(opened: Opened) -> tuple[tuple[int, str] | None, str]:
    """Return n, the number of candidates, and m, the number of negatives, if the data give them.

    n is returned as a number and as a text to show, m as a text only. If the data lack n, return
    None instead; if they lack m, return "".
    """
    frames, n, m = [part.frame for part in opened.tables], None, ""
    lacks_n, lacks_m = lacks(opened) if frames else (True, True)
    if not lacks_n:
        values = np.concatenate([frame["n_candidates"] for frame in frames])
        mean = round(float(values.mean()))
        n = mean, f"{count(mean)}, {'from the data' if np.ptp(values) == 0 else 'mean'}"
    if not lacks_m:
        values = np.concatenate([frame["negatives"] for frame in frames])
        m = f"{span(values.min(), values.max())}, from the data"
    return n, m


def _read(ident: str, opened: Opened, n: int | None, tested: bool) -> Sets:
    """Return the sampled ranks in the data.

    ``n`` is the number of candidates, for data that lack it. ``tested`` says that
    items were ranked among all candidates of a test, which are a sample of a larger corpus.
    """
    settings, (_, lacks_m) = state.current(), lacks(opened)
    if lacks_m and not tested:
        _require_few(settings.m)
    options: dict[str, Any] = {"zero_based": st.session_state.get(_SHIFT) == ident}
    if shared.is_corpus():
        make: Callable[..., list[SampledRankSet]] = samples_of_corpus
        size = n if tested else settings.m + 1 if lacks_m else None
        options |= {"n": settings.n, "candidates": size}
    else:
        make = read_sampled_ranks
        options |= {"n": n, "m": settings.m if lacks_m else None, "scheme": settings.scheme}
    key = ("sampled", ident, *options.items())
    sets = memory.cached(key, lambda: tuple(make(opened, **options)), shared=False, large=True)
    _require_few(max(x.outcomes.m[-1] for x in sets))
    read = words.say.understood([short_name(x.system) for x in sets], sum(map(len, sets)))
    st.caption(escaped(read))
    return sets


def _require_few(m: int) -> None:
    if m > MOST_M:
        advice = f"take m <= {MOST_M}, or call sampledash.estimate from Python"
        raise ValueError(f"m = {m} is more than this page estimates from: {advice}")


def _shown(sets: Sets, ident: str) -> Sets:
    """Return the systems to show; if there are many, the reader chooses some.

    If it is unclear why instances differ in m, the number of negatives, ask the reader.
    """
    doubtful = [x for x in sets if x.readings[-1].adaptive]
    if doubtful and (adaptive := _said(doubtful)) is not None:
        sets = tuple(replace(x, adaptive=adaptive) for x in sets)
    if any(x.ties.any() for x in sets):
        page.segments("Ties read", tuple(_TIES), "tied_scores", help=shared.HELP["tied_scores"])
        rule = _TIES[state.value("tied_scores", CHOICES)]
        sets = tuple(x.with_ties(rule) for x in sets)
    total = len(sets)
    if total <= MOST_SYSTEMS:
        return sets
    chosen = st.multiselect(
        f"Systems shown, up to {MOST_SYSTEMS} of {count(total)}",
        range(total),
        default=range(MOST_SYSTEMS),
        format_func=lambda place: sets[place].system,
        max_selections=MOST_SYSTEMS,
        key=f"shown_{ident}_{total}",
        persist_state="session",
        help="Every pair of them is compared.",
    )
    return tuple(sets[place] for place in sorted(chosen))


def _said(doubtful: list[SampledRankSet]) -> bool | None:
    """Ask the reader whether the number of negatives m depended on the drawn negatives.

    Return None if the reader does not say. The page asks, because m correlates with the sampled
    rank in the rank sets ``doubtful``.
    """
    chosen = _SAID[state.value("m_set", CHOICES)]
    if chosen is None:
        chances = [x.chance_if_set for x in doubtful if x.adaptive is None]
        names = [short_name(x.system) for x in doubtful]
        note = words.goes_with_rank(names, max(chances, default=None))
        st.info(escaped(note), icon=":material/info:")
    page.segments("Why m differs", tuple(_SAID), "m_set", help=shared.HELP["m_set"])
    return chosen


def _numbers(answer: result.Result[result.Question]) -> list[tuple[str, str, str]]:
    """Return label, value and meaning of the numbers below the picture."""
    q, total = answer.question, len(answer.pairs)
    widest = max(row.free[1] - row.free[0] for row in answer.rows)
    falling = f"{decided(pair.falling for pair in answer.pairs)} of {total}"
    if not any(pair.falling for pair in answer.pairs):
        falling = "not offered" if q.adaptive else "contradicted"
    free = f"{decided(pair.free for pair in answer.pairs)} of {total}"
    pairs = [("Pairs decided", free, shared.HELP["free"])]
    pairs.append(("If ranks fall off", falling, shared.HELP["falling"]))
    about = f"Widest range of {q.metric} that one system's samples allow."
    rows = [("Left open", f"{100 * widest:.2f} points", about)]
    largest = count(max(x.n_instances for x in q.sets))
    rows.append(("Sampled ranks", largest, "Of a system, its instances counted."))
    return pairs + rows if total else rows


def _estimates(answer: result.Result[result.Question]) -> None:
    """Draw the table that the reader chose: estimates by all estimators, or pairs of systems."""
    if page.segments("Estimates", VIEWS, "estimates_view", hidden=True) == VIEWS[1]:
        _pairs(answer)
        return
    table, wanted = result.estimates(answer), list(result.offered(answer.question))
    known = {"exact": "**on all items**"} if answer.question.true else {}
    printed = {"Estimator": [*wanted, *known.values()]}
    for row, values in zip(answer.rows, table[[*wanted, *known]].to_numpy(float), strict=True):
        printed[system_name(row.name)] = list(map(percent, values))
    page.cells(pd.DataFrame(printed))
    for note in outside({name: table[name].tolist() for name in wanted}):
        st.caption(escaped(note))
    page.take(table, "estimates")
    _price(answer.question)


def _price(q: result.Question) -> None:
    """Draw, on request, an estimate of how many scores the exact metric needs per instance."""
    if q.metric.k is None:
        return
    label, about = "What would the exact value cost?", "Scores until each instance is decided."
    if not page.asked((q.metric, *(x.digest for x in q.sets)), "price", label, about):
        return
    with page.progress("What stopping when decided would cost") as report:
        prices = []
        for done, samples in enumerate(q.sets):
            report(done / len(q.sets))
            prices.append(q.price(samples))
    st.markdown(escaped(words.say.price(q.metric, short_name(q.sets[0].system), *prices[0])))
    columns = ["these_low", "these_high", "more_low", "more_high"]
    table = pd.DataFrame(np.reshape(prices, (-1, 4)), columns=columns)
    table.insert(0, "system", [x.system for x in q.sets])
    table["all_candidates"] = [x.population - 1 for x in q.sets]
    printed = {
        "System": table["system"].map(system_name),
        "Scores, these instances": [words.say.scores(*these) for these, _ in prices],
        "Scores, more like them": [words.say.scores(*more) for _, more in prices],
        "All candidates, on average": table["all_candidates"].map(count),
    }
    page.table(pd.DataFrame(printed), table, "price")


def _pairs(answer: result.Result[result.Question]) -> None:
    """Draw a table of all pairs of systems, with ranges of their difference in the exact metric.

    The first range of a pair needs no assumption; the second assumes that no rank is rarer than the
    next worse rank.
    """
    if not answer.pairs:
        raise ValueError("one system alone has no pair: add the sampled ranks of a second one")
    table = result.pair_ranges(answer)
    first, second = table["first"].map(system_name), table["second"].map(system_name)
    low, high = table["low"], table["high"]
    printed = {
        "Pair": first + " − " + second,
        "Assumption": table["assumption"],
        "Difference lies in": list(map(words.span, low, high)),
        "So": list(map(words.say.told, first, second, map(side, zip(low, high, strict=True)))),
    }
    page.table(pd.DataFrame(printed), table, "pairs")


def _true_ranks(answer: result.Result[result.Question]) -> None:
    """Draw the estimated distribution of the true ranks of the relevant items."""
    q = answer.question
    grid, estimated = q.shares_below()
    exact = {x.system: np.asarray(rank_distribution_at(x, grid, ties="expected")) for x in q.true}
    fig = pictures.ranks_below(grid, estimated, exact, dark=page.is_dark())
    alt = f"Share of relevant items up to each true rank of {len(estimated)} systems."
    page.picture(fig, key="estimate_below", alt=alt)
    free = [short_name(x.system) for x in q.sets if q.learned_by(x) != SHAPED]
    about = f"{shared.HELP['true ranks']} {words.say.without_shape(free)}"
    st.caption(escaped(about) + " Dashed: as it is." * bool(exact))


def _which_gamma(answer: result.Result[result.Question]) -> None:
    """Draw bias, standard deviation and error of a corrected metric against γ.

    γ is the weight of the variance in the bias-variance correction. The picture helps to choose γ.
    """
    q = answer.question
    names = [x.system for x in q.sets]
    place = names.index(st.selectbox("System", names, key="gamma_of")) if len(names) > 1 else 0
    samples = q.sets[place]
    if reason := words.say.no_gamma() if samples.readings[-1].adaptive else obstacle([samples]):
        raise ValueError(reason)
    table = q.gammas(samples)
    best, least = (table.iloc[int(table[name].argmin())] for name in ("mse", "gamma"))
    st.markdown(f"**{words.say.best_gamma(q.metric, best, table.iloc[0])}**")
    fig = pictures.errors_over_gamma(table, dark=page.is_dark())
    alt = f"Bias, scatter and error over γ; least at γ = {best['gamma']:g}."
    page.picture(fig, key="estimate_gamma", alt=alt)
    st.caption(words.say.price_of_gamma(least, LEARNED[q.learned_by(samples)].label))
    page.take(table, "gamma")
