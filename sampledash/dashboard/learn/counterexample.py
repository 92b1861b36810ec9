"""Find me a counterexample: two small rank sets whose order flips."""

from __future__ import annotations

import streamlit as st

from sampledash.comparison import counterexample
from sampledash.dashboard.learn import words_example as words
from sampledash.dashboard.learn.links import link
from sampledash.dashboard.learn.words import Link
from sampledash.dashboard.learn.words_rank import N
from sampledash.sampling import Sampling

SIZES = (10, 100, 1_000, 5_000)
M = "example_m"


def show(look: str) -> None:
    """Draw the choice of m and, once it is made, the counterexample."""
    m = st.pills(
        words.ASK.format(metric=look), SIZES, key=M, bind="query-params", persist_state="session",
        format_func=words.size, wrap=True,
    )  # fmt: skip
    if m is None:
        return
    found = counterexample(look, Sampling(N, m, "without-replacement"))
    if found is None:
        st.info(words.none(look, m), icon=":material/verified:")
        return
    st.markdown(words.told(look, m, found))
    link(
        Link(
            "consistency", "Check these two in Consistency",
            {"source": "Paste ranks", "ranks": words.typed(found), "m": str(m),
             "metrics": [words.chip(look)]},
        )
    )  # fmt: skip
