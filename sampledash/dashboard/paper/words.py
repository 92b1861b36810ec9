"""Printed numbers beside ours, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sampledash.report.numbers import count, percent

RULE = (
    "Ours are exact expectations, not runs. A cell matches within its rounding and two standard "
    "errors of the printed runs, mean and standard deviation both. Krichene & Rendle, KDD 2020."
)
CELL = {
    1: "Printed → ours. Exact metrics of the toy recommenders, n = 10,000.",
    2: "Printed → ours: mean ± standard deviation of one run. m = 99 with replacement.",
    3: "Printed → ours, in %: mean ± standard deviation of one run. m = 100 drawn without "
    "replacement from each user's own candidates; corrections fitted with replacement at "
    "n = 3,541, the mean; ties of Z redrawn.",
    4: "Printed → ours: in how many of 100 runs the pair is in its true order. Settings as for "
    "Table 3.",
}
STECK = (
    "**Training and testing of recommender systems on data missing not at random** (KDD 2010): "
    "TOPK and ATOP, and what becomes of them on a sample."
)
MISSING = (
    "**Eq. 6-7, watched.** A user has 20 relevant items among 1,000; on average a third of their "
    "ratings is observed. Ranked among all items, do the observed ones tell about all?"
)
STECK_LEFT_OUT = (
    "Outside the count: his Table 2, an item of its own here, and Table 3, which needs the ratings "
    "of Netflix."
)
STECK_TABLE = (
    "ATOP of nine trainings on MovieLens 1M: printed for both halves of what is held out, ours on "
    "one, ties in the middle. 3,648 movies rated with 5 stars, each ranked among all 3,883. A cell "
    "matches within its rounding and twice the 0.005 that Steck gives for a standard deviation."
)
MADE = {
    "Table 3": (
        "How X, Y and Z were made",
        "The last movie of each user is held out. Y's ranks come out the same for every user, Z's "
        "for all but some hundred, whose neighbourhoods are cut within ties. X starts at random: "
        "the bundled ranks are one run. Of ratings with one timestamp the last in the file counts, "
        "so a few users may have another last movie than in the bundled ranks.",
        """import sampledash as sd
from sampledash.lab.experiments import EXPERIMENTS

data = sd.read_interactions("ratings.dat")  # of MovieLens 1M
sets = sd.finish(EXPERIMENTS["krichene"].run(data))
print([f"{x.system} {sd.mean('Recall@10', x):.4f}" for x in sets])
""",
    ),
    "Steck, Table 2": (
        "How these ranks were made",
        "Each user's last five ratings are held out and halved at random. Movies that nobody rated "
        "are candidates too. Another random half moves ATOP by some 0.004.",
        """import pandas as pd
import sampledash as sd
from sampledash.lab.experiments import EXPERIMENTS

data = sd.read_interactions("ratings.dat")  # of MovieLens 1M
movies = pd.read_csv(
    "movies.dat", sep="::", engine="python", header=None, encoding="latin-1"
)[0].astype(str)
items = data.items.astype(str).tolist()
items += sorted(set(movies) - set(items))  # nobody rated these
data = sd.Interactions(
    data.users, items, data.user, data.item, data.rating, data.time
)
sets = sd.finish(EXPERIMENTS["steck"].run(data))
print([f"{x.system} {sd.mean('ATOP', x):.4f}" for x in sets])
""",
    ),
}
# Item -> page, and the settings that it is opened with.
_TOY = {"source": "Three toy recommenders", "scheme": "with replacement", "m": "99"}
_REAL = {"source": "MovieLens 1M with ties", "m": "100"}
_STECK = {"n": "17770", "m": "1000", "k": "356"}  # TOPK(2 %) of his Netflix test: Ñ - 1 = 1,000
OPENS: Mapping[str, tuple[str, dict[str, str | list[str]]]] = {
    "Table 1": ("consistency", {**_TOY, "answers": "Numbers"}),
    "Table 2": ("consistency", {**_TOY, "answers": "Repeat it"}),
    "Table 3": ("consistency", {**_REAL, "answers": "Numbers"}),
    "Table 4": ("consistency", {**_REAL, "answers": "How sure"}),
    "Figure 1": ("explore", {"n": "10000"}),
    "Figure 2": ("consistency", {**_TOY, "m": "50"}),
    "Figure 3": ("explore", {"n": "10000", "tab": "Family"}),
    "Figure 4": ("correct", {"n": "10000", "m": "100"}),
    "Figure 5": ("consistency", {**_REAL, "answers": "Numbers", "numbers_view": "Distribution"}),
    "Figure 6": ("correct", {"sheet": "What it costs", "costs": "On real ranks"}),
    "The text": ("consistency", {**_REAL}),
    "Steck, Table 2": ("explore", {**_STECK, "metrics": ["ATOP", "TOPK"], "rank": "400"}),
    "Steck 2010": ("explore", {**_STECK, "metrics": ["TOPK", "ATOP"], "rank": "400"}),
}


def missing(times: int, found: pd.DataFrame) -> str:
    """What the observed ratings say of all."""
    columns = (found[name] for name in ("measure", "observed", "complete", "off"))
    parts = [
        f"{measure} reads {percent(observed)} instead of {percent(complete)}, "
        f"{abs(off):.1f} standard errors off"
        for measure, observed, complete, off in zip(*columns, strict=True)
    ]
    said = "; ".join(parts)
    if times == 1:
        return f"Missing at random: {said}, in 4,000 runs. The theorem holds."
    return (
        f"Observed {count(times)} times as often: {said}. Unbiased only if relevant ratings are "
        "missing at random."
    )


def cell(found: Any, decimals: int) -> str:
    """Printed and ours, of a row of :func:`sampledash.papers.krichene.match`."""
    own = f"{found.ours:.{decimals}f}"
    if pd.notna(found.our_std):
        own += f"±{found.our_std:.{decimals}f}"
    text = f"{found.text} →\u00a0{own}\u00a0{'✓' if found.matched else '≠'}"  # broken once
    return text if found.matched else f"**{text}**"


def unmatched(name: str, printed: str, value: float) -> str:
    """A cell that does not match."""
    return f"{name.partition(', ')[2]} ({printed}, ours {value:.2f})"


def ours(value: float, what: str) -> str:
    """Our number and what it is; rounding noise reads as 0."""
    return f"{0 if abs(value) < 1e-9 else value:.4g}: {what}"


def verdict(holds: bool, note: str) -> str:
    """Whether a statement holds, and under which reading."""
    sign = "✓ holds" if holds else "**≠ does not hold**"
    return f"{sign}; {note}" if note else sign
