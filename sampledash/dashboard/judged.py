"""Compute and write the verdict: do sampled metrics order systems as exact metrics do?"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from sampledash.analyses import choices
from sampledash.analyses.consistency import words
from sampledash.analyses.consistency.result import Question, Result, compute
from sampledash.analyses.source import Source
from sampledash.comparison.order import M_CAP
from sampledash.comparison.verdict import CODES, ladder
from sampledash.correction import labelled, usable
from sampledash.dashboard import page, state
from sampledash.grids import LIVE
from sampledash.metrics import Metric
from sampledash.protocol import Options, Weighting
from sampledash.rank_sets import RankSet
from sampledash.report.escape import escaped, system_name
from sampledash.report.numbers import count, span, spell
from sampledash.report.sentences import beware, headline, other_metrics
from sampledash.schemes import SCHEMES, Design, possible

WEIGHTINGS: dict[str, Weighting] = {"instances": "instances", "relevant items": "relevant-items"}
OTHERS = "other_metrics"
DEFAULTS: dict[str, Any] = {
    "also_k": [],
    "correction": "uncorrected",
    "weighting": "instances",
    "ties": "expected",
    "shown": None,
}


def answered(source: Source, key: str) -> tuple[Result | None, page.Problem | None]:
    """Return the verdict on the ranks: does sampling order the systems rightly?

    If a setting is invalid, return the last verdict and a Problem.
    """
    question, explain = partial(check, source), partial(_explain, source)
    return page.answer(
        key, question, compute, lambda x: words.say.looking(x.protocol.correction), explain
    )


def several(sets: Sequence[RankSet]) -> bool:
    """Whether any instance has several relevant items."""
    return any(x.max_relevant > 1 for x in sets)


def locked_n(source: Source) -> tuple[int, str]:
    """Return the largest number of candidates n in the data, and a text with the range of n."""
    n = np.concatenate([x.n for x in source.sets])
    return int(n.max()), f"{span(n.min(), n.max())}, from the data"


def chosen_metrics() -> tuple[Metric, ...]:
    """Return the metrics that the reader chose, with the cutoff k and further cutoffs if chosen.

    Raises a ValueError if no metric is chosen.
    """
    settings = state.current()
    if not settings.chips:
        raise ValueError("no metric is chosen: pick at least one above the picture")
    cutoffs = sorted({settings.k, *state.value("also_k", DEFAULTS)})
    metrics = [
        choices.chip_metric(chip, k, settings.n)
        for chip in settings.chips
        for k in (cutoffs if choices.CHIPS[chip][1] else [settings.k])
    ]
    return tuple(dict.fromkeys(metrics))


def check(source: Source) -> Question:
    """Return the ranks ``source`` and the settings as a Question.

    Raise a ValueError if a setting is invalid.
    """
    settings, metrics = state.current(), chosen_metrics()
    chosen = usable(state.value("correction", DEFAULTS), settings.gamma)
    options: Options = {"scheme": settings.scheme, "correction": chosen}
    if settings.design.weighted and settings.scheme not in possible(source.sets):
        raise ValueError(words.TEXTS["no weights"])
    # The page has a widget for ties only if the ranks have ties. It has a widget for the weighting
    # of relevant items only if an instance has several. Old values of missing widgets are ignored.
    if any(x.has_ties for x in source.sets):
        options["ties"] = state.value("ties", DEFAULTS)
    if several(source.sets):
        options["weighting"] = WEIGHTINGS[state.value("weighting", DEFAULTS)]
    question = Question(source.drawn_by(settings.scheme), metrics, settings.m, options)
    for ranks in question.sets:
        question.protocol.check(ranks, settings.m)
    most = LIVE if question.protocol.anew else M_CAP
    if settings.m > most:
        what = "this page computes anew" if question.protocol.anew else "this page looks at"
        if question.protocol.correction.kind.fitted:
            what = f"this page corrects with {chosen}"
        advice = f"take m <= {most}, or call sampledash.verdict from Python"
        raise ValueError(f"m = {settings.m} is more than {what}: {advice}")
    return question


def anew() -> bool:
    """Whether a change of m, the number of negatives, needs a slow computation.

    An example is a new fit of the correction.
    """
    return labelled(state.value("correction", DEFAULTS), 1.0).kind.fitted or _design().anew


def _design() -> Design:
    return SCHEMES[choices.SCHEMES[state.value("scheme")]]


def _explain(source: Source, error: ValueError) -> page.Problem:
    """Turn an error into a message for the reader.

    If m, the number of negatives, is too large, a button sets the largest allowed m.
    """
    limits, design = [M_CAP], _design()
    if design.distinct:
        limits += [x.max_negatives for x in source.sets]
    if anew():
        limits.append(LIVE)
    most = min(limits)
    if int(state.value("m")) <= most:
        return page.Problem.of(error)

    def take() -> None:
        st.session_state["m"] = most

    return page.Problem(spell(error), (f"Take m = {count(most)}", take))


def chosen_metric(result: Result) -> int:
    """Return the index of the metric that the page's main sentence, the verdict, is about."""
    metrics = list(map(str, result.metrics))
    shown = str(st.session_state.get("shown", metrics[0]))
    # If the reader has changed the cutoff k, the chosen metric is shown with the new cutoff.
    if shown not in metrics:
        same = [name for name in metrics if name.split("@")[0] == shown.split("@")[0]]
        st.session_state["shown"] = shown = (same or metrics)[0]
    return metrics.index(shown)


def choose_metric(result: Result, label: str) -> int:
    """Draw the choice of the metric that the page's verdict is about; return the metric's index.

    ``label`` names the choice for screen readers.
    """
    chosen_metric(result)
    if len(result.metrics) > 1:
        about = "The first chip of the metrics, until another is chosen here or by a tile of a map."
        page.segments(label, map(str, result.metrics), "shown", help=about, hidden=True)
    return chosen_metric(result)


def say(result: Result, x: int, *, dim: bool = False) -> None:
    """Write the verdict on the metric with index ``x``, a sentence on other metrics, and notes.

    The verdict says whether sampling orders the systems rightly. ``dim`` greys an outdated verdict.
    """
    q = result.question
    word, icon, color = verdict(result, x)
    badge = f":{'gray' if dim else color}-badge[:material/{icon}: {word}] "
    page.say(headline(result, x, system_name), badge, dim=dim, about=escaped(q.source.name))
    values = len(ladder(result.m_max, q.m, q.protocol)) if q.protocol.anew else 0
    if others := other_metrics(result, x):
        st.container(key=f"{OTHERS}_dimmed" if dim else OTHERS).markdown(others)
    notes = beware(result, system_name)
    notes.append(words.say.looked_at(values, result.m_max, result.capped))
    notes.append(words.TEXTS["uniform"] * q.source.uniform)
    if note := q.protocol.note(q.metrics[x], q.sets[0], q.m):
        notes.append(f"{q.metrics[x]}: {note}")
    for note in filter(None, notes):
        st.caption(note)


def verdict(result: Result, x: int) -> tuple[str, str, str]:
    """Return the worst verdict on any pair of systems, such as "wrong", with its icon and colour.

    ``x`` is the index of the metric.
    """
    word = CODES[result.states[x].min()]
    icon, color, _ = words.STATES[word]
    return word, icon, color
