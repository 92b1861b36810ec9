"""A vector as a file: nothing is lost on the way out and back."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.report.vectors import read_vector_json, vector_csv, vector_json

CASES = [
    ("Recall@10", sd.Sampling(10_000, 100, "without-replacement"), "BV 0.1"),
    ("NDCG", sd.Sampling(3_541, 50), "CLS"),
    ("AP@5", sd.Sampling(300, 20, "popularity", 2.5), "BV 1e-06"),
    ("AUC", sd.Sampling(200, 20), "rank estimate (linear)"),
    ("AP", sd.Sampling(200, 8), "LS"),
]


@pytest.mark.parametrize(("metric", "sampling", "recipe"), CASES)
def test_round_trips_are_exact(metric, sampling, recipe):
    fit = sd.parse_correction(recipe).fit(metric, sampling)
    back = read_vector_json(vector_json(fit))
    assert back.values.tobytes() == fit.values.tobytes()
    assert (back.metric, back.sampling, back.correction) == (fit.metric, sampling, fit.correction)
    content = json.loads(vector_json(fit))
    assert (content["n"], content["m"]) == (sampling.n, sampling.m)
    assert content["gamma"] == fit.correction.gamma
    text = vector_csv(fit)
    assert text.startswith(f"# metric = {metric}, {sampling}, correction = {recipe}\n")
    read = pd.read_csv(io.StringIO(text), comment="#", float_precision="round_trip")
    assert read["sampled_rank"].tolist() == list(range(1, sampling.m + 2))
    assert read["value"].to_numpy().tobytes() == fit.values.tobytes()


def test_prior_travels_in_json():
    prior = np.arange(50, 0, -1.0)
    fit = sd.correction("CLS", prior=prior).fit("AP", sd.Sampling(50, 8))
    back = read_vector_json(vector_json(fit)).correction
    assert back.name == "monotone"
    np.testing.assert_allclose(back.prior, prior / prior.sum(), rtol=1e-15)


def test_other_files_are_refused():
    for text in ("not json", "[1, 2]", '{"metric": "AP"}'):
        with pytest.raises(ValueError, match="not a vector written by vector_json"):
            read_vector_json(text)
    fit = sd.parse_correction("BV 0.1").fit("AP", sd.Sampling(50, 8))
    content = json.loads(vector_json(fit))
    content["values"].pop()
    with pytest.raises(ValueError, match=r"m = 8 needs 9"):
        read_vector_json(json.dumps(content))
