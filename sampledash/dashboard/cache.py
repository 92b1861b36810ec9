"""Cached calls. Arguments are short texts that parse back, so the key is exact and cheap.

What is computed from settings or bundled ranks is shared by all users; what comes from an upload
stays in its session.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from sampledash.comparison.means import variances_of_mean
from sampledash.comparison.order import Orders
from sampledash.comparison.order import orders as find_orders
from sampledash.expectation import moments, sampled_values
from sampledash.expectation import posterior as core_posterior
from sampledash.laws import pmf_chunks
from sampledash.metrics import Metric, parse_metric
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.sampling import parse_sampling
from sampledash.types import Floats, Progress

T = TypeVar("T")


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
    for rows, p in pmf_chunks(drawn.scheme, drawn.m, *drawn.weights(grid)):
        for place, vector in enumerate(values):
            mean[place, rows], variance[place, rows] = moments(p, vector)
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


class Shelf:
    """Results by name; the one not asked for longest makes room for a new one.

    However many ask for a result at the same moment, one of them makes it and the others wait.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, Event] = {}
        self._lock = Lock()

    def get(self, name: Hashable, make: Callable[[], Any], wait: Callable[[], object]) -> Any:
        """The result of this name, made if there is none; one that fails is not kept.

        ``wait`` is called every tenth of a second while another makes it; it may raise.
        """
        while True:
            with self._lock:
                if name in self._held:
                    self._held.move_to_end(name)
                    return self._held[name]
                other = self._making.get(name)
                if other is None:
                    done = self._making[name] = Event()
                    break
            while not other.wait(0.1):
                wait()
            # Made, or given up: then it is ours to make.
        try:
            made = make()
            with self._lock:
                self._held[name] = made
                while len(self._held) > self.most:
                    self._held.popitem(last=False)
            return made
        finally:
            with self._lock:
                del self._making[name]
            done.set()


# What comes from bundled ranks serves everybody, what comes from an upload its session only.
# Entries of the large shelves hold every m: some tens of MB for many systems.
_SHARED = {True: Shelf(48), False: Shelf(512)}
_OWN = {True: 6, False: 96}


def kept(name: Hashable, make: Callable[[], T], *, shared: bool, large: bool = False) -> T:
    """Look a result up by name, or make it.

    Unlike Streamlit's caches ``make`` may write to the page, such as a progress bar, and may be
    stopped by a change of mind.

    Parameters
    ----------
    name
        A tuple of what the result depends on: rank sets, metrics, protocol, choices.
    shared
        Whether the ranks are bundled, so that the result may serve other sessions.
    large
        Whether few of these are to be held.
    """
    if shared:
        shelf = _SHARED[large]
    else:
        shelf = st.session_state.setdefault(f"_shelf_{large}", Shelf(_OWN[large]))
    # Looking at the session's state is where Streamlit stops a run that is no longer wanted.
    result: T = shelf.get(name, make, lambda: "v" in st.session_state)
    return result


def orders(
    key: str,
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m_max: int,
    protocol: Protocol,
    *,
    shared: bool,
    progress: Progress | None = None,
    m_values: Sequence[int] | None = None,
) -> Orders:
    """Orders over all m (``comparison.order.orders``); ``key`` names ranks, metrics and setting."""

    def make() -> Orders:
        found = find_orders(metrics, sets, m_max, protocol, progress, m_values)
        return Orders(_frozen(found.m_values), _frozen(found.means))

    return kept(f"orders|{key}|{m_max}|{m_values}", make, shared=shared, large=True)


def scatter(
    key: str,
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    *,
    shared: bool,
) -> Floats:
    """Standard deviation of every mean at one m: shape (systems, metrics)."""

    def make() -> Floats:
        rows = [variances_of_mean(metrics, ranks, m, protocol) for ranks in sets]
        result: Floats = _frozen(np.sqrt(np.array(rows)))
        return result

    return kept(f"scatter|{key}|{m}", make, shared=shared)
