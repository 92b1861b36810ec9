"""Every entry of tests/data/reference_values.json, computed elsewhere with 60 digits."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

import sampledash as sd
from tests.oracles import WITH, WITHOUT

Entries = dict[str, list[dict[str, Any]]]
SCHEME = {"with": WITH, "without": WITHOUT}
NAME = {"prec": "precision"}


def metric_of(entry: dict[str, Any]) -> sd.Metric:
    return sd.metric(NAME.get(entry["metric"], entry["metric"]), k=entry["k"])


def sampling_of(entry: dict[str, Any]) -> sd.Sampling:
    return sd.Sampling(entry["n"], entry["m"], SCHEME[entry["scheme"]])


def close(value: float, text: str, where: object) -> None:
    """1e-11 relative; below 1e-3 absolute 1e-13."""
    true = float(text)
    allowed = 1e-13 if abs(true) < 1e-3 else 1e-11 * abs(true)
    assert abs(value - true) <= allowed, (where, value, text)


def test_the_file_is_complete(reference: Entries) -> None:
    sizes = {
        key: len(reference[key]) for key in ("exact", "expected", "pmf", "corrections", "table2")
    }
    assert sizes == {"exact": 80, "expected": 900, "pmf": 54, "corrections": 196, "table2": 48}


def test_exact(reference: Entries) -> None:
    for entry in reference["exact"]:
        close(float(metric_of(entry)(entry["r"], entry["n"])), entry["value"], entry)


def test_expected_and_std(reference: Entries) -> None:
    for entry in reference["expected"]:
        metric, sampling = metric_of(entry), sampling_of(entry)
        close(float(sd.expected(metric, entry["r"], sampling)), entry["expected"], entry)
        std = float(np.sqrt(sd.variance(metric, entry["r"], sampling)))
        close(std, entry["std"], entry)


def test_pmf(reference: Entries) -> None:
    for entry in reference["pmf"]:
        row = sampling_of(entry).pmf(entry["r"])
        assert row.shape == (entry["m"] + 1,)
        for value, text in zip(row, entry["pmf"], strict=True):
            close(value, text, entry)


def test_correction_vectors(reference: Entries) -> None:
    checked = 0
    for entry in reference["corrections"]:
        if entry["method"] == "bv":
            if float(entry["gamma"]) < 0.001:
                continue  # least squares is judged by its objective, in tests/correction
            recipe = sd.correction("bias-variance", gamma=float(entry["gamma"]))
        else:
            recipe = sd.correction("monotone", nonnegative=entry["method"] == "cls_nonneg")
        values = recipe.fit(metric_of(entry), sampling_of(entry)).values
        true = np.array([float(x) for x in entry["vector"]])
        assert np.abs(values - true).max() <= 1e-8 * np.abs(true).max(), entry
        checked += 1
    assert checked == 168


def test_least_squares_fits_as_well_as_the_reference(reference: Entries) -> None:
    for entry in reference["corrections"]:
        if entry["method"] != "bv" or float(entry["gamma"]) != 0:
            continue
        sampling, metric = sampling_of(entry), metric_of(entry)
        rank = np.arange(1, entry["n"] + 1)
        target, true = metric(rank, entry["n"]), np.array([float(x) for x in entry["vector"]])
        fitted = sd.correction("LS").fit(metric, sampling).expected(rank)
        best = sampling.pmf(rank) @ true
        # The cutoff on singular values costs little of the fit, whatever it does to the vector.
        assert np.sqrt(np.mean((fitted - target) ** 2)) <= 1e-6 + np.sqrt(
            np.mean((best - target) ** 2)
        )


def test_table2_moments(reference: Entries, abc: list[sd.RankSet]) -> None:
    sets = {rs.system: rs for rs in abc}
    key = itemgetter("n", "m", "scheme")
    for (n, m, scheme), entries in groupby(sorted(reference["table2"], key=key), key=key):
        assert n == 10_000
        for entry in entries:
            metric, ranks = metric_of(entry), sets[entry["system"]]
            close(sd.mean(metric, ranks), entry["exact"], entry)
            mean = sd.expected_mean(metric, ranks, m, scheme=SCHEME[scheme])
            close(mean, entry["expected"], entry)
            close(sd.std_of_mean(metric, ranks, m, scheme=SCHEME[scheme]), entry["std"], entry)
