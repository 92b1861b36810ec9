"""Script of the page Correct: it corrects a metric, or estimates the metric on all items."""

import streamlit as st

from sampledash.dashboard import estimate as estimate_page
from sampledash.dashboard import page, state
from sampledash.dashboard.correct import page as metric_page

WHAT = {
    "A metric": metric_page.show,
    "Sampled ranks": estimate_page.show_ranks,
    "A printed table": estimate_page.show_table,
}
state.stamp({"what": (WHAT, "A metric"), **metric_page.OFFERED, **estimate_page.OFFERED})
row = st.container(horizontal=True, vertical_alignment="bottom", key="above_parts")
about = (
    "A metric: its corrected vector. Sampled ranks, or a table printed in a paper: what they tell "
    "of the metric on all items."
)
with row:
    chosen = page.segments("Correct", WHAT, "what", help=about)
WHAT[chosen](row, {"what": "A metric"})
