"""The Lab page: it splits interactions, trains recommenders, and analyses their ranks.

While the settings of a step, such as the split, are invalid, the page uses the last valid result of
the step. Trained recommenders stay in the session. If a change of a setting interrupts a training,
the training continues once the page is drawn again.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from time import monotonic
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from sampledash.analyses import memory
from sampledash.analyses.consistency.result import Focus, Result
from sampledash.analyses.consistency.words import weakest_order
from sampledash.analyses.lab import pictures, words
from sampledash.analyses.lab import result as lab
from sampledash.analyses.sliding import slopes
from sampledash.analyses.source import Source
from sampledash.comparison.means import exact_means
from sampledash.dashboard import judged, page, ranks, sliders, state
from sampledash.dashboard.ranks import UPLOAD
from sampledash.dashboard.uploads import LOST, Upload, lost, uploaded_file
from sampledash.lab.interactions import Interactions, synthetic
from sampledash.lab.ranking import require_candidates
from sampledash.lab.reading import OpenedInteractions, open_interactions
from sampledash.lab.splits import Split, split
from sampledash.protocol import Protocol
from sampledash.rank_sets import RankSet
from sampledash.readers.frame import Facts
from sampledash.report.escape import escaped, short_name
from sampledash.report.numbers import listed, percent, spell
from sampledash.report.sentences import ranking
from sampledash.report.tables import as_csv, ranks_table

T = TypeVar("T")

SYNTHETIC = "A small synthetic world"
FILE = "lab-ranks.csv"
TABS = ("Other negatives", "Steck's sweeps", "Why not RMSE")
KNOBS = {name: "knobs_" + re.sub(r"\W+", "_", name.lower()) for name in lab.OFFERED}
_NAMES = {"interactions": (SYNTHETIC, UPLOAD), "split": lab.SPLITS, "seen": lab.SEEN}
_NAMES |= {"recommenders": lab.OFFERED, "sweep": lab.SWEEPS, "lab_tab": TABS}
CHOICES = state.offer(_NAMES, {"recommenders": lab.FIRST})
DEFAULTS: dict[str, Any] = {key: default for key, (_, default) in CHOICES.items()}
DEFAULTS |= {KNOBS[name]: text for name, text in lab.OFFERED.items()}
DEFAULTS |= {"least_rating": None, "lab_seed": 0}
_JOB, _MADE, _SHOWN = "_lab_job", "_lab_made", "_lab_shown"
_NO_COLUMN = "(none)"
_ROLES = {"user": "Users", "item": "Items", "rating": "Ratings", "time": "Time"}
_KEPT: dict[str, Any] = {"persist_state": "session", "width": 140}
_OFTEN = 0.1  # seconds between two updates of the progress bars
_MOST_LINES = 6  # largest number of systems in the slope chart, which has a line per system
_LONGEST = 11  # a name of a system in the slope chart is cut to this many characters


def show() -> None:
    """Draw the Lab page: data and recommenders on the left, the results on the right."""
    state.stamp(CHOICES)
    left, right = st.columns([6, 7], gap="large")
    with left:
        setup, chosen = None, list[lab.Wanted]()
        if (parted := _split()) is not None:
            chosen, seed = _chosen()
            setup = lab.Setup(*parted, seed)
            _train(setup, chosen)
    source, beware = _source(setup, chosen)
    with right:
        page.note(DEFAULTS)
        bars = st.container()
        if beware:
            st.warning(beware, icon=":material/history:")
        answer = _found(source)
    job: lab.Job | None = st.session_state.get(_JOB)
    if setup is not None:
        if job is not None and job.tasks[0].key in map(setup.key, lab.SWEEPS):
            bars = st.container()  # progress bars of a hyperparameter sweep are near its button
        page.tabs(TABS, (partial(_designs, source, answer), _sweeps, _toy), "lab_tab", setup)
    with bars:
        go_on = _working(job, setup, chosen)
    go_on()


def _kept(key: str, make: Callable[[], T]) -> T | None:
    """Return the result of ``make``, and store it in the session as ``key``.

    If ``make`` fails, draw the error and return the stored result.
    """
    try:
        st.session_state[key] = make()
    except ValueError as error:
        page.Problem.of(error).show()
        if st.session_state.get(key) is not None:
            st.caption("Until then all stays as it was.")
    last: T | None = st.session_state.get(key)
    return last


# -------------------------------------------------------------------------------- interactions


def _split() -> tuple[Split, float | None] | None:
    """Draw the choice of data and of their split into training and test items.

    Return the split and the lowest rating of relevant items. This rating is None if all test items
    are relevant. Return a single None if there are no data yet or no split.
    """
    data = _kept("_lab_data", _interactions)
    if data is None:
        return None
    # The text is cached, because counting a million interactions takes 0.1 seconds.
    st.caption(memory.cached((words.data, data.digest), lambda: words.data(data), shared=False))
    least = None
    with st.container(horizontal=True):
        held_out = page.segments("Held out", lab.SPLITS, "split", help=words.TEXTS["split"])
        seen = page.segments("Seen items", lab.SEEN, "seen", help=words.TEXTS["seen"])
        if data.rating is not None:
            bound = page.bound("least_rating", words.TEXTS["least"], width=180, placeholder="any")
            least = st.number_input("Relevant: rated at least", value=None, format="%.6g", **bound)

    def parts() -> tuple[str, Split]:
        rule = lab.SPLITS[held_out] + lab.SEEN[seen]

        def make() -> Split:
            made = split(data, rule)
            require_candidates(made, made.test)
            return made

        return held_out, ranks.once("_lab_split", (data.digest, rule), make, "Splitting")

    parted = _kept("_lab_parts", parts)
    if parted is None:
        return None
    held_out, found_parts = parted
    key = words.split, held_out, found_parts.data, found_parts.text, least
    st.caption(memory.cached(key, lambda: words.split(held_out, found_parts, least), shared=False))
    return found_parts, least


def _interactions() -> Interactions:
    about, offered = words.TEXTS["interactions"], (SYNTHETIC, UPLOAD)
    if page.segments("Interactions", offered, "interactions", help=about) == SYNTHETIC:
        return memory.once(synthetic)()
    label = "A row for each interaction: user, item, and if known rating and timestamp"
    key = "interactions_file"
    if (last := uploaded_file(label, key=key, help=words.TEXTS["interactions file"])) is None:
        asking = "Choose a file of interactions to train on."
        raise page.Problem(LOST if lost(key) else asking, asking=not lost(key))
    return _read(last)


def _read(file: Upload) -> Interactions:
    """Read a file, with the columns and options that the reader chose in the file's preview."""
    columns = {role: st.session_state.get(f"lab_{role}_{file.ident}") for role in _ROLES}
    given: Any = {role: "" if name == _NO_COLUMN else name for role, name in columns.items()}

    def parse() -> OpenedInteractions:
        return open_interactions(BytesIO(file.contents[0]), name=file.names[0], **given)

    preview = st.expander("What was understood", icon=":material/fact_check:")
    opened: OpenedInteractions | None = None
    try:
        key, doing = (file.ident, repr(given)), "Reading the interactions"
        opened = ranks.once("_lab_opened", key, parse, doing)
        with preview:
            choices = _choices(file.ident, opened)
        key_, make = (*key, repr(choices)), partial(opened.read, **choices)
        read: tuple[Interactions, Facts] = ranks.once("_lab_read", key_, make, doing)
        with preview:
            for doubt in read[1].doubts:
                st.warning(escaped(doubt), icon=":material/help:")
            st.markdown("\n".join(ranks.file_lines(read[1])))
        if read[1].notes:  # such as the number of repeated interactions that are left out
            st.caption(escaped(" ".join(read[1].notes)))
        return read[0]
    finally:
        with preview:
            _columns(file.ident, opened)


def _columns(ident: str, opened: OpenedInteractions | None) -> None:
    """Draw the choice of a file's columns: which one holds the users, the items, the ratings ...?

    If the file cannot be read, the reader types names of columns.
    """
    known: dict[str, tuple[str, ...]] = st.session_state.setdefault("_lab_columns", {})
    if opened is not None:
        known[ident] = opened.columns
    names = list(known.get(ident, ()))
    roles = {} if opened is None else {str(role): name for role, name in opened.chosen.items()}
    with st.container(horizontal=True):
        for role, label in _ROLES.items():
            spare = [_NO_COLUMN] if role in ("rating", "time") else []
            read = "" if opened is None else roles.get(role, "none")
            hint, options = read or "name it", {"index": None, "accept_new_options": True, **_KEPT}
            key = f"lab_{role}_{ident}"
            st.selectbox(f"{label} in", [*names, *spare], key=key, placeholder=hint, **options)


def _choices(ident: str, opened: OpenedInteractions) -> dict[str, Any]:
    """Draw and return the options that decide which interactions and ratings of a file are used."""
    options: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for option, label in (("per_user", "Least of a user"), ("per_item", "Least of an item")):
            key, about = f"lab_{option}_{ident}", words.TEXTS["core"]
            options[option] = st.number_input(label, 1, None, 1, 1, key=key, help=about, **_KEPT)
        about, key = words.TEXTS["repeats"], f"lab_duplicates_{ident}"
        of_repeats = "last", "first", "all"
        options["duplicates"] = st.selectbox("Of repeats", of_repeats, key=key, help=about, **_KEPT)
        if opened.interactions.rating is not None:
            arguments: Any = {"key": f"lab_implicit_{ident}", "help": words.TEXTS["implicit"]}
            options["implicit"] = st.toggle("Ignore ratings", persist_state="session", **arguments)
    return options


# -------------------------------------------------------------------------------- recommenders


def _chosen() -> tuple[list[lab.Wanted], int]:
    """Draw the choice of recommenders and of the random seed; return both.

    If the reader types invalid hyperparameters of a recommender, its last valid ones are used.
    """
    about = words.TEXTS["recommenders"]
    chosen = page.chips("Recommenders", lab.OFFERED, "recommenders", lab.FIRST, about)
    recommenders: list[lab.Wanted] = []
    place = st.container()
    with st.expander("Their knobs, as in the papers", icon=":material/tune:"):
        for chip in (chip for chip in lab.OFFERED if chip in chosen):
            bound = page.bound(KNOBS[chip], words.knobs(lab.OFFERED[chip]))
            text = st.text_input(chip, lab.OFFERED[chip], **bound)
            with place:
                good = _kept(f"_good_{KNOBS[chip]}", partial(_parsed, chip, text or ""))
            if good is not None and good.system not in (x.system for x in recommenders):
                recommenders.append(good)
        about = "Of first factors and other random choices: the same seed gives the same ranks."
        seed = page.whole_number("Seed", "lab_seed", 0, most=2**31, help=about)
    return recommenders, seed


def _parsed(chip: str, text: str) -> lab.Wanted:
    try:
        return lab.wanted(chip, text)
    except ValueError as error:
        raise ValueError(f"{chip}: {error}") from None


def _made() -> lab.Made:
    made: lab.Made = st.session_state.setdefault(_MADE, {})
    return made


def _busy() -> bool:
    """Whether a training is unfinished, even if the reader has halted it."""
    job: lab.Job | None = st.session_state.get(_JOB)
    return job is not None and not job.done


def _train(setup: lab.Setup, chosen: list[lab.Wanted]) -> None:
    """Draw the button that starts training, and say which recommenders are not trained yet."""
    missing = [x for x in chosen if setup.key(x) not in _made()]

    def begin() -> None:
        st.session_state[_JOB] = lab.Job(list(map(setup.training, missing)), _made())

    disabled = _busy() or not missing
    options: dict[str, Any] = {"icon": ":material/model_training:", "key": "train"}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Train and rank", on_click=begin, disabled=disabled, type="primary", **options)
        page.copy_link(DEFAULTS)
        if sentence := words.say.missing([x.system for x in missing], len(chosen)):
            st.caption(sentence)


def _working(
    job: lab.Job | None, setup: lab.Setup | None, chosen: list[lab.Wanted]
) -> Callable[[], None]:
    """Draw the progress of a training; return a function that continues the training.

    The function does nothing if the training is done or halted. Otherwise it goes on until the
    training is done, the sweep over a hyperparameter has a new result, or the reader changes a
    setting. Then it restarts the page.
    """
    if job is None:
        return lambda: None
    if setup is not None:
        asked = {setup.key(x): x.system for x in chosen}
        asked |= {setup.key(knob): f"Sweep of {knob}" for knob in lab.SWEEPS}
        failures: dict[str, list[str]] = {}
        for key in (key for key in asked if key in job.failed):
            failures.setdefault(spell(job.failed[key]), []).append(asked[key])
        for sentence, systems in failures.items():
            page.Problem(f"{listed(systems)}: {sentence}").show()
    if job.done:
        return lambda: None

    def drop() -> None:
        st.session_state[_JOB] = None

    def turn() -> None:
        job.halted = not job.halted

    bars = [st.progress(0.0) for _ in job.tasks]

    def draw(place: int) -> None:
        share, left = job.shares[place], job.left if place == job.place else None
        text = words.say.working(job.tasks[place].name, share, left, halted=job.halted)
        bars[place].progress(share, text)

    for place in range(len(bars)):
        draw(place)
    with st.container(horizontal=True):
        if job.halted:
            st.button("Go on", icon=":material/play_arrow:", key="go_on", on_click=turn)
            st.button("Give up", icon=":material/close:", key="give_up", on_click=drop)
        else:
            st.button("Halt", icon=":material/pause:", key="halt", on_click=turn)

    def go_on() -> None:
        points, drawn = sum(map(len, job.points.values())), 0.0
        while not (job.done or job.halted):
            before = job.place
            with memory.turn():
                job.advance()
            if monotonic() < drawn + _OFTEN and job.place == before:
                continue
            drawn = monotonic()
            for place in range(before or 0, len(bars) if job.place is None else job.place + 1):
                draw(place)
            state.give_way()
            if sum(map(len, job.points.values())) > points:
                st.rerun()  # draws the page again, with the new results of the sweep
        if job.done:
            st.rerun()

    return go_on


# ------------------------------------------------------------------------------------- results


def _source(setup: lab.Setup | None, chosen: list[lab.Wanted]) -> tuple[Source | None, str]:
    """Return the ranks of the chosen recommenders or, if none is trained, the last ranks shown.

    Also return a warning if ranks of chosen recommenders are missing, otherwise "".
    """
    by_system = {} if setup is None else {x.system: _made().get(setup.key(x)) for x in chosen}
    sets = lab.together([trained for trained in by_system.values() if trained is not None])
    missing = [system for system, trained in by_system.items() if trained is None]
    if setup is not None and sets:
        name = f"the Lab, split {setup.parts.text}"
        st.session_state[_SHOWN] = Source(sets, name, False, f'sd.read_rank_sets("{FILE}")')
        return st.session_state[_SHOWN], words.say.partly(missing)
    last: Source | None = st.session_state.get(_SHOWN)
    return last, "" if last is None else words.say.earlier([x.system for x in last.sets], last.name)


def _found(trained: Source | None) -> tuple[Result, int] | None:
    """Draw whether sampling orders the trained recommenders rightly, and their exact metrics.

    Return this verdict and the index of the metric shown. Return None if there is no verdict, for
    example because only one recommender is trained.
    """
    if trained is None or len(trained.sets) < 2:
        sliders.bar(sliders.place(), "k", sampled=False)  # hyperparameter sweeps use the cutoff k
        st.info(words.TEXTS["none trained" if trained is None else "one trained"])
        if trained is not None:
            _exact(trained.sets, None)
        return None
    source = replace(trained, sets=tuple(ranks.without_classes for ranks in trained.sets))
    sliders.metrics()
    place = st.container(key="lab_headline")
    numbers = ["m", "n", *["k"] * sliders.uses_cutoff()]
    lock = judged.locked_n(source)
    sliders.bar(sliders.place(), *numbers, n=lock, late=numbers, sets=source.sets)
    result, problem = judged.answered(source, "lab")
    page.tell(problem, place)
    if result is None:
        _exact(trained.sets, None)
        return None
    x = judged.choose_metric(result, "Sentence and picture for")
    if problem is None:
        with place:
            judged.say(result, x)
    _slopes(result, x)
    _exact(trained.sets, result)
    # The significance test resamples the users, which takes seconds. So it is left out until the
    # training is done.
    if problem is None and not _busy():
        focus = Focus(result, x, result.worst_pair(x))
        with place:
            with page.progress("Resampling the users") as report:
                tests = focus.tests(report)
            st.markdown(weakest_order(focus, tests))
    return result, x


def _slopes(result: Result, x: int) -> None:
    """Draw a slope chart: each system's line leads from its exact to its expected sampled metric.

    ``x`` is the index of the metric.
    """
    some = result.few_systems([result.worst_pair(x), *result.worst_pairs(_MOST_LINES)], _MOST_LINES)
    names = [result.systems[i] for i in some]
    exact, sampled = result.exact[some, x], result.sampled[some, x]
    short = [short_name(name, _LONGEST) for name in names]
    metric = str(result.metrics[x])
    now = {result.m: sampled}
    fig = slopes(metric, short, exact, now, at=result.m, size=12, reach=1.1, dark=page.is_dark())
    alt = f"{metric} on all items: {ranking(names, exact)}; sampled {ranking(names, sampled)}."
    page.picture(fig, key="lab_slopes", alt=alt)


def _exact(sets: tuple[RankSet, ...], result: Result | None) -> None:
    """Draw the exact metrics, and buttons to download the ranks or to open them on another page."""
    metrics = state.current().metrics if result is None else result.metrics
    if not metrics:
        return
    means = exact_means(metrics, sets, Protocol.of({})) if result is None else result.exact
    whole = pd.DataFrame(means, columns=list(map(str, metrics)))
    printed, systems = whole.map(percent), [x.system for x in sets]
    printed.insert(0, "On all items", list(map(escaped, systems)))
    whole.insert(0, "system", systems)
    whole["provenance"] = [x.provenance for x in sets]
    page.table(printed, whole, "lab")

    def file() -> str:
        return as_csv(ranks_table(sets))

    with st.container(horizontal=True):
        options: dict[str, Any] = {"icon": ":material/rule:", "key": "to_consistency"}
        if len(sets) > 1 and st.button("Open in Consistency", **options):
            ranks.hand_over(FILE, file().encode())
            page.open_page("consistency", {"source": UPLOAD})
        page.download("Download ranks", file, FILE, "text/csv", key="lab_ranks")


def _designs(source: Source | None, answer: tuple[Result, int] | None, _: lab.Setup) -> None:
    """Draw the expected sampled metric with each sampling scheme, beside the exact metric."""
    if source is None or len(source.sets) < 2:
        st.caption(words.TEXTS["designs begin"])
    if source is None or answer is None:
        return
    result, x = answer
    metric = str(result.metrics[x])
    with page.progress("Drawing other negatives") as report:
        table = lab.by_design(result, x, source.sets, report)
    sentence = words.designs(table, metric, result.m)
    st.markdown(f"**{sentence}**")
    fig = pictures.designs(table, metric, dark=page.is_dark())
    page.picture(fig, key="lab_designs", alt=sentence)
    st.caption(words.TEXTS["designs"])
    printed, whole = (x.reset_index(names=metric) for x in (table.map(percent), table))
    page.table(printed.rename(columns=escaped), whole, "designs")


# ----------------------------------------------------------------------------- Steck's experiments


def _sweeps(setup: lab.Setup) -> None:
    """Draw metrics of Steck's recommender AllRank-Regression against one hyperparameter.

    The metrics are ATOP, Recall and RMSE. ATOP is the area under the curve of the recall against
    the cutoff, where the cutoff is a share of the candidates.
    """
    unrated = setup.parts.test.rating is None
    options: dict[str, Any] = {"icon": ":material/model_training:", "key": "sweep_begin"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        knob = page.segments("Knob", lab.SWEEPS, "sweep", help=words.TEXTS["sweep"])
        key = setup.key(knob)
        disabled = _busy() or key in _made() or unrated
        if st.button(f"Sweep {knob}", disabled=disabled, **options):
            st.session_state[_JOB] = lab.Job([setup.sweep(knob)], _made())
            st.rerun()
    if unrated:
        st.info(words.TEXTS["not rated"])
        return
    job: lab.Job | None = st.session_state.get(_JOB)
    points = _made().get(key) or (job.points.get(key, ()) if job else ())
    if not points:
        st.caption(words.TEXTS["sweep begin"])
        return
    table = lab.swept(knob, points, state.current().k)
    st.markdown(f"**{words.swept(knob, table)}**")
    fig = pictures.swept(knob, table, dark=page.is_dark())
    page.panels(fig, 3, key="lab_sweep", alt=words.swept(knob, table))
    st.caption(words.TEXTS["swept"])
    page.take(table, f"sweep-{lab.SWEEPS[knob]}")
    if key not in _made():
        return
    tops = lab.top_shares(knob, points)
    st.markdown(f"**{words.tops(tops)}**")
    fig = pictures.tops(tops, dark=page.is_dark())
    page.panels(fig, 2, key="lab_tops", alt=words.tops(tops))
    st.caption(words.TEXTS["tops"])
    page.take(tops, f"topk-{lab.SWEEPS[knob]}")


def _toy(setup: lab.Setup) -> None:
    """Draw Table 1 of Steck (KDD 2010): RMSE cannot tell a constant prediction from an oracle.

    Both predict the observed ratings without an error. ATOP tells them apart.
    """
    left, right = st.columns([5, 7], gap="large", vertical_alignment="center")
    left.markdown(words.TEXTS["toy"])
    with right:
        sliders.moving(pictures.toys(page.is_dark()), key="lab_toy", alt=words.TEXTS["toy alt"])
