"""Explore: what does sampling do to this metric at this rank?"""

from __future__ import annotations

import streamlit as st

from sampledash.dashboard import controls
from sampledash.dashboard.explore import parts as explore_parts
from sampledash.dashboard.explore import scene as explore_scene

controls.sidebar(unused={"gamma": "corrections"}, page_defaults=explore_scene.DEFAULTS)
controls.link_notes()
headline = st.container()
chips, view = st.columns([7, 3], vertical_alignment="bottom")
with chips:
    controls.metric_chips()
with view:
    explore_parts.view_control()
picture = st.container()
controls.narrow_m()
explore_parts.rank_control()
strip = st.container()

scene, problem = explore_scene.scene()
with headline:
    if problem is None:
        st.markdown(f"### {scene.sentence()}")
    else:
        problem.show()
with picture:
    explore_parts.picture(scene, dim=problem is not None)
if problem is None:
    with strip:
        explore_parts.numbers(scene)
    with st.expander("Why?", icon=":material/lightbulb:", key="why", bind="query-params"):
        explore_parts.why(scene)
    with st.container(horizontal=True):
        controls.copy_link(explore_parts.link_defaults())
        controls.download("Download data", scene.csv, "sampledash-explore.csv", "text/csv")
    explore_parts.tabs(scene)
