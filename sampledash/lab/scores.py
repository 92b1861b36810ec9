"""A table of scores (system, instance, item, score, relevant) → true ranks."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.lab.ranking import ranks_from_scores
from sampledash.ranksets import RankSet
from sampledash.readers.columns import bare, role_of
from sampledash.readers.contents import check_utf8, kind_of, stem_of
from sampledash.readers.errors import ReadError
from sampledash.readers.lists import ITEMS
from sampledash.readers.tables import delimiter_of

_COLUMNS = ("instance", "item", "score", "relevant")


def _role(header: str) -> str | None:
    name = bare(header)
    if name in ("score", "relevant"):
        return name
    found = "item" if name in ITEMS.split() else role_of(header)
    return found if found in ("system", "instance", "item") else None


def score_table(data: bytes, name: str) -> pd.DataFrame | None:
    """The columns of a table that holds scores and what is relevant; None where it is another."""
    kind = kind_of(data, name)
    if kind == "array":
        return None
    how: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    try:
        if kind == "parquet":
            table = pd.read_parquet(io.BytesIO(data))
        else:
            check_utf8(data, name)
            how["sep"] = delimiter_of(data)
            head = pd.read_csv(io.BytesIO(data), nrows=0, **how)
            if not {"score", "relevant"} <= set(map(bare, head.columns)):
                return None
            table = pd.read_csv(io.BytesIO(data), **how)
    except ReadError:
        raise
    except Exception:  # the readers of ranks say what is wrong with it
        return None
    roles = [_role(str(header)) for header in table.columns]
    if not {"score", "relevant"} <= set(roles):
        return None
    for wanted in _COLUMNS:
        if wanted not in roles:
            raise ReadError(f"{name} has no column {wanted}: add one, or rename the one that is it")
    kept = {role: table.iloc[:, roles.index(role)] for role in {*roles} if role is not None}
    if "system" not in kept:
        kept["system"] = pd.Series(stem_of(name), index=table.index)
    return pd.DataFrame(kept)


def ranks_of_scores(table: pd.DataFrame, name: str) -> tuple[list[RankSet], list[str]]:
    """True ranks among the scored items of each instance, and what was left out, in sentences.

    Parameters
    ----------
    table
        Columns ``system``, ``instance``, ``item``, ``score`` (-inf: no candidate) and ``relevant``
        (0 or 1): a row for every candidate, and a relevant item's score with the others.
    name
        What to call the table in messages.

    Raises
    ------
    ReadError
        If scores are missing or NaN, an item is scored twice, or nothing is relevant.
    """
    score = pd.to_numeric(table["score"], errors="coerce").to_numpy(dtype=np.float64)
    if (bad := int(np.isnan(score).sum())) > 0:
        row = int(np.argmax(np.isnan(score)))
        raise ReadError(
            f"{name}: {bad:,} scores are no number, the first in row {row + 1}; give each item a "
            "number, or -inf to what is no candidate"
        )
    told = table["relevant"].astype(str).str.strip().str.lower()
    relevant = told.isin(["1", "1.0", "true", "yes"]).to_numpy()
    if not np.all(other := relevant | told.isin(["0", "0.0", "false", "no", ""]).to_numpy()):
        row = int(np.argmin(other))
        raise ReadError(f"{name}, row {row + 1}: relevant is {told.iloc[row]!r}; write 1 or 0")
    twice = table.duplicated(["system", "instance", "item"]).to_numpy()
    if twice.any():
        one = table.iloc[int(np.argmax(twice))]
        raise ReadError(
            f"{name}: {int(twice.sum()):,} rows score an item again, such as item "
            f"{str(one['item'])!r} of instance {str(one['instance'])!r}; keep one row for each"
        )
    sets, said = [], []
    for system, rows in table.groupby("system", sort=False).indices.items():
        part = table.iloc[rows]
        user, users = pd.factorize(part["instance"])
        item, items = pd.factorize(part["item"])
        order = np.argsort(user, kind="stable")
        user, item, of, wanted = user[order], item[order], score[rows][order], relevant[rows][order]
        ends = np.searchsorted(user, np.arange(len(users) + 1))

        def block(
            start: int, stop: int, user: Any = user, item: Any = item, of: Any = of,
            ends: Any = ends, size: int = len(items),
        ) -> NDArray[Any]:  # fmt: skip
            found = np.full((stop - start, size), -np.inf)
            here = slice(ends[start], ends[stop])
            found[user[here] - start, item[here]] = of[here]
            return found

        theirs = [item[a:b][wanted[a:b]].tolist() for a, b in pairwise(ends.tolist())]
        if without := sum(not each for each in theirs):
            said.append(f"{system}: {without:,} instances without a relevant item are left out.")
        if without == len(theirs):
            raise ReadError(
                f"{name}: no item of system {str(system)!r} is relevant: mark some by 1"
            )
        sets.append(ranks_from_scores(block, theirs, instances=list(users), system=str(system)))
    return sets, said
