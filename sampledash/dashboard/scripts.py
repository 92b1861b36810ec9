"""The JavaScript files of the pages, and the Streamlit components that load and call them.

Streamlit sends the script of a component again with every change of the component. Therefore the
script of a component is short. It can load a longer file of the folder ``scripts``, which the
browser downloads only once, and call the default function of this file.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v1 import declare_component

FOLDER = Path(__file__).with_name("scripts")
_SERVED = declare_component("scripts", path=FOLDER)


def load(name: str) -> str:
    """Return a JavaScript expression: a promise of the module in the file ``FOLDER / name``."""
    # If the file has changed, its digest changes the address, so that the browser does not use an
    # old file from its cache.
    digest = sha256((FOLDER / name).read_bytes()).hexdigest()[:12]
    root = """document.querySelector('script[src*="/static/js/"]').src.split("/static/js/")[0]"""
    return f"import({root} + '/component/{_SERVED.name}/{name}?{digest}')"


def short(name: str) -> Any:
    """Return the component whose script is the file ``name``, which must be short."""
    title = f"sampledash_{name.removesuffix('.js')}"
    return st.components.v2.component(title, js=(FOLDER / name).read_text(encoding="utf-8"))


def component(name: str) -> Any:
    """Return the component that calls the default export of the script ``name``."""
    call = "export default async (given) => (await code).default(given);"
    title = f"sampledash_{name.removesuffix('.js')}"
    script = f"const code = {load(name)};\n{call}"
    return st.components.v2.component(title, js=script, isolate_styles=False)
