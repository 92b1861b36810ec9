"""Sentences of the Lab page on data, splits, recommenders and sweeps."""

from pathlib import Path

import numpy as np
import pandas as pd

from sampledash.analyses.lab.result import TOP
from sampledash.lab.interactions import Interactions
from sampledash.lab.recommenders import FAMILIES, parse_recommender
from sampledash.lab.splits import Split
from sampledash.report.escape import escaped
from sampledash.report.sentences import ranking
from sampledash.report.templates import Sentences, texts
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES

TEXTS = texts(Path(__file__).with_suffix(".txt"))
say = Sentences(Path(__file__).with_suffix(".jinja"), escaped=escaped)


def data(interactions: Interactions) -> str:
    """Return a sentence: how many users, items, interactions and repeats, and which ratings."""
    x, rating = interactions, interactions.rating
    ends = None if rating is None else (rating.min(), rating.max())
    repeats = x.size - np.unique(x.user.astype(np.int64) * x.n_items + x.item).size
    return say.data(x, ends, repeats)


def split(rule: str, parts: Split, least: float | None = None) -> str:
    """Return a description of a split into training and test items, and of the candidates."""
    relevant, rating = None, parts.test.rating
    if least is not None and rating is not None:
        relevant = int(np.count_nonzero(rating >= least))
    return say.split(rule, parts, len(np.unique(parts.test.user)), least, relevant)


def knobs(text: str) -> str:
    """Return a description of a recommender and of its hyperparameters."""
    kind = FAMILIES[parse_recommender(text).name]
    sentences = [f"{kind.about[0].upper()}{kind.about[1:]}. {kind.source}".strip()]
    sentences += [f"{knob.name}: {knob.about}" for knob in kind.knobs]
    return escaped(". ".join(part.rstrip(".") for part in sentences)) + "."


def swept(knob: str, table: pd.DataFrame) -> str:
    """Return a sentence on the best values of the hyperparameter ``knob``: by ATOP and by RMSE.

    TOPK is the share of the relevant items that are in the first part of the list. k is the length
    of this part, as a share (0 to 1) of the list. ATOP is the mean of TOPK over k.
    """
    by_rank = table.iloc[int(table["ATOP"].argmax())]
    return say.swept(knob, by_rank, table.iloc[int(table["RMSE"].argmin())])


def designs(table: pd.DataFrame, metric: str, m: int) -> str:
    """Return sentences that compare sampling schemes with m negatives.

    They say with how many schemes the expected metric orders the systems as on all items. In some
    schemes, the number of different negatives is random. For these, the sentences say how much the
    expected metric differs from that with the default scheme.
    """
    order, *orders = (ranking(list(map(str, table)), row) for row in table.to_numpy())
    usual = SCHEMES[DEFAULT_SCHEME]
    changes = [
        (design.words, np.abs(table.loc[design.label] - table.loc[usual.label]).max())
        for design in SCHEMES.values()
        if design.varies
    ]
    return say.designs(metric, m, order, orders.count(order), len(orders), changes, usual.words)


def tops(table: pd.DataFrame) -> str:
    """Return a sentence on TOPK: which share of relevant items is in the first 2 % of the list?"""
    row = table[table["k"] <= TOP].iloc[-1]
    return say.tops(TOP, [say.share_with(*item) for item in row.drop("k").items()])
