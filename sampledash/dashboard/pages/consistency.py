"""Consistency: is the order of these recommenders on a sample their order on all items?"""

from __future__ import annotations

import streamlit as st

from sampledash.dashboard import controls, state
from sampledash.dashboard import ranks as rank_source
from sampledash.dashboard.consistency import ask, choices, paper, parts, tabs
from sampledash.dashboard.consistency.why import why
from sampledash.dashboard.words import escaped

PAGE_DEFAULTS = {**rank_source.DEFAULTS, **ask.DEFAULTS}
LINK = {**PAGE_DEFAULTS, **tabs.DEFAULTS, "pair": ""}

state.stamp(rank_source.OFFERED)
# The choice of ranks comes first in the code: it decides n in the sidebar.
headline = st.container()
with st.container():
    source, trouble = rank_source.choose()
controls.metric_chips()
with st.container(horizontal=True, key="readings"):
    correction = choices.correction_choice()
    choices.more_cutoffs()
    if source is not None:
        choices.readings(source)
controls.sidebar(
    lock_n=None if source is None else ask.locked_n(source),
    unused=choices.gamma_unused(correction),
    page_defaults=PAGE_DEFAULTS,
)
controls.link_notes()

asked = scene = None
if source is not None:
    try:
        asked = ask.ask(source)
        scene = ask.look(asked)
    except ValueError as error:
        trouble = trouble or ask.trouble(error, source)
dim = trouble is not None
if trouble is not None:
    with headline:
        trouble.show()
    last = ask.remembered()
    if last is not None:
        st.caption(f"Dimmed below: {escaped(last.source.name)}.")
        scene = ask.look(last)
if scene is None:
    st.stop()
if not dim:
    ask.remember(scene.asked)
    with headline:
        parts.headline(scene)
controls.narrow_m()
tile_map = st.container()
focus = choices.focus(scene)
with tile_map:
    parts.tiles(scene, focus, dim=dim)
parts.curves(scene, *focus, dim=dim)
if not dim:
    parts.numbers(scene, focus[0])
    fold = st.expander(
        "Why?", icon=":material/lightbulb:", key="why", bind="query-params", on_change="rerun"
    )
    if fold.open:
        with fold:
            why(scene, focus[0])
    with st.container(horizontal=True):
        controls.copy_link(LINK)
        parts.verdict_download(scene)
        paper.button(scene, focus[1])
    tabs.show(scene, *focus)
