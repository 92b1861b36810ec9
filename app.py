"""The router: page settings and navigation. Everything else lives in ``sampledash.dashboard``.

Run it with ``streamlit run app.py``.
"""

import os
from pathlib import Path

# Before numpy loads: its matrices here are small, and BLAS threads that wait for each other on a
# busy machine make them ten times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import streamlit as st

from sampledash.dashboard import navigation

HERE = Path(__file__).parent

st.set_page_config(
    page_title="sampledash",
    page_icon=str(HERE / "assets" / "logo.svg"),
    layout="wide",
    initial_sidebar_state="auto",
)
st.logo(str(HERE / "assets" / "logo.svg"), size="large")
st.html(HERE / "assets" / "style.css")
navigation.run()
