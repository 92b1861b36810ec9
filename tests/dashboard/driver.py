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
