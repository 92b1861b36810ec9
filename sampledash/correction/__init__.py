"""Corrections of a sampled metric (section 5 of Krichene & Rendle, KDD 2020)."""

from sampledash.correction.recipes import (
    Correction,
    Fit,
    as_correction,
    correction,
    parse_correction,
    vector,
    with_prior_for,
)

__all__ = [
    "Correction",
    "Fit",
    "as_correction",
    "correction",
    "parse_correction",
    "vector",
    "with_prior_for",
]
