"""What the columns of a file are called, and what they mean."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from sampledash.checks import is_numeral
from sampledash.readers.errors import NoRankColumn, ReadError
from sampledash.readers.limits import check_columns, check_name

Role = Literal[
    "system", "instance", "rank", "n_candidates", "negatives", "ties", "mass_above", "count",
    "repetition", "adaptive",
]  # fmt: skip

# Compared without case, spaces, underscores and hyphens. The first name is the one we write.
ALIASES: dict[Role, tuple[str, ...]] = {
    "system": ("system", "model", "run", "tag", "recommender", "algorithm", "method"),
    "instance": (
        "instance", "instance_id", "user", "user_id", "uid", "query", "query_id", "qid",
        "session", "session_id",
    ),
    "rank": ("rank", "ranks", "position", "true_rank", "best_rank", "sampled_rank"),
    "n_candidates": ("n_candidates", "n", "n_items", "candidates", "num_candidates", "num_items"),
    "negatives": ("m", "n_negatives", "negatives", "num_negatives", "n_sampled"),
    "ties": ("ties", "n_tied_others", "tied"),
    "mass_above": ("mass_above",),
    "count": ("count", "counts", "frequency", "freq"),
    "repetition": ("repetition", "repeat", "run_id", "fold", "seed", "split"),
    "adaptive": ("adaptive",),
}  # fmt: skip
SAMPLED = "sampled_rank"  # what a column of ranks among sampled negatives is called
TRUE = ("true_rank", "best_rank", "worst_rank")  # and those that cannot be one
# A run is a system in a file of TREC style, and a repetition beside a column that names systems.
_EITHER = "run"


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]", "", name).lower()


_ROLE_OF: dict[str, Role] = {_plain(a): role for role, names in ALIASES.items() for a in names}


def role_of(header: str) -> Role | None:
    """Return what a column of this name means, ``None`` if nothing to us."""
    return _ROLE_OF.get(_plain(header))


def is_true_rank(header: str) -> bool:
    """Whether a column of this name holds ranks among all candidates, never sampled ones."""
    return _plain(header) in map(_plain, TRUE)


@dataclass(frozen=True)
class Columns:
    """Headers as written and the role of each, ``None`` for a name that means nothing to us."""

    headers: tuple[str, ...]
    roles: tuple[Role | None, ...]

    def find(self, role: Role) -> int | None:
        """Index of the first column with this role."""
        return self.roles.index(role) if role in self.roles else None

    def all(self, role: Role) -> list[int]:
        """Indices of all columns with this role: only repetitions can have several."""
        return [i for i, found in enumerate(self.roles) if found == role]

    @property
    def sampled(self) -> bool:
        """Whether the column of ranks is named as one of sampled ranks."""
        rank = self.find("rank")
        return rank is not None and _plain(self.headers[rank]) == _plain(SAMPLED)

    @property
    def others(self) -> list[int]:
        """Named columns without a role: the systems of a wide file."""
        pairs = enumerate(zip(self.headers, self.roles, strict=True))
        return [i for i, (header, role) in pairs if role is None and header]

    def found(self) -> str:
        """Headers for a message."""
        shown = ", ".join(repr(h if len(h) <= 40 else h[:37] + "...") for h in self.headers[:12])
        rest = len(self.headers) - 12
        return f"{shown} and {rest} more" if rest > 0 else shown


def columns_of(headers: list[str], where: str) -> Columns:
    """Give every header its role; refuse repeated names, and numbers in place of names."""
    check_columns(len(headers), where)
    for header in headers:
        check_name(header, where)
    repeated = [h for h, times in Counter(headers).items() if times > 1 and h]
    if repeated:
        raise ReadError(f"{where}: the column {repeated[0]!r} appears twice; rename one")
    roles = tuple(map(role_of, headers))
    if roles.count("system") > 1:
        roles = tuple(
            "repetition" if _plain(h) == _EITHER else r for h, r in zip(headers, roles, strict=True)
        )
    if "rank" not in roles:  # one column per system: m may be one
        roles = tuple(None if role in ("negatives", "adaptive") else role for role in roles)
    for role, names in ALIASES.items():
        if role == "repetition":
            continue
        same = [h for h, r in zip(headers, roles, strict=True) if r == role]
        if len(same) > 1:
            raise ReadError(
                f"{where}: the columns {same[0]!r} and {same[1]!r} both mean {names[0]!r}; keep one"
            )
    if not any(roles) and any(map(is_numeral, headers)):
        number = next(filter(is_numeral, headers))
        found = f"{where}: the first line holds the number {number} where column names belong; "
        raise NoRankColumn(
            f"{found}add a header line such as system,instance,rank,n_candidates",
            f"{found}add a header line such as system,{SAMPLED}",
        )
    return Columns(tuple(headers), roles)
