"""Corrections of a sampled metric (section 5 of Krichene & Rendle, KDD 2020)."""

from sampledash.correction.names import (
    as_correction,
    as_corrections,
    correction,
    parse_correction,
)
from sampledash.correction.recipes import Correction, Fit, among, vector

__all__ = [
    "Correction",
    "Fit",
    "among",
    "as_correction",
    "as_corrections",
    "correction",
    "parse_correction",
    "vector",
]
