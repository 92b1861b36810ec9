"""Consistency: is the order of these recommenders on a sample their order on all items?"""

from __future__ import annotations

import streamlit as st

from sampledash.dashboard import consistency_parts as parts
from sampledash.dashboard import consistency_scene as scenes
from sampledash.dashboard import controls, rank_source, state

PAGE_DEFAULTS = {**rank_source.DEFAULTS, **parts.DEFAULTS}

# The choice of ranks comes first in the code: it decides n in the sidebar.
headline = st.container()
with st.container():
    source, trouble = rank_source.choose()
controls.sidebar(
    lock_n=None if source is None else scenes.locked_n(source),
    unused={"gamma": "corrections"},
    page_defaults=PAGE_DEFAULTS,
)
controls.link_notes()
chips, more = st.columns([7, 5], vertical_alignment="bottom")
with chips:
    controls.metric_chips()
with more:
    parts.more_cutoffs()

asked = None
if source is not None:
    try:
        asked = scenes.ask(source)
    except ValueError as error:
        trouble = trouble or rank_source.Trouble(state.spelled(error))
dim = trouble is not None
if trouble is not None:
    with headline:
        trouble.show()
    asked = scenes.remembered()
    if asked is not None:
        st.caption(f"Dimmed below: {rank_source.escaped(asked.source.name)}.")
if asked is None:
    st.stop()

scene = scenes.look(asked)
if not dim:
    scenes.remember(asked)
controls.narrow_m()
tile_map = st.container()
shown, pair = parts.focus_controls(scene)
if not dim:
    with headline:
        parts.headline(scene, shown)
with tile_map:
    parts.tiles(scene, dim=dim)
parts.curves(scene, pair, dim=dim)
if not dim:
    parts.numbers(scene, shown)
    with st.expander("Why?", icon=":material/lightbulb:", key="why", bind="query-params"):
        parts.why(scene, shown)
    with st.container(horizontal=True):
        controls.copy_link(PAGE_DEFAULTS)
        controls.download(
            "Download verdict", lambda: parts.csv(scene.table), "sampledash-verdict.csv", "text/csv"
        )
    distribution, table = st.tabs(["Distribution", "Numbers"], key="tab", bind="query-params")
    if distribution.open:
        with distribution:
            parts.distribution_tab(scene)
    if table.open:
        with table:
            parts.numbers_tab(scene, shown)
