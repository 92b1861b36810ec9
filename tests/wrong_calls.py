"""Calls of the whole public API with one or two arguments of the wrong type or size. :func:`valid`
returns a valid call of every public function, class and method that takes arguments. A wrong call
replaces one or two arguments with values from :func:`zoo`. It must return a result, since some
values may be valid, or raise a ValueError or TypeError by a ``raise`` in sampledash."""

import ast
import datetime
import decimal
import fractions
import inspect
import io
import itertools
import pathlib
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import sampledash as sd

PACKAGE = Path(sd.__file__).resolve().parent

A, B = sd.RankSet("A", [1, 2, 5, 9], 12), sd.RankSet("B", [2, 3, 4, 1], 12)
SEVERAL = sd.RankSet("S", [1, 5, 3], 10, instances=["a", "a", "b"])
POOL = sd.SampledRankSet("P", [1, 3, 2, 1, 4], 50, 9)
OTHER = sd.SampledRankSet("Q", [2, 3, 5, 1, 1], 50, 9)
SAMPLING, METRIC = sd.Sampling(50, 9), sd.parse_metric("NDCG@5")
FIT = sd.correction("BV", gamma=0.1).fit(METRIC, SAMPLING)
DATA = sd.Interactions(list("abc"), list("xyz"), [0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 2])
SPLIT = sd.split(DATA, "last 1")
TABLE = {"HR@1": 0.17, "HR@5": 0.49, "NDCG@5": 0.33}
RANKS_CSV = b"system,user,rank,n\nA,u,1,9\nA,v,3,9\nB,u,2,9\nB,v,2,9\n"
SAMPLED_CSV = b"system,sampled_rank,n_candidates,m\nA,1,9,5\nA,3,9,5\nB,2,9,5\n"
RATINGS_CSV = b"user,item,rating,timestamp\nu,a,5,1\nu,b,3,2\nv,a,4,3\nv,c,2,4\n"
USERS = [("u", 3, np.arange(8)), ("v", [1, 6], np.arange(8))]


TABLE_A, TABLE_B = np.array([[[1.0, 2, 3], [3, 1, 2]], [[2.0, 1, 3], [1, 2, 2]]])
A1, B1 = (
    sd.ranks_from_scores(x, [[0], [1]], [[1], []], system=name)
    for name, x in (("A", TABLE_A), ("B", TABLE_B))
)
OVERLAPS = sd.overlaps([A1, B1], [TABLE_A, TABLE_B], [[0], [1]], [[1], []])


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def score(_user: object, items: Any) -> Any:
    return np.asarray(items, dtype=float)


class Call(NamedTuple):
    """A function and valid arguments by name. Files are new, since a call reads them to the end."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def valid() -> dict[str, Call]:
    """Return a valid call of each public function, class and method, by its name."""
    single, both = dict(metric="AP", ranks=A), dict(metric="AP", sets=[A, B])
    options = dict(scheme="with-replacement", odds=1.0, correction="BV 0.1", fit_scheme=None)
    options |= dict(ties="expected", weighting="instances")
    plain = {name: options[name] for name in ("scheme", "odds", "ties", "weighting")}
    methods: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "Metric()": (METRIC.__call__, dict(rank=[1, 3], n=9)),
        "Metric.of_set": (METRIC.of_set, dict(ranks=[1, 3], n=9)),
        "Sampling.pmf": (SAMPLING.pmf, dict(rank=[1, 3])),
        "Sampling.share_above": (SAMPLING.share_above, dict(rank=[1, 3])),
        "Sampling.draw": (SAMPLING.draw, dict(rank=[1, 3], rng=rng())),
        "RankSet.with_overlaps": (A.with_overlaps, dict(overlaps={"B": [0, 1, 2, 0]})),
        "SampledRankSet.with_ties": (POOL.with_ties, dict(rule="mean-rank")),
        "Correction.fit": (FIT.correction.fit, dict(metric="AP", sampling=SAMPLING)),
        "Fit()": (FIT.__call__, dict(sampled_rank=[1, 3])),
        "Fit.expected": (FIT.expected, dict(rank=[1, 3])),
        "Fit.variance": (FIT.variance, dict(rank=[1, 3])),
        "Fit.risk": (FIT.risk, {}),
        "Recommender.train": (
            sd.parse_recommender("bestsellers-count").train, dict(interactions=DATA)
        ),
        "Interactions.take": (DATA.take, dict(which=[0, 1])),
    }  # fmt: skip
    calls: dict[str, dict[str, Any]] = {
        "Correction": dict(name="bias-variance", gamma=0.1),
        "Interactions": dict(users=["a", "b"], items=["x", "y"], user=[0, 0, 1], item=[0, 1, 1],
                             rating=[1, 2, 3], time=[1, 2, 3]),
        "Metric": dict(name="ndcg", k=5),
        "RankSet": dict(system="A", ranks=[1, 4, 3], n=10, instances=["a", "b", "c"],
                        ties=[0, 1, 0], mass_above=[0, 0.4, 0.2], counts=[1, 2, 1],
                        beyond=[False, False, False], provenance="somewhere",
                        classes=[[[a], [t], [9], [1]] for a, t in ((0, 0), (3, 1), (2, 0))],
                        strata=[[[a], [t], [9], [5]] for a, t in ((0, 0), (3, 1), (2, 0))],
                        overlaps={"B": [0, 1, 2]}),
        "SampledRankSet": dict(system="A", sampled_ranks=[1, 4, 3], n=10, m=5,
                               scheme="with-replacement", instances=["a", "b", "c"],
                               counts=[1, 2, 1], ties=[0, 1, 0], mean_rank=True),
        "Sampling": dict(n=10, m=3, scheme="popularity", odds=2.0),
        "as_sample": dict(ranks=A, n=100),
        "audit": dict(negatives=[[1, 2], [2, 4]], positives=[3, 1], interactions=[(0, 1), (1, 5)],
                      instances=[0, 1], places=[1, 2]),
        "bounds": dict(metric="NDCG@5", srs=POOL, versus=OTHER, tolerance=0.5),
        "bounds_from_table": dict(metric="Recall@5", observed=TABLE, n=3541, m=100, decimals=2,
                                  versus=TABLE, scheme="with-replacement", instances=300),
        "compare": dict(metric="AUC", srs=POOL, versus=OTHER, confidence=0.9),
        "correction": dict(name="bias-variance", gamma=0.1, rounding="floor", nonnegative=True),
        "counterexample": dict(metric="Recall@3", sampling=SAMPLING),
        "curve": dict(both, m_values=[1, 4], **options),
        "deciding_cutoff": dict(metric="NDCG@5", n=90, tolerance=0.01),
        "designs": dict(both, budget=9, corrections=["BV 0.1"], proxies={"p": 0.2}, **plain),
        "eigenvalues": dict(sampling=SAMPLING),
        "estimate": dict(metric="AP", srs=POOL, method="mle", confidence=0.9, rng=rng()),
        "estimate_from_table": dict(metric="Recall@5", observed=TABLE, n=3541, m=100, decimals=2,
                                    scheme="with-replacement", instances=300),
        "evaluate": dict(users=USERS, systems={"A": score}, k=2, budget=40, seed=1, chunk=3,
                         proxy=score),
        "example": dict(name="paper-abc"),
        "expected": dict(metric=METRIC, rank=[1, 7], sampling=SAMPLING),
        "expected_mean": dict(single, m=3, **options),
        "finish": dict(part=(x for x in ())),
        "fit_learned": dict(method="bv-mle", metric="AP", sets=POOL, gamma=0.1, m=9),
        "flips": dict(both, m_max=6, **options),
        "from_scores": dict(pos=[0.5, 0.1], neg=[[0.1, 0.2], [0.1, 0.3]], n=50, ties="expected"),
        "full_cutoff": dict(k=2, n=90, m=9, beta=0.5),
        "gamma_table": dict(metric="AP", sampling=SAMPLING, instances=60, ranks=[1.0] * 50,
                            gammas=[0.1, 0.01]),
        "instances_needed": dict(both, m=3, probability=0.9, **options),
        "matching_cutoff": dict(k=1, ranks=A, m=3, scheme="with-replacement"),
        "mean": single,
        "mean_of_sample": dict(single, instances=9, versus=B, confidence=0.9),
        "mean_range": single,
        "mean_stopping_cost": dict(metric="Recall@2", ranks=A),
        "metric": dict(name="ndcg", k=5),
        "negatives_needed": dict(both, probability=0.9, m_max=6, **options),
        "one_list": dict(metric="Recall@2", ranks=A, m=3, ties="optimistic"),
        "overlaps": dict(sets=[A1, B1], scores=[TABLE_A, TABLE_B], relevant=[[0], [1]],
                         seen=[[1], []]),
        "parse_correction": dict(text="BV 0.1"),
        "parse_metric": dict(text="NDCG@5"),
        "parse_rank_text": dict(text="A: 1, 2; B: 2, 1", n=9),
        "parse_recommender": dict(text="iALS d=16"),
        "parse_sampling": dict(text="n = 10, m = 3, without-replacement"),
        "parse_split": dict(text="last 1"),
        "posterior": dict(sampled_rank=2, sampling=SAMPLING),
        "probability_if_redrawn": dict(both, m=3, **options),
        "probability_if_shared": dict(metric="AP", sets=[A1, B1], m=1, overlaps=OVERLAPS, **plain),
        "probability_of_order": dict(both, m=3, **options),
        "proxy_cost": dict(metric="RR@2", scores=[3, 2, 1], proxy=[3, 1, 2], relevant=[0]),
        "rank": dict(scores_of=lambda start, stop: np.zeros((stop - start, 3)), split=SPLIT,
                     system="A", recommender="mine", seed=1, weights="popularity", marks=[]),
        "rank_distribution": dict(sets=[POOL], method="mle", iterations=5),
        "rank_until_decided": dict(score=lambda items: np.asarray(items, float), relevant=3,
                                   candidates=np.arange(9), k=2, chunk=4),
        "ranks_from_scores": dict(scores=[[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], relevant=[[0], [1]],
                                  seen=[[1], []], system="A", instances=["u", "v"],
                                  weights=[1, 2, 0],
                                  strata=([1, 2, 2], {1: 1, 2: 1})),
        "read_interactions": dict(source=io.BytesIO(RATINGS_CSV), name="r.csv", user="user",
                                  item="item", rating="rating", time="timestamp",
                                  duplicates="last", per_user=1, per_item=1),
        "read_rank_sets": dict(source=io.BytesIO(RANKS_CSV), name="r.csv"),
        "read_sampled_ranks": dict(source=io.BytesIO(SAMPLED_CSV), scheme="with-replacement",
                                   name="r.csv"),
        "read_vector_json": dict(text=sd.vector_json(FIT)),
        "recommender": dict(name="iALS", d=16),
        "resolution": dict(sampling=SAMPLING, gamma=0.1),
        "retained": dict(sampling=SAMPLING, gamma=0.1),
        "right_from": dict(both, m_max=6, **options),
        "sample_ranks": dict(ranks=A, m=3, rng=rng(), scheme="with-replacement"),
        "significance": dict(both, rng=rng(), resamples=100, confidence=0.9),
        "simulate": dict(single, m=3, repeats=3, rng=rng(), **options),
        "split": dict(interactions=DATA, rule="last 1"),
        "std_of_mean": dict(single, m=3, **options),
        "stopping_cost": dict(metric="NDCG@5", rank=[1, 9], n=30),
        "stopping_range": dict(metric="RR@3", pilot=POOL, instances=90, confidence=0.9),
        "synthetic": dict(seed=1),
        "variance": dict(metric=METRIC, rank=[1, 7], sampling=SAMPLING),
        "vector_json": dict(fit=FIT),
        "verdict": dict(metrics=["AP"], sets=[A, B], m=3, corrections=["BV 0.1"], m_max=6, **plain),
    }  # fmt: skip
    every = {name: (getattr(sd, name), given) for name, given in calls.items()} | methods
    return {name: Call(call[0], whole(*call)) for name, call in every.items()}


def whole(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments by name, including defaults."""
    bound = inspect.signature(function).bind(**given)
    bound.apply_defaults()
    return dict(zip(bound.arguments, bound.args, strict=False)) | bound.kwargs


#: Public classes of results, which users do not call.
RESULTS = {
    "Audit", "Cost", "Decided", "Designs", "Estimate", "Evaluation", "Fit", "Flip", "InstanceMean",
    "Interval", "OneList", "Options", "Overlap", "Recommender", "Split",
    "TableEstimate",
}  # fmt: skip


#: Arguments that are functions: their own errors are passed on to the caller.
FUNCTIONS = {"scores_of", "scores", "score", "proxy", "progress"}


class Odd:
    """An object of an unrelated class."""


def anything(*_: Any, **__: Any) -> None:
    """Accept all arguments and return None."""


def zoo() -> list[Any]:
    """Return values of many kinds, most of which are wrong for most arguments."""
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]
    return [
        None, True, False, 0, 1, 2, -1, -7, 5, 50, 9999, 10**12, 2**63, 10**400, -(10**400),
        0.5, -0.5, 1.5, 1e-300, 1e300, float("nan"), float("inf"), -float("inf"), 1j,
        decimal.Decimal("0.5"), decimal.Decimal("NaN"), fractions.Fraction(1, 3),
        "", "a", "1", "AP", "Recall@10", "nan", "\ud800", "A: 1, 2", "x" * 10_000, "[" * 100_000,
        '{"values": {"a": 1}}', "-" * 99, b"", b"AP", bytearray(b"12"), memoryview(b"12"),
        np.float64(0.5), np.float32("nan"), np.bool_(True), np.str_("AP"),
        np.timedelta64(3, "s"), datetime.date(2020, 1, 1),
        np.array(3), np.array([]), np.array([1, 2, 3]), np.array([0.5, np.nan]), np.eye(3),
        np.zeros((2, 0)), np.array(["a", "b"]), np.array([1, "a", None], dtype=object),
        np.array([True, False]), np.array([1 + 1j]), np.array([(1, 2.0)], dtype="i4,f8"),
        np.array(["2020-01-01"], dtype="M8[D]"), np.ma.masked_array([1, 2], [True, False]),
        np.ones((2, 2, 2)), np.array([10**30]), np.array([b"a"]), np.full(4, 1e300),
        pd.DataFrame(), pd.DataFrame({"rank": [1, 2], "n": [9, 9]}), pd.Series([1, 2, 3]),
        pd.Series(["a", None]), pd.NA, pd.NaT, pd.Index([1, 2]), pd.Categorical(["a", "b"]),
        [], [1], [1, 2, 3], [None], ["a", "b"], [1, "a"], [[1, 2], [3]], [[1, 2], [3, 4]],
        [float("nan")], [True, False], [[]], [A], [A, A], [A, 1], [POOL], ["AP"], [10**400],
        deep, (), (1, 2), ("AP",), {}, {"a": 1}, {1: 2}, {"HR@1": "x"}, {"HR@1": 10**400},
        {"HR@1": None}, {"a": [1]}, {"values": {"a": 1}}, set(), {1, 2}, frozenset("ab"),
        range(3), range(0), (x for x in (1, 2)), iter([A, B]), map(str, (1, 2)),
        zip((1,), (2,), strict=True),
        object(), Odd(), Odd, int, str, np, len, anything, lambda *_: None, Ellipsis,
        NotImplemented, slice(1, 2), io.BytesIO(b"1,2\n"), io.StringIO("1,2\n"), io.BytesIO(),
        Path("nothing.csv"), Path(), pathlib.PurePosixPath("x\0y"), ValueError("x"),
        rng(), np.random.RandomState(1), A, SEVERAL, POOL, SAMPLING, METRIC, FIT, FIT.correction,
        DATA, SPLIT, sd.parse_split("last 1"), sd.parse_recommender("random"),
    ]  # fmt: skip


@cache
def raises(path: str) -> list[range]:
    """Return the line ranges of the ``raise`` statements of a file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    every = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in every]


def wrong(error: BaseException) -> str:
    """Return what is wrong with an error: its type, its origin, or its text; "" if nothing is."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {last.filename}:{last.lineno}: {str(error)[:150]}"
    if not isinstance(error, ValueError | TypeError):
        return where
    ours = Path(last.filename).resolve().is_relative_to(PACKAGE)
    if not ours or not any(last.lineno in lines for lines in raises(last.filename)):
        return where
    text = str(error)
    return "" if " " in text.strip() and len(text) < 2000 else f"no sentence: {where}"


class Wrong(NamedTuple):
    """A call with wrong arguments; ``changed`` are those that were replaced."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    changed: dict[str, Any]

    def __str__(self) -> str:
        def short(value: object) -> str:
            try:
                text = repr(value)
            except Exception:
                text = f"a {type(value).__name__}"
            return text if len(text) < 80 else f"{text[:77]}..."

        changes = ", ".join(f"{name}={short(value)}" for name, value in self.changed.items())
        return f"{self.name}(..., {changes})"

    def judged(self) -> str:
        """Make the call; return the fault of its error, or "" if there is none."""
        called = {x for x in self.changed if x in FUNCTIONS and callable(self.changed[x])}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                result = self.function(**self.arguments)
                if inspect.isgenerator(result):
                    sd.finish(result)
            except RecursionError as error:
                return f"{type(error).__name__}"
            except (Exception, KeyboardInterrupt) as error:
                return "" if called else wrong(error)
        return ""


def wrong_calls(seed: int) -> Iterator[Wrong]:
    """Yield random wrong calls without end, of each function in turn."""
    random, size = np.random.default_rng(seed), len(zoo())
    for name in itertools.cycle(valid()):
        function, arguments = valid()[name]
        names, values = list(arguments), zoo()
        count = min(int(random.choice([1, 1, 2])), len(names))
        picked = random.choice(len(names), count, replace=False)
        changed = {names[i]: values[int(random.integers(size))] for i in picked}
        yield Wrong(name, function, arguments | changed, changed)
