"""The Correct page on a metric: its corrected vector to take away, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.dashboard import controls
from sampledash.dashboard.correct import own, parts, tabs
from sampledash.dashboard.correct import scene as scenes


def show(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw it; ``headline`` is the place of the sentence, ``defaults`` those of the whole page."""
    notes = st.container()
    parts.metric_choice()
    picture, narrow = st.container(), st.container()
    given = parts.choices()
    understood = st.container()
    strip = st.container()
    # After the page's own choices: only what is known then can be undone.
    controls.sidebar(page_defaults={**defaults, **scenes.DEFAULTS, own.KEY: ""})
    with notes:
        controls.link_notes()
    with narrow:
        controls.narrow_m()
    scene, problem = scenes.scene(given)
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
    if scene.weights is not None:
        with understood:
            own.note(scene.weights)
    with strip:
        parts.numbers(scene)
    with st.expander("Why?", icon=":material/lightbulb:", key="why", bind="query-params"):
        parts.why(scene)
    with st.container(horizontal=True):
        controls.copy_link({**defaults, **parts.LINK, **own.in_link()})
        parts.downloads(scene)
    tabs.show(scene)
