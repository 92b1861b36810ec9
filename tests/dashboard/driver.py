"""Drive a page without a browser: open it, run it, read what it says."""

from pathlib import Path

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


def captions(at):
    """All small print, as it reads; a line each."""
    return "\n".join(c.value for c in at.caption).replace("\\", "")
