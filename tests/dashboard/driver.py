"""Drive a page without a browser: open the page, change its fields, read its text."""

import base64
import json
import re
import zlib
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


def changed(kind):
    """Return a method that sets the widget with a given key and reruns the page."""

    def change(self, key, value):
        getattr(self, kind)(key=key).set_value(value)
        return self.run()

    return change


class Page(AppTest):
    """A page opened by its file name, with settings in its address; fails on an exception."""

    def __init__(self, name="", /, script=APP, **query):
        super().__init__(script, default_timeout=600)
        # Without this manager every page looks through all installed packages for components.
        self._bidi_component_manager = BidiComponentManager()
        for key, value in query.items():
            self.query_params[key] = value
        if name:
            self.switch_page(f"sampledash/dashboard/pages/{name}.py")
        self.run()

    def run(self):
        super().run()
        assert not self.exception, self.exception[0].message
        return self

    def click(self, label):
        next(b for b in self.button if b.label == label).click()
        return self.run()

    def press(self, key):
        self.button(key=key).click()
        assert not self.run().error
        return self

    put, write, pick = map(changed, ("number_input", "text_area", "segmented_control"))

    def give_n(self, n):
        """Type n into the field that asks for the number of candidates if the data lack it."""
        asked = next(x for x in self.number_input if x.label.startswith("n, candidates of"))
        asked.set_value(n)
        return self.run()

    def upload(self, name, data):
        source = next(c for c in self.segmented_control if "Upload a file" in c.options)
        if source.value != "Upload a file":
            source.set_value("Upload a file").run()
        self.file_uploader[0].set_value([(name, data, "")])
        return self.run()

    def exports(self, patch):
        """Return the content of every download: {label: data}; repeated labels get a number."""
        made = {}

        def keep(label, data, *rest, **look):
            again = sum(key.split(" #")[0] == label for key in made)
            made[f"{label} #{again + 1}" if again else label] = data() if callable(data) else data

        with patch.context() as inner:
            inner.setattr("sampledash.dashboard.page.download", keep)
            self.run()
        return made

    @property
    def headline(self):
        """Return the headline, or "" if it is dimmed because it answers earlier settings."""
        found = next((m.value for m in self.markdown if m.value.startswith("### ")), "")
        return "" if ":gray[" in found else found[4:].replace("\u00a0", " ")

    @property
    def last_headline(self):
        """The dimmed headline of earlier settings, which stays while the current input is wrong."""
        found = next(m.value for m in self.markdown if m.value.startswith("### "))
        return found[4:].split(":gray[")[1][:-1].replace("\u00a0", " ")

    @property
    def others(self):
        """The sentence about the metrics that the headline does not mention."""
        signs = "Also ", "Wrong: ", "Undecided: ", "Right: ", "Tied: "
        return next((m.value for m in self.markdown if m.value.startswith(signs)), "")

    @property
    def numbers(self):
        return {m.label: m.value for m in self.metric}

    @property
    def said(self):
        return " ".join(m.value for m in self.markdown).replace("\u00a0", " ")

    @property
    def captions(self):
        return "\n".join(c.value for c in self.caption).replace("\\", "")

    @property
    def complaint(self):
        return " ".join(e.value for e in self.error).replace("\\", "")

    @property
    def notes(self):
        return " ".join(x.value for x in (*self.warning, *self.info)).replace("\\", "")

    @property
    def link(self):
        """The query of the link to copy, as a dictionary of lists."""
        (link,) = (x["link"] for x in self.told if "link" in x)
        return parse_qs(link[1:])

    @property
    def table(self):
        """The tables of the page, each with its cells as the DataFrame ``value``."""
        every = []
        for text in (m.value for m in self.markdown if m.value.startswith("| ")):
            lines = (re.findall(r"((?:\\.|[^\\|])*)\|", line[1:]) for line in text.splitlines())
            rows = [[cell.strip(" ").replace("\\|", "|") for cell in line] for line in lines]
            every.append(SimpleNamespace(value=pd.DataFrame(rows[2:], columns=rows[0])))
        return every

    @property
    def codes(self):
        """The texts that the page offers to copy."""
        return [x["text"] for x in self.told if "text" in x]

    @property
    def pictures(self):
        """The pictures of the page, decoded from what the browser receives."""
        return [unpacked(x.proto.bytes) for x in self.get("bidi_component") if x.proto.bytes]

    @property
    def told(self):
        """The dictionaries that the components of the page receive, except pictures."""
        data = [json.loads(x.proto.json) for x in self.get("bidi_component") if x.proto.json]
        every = [item for part in data for item in (part if isinstance(part, list) else [part])]
        return [item for item in every if isinstance(item, dict)]

    def slider(self, key):
        """Return the settings of the slider with a given key, as the browser receives them."""
        return next(x for x in self.told if "help" in x and x["name"] == key)

    @property
    def specs(self):
        return [picture["figure"] for picture in self.pictures]

    @property
    def dimmed(self):
        return self.pictures[0]["dim"]


def unpacked(data):
    """Return what the browser unpacks from bytes."""
    return json.loads(zlib.decompress(data))


def frames_of(follows, number):
    """Return the frame for a slider's number as the browser unpacks it; traces are lists x, y."""
    return unpacked(follows.packed())["frames"][json.dumps(number)]


def worst_states(verdict):
    """Return {metric: the worst state of any pair of systems in a verdict}."""
    order, states = ["wrong", "undecided", "right"], verdict.groupby("metric")["state"]
    return {metric: next(x for x in order if x in set(own)) for metric, own in states}


def array(value):
    if isinstance(value, dict):
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return np.asarray(value)
