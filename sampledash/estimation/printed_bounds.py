"""Bounds from a printed table: what a paper's sampled metrics say about the exact one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sampledash import checks
from sampledash.estimation.bounds import check_shape, difference
from sampledash.estimation.linear_programme import Columns, Programme, Shape
from sampledash.estimation.nodes import clipped, worst_and_best
from sampledash.expectation import sampled_values
from sampledash.metrics import Metric, as_metric, parse_metric
from sampledash.sampling import Sampling, Scheme
from sampledash.types import Floats

_MOST_DECIMALS = 12
_ERRORS = 2.0  # standard errors that a printed mean may be off


@dataclass(frozen=True, eq=False)
class Printed:
    """Printed values of ``name``, observed or versus, and half a unit of their last digit."""

    name: str
    names: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: Floats
    half: Floats
    sampling: Sampling
    wanted: Metric

    def programme(self, shape: Shape | None, free: int | None = None) -> Programme:
        """All distributions that show the values, apart from a ``free`` one."""
        vectors = [sampled_values(one, self.sampling.m) * one.scale(1) for one in self.metrics]
        columns = Columns((self.sampling,), (np.column_stack(vectors),), self.wanted, shape)
        half = self.half.copy()
        if free is not None:
            half[free] = np.inf
        return Programme(columns, self.values - half, self.values + half)

    def listed(self, off: Floats) -> str:
        """Those that are off."""
        some = np.flatnonzero(off)
        return " and ".join(f"{self.names[i]!r} = {self.values[i]:g}" for i in some)


def bounds_from_table(
    metric: Metric | str,
    observed: Mapping[str, float],
    n: int,
    m: int,
    decimals: int | Mapping[str, int],
    versus: Mapping[str, float] | None = None,
    shape: Shape | None = None,
    scheme: Scheme = "with-replacement",
    *,
    instances: float | None = None,
) -> tuple[float, float]:
    r"""Smallest and largest exact metric of a system of which only sampled values are printed.

    Parameters
    ----------
    metric
        The exact metric to bound: a metric or its text.
    observed
        Sampled values as printed, in 0..1, by name: ``{"HR@10": 0.6624, "NDCG@10": 0.41}``. With
        one relevant item HR is Recall and MRR is AP.
    n
        Candidates, the relevant item included.
    m
        Sampled negatives. A paper's "100 samples" may be 99 negatives and the relevant item.
    decimals
        Decimals of the printed values: one number, or one per name.
    versus
        Printed values of another system of the same table: the result bounds the difference,
        ``observed`` minus ``versus``.
    shape
        ``"non-increasing"``: only distributions in which no rank is more frequent than a better
        one.
    scheme
        ``"with-replacement"`` or ``"without-replacement"``.
    instances
        How many instances the printed means are over: every value may then be off its expectation
        by two standard errors besides its rounding. ``None``: only by its rounding.

    Returns
    -------
    The two bounds, in 0..1. With ``instances`` they are about the metric of these instances, which
    may be two standard errors off that of a distribution of the ``shape``.

    Raises
    ------
    ValueError
        If a value is no printed metric, or no ranks can produce the values together: it names the
        value and the range that the others leave it.

    Notes
    -----
    Ranges over every rank distribution whose *expected* sampled metrics round to the printed ones.
    The printed run has scattered about its expectation, a mean v over U instances by a standard
    deviation of at most :math:`\sqrt{v (1 - v) / U}`: give ``instances`` to allow for it.
    """
    wanted = as_metric(metric)
    size = checks.integer("n", n, low=2)
    checks.choice("scheme", scheme, ("with-replacement", "without-replacement"))
    check_shape(shape)
    sampling = Sampling(size, checks.integer("m", m, low=1), scheme)
    if instances is not None:
        instances = checks.real("instances", instances, low=1)
    ranges = []
    for name, given in (("observed", observed), ("versus", versus)):
        if name == "observed" or given is not None:
            table = _printed(name, given, decimals, instances, sampling, wanted)
            found = table.programme(shape).mean_range()
            if found is None:
                raise ValueError(_complaint(table, shape))
            found = clipped(*found, *worst_and_best(wanted, size))
            ranges.append(_of_some(found, shape, instances))
    return difference(ranges)


def _of_some(
    span: tuple[float, float], shape: Shape | None, instances: float | None
) -> tuple[float, float]:
    """Range of the mean over some instances, where that of their distribution has a range."""
    if shape is None or instances is None:  # any distribution may be their own
        return span
    low, high = span
    below, above = (_error(value, instances) for value in span)
    return max(low - below, 0.0), min(high + above, 1.0)


def _error(value: float, instances: float) -> float:
    """Two standard errors of a mean of values in 0..1, at most."""
    return float(_ERRORS * (value * (1 - value) / instances) ** 0.5)


def _printed(
    name: str,
    observed: object,
    decimals: int | Mapping[str, int],
    instances: float | None,
    sampling: Sampling,
    wanted: Metric,
) -> Printed:
    """Check printed values one by one and read their names."""
    if not isinstance(observed, Mapping) or not observed:
        raise ValueError(
            f"{name} must hold printed values by name, such as {{'HR@10': 0.6624}}, got "
            f"{checks.shown(observed)}"
        )
    metrics, values, half = [], [], []
    for key, given in observed.items():
        places = decimals.get(key) if isinstance(decimals, Mapping) else decimals
        if places is None:
            raise ValueError(f"decimals has no entry for {key!r}: give one for each printed value")
        digits = checks.integer(f"decimals of {key!r}", places, low=0, high=_MOST_DECIMALS)
        metrics.append(parse_metric(key))
        where = f"{name} {key!r}"
        value = checks.real(where, given, low=-1e9, high=1e9)
        if 1 < value <= 100:
            raise ValueError(
                f"{where} is {value:g}, but a metric lies in 0..1: if the table prints percent, "
                f"give {value / 100:g} and decimals = {min(digits, _shown(value)) + 2}"
            )
        if not 0 <= value <= 1:
            raise ValueError(f"{where} is {value:g}, but a metric lies in 0..1: check it")
        if abs(value - round(value, digits)) > 1e-9:
            raise ValueError(
                f"{where} is {value!r}, which has more than decimals = {digits}: give the decimals "
                "that are printed"
            )
        values.append(value)
        scatter = 0.0 if instances is None else _error(value, instances)
        half.append(0.5 * 10.0**-digits + scatter)
    names, arrays = tuple(observed), (np.array(values), np.array(half))
    return Printed(name, names, tuple(metrics), *arrays, sampling, wanted)


def _shown(value: float) -> int:
    """Decimals that a value needs."""
    return len(f"{value:.{_MOST_DECIMALS}f}".rstrip("0").partition(".")[2])


def _complaint(table: Printed, shape: Shape | None) -> str:
    """One sentence on values that no ranks can produce: which one, and what the others leave it."""
    protocol = f"n = {table.sampling.n} and m = {table.sampling.m}"
    off = table.programme(shape).nearest()[1]
    if shape and np.all(table.programme(None).nearest()[1] == 0):
        return (
            f"shape {shape!r} contradicts {table.name} {table.listed(off)} with {protocol}: other "
            "rank distributions can produce the table, so leave shape out"
        )
    for i in np.argsort(-np.abs(off)).tolist():
        left = table.programme(shape, free=i).mean_range(i)
        if left is not None:
            digits = max(0, round(-np.log10(2 * table.half[i])))
            return (
                f"{table.name} {table.names[i]!r} is {table.values[i]:.{digits}f}, but with "
                f"{protocol} the other values leave it {max(left[0], 0.0):.{digits}f} to "
                f"{min(left[1], 1.0):.{digits}f}: check it, the others, n and m"
            )
    return (
        f"{table.name} holds values that no ranks can produce together with {protocol}, nearest to "
        f"it without {table.listed(off)}: check them, n and m"
    )
