"""Which columns of a printed table are in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sampledash.metrics import Metric
from sampledash.readers.errors import ReadError
from sampledash.readers.headings import Heading

_ABSURD = 20  # how many times another value of its column one in percent is at most
_RANKS = 1000  # among so many the metrics of one relevant item are compared
_SLACK = 1.02  # several relevant items, and runs that scatter
_REMEDY = (
    "write % with every value that is in percent, or (%) behind the name of a column that is, and "
    "the others in 0..1"
)


@dataclass(frozen=True)
class Cell:
    """A printed value.

    Attributes
    ----------
    value, decimals
        As printed.
    signed
        Whether a percent sign stands with it.
    place
        Its line.
    """

    value: float
    decimals: int
    signed: bool
    place: int


Row = Mapping[str, Cell | None]


def in_percent(columns: Sequence[Heading], rows: Sequence[Row]) -> list[str]:
    """Names of the columns in percent.

    Notes
    -----
    A percent sign decides for its column, and so does ``(%)`` in the name: values without a sign
    beside signed ones must be above 1, else it is not clear whether they are percent too. Without a
    sign a column is in percent if most of its values are above 1 and none is less than a twentieth
    of the largest: 0.98 beside 51.23 is rather 98 %. A column without values above 1, in a table
    that has others in percent, is read in that unit in which its metric can stand beside theirs:
    HR@1 = 0.85 beside HR@10 = 6.50 is 0.85 %, NDCG@10 = 0.392 beside HR@10 = 66.2 is not. Where it
    can in both, one table has one unit, if it prints as many decimals.
    """
    cells = {x.name: [c for row in rows if (c := row[x.name]) is not None] for x in columns}
    sure = [x for x in columns if x.percent or _signed(x, cells[x.name])]
    free = [x for x in columns if x not in sure]
    above = [x for x in free if any(cell.value > 1 for cell in cells[x.name])]
    most = [x for x in above if 2 * sum(c.value > 1 for c in cells[x.name]) > len(cells[x.name])]
    for one in above:
        _check_mix(one, cells[one.name], alone=not sure and not most)
    percent = [*sure, *above]
    if percent:
        low = [x for x in free if x not in above and any(c.value for c in cells[x.name])]
        percent += [x for x in low if _as_others(x, percent, rows, bool(sure))]
    return [x.name for x in columns if x in percent]


def _signed(column: Heading, cells: list[Cell]) -> bool:
    """Whether percent signs decide the unit of a column."""
    sign = next((cell for cell in cells if cell.signed), None)
    for cell in cells:
        if sign is not None and not cell.signed and 0 < cell.value <= 1:
            raise ReadError(
                f"{_where(cell, column)}: {cell.value:g} has no percent sign, but {sign.value:g} % "
                f"in line {sign.place} has: {_REMEDY}"
            )
    return sign is not None


def _check_mix(column: Heading, cells: list[Cell], *, alone: bool) -> None:
    """Refuse values above 1 beside others that look like fractions."""
    above = [cell for cell in cells if cell.value > 1]
    least = min((cell for cell in cells if cell.value), key=lambda cell: cell.value)
    largest = max(above, key=lambda cell: cell.value)
    if 2 * len(above) <= len(cells) and (alone or largest.value > _ABSURD * least.value):
        raise ReadError(
            f"{_where(above[0], column)}: {above[0].value:g} is above 1, but the other values of "
            f"the column are not: correct it, or {_REMEDY}"
        )
    if least.value <= 1 and largest.value > _ABSURD * least.value:
        raise ReadError(
            f"{_where(least, column)}: {least.value:g} beside {largest.value:g} in line "
            f"{largest.place} may be a fraction or percent: correct it, or {_REMEDY}"
        )


def _as_others(
    column: Heading, percent: Sequence[Heading], rows: Sequence[Row], signs: bool
) -> bool:
    """Whether a column with no value above 1 is in percent as others are."""
    fraction, same = (
        all(_fits(column, scale, other, row) for other in percent for row in rows)
        for scale in (1.0, 0.01)
    )
    if fraction != same:
        return same
    if signs:  # those in percent are said to be
        return False
    own = [cell for row in rows if (cell := row[column.name]) is not None]
    theirs = [cell for row in rows for x in percent if (cell := row[x.name]) is not None]
    if same and max(c.decimals for c in own) == max(c.decimals for c in theirs):
        return True
    raise ReadError(
        f"{_where(own[0], column)}: {own[0].value:g} may be a fraction or percent, as "
        f"{percent[0].printed} is: {_REMEDY}"
    )


def _fits(column: Heading, scale: float, other: Heading, row: Row) -> bool:
    """Whether two metrics of a system can have these values together."""
    one, two = row[column.name], row[other.name]
    if one is None or two is None or column.metric is None or other.metric is None:
        return True
    a, half_a = scale * one.value, scale * 0.5 * 10.0**-one.decimals
    b, half_b = two.value / 100, 0.5 * 10.0 ** -(two.decimals + 2)
    return (
        a - half_a <= _most(column.metric, other.metric) * _SLACK * (b + half_b)
        and b - half_b <= _most(other.metric, column.metric) * _SLACK * (a + half_a)
    )  # fmt: skip


def _most(metric: Metric, other: Metric) -> float:
    """How many times another metric of one relevant item a metric can be."""
    ranks = np.arange(1, _RANKS + 1)
    values, others = (np.asarray(x(ranks, _RANKS), dtype=np.float64) for x in (metric, other))
    if np.any((others == 0) & (values > 0)):
        return np.inf
    seen = others > 0
    return float(np.max(values[seen] / others[seen]))


def _where(cell: Cell, column: Heading) -> str:
    return f"line {cell.place}, column {column.printed!r} of the table"
