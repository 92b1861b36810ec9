"""The tab "What to do instead": errors of evaluation designs that compute equally many scores."""

import streamlit as st

from sampledash.analyses.consistency import instead as designs
from sampledash.analyses.consistency.result import Focus
from sampledash.analyses.consistency.words import say
from sampledash.dashboard import live, page, sliders, state
from sampledash.report.escape import escaped

PICTURE, SAID, TABLE = "consistency_designs", "designs_said", "designs_table"
DEFAULTS = {"budget": 100}


def show(focus: Focus) -> None:
    """Draw the errors of several ways to evaluate, and a script to copy.

    All ways compute equally many scores. A slider sets the budget: their mean number per instance.
    """
    place = st.container(key=SAID)
    budget = _budget(focus.result.m, designs.most_of(focus))
    sentence = designs.sentence(focus, designs.compute(focus, [budget]), budget)
    place.markdown(escaped(sentence))  # the sentence is shown first, as the picture takes longer
    with page.progress("Every design at its price") as report:
        priced = designs.compute(focus, designs.ladder(focus, budget), report)
    fig = designs.picture(focus, priced, budget, dark=page.is_dark())
    alt = f"Error against price, a line a design. {sentence}"
    page.picture(fig, key=PICTURE, alt=alt)
    with st.container(key=TABLE):
        page.table(*designs.table(focus, priced, budget), "designs")
    st.caption(say.stop_when_decided())
    st.caption(say.best_order())
    if focus.metric.k is not None:
        st.caption("For your own scorer: put it in place of the line that is returned")
        page.code(designs.snippet(focus, budget), "designs_code")


def _budget(m: int, most: int) -> int:
    """Draw the slider for the budget of an evaluation; return the budget.

    The budget is a number of scores to compute per instance, at most ``most``. Until the reader
    moves the slider, it is ``m``, the page's number of negatives.
    """
    m = min(m, most)
    now, was = st.session_state.get("budget"), st.session_state.get("_budget_of")
    linked = now is None and "budget" in st.query_params
    if now == was and not linked and (now, m) != (None, DEFAULTS["budget"]):
        st.session_state["budget"] = m
    st.session_state["_budget_of"] = m
    sliders.ladder("budget", default=DEFAULTS["budget"], high=most)
    return int(state.value("budget", DEFAULTS))


def follows(focus: Focus, dark: bool) -> live.Follows:
    """Return the sentence, the picture and the table at each step of the budget slider.

    The budget is the number of scores per instance.
    """
    q = focus.result.question
    depends = q.key, focus.x, focus.pair, *focus.systems, dark

    budgets = designs.ladder(focus)

    def at(budget: int) -> live.Frame:
        priced = designs.compute(focus, budgets)
        printed, _ = designs.table(focus, priced, budget)
        texts = {f".st-key-{SAID} p": [designs.sentence(focus, priced, budget)]}
        texts[f".st-key-{TABLE} td"] = printed.to_numpy().ravel().tolist()
        return live.Frame({PICTURE: designs.picture(focus, priced, budget, dark=dark)}, texts)

    return live.Follows("budget", depends, budgets, at, lines=False, shared=q.shared)
