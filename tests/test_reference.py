"""Every entry of tests/data/reference_values.json, computed elsewhere with 60 digits."""

from typing import Any

import numpy as np
import pytest

import sampledash as sd
from tests.oracles import WITH, WITHOUT

Entries = dict[str, list[dict[str, Any]]]
SCHEME = {"with": WITH, "without": WITHOUT}


def metric_of(entry: dict[str, Any]) -> sd.Metric:
    return sd.metric({"prec": "precision"}.get(entry["metric"], entry["metric"]), k=entry["k"])


def sampling_of(entry: dict[str, Any]) -> sd.Sampling:
    return sd.Sampling(entry["n"], entry["m"], SCHEME[entry["scheme"]])


def assert_close(values: object, texts: object) -> None:
    """1e-11 relative; below 1e-3 absolute 1e-13."""
    true = np.array(texts, dtype=float)
    allowed = np.where(np.abs(true) < 1e-3, 1e-13, 1e-11 * np.abs(true))
    assert np.all(np.abs(np.array(values) - true) <= allowed)


def test_the_file_is_complete_with_metrics_laws_and_moments(
    reference: Entries, abc: list[sd.RankSet]
) -> None:
    sizes = {key: len(entries) for key, entries in reference.items() if key != "_about"}
    assert sizes == {"exact": 80, "expected": 900, "pmf": 54, "corrections": 196, "table2": 48}
    for entry in reference["exact"]:
        assert_close(metric_of(entry)(entry["r"], entry["n"]), entry["value"])
    for entry in reference["pmf"]:
        assert_close(sampling_of(entry).pmf(entry["r"]), entry["pmf"])
    for entry in reference["expected"]:
        at = metric_of(entry), entry["r"], sampling_of(entry)
        moments = sd.expected(*at), np.sqrt(sd.variance(*at))
        assert_close(moments, (entry["expected"], entry["std"]))
    sets = {rs.system: rs for rs in abc}
    for entry in reference["table2"]:
        at, how = (metric_of(entry), sets[entry["system"]]), {"scheme": SCHEME[entry["scheme"]]}
        moments = (f(*at, entry["m"], **how) for f in (sd.expected_mean, sd.std_of_mean))
        known = [entry[key] for key in ("exact", "expected", "std")]
        assert_close([sd.mean(*at), *moments], known)


@pytest.mark.parametrize("method", ["bv", "cls_nonneg", "cls"])
def test_correction_vectors(reference: Entries, method: str) -> None:
    for entry in reference["corrections"]:
        if entry["method"] != method:
            continue
        metric, sampling = metric_of(entry), sampling_of(entry)
        true = np.array(entry["vector"], float)
        recipe = sd.correction("monotone", nonnegative=method == "cls_nonneg")
        if method == "bv":
            recipe = sd.correction("bias-variance", gamma=float(entry["gamma"]))
        fit = recipe.fit(metric, sampling)
        if recipe.gamma != 0:
            assert np.abs(fit.values - true).max() <= 1e-8 * np.abs(true).max(), entry
            continue
        # The cutoff on singular values costs little of the fit, whatever it does to the vector.
        rank = np.arange(1, entry["n"] + 1)
        means = np.array([fit.expected(rank), sampling.pmf(rank) @ true])
        off, least = np.sqrt(np.mean((means - metric(rank, entry["n"])) ** 2, axis=1))
        assert off <= 1e-6 + least
