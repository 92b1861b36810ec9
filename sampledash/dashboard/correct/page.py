"""The Correct page on a metric: its corrected vector to take away, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.dashboard import controls
from sampledash.dashboard.correct import parts, tabs
from sampledash.dashboard.correct import scene as scenes


def show(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw it; ``headline`` is the place of the sentence, ``defaults`` those of the whole page."""
    controls.sidebar(page_defaults={**defaults, **scenes.DEFAULTS})
    controls.link_notes()
    parts.metric_choice()
    picture = st.container()
    controls.narrow_m()
    parts.choices()
    strip = st.container()
    scene, problem = scenes.scene()
    with headline:
        if problem is None:
            st.markdown(f"### {scene.sentence()}")
            parts.warnings(scene)
        else:
            problem.show()
    with picture:
        parts.picture(scene, dim=problem is not None)
    if problem is not None:
        return
    with strip:
        parts.numbers(scene)
    with st.expander("Why?", icon=":material/lightbulb:", key="why", bind="query-params"):
        parts.why(scene)
    with st.container(horizontal=True):
        controls.copy_link({**defaults, **parts.LINK})
        parts.downloads(scene)
    tabs.show(scene)
