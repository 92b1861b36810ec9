"""The entry point of the dashboard: it sets up the menu and runs the chosen page.

Start the dashboard with ``streamlit run app.py``. Its pages are in ``sampledash.dashboard``.
"""

import gc
import os
from importlib.util import find_spec
from pathlib import Path

# This must be set before NumPy is imported. On a busy machine, several BLAS threads wait for each
# other, which makes computations with the small matrices of this dashboard ten times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# With the default threshold of 700 objects, garbage collection takes a fifth of the import time.
gc.set_threshold(10_000)

import plotly
import streamlit as st
from streamlit.components.v1 import declare_component

# This finds the folder of the package ``sampledash`` without importing the package.
(PACKAGE,) = map(Path, find_spec("sampledash").submodule_search_locations)
ASSETS, DASHBOARD = Path(__file__).parent / "assets", PACKAGE / "dashboard"
# Pages in the order of the menu: name of the file in pages/, title and icon. The first page is
# shown if the address names no page.
MENU = (
    ("start", "Start", "home"),
    ("explore", "Explore", "show_chart"),
    ("consistency", "Consistency", "rule"),
    ("correct", "Correct", "build"),
    ("lab", "Lab", "science"),
    ("paper", "Paper", "article"),
    ("learn", "Learn", "school"),
)

logo = str(ASSETS / "logo.svg")
st.set_page_config("sampledash", logo, layout="wide", initial_sidebar_state="auto")
st.logo(logo, size="large")
st.html(ASSETS / "style.css")
# These scripts run first. address.js must see the first click of the reader. plotly.js makes the
# browser load Plotly's script at the same time as Python imports the remaining modules.
served = declare_component("plotly", path=Path(plotly.__file__).parent / "package_data")
first = [DASHBOARD / "scripts" / name for name in ("address.js", "plotly.js")]
script = "".join(path.read_text(encoding="utf-8") for path in first).replace("PLOTLY", served.name)
with st.container(key="plotly"):  # style.css hides this container
    st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)

from sampledash.dashboard import sessions, state
from sampledash.dashboard.page import outline

pages = []
for name, title, icon in MENU:
    look = {"title": title, "icon": f":material/{icon}:", "default": not pages}
    pages.append(st.Page(DASHBOARD / "pages" / f"{name}.py", url_path=name, **look))
page = st.navigation(pages, position="top")
sessions.watch()
state.keep_settings(page.title)
outline("sampledash", page.title)
page.run()
