"""The Lab in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sampledash.analyses.lab.result import TOP
from sampledash.lab.interactions import Interactions
from sampledash.lab.recommenders import FAMILIES, parse_recommender
from sampledash.lab.splits import Split
from sampledash.readers.frame import several
from sampledash.report.escape import escaped
from sampledash.report.numbers import count, listed, percent
from sampledash.report.templates import texts

TEXTS = texts(Path(__file__).with_suffix(".txt"))


def data(interactions: Interactions) -> str:
    """What the interactions are, in numbers."""
    x, rating = interactions, interactions.rating
    rated = "without ratings" if rating is None else f"rated {rating.min():g} to {rating.max():g}"
    parts = [several(x.n_users, "user"), several(x.n_items, "item")]
    parts += [several(x.size, "interaction"), rated]
    parts.append("in the order of the file" if x.time is None else "in time")
    repeats = x.size - np.unique(x.user.astype(np.int64) * x.n_items + x.item).size
    parts.append(f"{count(repeats)} of them repeats" if repeats else "no repeats")
    return ", ".join(parts) + "."


def split(how: str, parts: Split, least: float | None = None) -> str:
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
    if least is not None and parts.test.rating is not None:
        relevant = int(np.count_nonzero(parts.test.rating >= least))
        many += f"; {count(relevant)} rated {least:g} or more are relevant"
    seen = (
        "what a user took in training is no candidate."
        if parts.exclude_seen
        else "what a user took in training stays a candidate and stands in the way."
    )
    return f"{what}: {many}; {seen}"


def knobs(text: str) -> str:
    """What a recommender is and what its knobs do."""
    kind = FAMILIES[parse_recommender(text).name]
    sentences = [f"{kind.about[0].upper()}{kind.about[1:]}. {kind.source}".strip()]
    sentences += [f"{knob.name}: {knob.about}" for knob in kind.knobs]
    return escaped(". ".join(part.rstrip(".") for part in sentences)) + "."


def working(name: str, share: float, left: float | None, *, halted: bool) -> str:
    """How far a training or a sweep is."""
    if share >= 1:
        return f"{escaped(name)}: ready"
    if not share:
        return f"{escaped(name)}: waits"
    rest = f", {left:.0f} s left" if left is not None and left >= 1 else ""
    return f"{escaped(name)}: {share:.0%}{', halted' if halted else rest}"


def missing(systems: Sequence[str], chosen: int) -> str:
    """Which recommenders are not trained yet."""
    if not systems:
        return "All of these are trained."
    trained = chosen - len(systems)
    return f"{count(trained)} of {count(chosen)} are trained and kept." if trained else ""


def partly(missing: Sequence[str]) -> str:
    """That not all of what is chosen is shown."""
    return escaped(f"Without {listed(missing)}: not trained on this choice yet.") if missing else ""


def earlier(shown: Sequence[str], name: str) -> str:
    """That what is shown is not what is chosen now."""
    what = f"{listed(shown)} as trained before ({name})"
    return escaped(f"Still {what}: what is chosen now is not trained yet.")


def swept(knob: str, found: pd.DataFrame) -> str:
    """What a sweep shows: the best value by ranks, and by the error on ratings."""
    by_rank = found.iloc[int(found["ATOP"].argmax())]
    by_error = found.iloc[int(found["RMSE"].argmin())]
    best = f"ATOP is highest at {knob} = {by_rank[knob]:g} ({percent(by_rank['ATOP'])})"
    if by_rank[knob] == by_error[knob]:
        return f"{best}, and there RMSE is lowest too ({by_error['RMSE']:.3f})."
    return (
        f"{best}, RMSE lowest at {knob} = {by_error[knob]:g} ({by_error['RMSE']:.3f}), where ATOP "
        f"is {percent(by_error['ATOP'])}."
    )


def tops(found: pd.DataFrame) -> str:
    """What the curves of TOPK show: how much is in the top of the list."""
    row = found[found["k"] <= TOP].iloc[-1]
    shares = [f"{percent(row[name])} with {name}" for name in found.columns[1:]]
    return f"Of what is relevant, the first {100 * TOP:g} % of the list hold {listed(shares)}."
