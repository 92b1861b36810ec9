"""Script of the page Correct: correct a metric, estimate a metric, or audit lists of negatives."""

import streamlit as st

from sampledash.dashboard import negatives, page, state
from sampledash.dashboard.correct import page as metric_page
from sampledash.dashboard.estimate import printed_table, sampled_ranks, shared

WHAT = {
    "A metric": metric_page.show,
    "Sampled ranks": sampled_ranks.show,
    "A printed table": printed_table.show,
    "Negatives": negatives.show,
}
parts = (metric_page, shared, sampled_ranks, printed_table, negatives)
offered = {key: options for part in parts for key, options in part.OFFERED.items()}
state.stamp({"what": (WHAT, "A metric"), **offered})
row = st.container(horizontal=True, vertical_alignment="bottom", key="above_parts")
with row:
    chosen = page.segments("Correct", WHAT, "what", help=shared.HELP["what"])
WHAT[chosen](row, {"what": "A metric"})
