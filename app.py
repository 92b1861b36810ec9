"""The router: page settings and navigation. Everything else lives in ``sampledash.dashboard``.

Run it with ``streamlit run app.py``.
"""

from pathlib import Path

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
