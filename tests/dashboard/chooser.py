"""A page that holds only the choice of the source of ranks."""

import streamlit as st

from sampledash.dashboard import ranks

source, trouble = ranks.choose()
if trouble is not None:
    trouble.show()
st.session_state["found"] = source, trouble
st.button("Load", on_click=ranks.load_text, args=("n = 9\nP: 1\nQ: 2",))
