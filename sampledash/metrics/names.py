"""Metrics by their names, in the spellings of the field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import cast

from sampledash import checks
from sampledash.metrics.kinds import KINDS, MetricName
from sampledash.metrics.metric import Metric


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]", "", text).lower()


_BY_ALIAS = {
    alias: name
    for name, kind in KINDS.items()
    for alias in (_plain(name), _plain(kind.label), *kind.aliases)
}
_KNOWN = "AUC, Precision@k, Recall@k, AP, AP@k, NDCG, NDCG@k, RR, RR@k, HitRate@k, TOPK@x, ATOP"


def metric(name: str, *, k: float | None = None) -> Metric:
    """Make a metric from its name and cutoff.

    Parameters
    ----------
    name
        One of ``"auc" "precision" "recall" "ap" "ndcg" "rr" "hit_rate" "topk" "atop"``, or an alias
        such as ``"hr"`` or ``"mrr"``.
    k
        Cutoff; ``None`` for the untruncated metric. For TOPK the share of the list, in 0..1.

    Examples
    --------
    >>> str(metric("ndcg", k=10))
    'NDCG@10'
    >>> str(metric("topk", k=0.02))
    'TOPK@0.02'
    """
    known = _BY_ALIAS.get(_plain(str(name)))
    if known is None:
        raise ValueError(f"unknown metric {name!r}: known are {_KNOWN}")
    if KINDS[known].cutoff == "share":
        return Metric(cast(MetricName, known), share=k)
    return Metric(cast(MetricName, known), cast(int | None, k))


@lru_cache(maxsize=256)
def _parse(text: str) -> Metric:
    match = re.fullmatch(r"(.+?)(?:\s*(?:@|_at_|\bat\b)\s*(.*)|[_\s]+(\d+))?", text.strip())
    name, k = (match[1], match[2] if match[2] is not None else match[3]) if match else ("", None)
    known = _BY_ALIAS.get(_plain(name))
    if known is None and name.lower() not in ("acc", "accuracy"):
        raise ValueError(f"unknown metric {text!r}: {_meant(name) or f'known are {_KNOWN}'}")
    if known is not None and KINDS[known].cutoff == "share":
        return metric(name, k=None if k is None else _share(text, k))
    if k is not None and not re.fullmatch("[+-]?[0-9]{1,18}", k):
        raise ValueError(f"cutoff of {text!r} is {k!r}: write a whole number, such as {name}@10")
    if known is None:
        name, k = "recall", k or "1"  # section 3.1: accuracy is Recall at 1
    return metric(name, k=None if k is None else int(k))


def _meant(name: str) -> str | None:
    """What to write where only the sign before the cutoff is missing, as in Recall10."""
    match = re.fullmatch(r"(.*?[^\d\s_-])[\s_-]*(\d+)", name)
    kind = KINDS.get(_BY_ALIAS.get(_plain(match[1]), "")) if match else None
    if match is None or kind is None or kind.cutoff not in ("always", "optional"):
        return None
    return f"write {kind.label}@{match[2]}"


def _share(text: str, given: str) -> float:
    """A share of the list, as 0.02 or 2%."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(%?)", given)
    # In decimals: 0.7 / 100 is not the number that 0.007 is.
    share = float(Decimal(match[1]) / (100 if match[2] else 1)) if match else -1.0
    if not 0 <= share <= 1:
        raise ValueError(
            f"cutoff of {text!r} is {given!r}: TOPK takes a share of the list, such as TOPK@0.02 "
            "or TOPK@2%"
        )
    return share


def parse_metric(text: str) -> Metric:
    """Read a metric from its text: the inverse of ``str``, and the field's other spellings.

    Parameters
    ----------
    text
        For example ``"NDCG@10"``, ``"HR@10"``, ``"MRR"``, ``"MAP@5"``, ``"recall_at_20"``,
        ``"TOPK@2%"``.

    Raises
    ------
    ValueError
        If the name is unknown, or the cutoff is missing, not a whole number or, for TOPK, no share.

    Examples
    --------
    >>> str(parse_metric("HR@10")), parse_metric("MRR").name
    ('HitRate@10', 'rr')
    """
    return _parse(str(text))


def as_metric(value: Metric | str) -> Metric:
    """Let public functions take a metric or its text."""
    return value if isinstance(value, Metric) else parse_metric(value)


def as_metrics(values: Sequence[Metric | str]) -> list[Metric]:
    """The same for several; a single one is not taken letter by letter."""
    return [as_metric(value) for value in checks.several("metrics", values, "metric")]
