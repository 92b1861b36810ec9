"""Cached calls. Arguments are short texts that parse back, so the key is exact and cheap.

What is computed from settings or bundled ranks is shared by all users; what comes from an upload
stays in its session.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from sampledash.comparison.means import variances_of_mean
from sampledash.comparison.order import Orders
from sampledash.comparison.order import orders as find_orders
from sampledash.comparison.verdict import judged as judge
from sampledash.correction import Fit, parse_correction
from sampledash.expectation import posterior as core_posterior
from sampledash.expectation import sampled_values
from sampledash.laws import law_chunks
from sampledash.metrics import parse_metric
from sampledash.sampling import parse_sampling
from sampledash.setting import Setting

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _frozen(array: Any) -> Any:
    # One copy serves everybody: a page that changed it would change it for all.
    array.setflags(write=False)
    return array


@st.cache_resource(max_entries=128, show_spinner=False)
def curves(metrics: tuple[str, ...], sampling: str, ranks: bytes) -> tuple[Floats, Floats, Floats]:
    """Exact value, expectation and standard deviation of each metric at each rank.

    Ranks come as the bytes of int64; the arrays have shape (metrics, ranks). The law of the
    sampled rank, which is all the work, is evaluated once for all metrics.
    """
    chosen, drawn = [parse_metric(metric) for metric in metrics], parse_sampling(sampling)
    grid = np.frombuffer(ranks, dtype=np.int64)
    values = [sampled_values(metric, drawn.m) * metric.scale(1) for metric in chosen]
    mean, variance = np.empty((2, len(chosen), len(grid)))
    for rows, p in law_chunks(drawn.scheme, drawn.m, *drawn.weights(grid)):
        for place, vector in enumerate(values):
            mean[place, rows] = p @ vector
            off = vector - mean[place, rows, None]
            variance[place, rows] = np.einsum("rs,rs->r", p, off**2)
    exact = np.array([metric(grid, drawn.n) for metric in chosen])
    return _frozen(exact), _frozen(mean), _frozen(np.sqrt(variance))


@st.cache_resource(max_entries=64, show_spinner=False)
def law(sampling: str, rank: int) -> Floats:
    """Law of the sampled rank at one true rank."""
    result: Floats = _frozen(parse_sampling(sampling).pmf(rank))
    return result


@st.cache_resource(max_entries=16, show_spinner=False)
def posterior(sampling: str, sampled_rank: int) -> Floats:
    """Probability that the true rank is at most 1..n, given one sampled rank."""
    result: Floats = _frozen(
        np.minimum(np.cumsum(core_posterior(sampled_rank, parse_sampling(sampling))), 1.0)
    )
    return result


def orders(key: str, *rest: Any, shared: bool) -> Orders:
    """Orders over all m (``comparison.order.orders``); ``key`` names ranks, metrics and setting."""
    result: Orders = (_orders if shared else _orders_of_upload)(key, *rest)
    return result


def judged(key: str, *rest: Any, shared: bool) -> pd.DataFrame:
    """Verdict at one m (``comparison.verdict.judged``)."""
    result: pd.DataFrame = (_judged if shared else _judged_of_upload)(key, *rest)
    return result


def scatter(key: str, *rest: Any, shared: bool) -> Floats:
    """Standard deviation of every mean at one m: shape (systems, metrics)."""
    result: Floats = (_scatter if shared else _scatter_of_upload)(key, *rest)
    return result


# Arguments with a leading underscore are not hashed: the key stands for them. What comes from an
# upload is kept in its session only.
def _find(metrics: Any, sets: Any, m_max: int, setting: Setting) -> Orders:
    found = find_orders(metrics, sets, m_max, setting)
    return Orders(_frozen(found.m_values), _frozen(found.means))


def _stds(metrics: Any, sets: Any, m: int, setting: Setting) -> Floats:
    rows = [variances_of_mean(metrics, ranks, m, setting) for ranks in sets]
    result: Floats = _frozen(np.sqrt(np.array(rows)))
    return result


@st.cache_resource(max_entries=64, show_spinner="Looking at every m", show_time=True)
def _orders(key: str, _metrics: Any, _sets: Any, _m_max: int, _setting: Setting) -> Orders:
    return _find(_metrics, _sets, _m_max, _setting)


@st.cache_resource(
    max_entries=8, scope="session", show_spinner="Looking at every m", show_time=True
)
def _orders_of_upload(
    key: str, _metrics: Any, _sets: Any, _m_max: int, _setting: Setting
) -> Orders:
    return _find(_metrics, _sets, _m_max, _setting)


@st.cache_resource(max_entries=256, show_spinner=False)
def _judged(key: str, _found: Orders, _metrics: Any, _sets: Any, _m: int, _setting: Setting) -> Any:
    return judge(_found, _metrics, _sets, _m, _setting)


@st.cache_resource(max_entries=32, scope="session", show_spinner="The chances", show_time=True)
def _judged_of_upload(
    key: str, _found: Orders, _metrics: Any, _sets: Any, _m: int, _setting: Setting
) -> Any:
    return judge(_found, _metrics, _sets, _m, _setting)


@st.cache_resource(max_entries=256, show_spinner="The scatter", show_time=True)
def _scatter(key: str, _metrics: Any, _sets: Any, _m: int, _setting: Setting) -> Floats:
    return _stds(_metrics, _sets, _m, _setting)


@st.cache_resource(max_entries=32, scope="session", show_spinner="The scatter", show_time=True)
def _scatter_of_upload(key: str, _metrics: Any, _sets: Any, _m: int, _setting: Setting) -> Floats:
    return _stds(_metrics, _sets, _m, _setting)


@st.cache_resource(max_entries=512, show_spinner="Fitting the correction", show_time=True)
def fitted(metric: str, correction: str, sampling: str) -> tuple[Fit, float, float]:
    """A corrected metric with its squared bias and variance, averaged over all ranks."""
    fit = parse_correction(correction).fit(parse_metric(metric), parse_sampling(sampling))
    return fit, *fit.risk()


@st.cache_resource(max_entries=256, show_spinner=False)
def corrected(metric: str, correction: str, sampling: str, ranks: bytes) -> Floats:
    """Expected corrected metric at each rank (int64, as bytes)."""
    fit, _, _ = fitted(metric, correction, sampling)
    result: Floats = _frozen(fit.expected(np.frombuffer(ranks, dtype=np.int64)))
    return result
