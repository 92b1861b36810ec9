"""A corrected metric vector as a file, with the settings it belongs to."""

from __future__ import annotations

import dataclasses
import json

import numpy as np

from sampledash.correction import Fit, parse_correction
from sampledash.metrics import parse_metric
from sampledash.sampling import Sampling


def vector_csv(fit: Fit) -> str:
    """Write a vector as CSV: a comment with the settings, then ``sampled_rank,value``.

    Values have 17 significant digits, so that reading them gives back the same numbers.
    """
    recipe, sampling = fit.correction, fit.sampling
    head = f"# metric = {fit.metric}, {sampling}, correction = {recipe}"
    rows = (f"{t},{value:.17g}" for t, value in enumerate(fit.values.tolist(), start=1))
    return "\n".join([head, "sampled_rank,value", *rows]) + "\n"


def vector_json(fit: Fit) -> str:
    """Write a vector as JSON; :func:`read_vector_json` reads it back.

    Returns
    -------
    An object with ``metric n m scheme odds correction gamma prior values``; ``values[t - 1]`` is
    reported when the sampled rank is t; ``prior`` is ``null`` for uniform.
    """
    recipe, sampling = fit.correction, fit.sampling
    prior = None if recipe.prior is None else recipe.prior.tolist()
    named = recipe if prior is None else dataclasses.replace(recipe, prior=None)
    law = {"n": sampling.n, "m": sampling.m, "scheme": sampling.scheme, "odds": sampling.odds}
    how = {"correction": str(named), "gamma": recipe.gamma, "prior": prior}
    content = {"metric": str(fit.metric), **law, **how, "values": fit.values.tolist()}
    return json.dumps(content, allow_nan=False) + "\n"


def read_vector_json(text: str) -> Fit:
    """Read what :func:`vector_json` wrote.

    Raises
    ------
    ValueError
        If it is not such a file, or its vector does not have m + 1 values.
    """
    try:
        content = json.loads(text)
        sampling = Sampling(content["n"], content["m"], content["scheme"], content["odds"])
        recipe, metric = parse_correction(content["correction"]), parse_metric(content["metric"])
        values = np.array(content["values"], dtype=np.float64)
        prior = content.get("prior")
    except KeyError as error:
        why = f"{error} is missing"
        raise ValueError(f"this is not a vector written by vector_json: {why}") from None
    except (TypeError, AttributeError, json.JSONDecodeError):
        raise ValueError("this is not a vector written by vector_json, but other text") from None
    if values.shape != (sampling.m + 1,):
        raise ValueError(
            f"values has shape {values.shape}: m = {sampling.m} needs {sampling.m + 1}, "
            "one for each sampled rank"
        )
    if prior is not None:
        recipe = dataclasses.replace(recipe, prior=np.array(prior, dtype=np.float64))
    values.setflags(write=False)
    return Fit(recipe, metric, sampling, values)
