"""The Lab in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sampledash.dashboard.lab.result import TOP
from sampledash.lab.interactions import Interactions
from sampledash.lab.recommenders import FAMILIES, parse_recommender
from sampledash.lab.splits import Split
from sampledash.readers.frame import several
from sampledash.report.escape import escaped
from sampledash.report.numbers import count, listed, percent

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

OFFERED_ABOUT = (
    "X, Y, Z: Krichene & Rendle, KDD 2020. EASE: Steck, WWW 2019. The others: Table 2 of Steck, "
    "KDD 2010; those learn from ratings."
)
CORE_ABOUT = "Users and items with fewer interactions are left out, until none has (the k-core)."
REPEATS_ABOUT = "Which of several interactions of one user with one item count."
IMPLICIT_ABOUT = "That an interaction took place is what counts."
LEAST_ABOUT = "Held-out interactions with a lower rating are not ranked. Empty: all are relevant."
SWEEP_ABOUT = (
    "Values of a knob of AllRank-Regression, the others as in the paper: w_m is the weight of a "
    "missing rating, r_m the rating that stands for it."
)
SWEEP_BEGIN = (
    "Trains AllRank-Regression with each of ten or so values, and asks: which is best by the ranks "
    "of what is liked, and which by the error on the ratings there are?"
)
SWEPT = (
    "As Figures 1 and 2 of Steck (KDD 2010), on these interactions: ATOP and Recall of each "
    "relevant pair among all candidates (those of the highest rating unless chosen above), RMSE "
    "of every held-out rating."
)
TOPS = (
    "As Figure 3 of Steck: TOPK, the share of the relevant pairs that are in the first k of the "
    "list. Solid where ATOP is highest; dashed where RMSE is lowest, if that is elsewhere."
)
NOT_RATED = "A sweep learns from ratings, and these interactions have none."
TOY = (
    "Eight users rate only what they like, with a 5 (Table 1 of Steck, KDD 2010). Dark cells are "
    "predicted 5 stars, light ones 1. **Whoever predicts 5 for everything has no error on the "
    "ratings, and neither has who knows every taste: the rank among all movies tells them apart.**"
)
TOY_ALT = (
    "Eight users by eight movies, what is rated and what is predicted; RMSE and ATOP as the tastes "
    "of more users are known."
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
    said = [f"{kind.about[0].upper()}{kind.about[1:]}. {kind.source}".strip()]
    said += [f"{knob.name}: {knob.about}" for knob in kind.knobs]
    return escaped(". ".join(part.rstrip(".") for part in said)) + "."


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
    kept = chosen - len(systems)
    return f"{count(kept)} of {count(chosen)} are trained and kept." if kept else ""


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
    said = [f"{percent(row[name])} with {name}" for name in found.columns[1:]]
    return f"Of what is relevant, the first {100 * TOP:g} % of the list hold {listed(said)}."
