"""The net: what the program says, held so that it can be compared before and after a change.

It sees only what must stay: ``import sampledash``, ``app.py``, the page scripts and the parameters
of their addresses. ::

    python -m tests.net --write                      # hold what is said now: tests/data/net.json
    python -m tests.net                              # compare with it
    python -m tests.net --against PATH --seed 7      # values and links that nobody has stored

Everything said is a record: a list of paths, each with a text (whole or, where it is long, its
beginning and a digest) or with numbers. A number is ``[value]``, an array
``[length, sum v (1.5 + cos i), sum v (1.5 + sin(i + 1)), sum |v|]``,
the last only to say what is small beside it.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import gzip
import hashlib
import io
import json
import logging
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy loads, as app.py has it: two move digits

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

import sampledash as sd

HERE = Path(__file__).resolve().parent
STORED = HERE / "data" / "net.json"
VALUES, FILES = 608, 90
RELATIVE, ABSOLUTE = 1e-12, 1e-13

Atom = str | list[float]
Record = dict[str, Atom]
Said = dict[str, Record]

# ------------------------------------------------------------------------------- what is said


def said_text(text: str) -> str:
    """A text, or the beginning of a long one and a digest."""
    text = text.replace("\ud7ff", "?")
    if len(text) <= 36:
        return text
    mark = hashlib.sha1(text.encode("utf-8", "replace")).hexdigest()[:9]
    return f"{text[:22]}…{len(text)}#{mark}"


def said_array(values: Any) -> Atom:
    """Checksums of numbers; where some are not finite, which ones goes into the first."""
    v = np.asarray(values, dtype=float).ravel()
    if len(v) == 1 and np.isfinite(v[0]):
        return [_digits(v[0])]
    i, fine = np.arange(len(v)), np.isfinite(v)
    kinds = np.where(np.isnan(v), 1, np.where(v > 0, 2, 3))
    odd = float(np.sum(kinds[~fine] * (i[~fine] + 1.0)))
    v = np.where(fine, v, 0.0)
    sums = [_digits(v @ (1.5 + np.cos(i))), _digits(v @ (1.5 + np.sin(i + 1)))]
    return [len(v), *sums, float(f"{np.sum(np.abs(v)):.2g}"), *([odd] if odd else [])]


def _digits(x: float) -> float:
    """As many as are compared, and two."""
    return float(f"{x:.14g}")


OF_SET = ("system", "ranks", "sampled_ranks", "n", "m", "scheme", "instances", "ties", "mass_above",
          "counts", "n_instances", "is_adaptive")  # fmt: skip
PARTS = {sd.RankSet: OF_SET, sd.SampledRankSet: OF_SET, sd.Metric: ("name", "k", "share")}


def said(value: Any, path: str = "", into: Record | None = None) -> Record:
    """Everything in a value, by its path."""
    into = {} if into is None else into
    if value is None or value is pd.NA or isinstance(value, str | bytes | bool | np.bool_):
        into[path] = said_text(value if isinstance(value, str) else repr(value))
    elif isinstance(value, int | float | np.number):
        into[path] = said_array([value])
    elif isinstance(value, pd.DataFrame):
        into[f"{path}:columns"] = said_text(repr([str(c) for c in value.columns]))
        said(value.index.to_numpy(), f"{path}:index", into)
        for place in range(value.shape[1]):
            said(value.iloc[:, place].to_numpy(dtype=object), f"{path}.{place}", into)
    elif type(value) in PARTS or dataclasses.is_dataclass(value):
        into[f"{path}:says"] = said_text(str(value))
        own = PARTS.get(type(value)) or [field.name for field in dataclasses.fields(value)]
        for name in own:
            if hasattr(value, name):
                said(getattr(value, name), f"{path}.{name}", into)
    elif isinstance(value, dict):
        for key in value:
            said(value[key], f"{path}.{key}", into)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        into[path] = said_array(value)
    elif isinstance(value, list | tuple | np.ndarray):
        leaves = [(_is_number(x), x) for x in _leaves(value)]
        numbers, texts = ([x for yes, x in leaves if yes == want] for want in (True, False))
        if numbers or not texts:
            into[path] = said_array(numbers)
        if texts:
            into[f"{path}:texts"] = said_text(f"{len(texts)}: " + "|".join(map(str, texts)))
    else:
        into[path] = said_text(re.sub(r" at 0x[0-9a-f]+", "", str(value)))
    return into


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        value = list(value.ravel())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield f"{key}:"
            yield from _leaves(value[key])
    else:
        yield value


def outcome(make: Callable[[], Any]) -> Record:
    """What a call gives, or the error that it ends in."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = said(make())
    except (ValueError, TypeError) as error:
        # A kind of ValueError may be named anew; its sentence may not.
        kind = "ValueError" if isinstance(error, ValueError) else "TypeError"
        return {"error": said_text(f"{kind}: {error}"), "error ends": said_text(str(error)[-44:])}
    ours = [str(w.message) for w in caught if "sampledash" in w.filename]
    return {**found, "warns": said_text("|".join(ours))} if ours else found


# ------------------------------------------------------------------------------------- values

METRICS = (
    "Recall@1", "Recall@5", "Recall@10", "Recall@20", "Precision@5", "Precision@10", "HitRate@10",
    "HR@3", "NDCG", "NDCG@5", "NDCG@10", "AP", "AP@5", "AP@10", "RR", "MRR@10", "AUC", "TOPK@2%",
    "TOPK@0.1", "TOPK@0.3", "ATOP", "MAP@20", "recall_at_7", "acc@2",
)  # fmt: skip
WRONG_METRICS = ("Recall", "Foo@3", "NDCG@0", "AUC@5", "TOPK@3", "Recall10", "AP@x", "", "hits@-1")
CORRECTIONS = (
    None, "uncorrected", "rank-estimate", "rank-estimate", "CLS", "BV 1", "BV 0.1", "BV 0.01",
    "BV 0.001", "LS", "bias-variance",
)  # fmt: skip
ESTIMATORS = (
    "mle", "mes", "monotone-mle", "bv-mle", "bv-mes", "bv-monotone-mle", "mn", "BV 0.1", "CLS",
    "rank-estimate", "uncorrected", "BV 0.01", "nothing",
)  # fmt: skip


class Draw:
    """Arguments at random; a few of them wrong."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.given: list[str] = []

    def chance(self, share: float) -> bool:
        return float(self.rng.random()) < share

    def pick(self, options: Any) -> Any:
        found = options[int(self.rng.integers(len(options)))]
        self.given.append(str(found))
        return found

    def whole(self, low: int, high: int) -> int:
        """Even on a logarithmic scale."""
        x = math.exp(float(self.rng.uniform(math.log(low), math.log(high + 1))))
        found = min(max(int(x), low), high)
        self.given.append(str(found))
        return found

    def metric(self, *, plain: bool = False) -> str:
        if self.chance(0.04):
            return self.pick(WRONG_METRICS)
        return self.pick([m for m in METRICS if not plain or not m.startswith(("TOPK", "ATOP"))])

    def scheme(self, *, popular: bool = True) -> dict[str, Any]:
        schemes = ["with-replacement", "without-replacement", "without-replacement"]
        scheme = self.pick([*schemes, "popularity"] if popular else schemes)
        odds = {"odds": self.pick((0.5, 2.0, 3.5))} if scheme == "popularity" else {}
        return {"scheme": scheme} | odds

    def sampling(self, most_n: int = 20_000, most_m: int = 300, *, popular: bool = True) -> Any:
        n = self.whole(2, most_n)
        m = self.whole(1, min(most_m, n - 1) if self.chance(0.95) else most_m)
        return sd.Sampling(n, m, **self.scheme(popular=popular))

    def correction(self) -> Any:
        text = self.pick(CORRECTIONS)
        return "BV 2" if self.chance(0.02) else text

    def gamma(self) -> float:
        return self.pick((1.0, 0.5, 0.1, 0.037, 0.01, 0.001, 1e-5, 0.0, -1.0))

    def options(self) -> dict[str, Any]:
        how = self.scheme() if self.chance(0.8) else {}
        if self.chance(0.35):
            how["correction"] = self.correction()
        if self.chance(0.1):
            how["fit_scheme"] = self.pick(("with-replacement", "without-replacement"))
        if self.chance(0.25):
            how["ties"] = self.pick(("expected", "optimistic", "pessimistic"))
        if self.chance(0.2):
            how["weighting"] = self.pick(("instances", "relevant-items", "rows"))
        if self.chance(0.02):
            how["ladder"] = 3
        return how

    def sets(self, least: int = 2, kind: str = "") -> list[Any]:
        """Rank sets of the same instances; plain or with ties, counts, several relevant items."""
        kinds = ("plain", "plain", "plain", "small", "ties", "several", "own n", "counts", "mass")
        kind = kind or self.pick(kinds)
        rng, size = self.rng, 6 if kind == "small" else self.whole(20, 120)
        n: Any = self.pick((60, 200, 500, 1500))
        systems, users = max(least, int(rng.integers(2, 4))), np.arange(size)
        if kind == "several":
            users = np.sort(rng.integers(0, max(size // 2, 2), size))
        if kind == "own n":
            n = rng.integers(n // 2, n, size)
        made = []
        for s in range(systems):
            ranks = np.ceil((n - 1) * rng.beta(0.35 + 0.1 * s, 1.4, size)).astype(int)
            ranks = np.clip(ranks + int(rng.integers(0, 4)), 1, n)
            more: dict[str, Any] = {}
            if kind == "several":
                places = np.argsort(rng.random((size, int(n))), axis=1)
                for user in np.unique(users):
                    mine = users == user
                    ranks[mine] = np.sort(places[mine][0, : mine.sum()] // 4 + 1)
                    ranks[mine] += np.arange(mine.sum())
                more["instances"] = users
            if kind == "ties":
                more["ties"] = np.minimum(rng.integers(0, 6, size), n - ranks)
            if kind == "counts":
                more["counts"] = np.random.default_rng(size).integers(1, 9, size)
            if kind == "mass":
                more["mass_above"] = np.clip((ranks - 1) / n * rng.uniform(0.8, 1.9), 0, 1)
            made.append(sd.RankSet("ABC"[s], ranks, n, **more))
        return made

    def sampled(self, *, together: int = 1, most_n: int = 800) -> list[Any]:
        rng, size = self.rng, self.whole(30, 400)
        n, scheme = self.whole(30, most_n), self.pick(("with-replacement", "without-replacement"))
        m: Any = self.whole(3, min(40, n - 1))
        if self.chance(0.15):
            m = rng.choice([m, min(2 * m, n - 1)], size)
        made = []
        for s in range(together):
            share = rng.beta(0.4 + 0.1 * s, 1.5, size)
            more: dict[str, Any] = {}
            if self.chance(0.15):
                more["counts"] = rng.integers(1, 5, size)
            if self.chance(0.08):
                more["adaptive"] = True
            ranks = 1 + rng.binomial(m, share)
            made.append(sd.SampledRankSet("ABC"[s], ranks, n, m, scheme=scheme, **more))
        return made

    def m_for(self, sets: list[Any]) -> int:
        top = int(min(np.min(s.n) for s in sets)) - 1
        if self.chance(0.04):
            return self.pick((0, 5000, -3))
        return self.whole(1, max(min(top - 5, 300), 2))

    def prior(self, n: int) -> Any:
        return None if self.chance(0.5) else 1 / np.arange(1, n + 1) ** self.pick((0.5, 1.0, 2.0))


Values = Callable[[Draw], Any]


def _after(draw: Callable[[Draw], Any], then: Callable[..., Any], **more: Any) -> Values:
    """What is made of what is drawn first."""
    return lambda d: then(d, draw(d), **more)


def _of(*kinds: str) -> Values:
    """Rank sets of one of some kinds."""
    return lambda d: d.sets(kind=d.pick(kinds))


def _law(d: Draw, s: sd.Sampling, name: str) -> Any:
    ranks = d.rng.integers(1, s.n + 1, 7) if d.chance(0.95) else [0, s.n + 1]
    return getattr(sd, name)(d.metric(plain=True), ranks, s)


def _sampling(d: Draw) -> Any:
    if d.chance(0.25):
        return sd.parse_sampling(d.pick(("n=100, m=10", "without", "", str(sd.Sampling(50, 7)))))
    s = d.sampling(3_000, 100)
    again, ranks = sd.parse_sampling(str(s)), d.rng.integers(1, s.n + 1, 3)
    drawn = s.draw(ranks, np.random.default_rng(d.whole(1, 99)))
    return [str(s), again == s, s.pmf(ranks), s.share_above(ranks), drawn]


def _metric(d: Draw) -> Any:
    if d.chance(0.7):
        m = sd.parse_metric(d.metric())
    else:
        name = d.pick(("hr", "ndcg", "topk", "auc", "mrr", "what"))
        m = sd.metric(name, k=d.pick((None, 3, 10, 0.1, 0, 2.5)))
    n = d.whole(20, 5_000)
    ranks = np.sort(d.rng.choice(np.arange(1, n + 1), 3, replace=False))
    parts = [str(m), m.label, m.about, m.tex, m.first_only, m.linear, m.of_others, m.scale(3)]
    return [*parts, m(ranks, n), m.of_set(ranks, n)]


def _fit(d: Draw, s: sd.Sampling) -> Any:
    text = d.pick(("rank-estimate", "CLS", "BV 1", "BV 0.1", "BV 0.001", "LS", "BV 5e-5", "XY"))
    named = {"gamma": d.gamma()} if text.startswith("BV") and d.chance(0.5) else {}
    if d.chance(0.4):
        made = sd.correction("bias-variance" if named else text, prior=d.prior(s.n), **named)
    else:
        made = sd.parse_correction(text)
    fit, ranks = made.fit(d.metric(plain=True), s), d.rng.integers(1, s.n + 1, 5)
    return [str(made), fit.values, fit.note, fit.expected(ranks), fit.variance(ranks), fit.risk()]


def _vector(d: Draw) -> Any:
    if d.chance(0.2):
        return sd.read_vector_json(d.pick(("", "{}", "[1]", '{"metric": "AP", "n": 5}')))
    made = sd.correction(d.pick(("CLS", "BV", "rank-estimate")))
    text = sd.vector_json(made.fit(d.metric(plain=True), d.sampling(900, 50)))
    again, parsed = sd.read_vector_json(text), json.loads(text)
    return [sorted(parsed), parsed["values"], again.values, str(again.correction)]


def _means(d: Draw, sets: list[Any], name: str) -> Any:
    m, how, metric = d.m_for(sets), d.options(), d.metric()
    return [getattr(sd, name)(metric, rs, m, **how) for rs in sets]


def _mean(d: Draw, sets: list[Any]) -> Any:
    how, metric = d.options(), d.metric()
    how = {key: how[key] for key in ("ties", "weighting") if key in how}
    return [sd.mean(metric, rs, **how) for rs in sets]


def _pairs(d: Draw, sets: list[Any], name: str) -> Any:
    return getattr(sd, name)(d.metric(), sets, d.m_for(sets), **d.options())


def _over_m(d: Draw, sets: list[Any], name: str) -> Any:
    return getattr(sd, name)(d.metric(), sets, d.pick((20, 45, 80)), **d.options())


def _negatives(d: Draw, sets: list[Any]) -> Any:
    wanted = d.pick((0.8, 0.95, 0.99, 1.5))
    return sd.negatives_needed(d.metric(), sets, wanted, d.pick((30, 60)), **d.options())


def _instances(d: Draw, sets: list[Any]) -> Any:
    redraw, wanted = d.pick(("negatives", "both")), d.pick((0.8, 0.95, 0.999, 0.0))
    how = {"redraw": redraw}
    return sd.instances_needed(d.metric(), sets, d.m_for(sets), wanted, **how, **d.options())


def _curve(d: Draw, sets: list[Any]) -> Any:
    ms = sorted({d.whole(1, 50) for _ in range(5)}) if d.chance(0.95) else [0, 5]
    return sd.curve(d.metric(), sets, ms, **d.options())


def _verdict(d: Draw, sets: list[Any]) -> Any:
    how = d.options()
    how.pop("correction", None)
    recipes = list({d.correction() or "uncorrected": 0, "uncorrected": 0})
    metrics = [d.metric(), d.metric()]
    return sd.verdict(metrics, sets, d.m_for(sets), recipes, m_max=d.pick((30, 60)), **how)


def _significance(d: Draw, sets: list[Any]) -> Any:
    rng, level = np.random.default_rng(d.whole(1, 1000)), d.pick((0.9, 0.95, 1.0))
    runs = d.pick((100, 400, 5))
    return sd.significance(d.metric(), sets, rng, resamples=runs, confidence=level)


def _simulate(d: Draw, sets: list[Any]) -> Any:
    m, rng = d.m_for(sets[:1]), np.random.default_rng(d.whole(1, 1000))
    return sd.simulate(d.metric(), sets[0], m, d.pick((1, 5, 20, 0)), rng, **d.options())


def _sample(d: Draw, sets: list[Any]) -> Any:
    rng, scheme = np.random.default_rng(d.whole(1, 1000)), d.scheme()["scheme"]
    return sd.sample_ranks(sets[0], d.m_for(sets[:1]), rng, scheme=scheme)


def _estimate(d: Draw) -> Any:
    level = d.pick((0.95, 0.9, 1.5))
    return sd.estimate(d.metric(plain=True), d.sampled()[0], d.pick(ESTIMATORS), level)


def _distribution(d: Draw) -> Any:
    sets, method = d.sampled(together=d.pick((1, 2))), d.pick(("mle", "mes", "monotone-mle", "x"))
    return sd.rank_distribution(sets, method, iterations=d.pick((None, None, 7)))


def _learned(d: Draw) -> Any:
    sets, method = d.sampled(together=2), d.pick(("bv-mle", "bv-mes", "bv-monotone-mle", "mn"))
    gamma = d.pick((None, None, 0.1, 0.003, 0.0))
    return sd.fit_learned(method, d.metric(plain=True), sets, gamma=gamma)


SHAPES = (None, "non-increasing")


def _bounds(d: Draw) -> Any:
    sets = d.sampled(together=2, most_n=300)
    shape, tolerance = d.pick(SHAPES), d.pick((None, None, 0.05, 0.2, 2.0))
    versus = sets[1] if d.chance(0.3) else None
    return sd.bounds(d.metric(plain=True), sets[0], versus, shape, tolerance)


def _compare(d: Draw) -> Any:
    sets, shape = d.sampled(together=2, most_n=300), d.pick(SHAPES)
    return sd.compare(d.metric(plain=True), *sets, shape, d.pick((0.95, 0.8, 0.0)))


def _table(d: Draw) -> Any:
    s = d.sampling(400, 40, popular=False)
    ranks = np.clip(np.ceil(s.n * d.rng.beta(0.4, 1.4, 60)), 1, s.n).astype(int)
    names = ["HR@1", "HR@5", "HR@10", "NDCG@10", "MRR"][: d.pick((2, 3, 4, 5))]
    table = {x: round(float(np.mean(sd.expected(x, ranks, s))), 4) for x in names}
    if d.chance(0.08):
        table["HR@1"] = 1.2
    shape, size = d.pick(SHAPES), d.pick((None, 60, 1000))
    metric = d.metric(plain=True)
    return sd.bounds_from_table(metric, table, s.n, s.m, 4, None, shape, s.scheme, instances=size)


def _gamma_table(d: Draw) -> Any:
    s = d.sampling(900, 60, popular=False)
    prior = 1.0 / np.arange(1, s.n + 1) ** d.pick((0.5, 1.0))
    return sd.gamma_table(d.metric(plain=True), s, d.pick((1, 100, 6040, -1)), prior)


def _spectral(d: Draw, s: sd.Sampling, name: str) -> Any:
    return getattr(sd, name)(s, *([] if name == "eigenvalues" else [d.gamma()]))


def _posterior(d: Draw, s: sd.Sampling) -> Any:
    return sd.posterior(d.whole(1, s.m + 1) + (s.m + 2) * d.chance(0.03), s, d.prior(s.n))


def _full_cutoff(d: Draw, s: sd.Sampling) -> Any:
    return sd.full_cutoff(d.whole(1, s.m + 3), s.n, s.m, beta=d.pick((None, 1.0, 0.4, 0.0)))


def _matching(d: Draw, sets: list[Any]) -> Any:
    m = d.m_for(sets[:1])
    return sd.matching_cutoff(d.whole(1, max(m, 1)), sets[0], m, **d.scheme())


def _example(d: Draw) -> Any:
    sets = sd.example(d.pick(("paper-abc", "movielens-xyz", "movielens-xyz-ties", "movielens")))
    m, how = d.whole(1, 200), d.options()
    return [sets, [sd.expected_mean(d.metric(), rs, m, **how) for rs in sets]]


WRONG_RANKS = (([0, 3], 9), ([1, 12], 9), ([1.5], 9), ([], 9), ([1, 2], [9, 0]), ([2], 10**13))


def _ranks(d: Draw) -> Any:
    if d.chance(0.5):
        return sd.RankSet("S", *d.pick(WRONG_RANKS))
    return [[rs.has_ties, rs.max_negatives, rs.max_relevant, rs.n_instances, rs] for rs in d.sets()]


def _sampled_set(d: Draw) -> Any:
    if d.chance(0.4):
        return sd.SampledRankSet("S", [1, d.pick((0, 7, 2.5))], 100, d.pick((5, 0, 10**8)))
    sets = d.sampled(together=2)
    return [[x, _observed(x), x.population, x.chance_if_set] for x in sets]


def _observed(x: sd.SampledRankSet) -> list[str]:
    if hasattr(x, "draws"):  # the form they once had
        return [str(one) for one in x.draws]
    pairs = zip(x.outcomes.m, x.outcomes.counts, strict=True)
    return [f"Draws(m={m}, counts={counts!r})" for m, counts in pairs]


def _counterexample(d: Draw) -> Any:
    return sd.counterexample(d.metric(plain=True), d.sampling(300, 60))


_OVER_M = _of("plain", "small", "ties", "own n", "counts", "several")
KINDS: dict[str, Values] = {
    "Sampling": _sampling, "Metric": _metric, "RankSet": _ranks, "SampledRankSet": _sampled_set,
    "expected": _after(Draw.sampling, _law, name="expected"),
    "variance": _after(Draw.sampling, _law, name="variance"),
    "posterior": _after(lambda d: d.sampling(2_000, 100), _posterior),
    "correction": _after(lambda d: d.sampling(5_000, 120), _fit), "vector_json": _vector,
    "example": _example, "mean": _after(Draw.sets, _mean),
    "expected_mean": _after(Draw.sets, _means, name="expected_mean"),
    "std_of_mean": _after(Draw.sets, _means, name="std_of_mean"),
    "curve": _after(Draw.sets, _curve), "simulate": _after(Draw.sets, _simulate),
    "sample_ranks": _after(_of("plain", "ties", "own n", "counts", "several"), _sample),
    "flips": _after(_OVER_M, _over_m, name="flips"),
    "right_from": _after(_OVER_M, _over_m, name="right_from"),
    "verdict": _after(_of("plain", "ties", "own n", "several", "small"), _verdict),
    **{x: _after(Draw.sets, _pairs, name=x) for x in
       ("probability_of_order", "probability_if_shared", "probability_if_redrawn")},
    "significance": _after(_of("plain", "small", "ties", "several", "counts"), _significance),
    "negatives_needed": _after(_of("plain", "own n", "counts"), _negatives),
    "instances_needed": _after(Draw.sets, _instances), "counterexample": _counterexample,
    **{x: _after(lambda d: d.sampling(50_000, 200), _spectral, name=x) for x in
       ("eigenvalues", "retained", "resolution")},
    "full_cutoff": _after(Draw.sampling, _full_cutoff),
    "matching_cutoff": _after(_of("plain", "own n", "counts", "ties"), _matching),
    "gamma_table": _gamma_table, "estimate": _estimate, "rank_distribution": _distribution,
    "fit_learned": _learned, "bounds": _bounds, "compare": _compare, "bounds_from_table": _table,
}  # fmt: skip


def value(seed: int, number: int) -> tuple[str, Record]:
    """A name of the public API and what it gives for arguments drawn from the seed."""
    name = list(KINDS)[number % len(KINDS)]
    d = Draw(seed, number)
    found = outcome(lambda: KINDS[name](d))
    return f"value {number} {name}", {"given": said_text(" ".join(d.given)), **found}


# -------------------------------------------------------------------------------------- files


def _rows(d: Draw) -> list[dict[str, Any]]:
    n, users = d.pick((40, 500, 3706)), d.whole(3, 12)
    return [
        {"system": s, "instance": f"u{u}", "rank": int(d.rng.integers(1, n + 1)),
         "n_candidates": n, "ties": int(d.rng.integers(0, 4)), "count": int(d.rng.integers(1, 9)),
         "seed": int(u % 2), "mass_above": round(float(d.rng.random()), 4)}
        for s in ("A", "B b", "Ä") for u in range(users)
    ]  # fmt: skip


def _csv(d: Draw, rows: list[dict[str, Any]], columns: list[str], heads: dict[str, str]) -> bytes:
    mark = d.pick((",", "\t", ";"))
    lines = [mark.join(heads.get(c, c) for c in columns)]
    lines += [mark.join(str(row[c]) for c in columns) for row in rows]
    return "\n".join([*lines, ""]).encode()


def _bytes_of(write: Callable[[io.BytesIO], Any]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def _file(d: Draw) -> tuple[str, str, bytes, dict[str, Any]]:
    """How it is read, the file's name, its bytes, and how."""
    how: dict[str, Any] = {}
    kind = d.pick(
        ("long", "long", "long", "wide", "counts", "seeds", "run", "run", "pasted", "pasted",
         "npy", "parquet", "sampled", "sampled", "json", "no n", "broken", "broken", "zero")
    )  # fmt: skip
    rows, heads = _rows(d), {"system": d.pick(("system", "model", "tag", "method")),
                             "rank": d.pick(("rank", "position", "Ranks")),
                             "instance": d.pick(("instance", "user_id", "qid")),
                             "n_candidates": d.pick(("n_candidates", "n", "n_items"))}  # fmt: skip
    columns = ["system", "instance", "rank", "n_candidates"]
    reader, name = "ranks", "ranks.csv"
    frame = pd.DataFrame(rows)
    wide = frame.pivot(index="instance", columns="system", values="rank")
    if kind in ("long", "broken", "zero", "no n"):
        columns += [c for c in ("ties", "mass_above") if d.chance(0.3)]
        how = {"zero_based": d.chance(0.5)} if kind == "zero" else {}
        if kind == "zero":
            rows[0]["rank"] = 0
        if kind == "no n":
            columns.remove("n_candidates")
            how = {"n": d.pick((None, 5000, 3))}
        if kind == "broken":
            rows[int(d.rng.integers(len(rows)))][d.pick(columns)] = d.pick(
                ("", "x", -1, 10**19, 2.5, "nan", "1,5", '"', "٣")
            )
            how = {"instances": d.pick(("same", "shared", "any"))}
            del rows[-int(d.rng.integers(0, 3)) or len(rows) :]
        data = _csv(d, rows, columns, heads)
    elif kind == "counts":
        data = _csv(d, rows, ["system", "rank", "n_candidates", "count"], heads)
    elif kind == "seeds":
        data = _csv(d, rows, [*columns, "seed"], heads)
        how = {"runs": d.pick(("averaged", "apart"))}
    elif kind == "wide":
        wide.insert(0, "n", 3706)
        data = wide.reset_index().to_csv(index=False).encode()
        how = {"systems": d.pick((None, ["A"], ["A", "C"], {"A": "first"}))}
    elif kind == "run":
        reader, name, how = "run", "run.txt", {"n": d.pick((100, 100, None, 5))}
        how["censored"] = d.pick(("refuse", "tied", "left-out"))
        cut = d.pick((10, 12, 12))
        data = "".join(
            f"q{q} Q0 d{doc} {doc} {round(float(d.rng.random()), 1)} {tag}\n"
            for tag in ("A", "B")
            for q in (1, 2, 3)
            for doc in range(cut)
        ).encode()
    elif kind == "pasted":
        reader, name = "pasted", ""
        given = [" ".join(str(x) for x in wide[s].to_numpy()) for s in ("A", "B b")]
        head = d.pick(("n = 3,706\n", "n = 4000; ", "# n: 5000\n", "", "n = 2\n", "n = x\n"))
        data = f"{head}A: {given[0]}{d.pick((chr(10), '; '))}B b: {given[1]}".encode()
        how = {"n": d.pick((None, None, 9000))}
    elif kind == "npy":
        name, how = "ranks.npy", {"n": d.pick((4000, None))}
        array = d.pick((0, 1, 2, 3))
        table: Any = [
            wide.to_numpy(),
            wide["A"].to_numpy(),
            wide.to_numpy() + 0.5,
            frame[["rank", "count"]].to_records(index=False),
        ][array]
        data = _bytes_of(lambda b: np.save(b, table))
    elif kind == "parquet":
        name = "ranks.parquet"
        data = _bytes_of(lambda b: parquet.write_table(pa.Table.from_pandas(frame[columns]), b))
    elif kind == "sampled":
        reader, name = "sampled", "sampled.csv"
        for row in rows:
            row["sampled_rank"], row["m"] = int(d.rng.integers(1, 22)), 20
        heads = {}
        columns = ["system", "instance", "sampled_rank"]
        columns += [c for c in ("n_candidates", "m", "count") if d.chance(0.6)]
        data = _csv(d, rows, columns, heads)
        how = {"n": d.pick((None, 5000)), "m": d.pick((None, 20, 20, 3)), **d.scheme(popular=False)}
    else:
        name, data = "ranks.json", json.dumps(rows[:3]).encode()
    if d.chance(0.1) and reader == "ranks":
        name, data = name + ".gz", gzip.compress(data, mtime=0)
    return reader, name, data, how


def _read(reader: str, name: str, data: bytes, how: dict[str, Any]) -> Any:
    buffer = io.BytesIO(data)
    if reader == "pasted":
        return sd.parse_rank_text(data.decode(), **how)
    if reader == "sampled":
        return sd.read_sampled_ranks(buffer, name=name, **how)
    if reader == "run":
        qrels = b"q1 0 d1 1\nq2 0 d2 1\nq2 0 d9 1\nq3 0 d11 2\n"
        return sd.read_rank_sets(buffer, name=name, qrels=io.BytesIO(qrels), **how)
    return sd.read_rank_sets(buffer, name=name, **how)


def _each(sets: Any) -> dict[str, Any]:
    return {str(i): each for i, each in enumerate(sets)}


def file(seed: int, number: int) -> tuple[str, Record]:
    """A generated file and what is read from it."""
    d = Draw(seed, 10_000 + number)
    reader, name, data, how = _file(d)
    found = outcome(lambda: _each(_read(reader, name, data, how)))
    return f"file {number} {reader} {name}", {"given": said_text(data.decode("latin-1")), **found}


def kept_files() -> Iterator[tuple[str, Record]]:
    """The files of the tests and the templates, alone and each run with its qrels."""
    folders = (HERE / "readers" / "fixtures", HERE.parent / "assets" / "templates")
    for path in sorted(path for folder in folders for path in folder.iterdir()):
        if path.is_dir() or path.suffix == ".py":
            continue
        ways: dict[str, Callable[[bytes, str], Any]] = {
            "ranks": lambda data, name: sd.read_rank_sets(io.BytesIO(data), name=name),
            "n": lambda data, name: sd.read_rank_sets(io.BytesIO(data), name=name, n=3000),
            "sampled": lambda data, name: sd.read_sampled_ranks(
                io.BytesIO(data), name=name, n=3000, m=100
            ),
        }
        if qrels := "run" in path.name and path.with_name("qrels.txt").read_bytes():
            for how in ("refuse", "tied", "left-out"):
                ways[f"qrels {how}"] = lambda data, name, how=how, qrels=qrels: sd.read_rank_sets(
                    io.BytesIO(data), name=name, qrels=io.BytesIO(qrels), n=3000, censored=how
                )
        for way, read in ways.items():
            data = path.read_bytes()
            found = outcome(lambda read=read, data=data, path=path: _each(read(data, path.name)))
            yield f"file {path.parent.name}/{path.name} {way}", found


# -------------------------------------------------------------------------------------- links

PASTED = (
    "n = 10000\nA: 100, 100, 100, 100, 100\nB: 40, 40, 8437, 9266, 4482",
    "system,instance,rank,n_candidates,ties\nA,1,3,90,2\nA,1,9,90,0\nA,2,40,80,1\nB,1,1,90,0\n"
    "B,1,30,90,3\nB,2,12,80,4",
    "A: 1 2; B: 3 4; n = 9",
    "A: 0 1\nB: 1 2\nn = 9",
    "1 2 3",
    "A: 5 80 7 31; B: 6 3 90 12; C: 20 20 20 20; n = 200",
    "A: 1;;",
    "run 1: 5 6\nrun 2: 7 8\nn = 99",
)
SAMPLED = (
    "m = 100, n = 3706\nsystem,sampled_rank,count\nA,1,310\nA,2,120\nA,7,41\nB,1,290\nB,9,30",
    "m = 20, n = 500\nA: 1 1 2 5 9 13 21 3\nB: 2 2 4 1 1 17 3 8",
    "A: 1 2 3",
    "x",
    "system,sampled_rank,m,n\nA,1,5,60\nA,3,10,60\nA,6,5,60\nB,2,5,60\nB,1,10,60",
)
WEIGHTS = ("5 4 3 2 1 1 1 1 1 1", "1\n2\n3", "rank,weight\n1,3\n2,-1", "a b")
CHIPS = ("Recall@k", "NDCG@k", "AP@k", "Precision@k", "NDCG", "AP", "AUC", "TOPK", "ATOP")
SIDE: dict[str, tuple[Any, ...]] = {
    "n": (50, 1000, 10_000, 100_000, 17_770),
    "m": (1, 10, 50, 99, 100, 300, 1000),
    "k": (1, 5, 10, 20, 100),
    "gamma": (1, 0.5, 0.1, 0.01, 0.001, 1e-6, 0),
    "scheme": ("without replacement", "with replacement", "popularity"),
    "odds": (0.5, 2, 4),
}
# Page -> what its address may say; a tuple in a tuple is chosen together.
KNOWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "start": {},
    "explore": {
        **SIDE, "metrics": CHIPS, "view": ("all ranks", "top 1,000", "top 100"), "focus": CHIPS,
        "rank": (1, 2, 7, 100, 400, 5000), "tab": ("One draw", "Law", "Family"),
        "draws": (1, 5, 100), "draws_seed": (1, 4), "turn": ("true",), "why": ("true",),
    },
    "consistency": {
        **SIDE, "metrics": CHIPS, "also_k": ("1", "5", "20", "50"),
        "source": ("MovieLens 1M: X, Y, Z", "Three toy recommenders", "MovieLens 1M with ties",
                   "Upload a file", "Paste ranks", "Paste ranks"),
        "ranks": PASTED, "correction": ("uncorrected", "rank estimate", "CLS", "BV"),
        "weighting": ("instances", "relevant items"), "pair": ("X, Z", "Y, Z", "A, B"),
        "ties": ("expected", "optimistic", "pessimistic"), "shown": ("NDCG", "AP", "Recall@10"),
        "answers": ("How sure", "Repeat it", "Numbers"), "wanted": ("80 %", "90 %", "99 %"),
        "numbers_view": ("Means", "Flips", "Distribution"), "why": ("true",), "seed": (1, 3),
        "distribution_view": ("whole range", "the top"), "repeats": ("100", "200"),
        "sure_view": ("One run", "Over instances", "Plan"),
    },
    "correct": {
        **SIDE, "what": ("A metric", "A metric", "Sampled ranks", "A printed table"),
        "metric": CHIPS, "take": ("rank estimate", "CLS", "BV", "LS"), "why": ("true",),
        "drawn": ("uncorrected", "rank estimate", "CLS", "BV"),
        "instances": ("1", "100", "6,040", "1,000,000"),
        "prior": ("uniform", "1/√rank", "1/rank", "as X, Y, Z rank", "own weights"),
        "weights": WEIGHTS, "sheet": ("Vector", "What it costs", "What a sample can see"),
        "costs": ("Bias and variance", "On real ranks"), "sees": ("over γ", "over m"),
        "estimator": ("side by side", "shape-constrained MLE", "MLE", "MES", "BV-MLE", "BV-MES",
                      "MN", "BV", "CLS", "rank estimate", "uncorrected"),
        "sampled_source": ("MovieLens 1M: one run", "Upload a file", "Paste sampled ranks"),
        "sampled": SAMPLED, "draw_seed": (1, 2), "m_set": ("true",), "table_instances": (0, 6040),
        "estimate_tab": ("Estimates", "True ranks", "Which γ"),
        "estimates_view": ("Every estimator", "Pairs"),
    },
    "paper": {
        "item": (*(f"Table {i}" for i in range(1, 5)), *(f"Figure {i}" for i in range(1, 7)),
                 "The text", "Steck 2010"),
        "cell_metric": ("Recall@10", "NDCG@10", "AP", "AUC"), "times": (1, 5, 20),
    },
    "learn": {
        "lesson": tuple("123456789"), "present": ("true",), "look3": ("NDCG", "AUC"),
        "look5": ("NDCG", "Recall@10"), "guess1": ("AP", "AUC"), "guess2": (0, 3),
        "guess4": (1,), "guess5": ("A", "C"), "example_m": ("10", "100"),
    },
}  # fmt: skip
SEVERAL = ("metrics", "also_k", "drawn")
WRONG = ("", "nan", "-1", "0", "abc", "1e400", "1.5", "<b>x</b>", "💥", "99999999999999999")

Link = dict[str, Any]


NUMBERS = "consistency?answers=Numbers&numbers_view"
ESTIMATE, OWN = "correct?what=Sampled ranks", "correct?prior=own weights"
TOY, TIES = "source=Three toy recommenders", "source=MovieLens 1M with ties"
# Page?query#button; a value PASTED 3 is that text.
LINKS = (
    "start",
    *(f"learn?lesson={i}" for i in range(1, 10)),
    "learn?lesson=1&guess1=AP",
    "learn?lesson=2&guess2=3",
    "learn?lesson=5&guess5=A",
    "learn?lesson=5&look5=NDCG&guess5=B&example_m=100&present=true",
    *(f"paper?item={x}" for x in KNOWN["paper"]["item"]),
    "paper?item=Table 4&cell_metric=AUC",
    "paper?item=No table",
    *(f"explore?tab={x}&why=true" for x in KNOWN["explore"]["tab"]),
    "explore?view=top 100&scheme=popularity&odds=3&metrics=AP&metrics=TOPK",
    "explore?n=500&m=20&rank=7&tab=Law&turn=true&draws=50&metrics=AUC",
    "explore?n=abc&m=-4&scheme=none&metrics=Foo&metrics=AP&v=7",
    "explore?n=50&m=300",
    "explore?rank=99999",
    "explore?k=0",
    *(f"consistency?sure_view={x}" for x in KNOWN["consistency"]["sure_view"]),
    "consistency#bounds",
    "consistency#paper",
    f"{NUMBERS}=Means&{TOY}&correction=CLS",
    f"{NUMBERS}=Flips&{TIES}&correction=uncorrected",
    f"{NUMBERS}=Distribution&{TIES}&correction=BV",
    f"{NUMBERS}=Distribution&distribution_view=the top&why=true&pair=X, Z&also_k=1&also_k=50"
    "&metrics=AP@k",
    f"consistency?answers=Repeat it&{TOY}&repeats=500&seed=4",
    f"consistency?{TOY}&scheme=with replacement&m=99&sure_view=Plan&wanted=80 %",
    f"consistency?{TIES}&ties=pessimistic&scheme=popularity&odds=3&m=500",
    *(f"consistency?ranks=PASTED {i}&why=true&source=Paste ranks" for i in range(len(PASTED))),
    "consistency?ranks=PASTED 1&weighting=relevant items&source=Paste ranks&answers=Numbers"
    "&metrics=Recall@k&metrics=NDCG&metrics=TOPK",
    "consistency?source=Upload a file",
    "consistency?metrics=",
    "consistency?m=1000000",
    "consistency?source=?&correction=?&m=x",
    "correct?sheet=Vector&costs=On real ranks&sees=over m",
    "correct?sheet=What it costs&costs=Bias and variance&sees=over γ",
    "correct?sheet=What it costs&costs=On real ranks&sees=over γ",
    "correct?sheet=What a sample can see&costs=On real ranks&sees=over γ",
    "correct?sheet=What a sample can see&costs=On real ranks&sees=over m",
    *(f"correct?prior={x}&n=1000&m=50&metric=NDCG@k" for x in KNOWN["correct"]["prior"]),
    *(f"{OWN}&weights=WEIGHTS {i}&n=10&m=5&take=CLS&why=true" for i in range(len(WEIGHTS))),
    "correct?take=LS&drawn=LS&drawn=CLS&m=10&metric=AP&instances=100",
    "correct?scheme=popularity&odds=4",
    "correct?m=5&n=5&gamma=-1",
    f"{ESTIMATE}&estimate_tab=True ranks&estimator=MES",
    f"{ESTIMATE}&estimate_tab=Which γ&draw_seed=2",
    f"{ESTIMATE}&estimates_view=Pairs&metric=AUC&estimator=BV",
    *(
        f"{ESTIMATE}&sampled_source=Paste sampled ranks&sampled=SAMPLED {i}"
        for i in range(len(SAMPLED))
    ),
    f"{ESTIMATE}&sampled_source=Paste sampled ranks&sampled=SAMPLED 4&m_set=true&estimator=MLE",
    "correct?what=A printed table",
    "correct?what=A printed table&m=99&n=1000&metric=NDCG&table_instances=6040",
    "correct?what=Nothing",
)


def links() -> list[Link]:
    """Every page, tab, view, mode, lesson, and some addresses that are wrong."""
    texts = {"PASTED": PASTED, "SAMPLED": SAMPLED, "WEIGHTS": WEIGHTS}
    long = {f"{name} {i}": text for name, of in texts.items() for i, text in enumerate(of)}
    found = []
    for line in LINKS:
        address, _, press = line.partition("#")
        page, _, query = address.partition("?")
        parsed = parse_qs(query, keep_blank_values=True)
        given = {key: [long.get(x, x) for x in values] for key, values in parsed.items()}
        found.append({"page": page, "query": given, "press": press})
    return found


def random_links(seed: int, size: int) -> list[Link]:
    """Links whose parameters are drawn from those the pages know; one in eight says nonsense."""
    rng = np.random.default_rng([seed, 77])
    pages = ("explore", "consistency", "correct", "consistency", "correct", "paper", "learn")
    found = []
    for _ in range(size):
        page = pages[int(rng.integers(len(pages)))]
        known = KNOWN[page]
        query: dict[str, Any] = {}
        for key in known:
            if rng.random() < min(0.35, 8 / len(known)) or key in ("what", "item", "lesson"):
                many = int(rng.integers(1, 4)) if key in SEVERAL else 1
                picked = rng.choice(len(known[key]), min(many, len(known[key])), replace=False)
                query[key] = [known[key][i] for i in picked]
        if query and rng.random() < 0.125:
            key = list(query)[int(rng.integers(len(query)))]
            query[key] = [WRONG[int(rng.integers(len(WRONG)))]]
        if query.get("source") == ["Paste ranks"]:
            query.setdefault("ranks", [PASTED[int(rng.integers(len(PASTED)))]])
        given = {key: [str(x) for x in values] for key, values in query.items()}
        found.append({"page": page, "query": given, "press": ""})
    return found


# Of an element's message: what is no more than a name of this session.
UNSAID = {
    "id", "url", "formId", "deferredFileId", "arrowData", "spec", "config", "mark", "instanceId",
    "widgetId", "dataframeId", "fileUrls",
}  # fmt: skip
SHOWN = ("markdown", "caption", "metric", "code", "table", "dataframe", "html", "plotly_chart",
         "download_button")  # fmt: skip
SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)
UNSEEN = ("empty", "html_empty", "bidi_component")  # scripts: tests/browser sees what they do
HOLDS = ("expander", "popover", "tab", "dialog")


def _key(text: str) -> str:
    """A key without what changes from one process to the next."""
    return re.sub(r"-*[0-9]{6,}|[0-9a-f]{8,}", "#", text.split("-", 2)[-1])


def _decoded(value: Any) -> Any:
    """Plotly's arrays as lists."""
    if isinstance(value, dict):
        if "bdata" in value:
            kind = np.dtype(value["dtype"])
            return np.frombuffer(base64.b64decode(value["bdata"]), kind).astype(float)
        return {key: _decoded(each) for key, each in value.items()}
    return [_decoded(each) for each in value] if isinstance(value, list) else value


def _put(into: Record, path: str, value: Any) -> None:
    """A part of a picture: lists that are data by their checksums, all else in one text."""
    plain: list[str] = []
    numbers: list[float] = []

    def walk(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                walk(value[key], f"{name}.{key}")
        elif isinstance(value, np.ndarray):
            said(value, path + name, into)
        elif isinstance(value, list) and (len(value) > 4 or name in (".x", ".y", ".z")):
            said(list(_leaves(value)), path + name, into)
        elif isinstance(value, list):
            for i, each in enumerate(value):
                walk(each, f"{name}.{i}")
        elif _is_number(value):
            plain.append(name)
            numbers.append(value)
        else:
            plain.append(f"{name}={value}")

    walk(value, "")
    into[path + ":words"] = said_text("|".join(plain))
    if numbers:
        into[path + ":numbers"] = said_array(numbers)


def _chart(spec: str, path: str, into: Record) -> None:
    fig = _decoded(json.loads(spec))
    layout = fig.pop("layout", {})
    into[f"{path} template"] = said_text(json.dumps(layout.pop("template", ""), sort_keys=True))
    for name in ("xaxis", "yaxis", "title"):
        axis = layout.get(name)
        if axis:
            into[f"{path} {name}"] = said_text(json.dumps(axis.get("title", axis.get("text"))))
    for i, note in enumerate(layout.get("annotations", [])):
        into[f"{path} note {i}"] = said_text(str(note.get("text")))
    _put(into, f"{path} layout", layout)
    for i, trace in enumerate(fig.pop("data", [])):
        _put(into, f"{path} trace {i}", trace)
    for i, frame in enumerate(fig.pop("frames", None) or []):
        leaves = [x for x in _leaves(frame) if x is not None]
        said(leaves, f"{path} frame {i}", into)
    if fig:
        _put(into, f"{path} rest", fig)


def _frame(data: bytes) -> pd.DataFrame:
    return pa.ipc.open_stream(data).read_all().to_pandas()


def _element(node: Any, path: str, into: Record) -> None:
    """All that one element of the page says."""
    from google.protobuf.json_format import MessageToDict

    proto = node.proto
    message = MessageToDict(proto)
    if "spec" in message and node.type == "plotly_chart":
        _chart(proto.spec, path, into)
    data = getattr(proto, "data", None)
    arrow = getattr(getattr(proto, "arrow_data", None), "data", data)
    if isinstance(arrow, bytes) and arrow:
        said(_frame(arrow), f"{path} cells", into)
        message.pop("data", None)
    for name in ("label", "body", "help"):
        if text := message.pop(name, ""):
            into[f"{path} {name}"] = said_text(SCRIPT.sub("", text))
    if hasattr(node, "value") and node.type not in SHOWN:
        said(node.value, f"{path} value", into)
    rest = {k: v for k, v in message.items() if k not in UNSAID}
    into[f"{path} rest"] = said_text(json.dumps(rest, sort_keys=True, ensure_ascii=False))


def screen(at: Any) -> Record:
    """All that is on the screen, in its order."""
    into: Record = {}
    counts: dict[str, int] = {}
    order: list[str] = []

    def walk(node: Any) -> None:
        kind, proto = str(getattr(node, "type", "")), getattr(node, "proto", None)
        children = getattr(node, "children", None)
        shown = proto is not None and kind not in UNSEEN
        if shown and (children is None or kind in HOLDS):
            counts[kind] = counts.get(kind, 0) + 1
            key = _key(str(getattr(proto, "id", "") or "")).removesuffix("None")
            path = f"{kind} {counts[kind]}{' ' + key if key else ''}"
            order.append(kind)
            if children is None:
                _element(node, path, into)
            else:
                part = getattr(proto, kind, None)
                into[path] = said_text(f"{getattr(part, 'label', '')} {getattr(node, 'label', '')}")
        for place in sorted(children or ()):
            walk(children[place])

    for place in ("sidebar", "main"):
        order.append(place.upper())
        walk(getattr(at, place))
    into["order"] = said_text(" ".join(order))
    query = {key: at.query_params[key] for key in sorted(at.query_params)}
    into["address"] = said_text(json.dumps(query))
    return into


def link(link: Link) -> tuple[str, Record]:
    """What a link shows, and after a press of one of its buttons."""
    from streamlit.testing.v1 import AppTest

    name = f"link {link['page']} {json.dumps(link['query'], ensure_ascii=False)} {link['press']}"
    root = Path(sd.__file__).resolve().parents[1]
    at = AppTest.from_file(str(root / "app.py"), default_timeout=120)
    for key, values in link["query"].items():
        at.query_params[key] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at.switch_page(f"sampledash/dashboard/pages/{link['page']}.py").run()
        if link["press"]:
            at.button(key=link["press"]).click().run()
    return name.rstrip(), screen(at)


# ------------------------------------------------------------------------------ hold and compare


def everything(seed: int, values: int, files: int, links: list[Link], *, kept: bool) -> Said:
    """All records by their names."""
    logging.disable(logging.WARNING)
    records = [value(seed, number) for number in range(values)]
    records += [file(seed, number) for number in range(files)]
    records += kept_files() if kept else ()
    return dict(records + [link(each) for each in links])


class _Pool(list[Any]):
    """Each thing once, and its place."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, thing: Any) -> int:
        key = json.dumps(thing)
        if key not in self.places:
            self.places[key] = len(self)
            self.append(thing)
        return self.places[key]


def pack(everything: Said) -> str:
    """As JSON in which every atom, path and element of a page stands once."""
    atoms, elements = _Pool(), _Pool()
    records = {}
    for name, record in everything.items():
        parts = groupby(record.items(), lambda pair: pair[0].split(" ")[:2])
        records[name] = []
        for pairs in (list(part) for _, part in parts):
            head = pairs[0][0]
            while not all(path.startswith(head) for path, _ in pairs):
                head = head[:-1]
            tails = [atoms.place(x) for path, atom in pairs for x in (path[len(head) :], atom)]
            records[name].append(elements.place([atoms.place(head), *tails]))
    packed = {"atoms": atoms, "elements": elements, "records": records}
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> Said:
    """The inverse of :func:`pack`."""
    packed = json.loads(text)
    atoms, elements = packed["atoms"], packed["elements"]
    found: Said = {}
    for name, parts in packed["records"].items():
        found[name] = {}
        for head, *tails in ([atoms[x] for x in elements[part]] for part in parts):
            pairs = zip(tails[::2], tails[1::2], strict=True)
            found[name].update((head + tail, atom) for tail, atom in pairs)
    return found


def distance(stored: Atom | None, found: Atom | None) -> float:
    """Largest relative difference of two atoms; infinite where they are not comparable."""
    if isinstance(stored, str) or isinstance(found, str) or stored is None or found is None:
        return 0.0 if stored == found else math.inf
    if len(stored) != len(found) or (len(stored) > 1 and stored[0] != found[0]):
        return math.inf
    floor = max(abs(stored[3]), abs(found[3])) if len(stored) > 3 else 0.0
    worst = 0.0
    for place, (a, b) in enumerate(zip(stored, found, strict=True)):
        if place != 3 and abs(a - b) > ABSOLUTE:
            worst = max(worst, abs(a - b) / max(abs(a), abs(b), floor))
    return worst


def differences(stored: Said, found: Said) -> list[str]:
    """What is no longer said, newly said, or said otherwise."""
    lines = [f"{name}: not found" for name in stored if name not in found]
    lines += [f"{name}: not stored" for name in found if name not in stored]
    for name in stored.keys() & found.keys():
        a, b = stored[name], found[name]
        for path in [*a, *(p for p in b if p not in a)]:
            off = distance(a.get(path), b.get(path))
            if off > RELATIVE:
                lines.append(
                    f"{name}: {path or 'value'}\n    stored {a.get(path)!r}\n"
                    f"    found  {b.get(path)!r}"
                    + (f"\n    off {off:.2g}" if off < math.inf else "")
                )
    return sorted(lines)


def _elsewhere(path: Path, seed: int, values: int, files: int, drawn: list[Link]) -> Said:
    """The same records as another checkout makes them."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "links.json", Path(folder) / "said.json"
        asked.write_text(json.dumps(drawn))
        given = ["--seed", str(seed), "--values", str(values), "--files", str(files)]
        subprocess.run(
            [sys.executable, "-P", str(Path(__file__).resolve()), *given, "--asked", str(asked),
             "--told", str(told)],
            cwd=path, env={**os.environ, "PYTHONPATH": str(path)}, check=True,
        )  # fmt: skip
        return unpack(told.read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="hold what is said now")
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--seed", type=int, help="of values and links nobody has stored")
    parser.add_argument("--values", type=int, default=VALUES)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--links", type=int, default=60, help="links drawn with --against")
    parser.add_argument("--asked", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--told", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    begun = time.monotonic()
    fresh = args.against is not None
    seed = args.seed if args.seed is not None else int(time.time()) % 10**6 if fresh else 1
    if args.told:
        drawn = json.loads(args.asked.read_text())
        args.told.write_text(pack(everything(seed, args.values, args.files, drawn, kept=True)))
        return 0
    drawn = random_links(seed, args.links) if fresh else links()
    found = everything(seed, args.values, args.files, drawn, kept=True)
    kinds = [sum(name.startswith(kind) for name in found) for kind in ("value", "file", "link")]
    numbers = sum(isinstance(atom, list) for record in found.values() for atom in record.values())
    print(
        f"{kinds[0]} calls, {kinds[1]} files, {kinds[2]} links: "
        f"{sum(map(len, found.values()))} records, {numbers} of numbers, "
        f"{time.monotonic() - begun:.0f} s, seed {seed}"
    )
    if args.write:
        STORED.write_text(pack(found) + "\n", encoding="utf-8")
        print(f"{STORED}: {STORED.stat().st_size} bytes")
        return 0
    if fresh:
        stored = _elsewhere(args.against.resolve(), seed, args.values, args.files, drawn)
    else:
        stored = unpack(STORED.read_text(encoding="utf-8"))
    wrong = differences(stored, found)
    print("\n".join(wrong))
    print(f"{len(wrong)} differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
