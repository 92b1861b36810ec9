"""What to know of sampled ranks before their estimates are believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sampledash.dashboard.consistency.words import MOST_NAMED
from sampledash.estimation import OVERSHOOT
from sampledash.estimation import outside as reason
from sampledash.report.numbers import count

NO_GAMMA = (
    "Where what was drawn decided m, no vector corrects the metric: the law of the sampled rank at "
    "each m, which it is fitted to, depends on the rule."
)


def adaptive(systems: Sequence[str], chance: float | None) -> str:
    """What follows where what was drawn decided m, and how that is known.

    Parameters
    ----------
    systems
        Those of which it holds.
    chance
        Of such a dependence where m was set beforehand; None where the data say it.

    Examples
    --------
    >>> adaptive(["A"], None)
    'The data say that what was drawn decided m (A). Only maximum likelihood is valid then, where \
the rule cancels; other estimators, and ranges with an assumption, are left out.'
    >>> adaptive(["A", "B"], 0.0001)[61:136]
    'fewer, as m set beforehand shows less often than once in 10,000 evaluations'
    """
    names = listed(systems)
    if chance is None:
        told = f"The data say that what was drawn decided m ({names})."
    else:
        told = (
            f"Items of {names} with more negatives stand unlike those with fewer, as m set "
            f"beforehand shows less often than once in {count(round(1 / max(chance, 1e-6)))} "
            "evaluations: what was drawn seems to have decided m."
        )
    return (
        f"{told} Only maximum likelihood is valid then, where the rule cancels; other estimators, "
        "and ranges with an assumption, are left out."
    )


def outside(values: Mapping[str, Sequence[float]], method: str = "") -> list[str]:
    """Why estimates lie outside 0 to 100 %, in a sentence; none where they do not.

    Parameters
    ----------
    values
        Estimates by the name of their system or estimator.
    method
        The estimator, where names are those of systems.

    Examples
    --------
    >>> outside({"A": [-0.06], "B": [0.1]}, "BV")
    ['A by BV is outside 0 to 100 %, as no metric is: entries of a corrected vector lie outside 0 \
to 100 % where that lessens its bias, and then so may their mean.']
    """
    found = [name for name, some in values.items() if any(map(reason, some))]
    if not found:
        return []
    by, verb = f" by {method}" if method else "", "is" if len(found) == 1 else "are"
    return [f"{listed(found)}{by} {verb} outside 0 to 100 %, as no metric is: {OVERSHOOT}."]


def listed(names: Sequence[str]) -> str:
    """A few names in a sentence."""
    some = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        some.append("…")
    return " and ".join([", ".join(some[:-1]), some[-1]] if len(some) > 1 else some)


def repeated(entries: int, instances: int) -> str:
    """Several sampled ranks for one instance."""
    return (
        f"{count(entries)} sampled ranks of {count(instances)} instance{'s' * (instances != 1)}: "
        "those of one instance count as independent in the estimates, not in the ranges."
    )
