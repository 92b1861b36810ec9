"""Drive a page without a browser: open it, run it, read what it says."""

import base64
import json
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).parents[2] / "app.py")


def open_page(name, **query):
    """A page by the name of its file, with settings in its address; fails on an exception."""
    at = AppTest.from_file(APP, default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    at.switch_page(f"sampledash/dashboard/pages/{name}.py")
    return run(at)


def run(at):
    """Run it again; fails on an exception."""
    at.run()
    assert not at.exception
    return at


def headline(at):
    """The sentence of the page."""
    found = next((m.value for m in at.markdown if m.value.startswith("### ")), "")
    return found[4:].replace("\u00a0", " ")


def numbers(at):
    """The strip: label -> value."""
    return {m.label: m.value for m in at.metric}


def complaint(at):
    """What is wrong, as it reads."""
    return " ".join(e.value for e in at.error).replace("\\", "")


def click(at, label):
    """Press the button that says this, and run."""
    next(b for b in at.button if b.label == label).click()
    return run(at)


def upload(at, name, data):
    """A file of ranks on the Consistency page."""
    at.segmented_control(key="source").set_value("Upload a file")
    run(at)
    at.file_uploader(key="ranks_file").upload(name, data)
    return run(at)


def put(at, key, value):
    """Put a number, and run."""
    at.number_input(key=key).set_value(value)
    return run(at)


def write(at, key, value):
    """Put a text, and run."""
    at.text_area(key=key).set_value(value)
    return run(at)


def pick(at, key, value):
    """Choose a segment, and run."""
    at.segmented_control(key=key).set_value(value)
    return run(at)


def specs(at):
    """Its pictures, as Plotly is sent them."""
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def array(value):
    """Numbers of a picture."""
    if isinstance(value, dict):
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return np.asarray(value)


def dimmed(at):
    """Whether the first picture is of what was asked before."""
    return all(trace.get("opacity", 1) < 0.5 for trace in specs(at)[0]["data"])


def said(at):
    """All that is written, as it reads."""
    return " ".join(m.value for m in at.markdown).replace("\u00a0", " ")


def link(at):
    """What the copied link holds, to open the page with."""
    found = next(c.value for c in at.code if "?v=" in c.value)
    return parse_qs(found.split("?", 1)[1])


def captions(at):
    """All small print, as it reads; a line each."""
    return "\n".join(c.value for c in at.caption).replace("\\", "")
