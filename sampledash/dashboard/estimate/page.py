"""The Correct page on sampled ranks, and on a printed table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.dashboard import controls, state
from sampledash.dashboard.correct.page import metric_choice
from sampledash.dashboard.estimate import known, parts, source, table
from sampledash.dashboard.estimate import scene as scenes
from sampledash.dashboard.page import Problem

POPULARITY = (
    "Popularity-weighted samples cannot be corrected: how often an item is drawn then depends on "
    "what it is, which its rank does not tell. Choose how uniform negatives were drawn."
)

_TABLE = "_table_good"


def show_ranks(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw what sampled ranks tell."""
    own = {**defaults, **source.DEFAULTS, **scenes.DEFAULTS}
    given, trouble = source.choose()
    systems = st.container()
    left, right = st.columns([7, 3], vertical_alignment="bottom")
    with left:
        metric_choice()
    with right:
        parts.estimator_choice()
    gamma = {} if state.value("estimator", scenes.DEFAULTS) == "BV" else {"gamma": "BV only"}
    unused = {**gamma, **known.known_m(given)}
    controls.sidebar(lock_n=known.locked_n(given), unused=unused, page_defaults=own)
    controls.link_notes()
    scene = None
    if trouble is None and given is not None:
        try:
            if state.current().scheme == "popularity":
                raise ValueError(POPULARITY)
            with systems:
                found = source.shown(source.made(given), given)
            if found.sets:
                scene = scenes.look(scenes.ask(found))
                scenes.remember(scene.asked)
            else:
                trouble = Problem("Choose at least one system to show.", asking=True)
        except ValueError as error:
            trouble = source.trouble(error, given)
    if trouble is not None:
        with headline:
            trouble.show()
        last = None if trouble.asking else scenes.remembered()
        if last is not None:
            parts.picture(scenes.look(last), dim=True)
        return
    if scene is None:
        return
    with headline:
        parts.headline(scene)
    parts.picture(scene, dim=False)
    if given is None or not given.m_known:
        controls.narrow_m()
    parts.numbers(scene)
    controls.copy_link({**own, **parts.DEFAULTS, **source.in_link()})
    parts.tabs(scene)


def show_table(headline: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw what a printed table tells."""
    own = {**defaults, **table.defaults(), "metric": scenes.DEFAULTS["metric"]}
    metric_choice()
    text = table.ask_table()
    found = scene = None
    trouble = Problem("Paste a table: a line of names, then one system a line.", asking=True)
    try:
        found = table.read(text) if text.strip() else None
    except ValueError as error:
        trouble = Problem(state.spelled(error))
    lock, unused = known.of_table(found)
    if text == table.example_table():
        lock = known.locked_n(source.Given("", "", None))
    controls.sidebar(lock_n=lock, unused={"gamma": "not used", **unused}, page_defaults=own)
    controls.link_notes()
    try:
        if state.current().scheme == "popularity":
            raise ValueError(POPULARITY)
        scene = None if found is None else table.look(found)
    except ValueError as error:
        trouble = Problem(state.spelled(error))
    if scene is None:
        with headline:
            trouble.show()
        last = None if trouble.asking else st.session_state.get(_TABLE)
        if last is not None:
            table.picture(last, dim=True)
        return
    st.session_state[_TABLE] = scene
    with headline:
        table.headline(scene)
    table.picture(scene, dim=False)
    controls.narrow_m()
    table.numbers(scene)
    controls.copy_link(own)
