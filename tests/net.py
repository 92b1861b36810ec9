"""The net: what the program says, held so that it can be compared before and after a change.

It sees only what must stay: ``import sampledash``, ``app.py``, the page scripts and the parameters
of their addresses. ::

    python -m tests.net --write                    # hold what is said now: tests/data/net.json.xz
    python -m tests.net                            # compare with it
    python -m tests.net --against PATH --seed 7    # what nobody has stored

Everything said is a record: a list of paths, each with a text (whole or, where it is long, its
beginning and a digest) or with numbers. A number is ``[value]``, an array
``[length, sum v (1.5 + cos i), sum v (1.5 + sin(i + 1)), sum |v|]``,
the last only to say what is small beside it.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import hashlib
import io
import json
import logging
import lzma
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy loads, as app.py has it: two move digits

import numpy as np
import pandas as pd
import pyarrow as pa

import sampledash as sd
from tests import hostile
from tests.dashboard.driver import Page

HERE = Path(__file__).resolve().parent
STORED = HERE / "data" / "net.json.xz"
VALUES, FILES, LINKS = 918, 100, 84
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


OF_SET = "system ranks sampled_ranks n m scheme instances ties mass_above counts n_instances"
PARTS = {sd.RankSet: OF_SET, sd.SampledRankSet: f"{OF_SET} readings", sd.Metric: "name k share"}


def said(value: Any, path: str = "", into: Record | None = None) -> Record:
    """Everything in a value, by its path."""
    into = {} if into is None else into
    if isinstance(value, pd.DataFrame):
        columns = {str(i): value.iloc[:, i].tolist() for i in range(value.shape[1])}
        value = {"columns": [*map(str, value)], "index": value.index.tolist(), **columns}
    elif type(value) in PARTS or dataclasses.is_dataclass(value):
        own = PARTS.get(type(value), "").split() or [x.name for x in dataclasses.fields(value)]
        parts = {name: getattr(value, name) for name in own if hasattr(value, name)}
        value = {"says": str(value), **parts}
    if isinstance(value, dict):
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
    elif _is_number(value):
        into[path] = said_array([value])
    else:
        into[path] = said_text(re.sub(r" at 0x[0-9a-f]+", "", str(value)))
    return into


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple | np.ndarray):
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

PLAIN = (
    "Recall@1", "Recall@5", "Recall@10", "Precision@5", "HitRate@10", "NDCG", "NDCG@5", "NDCG@10",
    "AP", "AP@5", "RR", "MRR@10", "AUC", "MAP@20", "recall_at_7", "acc@2", "Recall",
)  # fmt: skip
METRICS = (*PLAIN, "TOPK@2%", "TOPK@0.3", "ATOP", "AUC@5")
TEXTS = (*METRICS, "Foo@3", "NDCG@0", "TOPK@3", "Recall10", "AP@x", "", "hits@-1")
FITS = ("rank-estimate", "CLS", "BV 1", "BV 0.1", "BV 0.001", "LS", "BV 5e-5", "XY", "uncorrected")
DISTRIBUTIONS = ("mle", "mes", "monotone-mle")
LEARNED = ("bv-mle", "bv-mes", "bv-monotone-mle", "mn")
SCHEMES = ("without-replacement", "with-replacement", "popularity")
SHAPES = (None, "non-increasing")
NO_RANKS = ([0, 3], 9), ([1, 12], 9), ([1.5], 9), ([], 9), ([1], [0]), ([2], 10**13)
HOW: list[dict[str, Any]] = [
    *({} for _ in range(6)), *({"scheme": x} for x in SCHEMES), {"scheme": SCHEMES[0]},
    *({"correction": x} for x in (None, *FITS[:6])), {"scheme": "popularity", "odds": 3.5},
    {"fit_scheme": SCHEMES[1]}, *({"ties": x} for x in ("expected", "optimistic", "pessimistic")),
    *({"weighting": x} for x in ("instances", "relevant-items", "rows")),
]  # fmt: skip


class Draw:
    """Arguments by their names, drawn when first asked for; a few of them wrong."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        if name not in DRAWS:
            raise AttributeError(name)
        setattr(self, name, DRAWS[name](self))
        return getattr(self, name)

    def chance(self, share: float) -> bool:
        return float(self.rng.random()) < share

    def pick(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def whole(self, low: int, high: int) -> int:
        """Even on a logarithmic scale."""
        return int(math.exp(self.rng.uniform(math.log(low), math.log(high + 1))))

    def sampling(self, most_n: int, most_m: int) -> sd.Sampling:
        n = self.whole(2, most_n)
        m = self.whole(1, most_m if self.chance(0.05) else min(most_m, n - 1))
        scheme = self.pick(*SCHEMES)
        return sd.Sampling(n, m, scheme, self.pick(0.5, 2.0) if scheme == "popularity" else 1.0)

    def ranksets(self) -> list[sd.RankSet]:
        """Of the same instances; plain or with ties, counts, several relevant items."""
        size, n, rng = self.whole(6, 90), self.pick(150, 500, 1500), self.rng
        kind = self.pick("", "", "", "ties", "several", "own n", "counts", "mass")
        own, users = n + rng.integers(0, 99, size), np.sort(rng.integers(0, size, size))
        counts = rng.integers(1, 9, size)
        made = []
        for system in "ABC"[: int(rng.integers(2, 4))]:
            chances = np.arange(1.0, n + 1) ** -rng.uniform(0.2, 1.2)
            ranks = 1 + rng.choice(n, size, replace=False, p=chances / chances.sum())
            mass = np.clip((ranks - 1) / n * rng.uniform(0.8, 1.9), 0, 1)
            ties = np.minimum(rng.integers(0, 6, size), n - ranks)
            more = {"ties": ties, "several": users, "counts": counts, "mass": mass}
            names = {"several": "instances", "mass": "mass_above"}
            given = {names.get(kind, kind): more[kind]} if kind in more else {}
            made.append(sd.RankSet(system, ranks, own if kind == "own n" else n, **given))
        return made

    def samples(self) -> list[sd.SampledRankSet]:
        """Two of the same instances."""
        size, n, rng = self.whole(30, 400), self.whole(30, 400), self.rng
        m: Any = self.whole(3, min(40, n - 1))
        if self.chance(0.15):
            m = rng.choice([m, min(2 * m, n - 1)], size)
        counts = rng.integers(1, 5, size)
        usual = {"scheme": self.pick(*SCHEMES[:2])}
        more = usual | self.pick({}, {}, {}, {}, {"counts": counts}, {"adaptive": True})
        shares = [rng.beta(rng.uniform(0.3, 0.6), 1.5, size) for _ in "AB"]
        ranks = (1 + rng.binomial(m, share) for share in shares)
        return [sd.SampledRankSet(x, t, n, m, **more) for x, t in zip("AB", ranks, strict=True)]


DRAWS: dict[str, Callable[[Draw], Any]] = {
    "metric": lambda d: d.pick(*METRICS),
    "plain": lambda d: d.pick(*PLAIN),
    "wide": lambda d: d.sampling(50_000, 200),
    "small": lambda d: d.sampling(800, 60),
    "ranks": lambda d: d.rng.integers(1, d.small.n + 1, 9),
    "prior": lambda d: (
        None if d.chance(0.5) else np.arange(1.0, d.small.n + 1) ** -d.pick(0.5, 1.0, 2.0)
    ),
    "gamma": lambda d: d.pick(1.0, 0.5, 0.1, 0.037, 0.01, 0.001, 1e-5, 0.0, -1.0),
    "sets": lambda d: d.ranksets(),
    "one": lambda d: d.sets[0],
    "m": lambda d: d.pick(0, 5000, -3) if d.chance(0.04) else d.whole(1, 140),
    "how": lambda d: d.pick(*HOW) | d.pick(*HOW) | d.pick(*HOW),
    "mean": lambda d: {x: d.how[x] for x in ("ties", "weighting") if x in d.how},
    "wanted": lambda d: d.pick(0.8, 0.95, 0.99, 1.5),
    "level": lambda d: d.pick(0.95, 0.9, 0.8, 0.8, 0.0),
    "seeded": lambda d: np.random.default_rng(d.whole(1, 1000)),
    "pair": lambda d: d.samples(),
    "fit": lambda d: d.correction.fit(d.plain, d.small),
    "correction": lambda d: d.pick(
        sd.correction("bias-variance", gamma=d.gamma, prior=d.prior),
        sd.correction("CLS", prior=d.prior),
        sd.correction(d.pick("rank-estimate", "LS", "uncorrected", "bias-variance")),
    ),
    "printed": lambda d: {
        x: round(float(np.mean(sd.expected(x, d.ranks, d.small))), 4)
        for x in ("HR@1", "HR@5", "HR@10", "NDCG@10", "MRR")[: d.pick(2, 3, 4, 5)]
    },
    "vector": lambda d: sd.vector_json(d.fit),
    "odd_m": lambda d: d.pick(5, 0, 10**8),
    "law_text": lambda d: str(d.small) if d.chance(0.7) else d.pick("n=100, m=10", "without", ""),
    "name": lambda d: d.pick("hr", "ndcg", "topk", "auc"),
    "recipe": lambda d: sd.parse_correction(d.pick(*FITS)),
    "vector_text": lambda d: d.vector if d.chance(0.8) else d.pick("", "{}", '{"metric": "AP"}'),
    "two_ways": lambda d: [*{"uncorrected": 0, d.pick(*FITS[:4]): 0}],
    "below": lambda d: {"m_max": d.pick(20, 40)},
    "drawing": lambda d: {key: x for key, x in d.how.items() if key != "correction"},
    "resampled": lambda d: {"resamples": d.pick(100, 400, 5), "confidence": d.level},
    "falling": lambda d: 1 / np.arange(1, d.small.n + 1),
    "some_gamma": lambda d: d.pick(None, None, 0.1, 0.003),
    "shaped": lambda d: {"shape": d.pick(*SHAPES)},
    "tolerant": lambda d: {"tolerance": d.pick(None, 0.05, 2.0)},
    "plainly": lambda d: {"corrections": ["uncorrected"]},
    "share": lambda d: d.pick(9, 30, 0),
    "most": lambda d: d.pick(None, 5000, np.inf),
}


def _fit(fit: sd.Fit, ranks: Any) -> dict[str, Any]:
    held = [str(x) for x in (fit.correction, fit.metric, fit.sampling, fit.note)]
    means = {"mean": fit.expected(ranks), "variance": fit.variance(ranks), "risk": fit.risk()}
    return {"of": held, "values": fit.values, **means}


def _metric(m: sd.Metric, n: int, rng: np.random.Generator) -> Any:
    ranks = np.sort(rng.choice(np.arange(1, n + 1), min(n, 3), replace=False))
    says = [str(m), m.label, m.about, m.tex, m.first_only, m.linear, m.of_others, m.scale(3)]
    return {"says": says, "at": m(ranks, n), "of set": m.of_set(ranks, n)}


def _sampling(s: sd.Sampling, ranks: Any, rng: np.random.Generator) -> list[Any]:
    return [str(s), s.pmf(ranks), s.share_above(ranks), s.draw(ranks, rng)]


def _evaluated(d: Draw, *, alone: bool = False) -> Any:
    """What stopping when decided gives of users whose scores have ties."""
    scores, items = d.rng.integers(0, 99, (12, 60)), np.arange(60)
    users = [(u, d.rng.choice(60, d.pick(1, 1, 2), replace=False), items) for u in range(12)]
    how: dict[str, Any] = {"k": d.pick(1, 5, 10, 0), "chunk": d.pick(1, 7, 64)}
    if alone:
        label, relevant, _ = users[0]
        return sd.rank_until_decided(lambda some: scores[label, some], relevant, items, **how)
    systems = {name: lambda u, some, c=c: scores[u, some] % c for name, c in (("A", 97), ("B", 40))}
    run = sd.evaluate(users, systems, budget=d.pick(None, 500, 9), seed=d.whole(1, 9), **how)
    return [str(run), run.sets, run.csv]


#: What a call is drawn as: a tuple holds the arguments of the function of that name, at its end
#: those by name; all else is what is said.
KINDS: dict[str, Callable[[Draw], Any]] = {
    "Sampling": lambda d: _sampling(d.small, d.ranks, d.seeded),
    "RankSet": lambda d: [[x, x.has_ties, x.max_negatives, x.max_relevant] for x in d.sets],
    "wrong RankSet": lambda d: sd.RankSet("S", *d.pick(*NO_RANKS)),
    "SampledRankSet": lambda d: [[x, x.population, x.chance_if_set] for x in d.pair],
    "wrong SampledRankSet": lambda d: sd.SampledRankSet("S", [1, d.pick(0, 7, 2.5)], 100, d.odd_m),
    "parse_sampling": lambda d: (d.law_text,),
    "parse_metric": lambda d: _metric(sd.parse_metric(d.pick(*TEXTS)), d.whole(3, 5000), d.rng),
    "metric": lambda d: _metric(sd.metric(d.name, k=d.pick(None, 3, 10, 0.1, 0)), 99, d.rng),
    "expected": lambda d: (d.plain, d.rng.integers(1, d.wide.n + 1, 7), d.wide),
    "variance": lambda d: (d.plain, d.rng.integers(1, d.wide.n + 1, 7), d.wide),
    "posterior": lambda d: (d.whole(1, d.small.m + 1), d.small, d.prior),
    "correction": lambda d: _fit(d.fit, d.ranks),
    "parse_correction": lambda d: _fit(d.recipe.fit(d.plain, d.small), d.ranks),
    "vector_json": lambda d: json.loads(d.vector),
    "read_vector_json": lambda d: _fit(sd.read_vector_json(d.vector_text), d.ranks),
    "example": lambda d: [
        [x, sd.expected_mean(d.metric, x, d.whole(1, 200), **d.how)]
        for x in sd.example(d.pick("paper-abc", "movielens-xyz", "movielens-xyz-ties", "movie"))
    ],
    "mean": lambda d: [sd.mean(d.metric, each, **d.mean) for each in d.sets],
    "expected_mean": lambda d: [sd.expected_mean(d.metric, x, d.m, **d.how) for x in d.sets],
    "std_of_mean": lambda d: [sd.std_of_mean(d.metric, x, d.m, **d.how) for x in d.sets],
    "flips": lambda d: (d.metric, d.sets, d.pick(20, 45, 80), d.how),
    "right_from": lambda d: (d.metric, d.sets, d.pick(20, 45, 80), d.how),
    "probability_of_order": lambda d: (d.metric, d.sets, d.m, d.how),
    "probability_if_shared": lambda d: (d.metric, d.sets, d.m, d.how),
    "probability_if_redrawn": lambda d: (d.metric, d.sets, d.m, d.how),
    "curve": lambda d: (d.metric, d.sets, [d.m, *sorted({d.whole(1, 50), 7})], d.how),
    "simulate": lambda d: (d.metric, d.one, d.m, d.pick(1, 9, 0), d.seeded, d.how),
    "sample_ranks": lambda d: (d.one, d.m, d.seeded, {"scheme": d.pick(*SCHEMES)}),
    "verdict": lambda d: ([d.metric, d.plain], d.sets, d.m, d.two_ways, d.below | d.drawing),
    "significance": lambda d: (d.metric, d.sets, d.seeded, d.resampled | d.mean),
    "negatives_needed": lambda d: (d.metric, d.sets, d.wanted, d.pick(15, 30), d.how),
    "instances_needed": lambda d: (d.metric, d.sets, d.m, d.wanted, d.how),
    "counterexample": lambda d: (d.plain, d.small),
    "eigenvalues": lambda d: (d.wide,),
    "retained": lambda d: (d.wide, d.gamma),
    "resolution": lambda d: (d.wide, d.gamma),
    "full_cutoff": lambda d: (d.whole(1, d.wide.m + 3), d.wide.n, d.wide.m),
    "matching_cutoff": lambda d: (d.whole(1, 20), d.one, d.m, {"scheme": d.pick(*SCHEMES)}),
    "gamma_table": lambda d: (d.plain, d.small, d.pick(1, 100, 6040, -1), d.falling),
    "estimate": lambda d: (d.plain, d.pair[0], d.pick(*DISTRIBUTIONS, *LEARNED, *FITS), d.level),
    "rank_distribution": lambda d: (d.pair[: d.pick(1, 2)], d.pick(*DISTRIBUTIONS, "x")),
    "fit_learned": lambda d: (d.pick(*LEARNED), d.plain, d.pair, {"gamma": d.some_gamma}),
    "bounds": lambda d: (d.plain, *d.pair[: d.pick(1, 2)], d.shaped | d.tolerant),
    "compare": lambda d: (d.plain, *d.pair, d.pick(*SHAPES), d.level),
    "bounds_from_table": lambda d: (
        *(d.plain, d.printed, d.small.n, d.small.m, 4, None, d.pick(*SHAPES), d.small.scheme),
        {"instances": d.pick(None, 60, 1000)},
    ),
    "deciding_cutoff": lambda d: (
        *(d.metric, d.small.n),
        {"relevant": d.pick(1, 1, 2, 0), "tolerance": d.pick(0.0, 0.05, 2.0)},
    ),
    "stopping_cost": lambda d: (d.metric, d.ranks, d.small.n, {"tolerance": d.pick(0.0, 0.05)}),
    "mean_stopping_cost": lambda d: [
        sd.mean_stopping_cost(d.metric, x, order=d.pick("random", "best")) for x in d.sets
    ],
    "proxy_cost": lambda d: (d.plain, d.rng.random(40), d.rng.random(40), d.pick(3, [1, 7], 40)),
    "rank_until_decided": lambda d: _evaluated(d, alone=True),
    "evaluate": lambda d: _evaluated(d),
    "designs": lambda d: (d.metric, d.sets, d.m, d.plainly | {"proxies": {"p": d.share}}),
    "mean_of_sample": lambda d: (
        *(d.metric, d.one, d.pick(100, 1000, np.inf, 2), d.pick(None, d.sets[1])),
        {"confidence": d.wanted},
    ),
    "mean_range": lambda d: [sd.mean_range(d.metric, x) for x in _evaluated(d)[1]],
    "stopping_range": lambda d: (d.plain, d.pair[0], d.most, {"confidence": d.wanted}),
}


def value(seed: int, number: int) -> tuple[str, Record]:
    """A name of the public API and what it gives for arguments drawn from the seed."""
    name = list(KINDS)[number % len(KINDS)]

    def call() -> Any:
        given = KINDS[name](Draw(seed, number))
        if type(given) is not tuple:
            return given
        places, named = (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})
        return getattr(sd, name)(*places, **named)

    return f"value {number} {name}", outcome(call)


# -------------------------------------------------------------------------------------- files

WAYS: dict[str, tuple[dict[str, Any], ...]] = {
    "ranks": ({}, {"n": 5000}, {"zero_based": True}, {"instances": "shared"}, {"runs": "apart"},
              {"systems": {"A": "first", "B b": "B"}}),
    "run": ({}, {"n": None}, {"censored": "refuse"}, {"censored": "left-out"}),
    "sampled": ({}, {"n": 5000, "m": 20}, {"n": 1000, "m": 20, "scheme": "without-replacement"}),
    "pasted": ({}, {"zero_based": True}),
}  # fmt: skip


def _each(read: Callable[..., Any], source: Any, how: dict[str, Any]) -> Callable[[], Any]:
    return lambda: {str(i): each for i, each in enumerate(read(source, **how))}


def file(case: hostile.Case, number: int) -> tuple[str, Record]:
    """What is read from a hostile file, in one of the ways it can be."""
    how = WAYS[case.reader][number % len(WAYS[case.reader])]
    read, source = partial(hostile.read, case), case.data
    if case.reader == "sampled":
        read, source = partial(sd.read_sampled_ranks, name=case.name), io.BytesIO(source)
    return f"file {case.kind} {case.number} {case.name} {how}", outcome(_each(read, source, how))


KINDS_OF_FILES = (
    "long", "counts", "seeds", "wide", "sampled", "run", "pasted", "names", "encoding", "type"
)  # fmt: skip


def files(seed: int, size: int) -> list[hostile.Case]:
    cases = [each for each in hostile.corpus(seed) if each.kind.startswith(KINDS_OF_FILES)]
    return cases[:: max(len(cases) // size, 1)]


def kept_files() -> Iterator[tuple[str, Record]]:
    """The files of the tests and the templates, alone and each run with its qrels."""
    folders = (HERE / "readers" / "fixtures", HERE.parent / "sampledash" / "data" / "templates")
    paths = (path for folder in folders for path in sorted(folder.glob("*.*")))
    for path in (path for path in paths if path.suffix != ".py"):
        named = {"name": path.name}
        ways = [("ranks", named), ("n", named | {"n": 3000})]
        ways.append(("sampled", named | {"n": 3000, "m": 100}))
        if "run" in path.name:
            for how in ("refuse", "beyond", "tied", "left-out"):
                qrels = io.BytesIO(path.with_name("qrels.txt").read_bytes())
                ways.append((how, named | {"n": 3000, "qrels": qrels, "censored": how}))
        for way, how in ways:
            read = sd.read_sampled_ranks if way == "sampled" else sd.read_rank_sets
            source = io.BytesIO(path.read_bytes())
            yield f"file {path.parent.name}/{path.name} {way}", outcome(_each(read, source, how))


# -------------------------------------------------------------------------------------- links

PASTED = (
    "n = 10000\nA: 100, 100, 100, 100, 100\nB: 40, 40, 8437, 9266, 4482~"
    "system,instance,rank,n_candidates,ties\nA,1,3,90,2\nA,1,9,90,0\nA,2,40,80,1\nB,1,1,90,0\n"
    "B,1,30,90,3\nB,2,12,80,4~A: 1 2; B: 3 4; n = 9~A: 0 1\nB: 1 2\nn = 9~1 2 3~"
    "A: 5 80 7 31; B: 6 3 90 12; C: 20 20 20 20; n = 200~A: 1;;~run 1: 5 6\nrun 2: 7 8\nn = 99"
)
SAMPLED = (
    "m = 100, n = 3706\nsystem,sampled_rank,count\nA,1,310\nA,2,120\nA,7,41\nB,1,290\nB,9,30~"
    "m = 20, n = 500\nA: 1 1 2 5 9 13 21 3\nB: 2 2 4 1 1 17 3 8~A: 1 2 3~x~"
    "system,sampled_rank,m,n\nA,1,5,60\nA,3,10,60\nA,6,5,60\nB,2,5,60\nB,1,10,60"
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
# Page -> what its address may say, and which of its buttons is pressed.
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
        "ranks": PASTED.split("~"), "correction": ("uncorrected", "rank estimate", "CLS", "BV"),
        "weighting": ("instances", "relevant items"), "pair": ("X, Z", "Y, Z", "A, B"),
        "ties": ("expected", "optimistic", "pessimistic"), "shown": ("NDCG", "AP", "Recall@10"),
        "answers": ("How sure", "Repeat it", "Numbers"), "wanted": ("80 %", "90 %", "99 %"),
        "numbers_view": ("Means", "Flips", "Distribution"), "why": ("true",), "seed": (1, 3),
        "distribution_view": ("whole range", "the top"), "repeats": ("100", "200"),
        "sure_view": ("One run", "Over instances", "Plan"), "press": ("bounds", "paper"),
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
        "sampled": SAMPLED.split("~"), "draw_seed": (1, 2), "table_instances": (0, 6040),
        "m_set": ("m was set beforehand", "The draw decided m"),
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
ALWAYS = ("what", "item", "lesson", "source", "ranks", "sampled", "weights")
WRONG = ("", "nan", "-1", "0", "abc", "1e400", "1.5", "<b>x</b>", "💥", "99999999999999999")
# The Lab's: what is asked, and what is pressed.
LAB: tuple[dict[str, tuple[Any, ...]], ...] = (
    {"press": ("train",)},
    {"split": ("last 10 %",), "seen": ("kept in",), "least_rating": (4,), "m": (50,), "k": (5,),
     "recommenders": ("X: iALS", "EASE", "Best by mean", "Random", "nobody"), "lab_seed": (3,),
     "knobs_x_ials": ("iALS d=4 alpha=0.5",), "metrics": ("NDCG", "AUC"), "press": ("train",)},
    {"split": ("last 5 halved",), "sweep": ("r_m",), "press": ("sweep_begin",)},
    {"lab_tab": ("Why not RMSE",)},
    {"interactions": ("Upload a file",)},
    {"split": ("first",), "knobs_x_ials": ("iALS d=-1",), "least_rating": ("many",)},
)  # fmt: skip
PAGES = ("explore", "consistency", "correct", "consistency", "correct", "paper", "learn")

Link = tuple[str, dict[str, list[str]]]


def links(seed: int, size: int) -> list[Link]:
    """The first page, pages with what they know in turn, and the Lab's.

    One link in eight says nonsense.
    """
    rng, turns = np.random.default_rng([seed, 77]), Counter[tuple[str, str]]()
    found: list[Link] = [("start", {})]
    for number in range(size - 1):
        page, query = PAGES[number % len(PAGES)], {}
        for key, values in KNOWN[page].items():
            if key in ALWAYS or rng.random() < min(0.35, 8 / len(KNOWN[page])):
                many = int(rng.integers(1, 4)) if key in SEVERAL else 1
                first = turns[page, key] % len(values)
                query[key] = [str(x) for x in (*values, *values)[first : first + many]]
                turns[page, key] += 1
        if rng.random() < 0.125:
            query[str(rng.choice(list(query)))] = [str(rng.choice(WRONG))]
        found.append((page, query))
    said = ({key: list(map(str, values)) for key, values in asked.items()} for asked in LAB)
    return found + [("lab", query) for query in said]


# Of an element's message: what is no more than a name of this session, or said otherwise.
UNSAID = {
    "id", "url", "formId", "deferredFileId", "arrowData", "spec", "config", "mark", "instanceId",
    "widgetId", "dataframeId", "fileUrls", "data",
}  # fmt: skip
SHOWN = {"markdown", "caption", "metric", "code", "table", "dataframe", "html", "download_button"}
DIGITS = re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?")  # of a vector to copy: compared as numbers
SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)
UNSEEN = ("empty", "html_empty", "bidi_component")  # scripts: tests/browser sees what they do
HOLDS = ("expander", "popover", "tab", "dialog")


def _decoded(value: Any) -> Any:
    """Plotly's arrays as numbers."""
    if isinstance(value, dict):
        if "bdata" in value:
            kind = np.dtype(value["dtype"])
            return np.frombuffer(base64.b64decode(value["bdata"]), kind).astype(float)
        return {key: _decoded(each) for key, each in value.items()}
    return [_decoded(each) for each in value] if isinstance(value, list) else value


def _picture(spec: dict[str, Any]) -> dict[str, Any]:
    """What Plotly is sent; of each trace and of the layout, each part for itself."""
    fig = _decoded(spec)
    parts = {"layout": fig.pop("layout", {})}
    parts |= {f"trace {i}": trace for i, trace in enumerate(fig.pop("data", []))}
    parts |= {f"frame {i}": {"": each} for i, each in enumerate(fig.pop("frames", None) or [])}
    said = {name: {key: [each] for key, each in part.items()} for name, part in parts.items()}
    return {**said, "rest": [fig]}


def _element(node: Any) -> dict[str, Any]:
    """All that one element of the page says."""
    from google.protobuf.json_format import MessageToDict

    proto, message = node.proto, MessageToDict(node.proto)
    shown = {key: each for key, each in message.items() if key not in UNSAID}
    if digits := DIGITS.findall(shown.get("codeText", "")):
        shown["digits"] = [float(x) for x in digits]
        shown["codeText"] = DIGITS.sub("#", shown["codeText"])
    if "body" in shown:
        shown["body"] = SCRIPT.sub("", shown["body"])
    if getattr(proto, "bytes", None):
        sent = json.loads(proto.bytes)
        shown = {"alt": sent["alt"], "picture": _picture(sent["figure"])}
    if isinstance(data := getattr(proto, "data", None), bytes) and data:
        shown["cells"] = pa.ipc.open_stream(data).read_all().to_pandas()
    if hasattr(node, "value") and node.type not in SHOWN:
        shown["value"] = node.value
    return shown


def screen(at: Any) -> Record:
    """All that is on the screen, in its order."""
    into: Record = {}
    order: list[str] = []

    def walk(node: Any) -> None:
        kind, proto = str(getattr(node, "type", "")), getattr(node, "proto", None)
        children = getattr(node, "children", None)
        if kind == "bidi_component" and proto.bytes:
            kind = "plotly_chart"
        if proto is not None and kind not in UNSEEN and (children is None or kind in HOLDS):
            order.append(kind)
            # A key without what changes from one process to the next.
            key = str(getattr(proto, "id", "") or "").split("-", 2)[-1].removesuffix("None")
            key = re.sub(r"-*[0-9]{6,}|[0-9a-f]{8,}", "#", key)
            path = f"{kind} {order.count(kind)} {key}"
            label = [getattr(getattr(proto, kind, None), "label", ""), getattr(node, "label", "")]
            said(_element(node) if children is None else label, path, into)
        for place in sorted(children or ()):
            walk(children[place])

    for place in ("sidebar", "main"):
        order.append(place.upper())
        walk(getattr(at, place))
    into["order"] = said_text(" ".join(order))
    query = {key: at.query_params[key] for key in sorted(at.query_params)}
    into["address"] = said_text(json.dumps(query))
    return into


def link(number: int, link: Link) -> tuple[str, Record]:
    """What a link shows, and after a press of one of its buttons."""
    (page, query), press = link, link[1].get("press")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at = Page(page, **{key: values for key, values in query.items() if key != "press"})
        for button in at.button:
            if [button.key] == press:
                button.click().run()
    return f"link {number} {page} {json.dumps(query, ensure_ascii=False)}", screen(at)


# ------------------------------------------------------------------------------ hold and compare


def everything(seed: int, values: int, files_: int, links_: int) -> Said:
    """All records by their names."""
    logging.disable(logging.WARNING)
    records = dict(value(seed, number) for number in range(values))
    records |= (file(each, number) for number, each in enumerate(files(seed, files_)))
    records |= kept_files()
    return records | dict(link(number, each) for number, each in enumerate(links(seed, links_)))


def pack(everything: Said) -> bytes:
    return lzma.compress(json.dumps(everything, ensure_ascii=False).encode())


def unpack(data: bytes) -> Said:
    return json.loads(lzma.decompress(data))


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


def differences(stored: Said, found: Said, relative: float = RELATIVE) -> list[str]:
    """What is no longer said, newly said, or said otherwise."""
    lines = [f"{name}: not found" for name in stored if name not in found]
    lines += [f"{name}: not stored" for name in found if name not in stored]
    for name in stored.keys() & found.keys():
        a, b = stored[name], found[name]
        for path in [*a, *(p for p in b if p not in a)]:
            off = distance(a.get(path), b.get(path))
            if off > relative:
                line = f"{name}: {path or 'value'}\n    stored {a.get(path)!r}\n"
                line += f"    found  {b.get(path)!r}"
                lines.append(line + (f"\n    off {off:.2g}" if off < math.inf else ""))
    return sorted(lines)


def _elsewhere(path: Path, *given: str) -> Said:
    """The same records as another checkout makes them."""
    with tempfile.TemporaryDirectory() as name:
        folder, told = Path(name) / "checkout", Path(name) / "told"
        folder.mkdir()
        for each in path.iterdir():
            (folder / each.name).symlink_to(HERE if each.name == "tests" else each)
        asked = [sys.executable, "-m", "tests.net", "--told", str(told), *given]
        subprocess.run(asked, cwd=folder, check=True)
        return unpack(told.read_bytes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="hold what is said now")
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--told", type=Path, help=argparse.SUPPRESS)
    sizes = {"seed": 1, "values": VALUES, "files": FILES, "links": LINKS}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"{size} unless given")
    args = parser.parse_args()
    begun = time.monotonic()
    found = everything(args.seed, args.values, args.files, args.links)
    if target := args.told or (STORED if args.write else None):
        target.write_bytes(pack(found))
    kinds = Counter(name.partition(" ")[0] for name in found)
    numbers = sum(isinstance(atom, list) for record in found.values() for atom in record.values())
    line = f"{kinds['value']} calls, {kinds['file']} files, {kinds['link']} links: "
    line += f"{sum(map(len, found.values()))} records, {numbers} of numbers, "
    print(f"{line}{time.monotonic() - begun:.0f} s, seed {args.seed}")
    if target:
        return 0
    if args.against:
        given = [x for name in sizes for x in (f"--{name}", str(getattr(args, name)))]
        stored = _elsewhere(args.against.resolve(), *given)
    else:
        stored = unpack(STORED.read_bytes())
    wrong = differences(stored, found)
    print("\n".join(wrong))
    print(f"{len(wrong)} differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
