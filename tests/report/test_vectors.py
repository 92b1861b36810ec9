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
def test_json_round_trip_is_exact(metric, sampling, recipe):
    fit = sd.parse_correction(recipe).fit(metric, sampling)
    back = read_vector_json(vector_json(fit))
    assert back.values.tobytes() == fit.values.tobytes()
    assert (back.metric, back.sampling, back.correction) == (fit.metric, sampling, fit.correction)
    content = json.loads(vector_json(fit))
    assert (content["n"], content["m"]) == (sampling.n, sampling.m)
    assert content["gamma"] == fit.correction.gamma


@pytest.mark.parametrize(("metric", "sampling", "recipe"), CASES)
def test_csv_round_trip_is_exact(metric, sampling, recipe):
    fit = sd.parse_correction(recipe).fit(metric, sampling)
    text = vector_csv(fit)
    first, head, *rows = text.splitlines()
    assert head == "sampled_rank,value"
    table = [row.split(",") for row in rows]
    assert [int(t) for t, _ in table] == list(range(1, sampling.m + 2))
    assert np.array([float(x) for _, x in table]).tobytes() == fit.values.tobytes()
    read = pd.read_csv(io.StringIO(text), comment="#")
    np.testing.assert_allclose(read["value"], fit.values, rtol=1e-15)
    assert first == f"# metric = {metric}, {sampling}, correction = {recipe}"


def test_prior_travels_in_json():
    prior = np.arange(50, 0, -1.0)
    fit = sd.correction("CLS", prior=prior).fit("AP", sd.Sampling(50, 8))
    back = read_vector_json(vector_json(fit)).correction
    assert back.name == "monotone"
    np.testing.assert_allclose(back.prior, prior / prior.sum(), rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not json", "not a vector written by vector_json"),
        ("[1, 2]", "not a vector written by vector_json"),
        ('{"metric": "AP"}', "not a vector written by vector_json"),
    ],
)
def test_other_files_are_refused(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_vector_json(text)


def test_truncated_vector_is_refused():
    fit = sd.parse_correction("BV 0.1").fit("AP", sd.Sampling(50, 8))
    content = json.loads(vector_json(fit))
    content["values"].pop()
    with pytest.raises(ValueError, match=r"m = 8 needs 9"):
        read_vector_json(json.dumps(content))
