"""Correct: a corrected metric vector to take away, and what it costs."""

from __future__ import annotations

import streamlit as st

from sampledash.dashboard import controls
from sampledash.dashboard.correct import parts
from sampledash.dashboard.correct import scene as correct_scene
from sampledash.dashboard.correct import tabs as correct_tabs

controls.sidebar(page_defaults=correct_scene.DEFAULTS)
controls.link_notes()
headline = st.container()
parts.metric_choice()
picture = st.container()
controls.narrow_m()
parts.choices()
strip = st.container()

scene, problem = correct_scene.scene()
with headline:
    if problem is None:
        st.markdown(f"### {scene.sentence()}")
        parts.warnings(scene)
    else:
        problem.show()
with picture:
    parts.picture(scene, dim=problem is not None)
if problem is None:
    with strip:
        parts.numbers(scene)
    with st.expander("Why?", icon=":material/lightbulb:", key="why", bind="query-params"):
        parts.why(scene)
    with st.container(horizontal=True):
        controls.copy_link(parts.LINK)
        parts.downloads(scene)
    correct_tabs.show(scene)
