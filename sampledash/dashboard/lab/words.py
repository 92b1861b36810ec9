"""The Lab in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampledash.dashboard.words import escaped
from sampledash.lab.interactions import Interactions
from sampledash.lab.recommenders import KINDS, parse_recommender
from sampledash.lab.splits import Split
from sampledash.readers.frame import several
from sampledash.report.numbers import count

INTERACTIONS_ABOUT = (
    "Who took or rated what: ratings, clicks, purchases. The small world is drawn from a seed by a "
    "model of tastes, popularity and series; a tenth of its items have nearly half of all "
    "interactions, as in MovieLens."
)
SPLIT_ABOUT = (
    "What is held out is ranked; the rest is learned from. Last 5 halved is Steck's (2010): a "
    "random half is tested, the other would tune. Last 10 %: of all interactions, by time."
)
SEEN_ABOUT = (
    "Whether what a user took in training is among the candidates: Krichene & Rendle leave it out, "
    "Steck keeps it in."
)


def data(interactions: Interactions) -> str:
    """What the interactions are, in numbers."""
    x, rating = interactions, interactions.rating
    parts = [several(x.n_users, "user"), several(x.n_items, "item")]
    parts.append(several(x.size, "interaction"))
    if rating is None:
        parts.append("without ratings")
    else:
        parts.append(f"rated {rating.min():g} to {rating.max():g}")
    parts.append("in the order of the file" if x.time is None else "in time")
    repeats = x.size - np.unique(x.user.astype(np.int64) * x.n_items + x.item).size
    parts.append(f"{count(repeats)} of them repeats" if repeats else "no repeats")
    return ", ".join(parts) + "."


def split(how: str, parts: Split) -> str:
    """What a split does, and what its candidates are."""
    tested, users = parts.test.size, len(np.unique(parts.test.user))
    order = "in the file" if parts.training.time is None else "in time"
    held = {
        "last": f"the interaction that is last {order}",
        "random": "a random interaction; what came after it is learned from too",
        "last 5 halved": f"a random half of the last five {order}",
    }
    what = f"Of each user {held[how]}" if how in held else f"Of all interactions the last {order}"
    many = f"{count(tested)} tested" + (f", of {count(users)} users" if users < tested else "")
    seen = (
        "what a user took in training is no candidate."
        if parts.exclude_seen
        else "what a user took in training stays a candidate and stands in the way."
    )
    return f"{what}: {many}; {seen}"


def knobs(text: str) -> str:
    """What a recommender is and what its knobs do."""
    kind = KINDS[parse_recommender(text).name]
    said = [f"{kind.about[0].upper()}{kind.about[1:]}. {kind.source}".strip()]
    said += [f"{knob.name}: {knob.about}" for knob in kind.knobs]
    return escaped(". ".join(part.rstrip(".") for part in said)) + "."


def training(system: str, share: float, left: float | None, *, halted: bool) -> str:
    """How far a training is."""
    if share >= 1:
        return f"{escaped(system)}: ready"
    if not share:
        return f"{escaped(system)}: waits"
    rest = f", {left:.0f} s left" if left is not None and left >= 1 else ""
    return f"{escaped(system)}: {share:.0%}{', halted' if halted else rest}"


def missing(systems: Sequence[str], chosen: int) -> str:
    """Which recommenders are not trained yet."""
    if not systems:
        return "All of these are trained."
    kept = chosen - len(systems)
    return f"{count(kept)} of {count(chosen)} are trained and kept." if kept else ""
