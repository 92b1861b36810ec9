"""Paper: every printed number and statement of the papers beside ours."""

from __future__ import annotations

import streamlit as st

from sampledash.dashboard import controls, state
from sampledash.dashboard.paper import views

state.stamp({"item": (views.ITEMS, views.DEFAULTS["item"])})
controls.link_notes()
views.headline()
item = st.pills(
    "Shown", list(views.ITEMS), default=views.DEFAULTS["item"], required=True, key="item",
    bind="query-params", wrap=True,
)  # fmt: skip
views.show(item or views.DEFAULTS["item"])
controls.copy_link(views.DEFAULTS)
