"""Results by key, which are looked up instead of made again.

A key holds everything its result depends on. What is computed from settings or bundled ranks is
shared by all readers; what comes from an upload stays in the session of its reader.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from functools import wraps
from threading import Condition, Lock, get_ident
from time import monotonic
from typing import Any, TypeVar

import numpy as np

from sampledash.comparison.order import Orders
from sampledash.comparison.order import orders as find_orders
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Progress

T = TypeVar("T")
A = TypeVar("A", bound=np.ndarray[Any, Any])
Key = tuple[Hashable, ...]


def frozen(array: A) -> A:
    """Read-only: one copy serves everybody, a page that changed it would change it for all."""
    array.setflags(write=False)
    return array


class Turns:
    """One thread computes at a time, as long as its turn lasts; then it goes on beside the others.

    numpy lets go of the interpreter in each of its operations. Threads that compute side by side
    hand it to and fro at every one of them, which costs four times the processor time.
    """

    LONGEST = 0.3  # seconds

    def __init__(self) -> None:
        self._changed = Condition()
        self._holder, self._since, self._waiting = 0, 0.0, 0

    @contextmanager
    def one(self, wait: Callable[[], object]) -> Iterator[None]:
        """Hold the turn; ``wait`` is called now and then while it is another's, and may raise."""
        me = get_ident()
        with self._changed:
            within = self._holder == me
            self._waiting += 1
            try:
                while not within and self._holder:
                    left = self._since + self.LONGEST - monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(left)
                    wait()
            finally:
                self._waiting -= 1
            if not within:
                self._holder, self._since = me, monotonic()
        try:
            yield
        finally:
            with self._changed:
                if not within and self._holder == me:
                    self._holder = 0
                    self._changed.notify_all()

    def give_way(self) -> None:
        """Let those who wait, or have begun, go first."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._waiting or self._holder), self.LONGEST)


_TURNS, _USUAL = Turns(), sys.getswitchinterval()


@contextmanager
def turn() -> Iterator[None]:
    """Hold the turn for a step of long work, once no other session wants it.

    Threads that do not compute, such as those that draw or send, have the interpreter sooner.
    """
    _TURNS.give_way()
    sys.setswitchinterval(_USUAL / 5)
    try:
        with _TURNS.one(_look):
            yield
    finally:
        sys.setswitchinterval(_USUAL)


class LruStore:
    """Results by key; the one not asked for longest makes room for a new one.

    However many ask for a result at the same moment, one of them makes it and the others wait.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._found: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Any], wait: Callable[[], object]) -> Any:
        """The result of this key, made if there is none; one that fails is not kept.

        ``wait`` is called every tenth of a second while another makes it; it may raise.
        """
        with self._lock:
            ours = key not in self._found
            future = self._found.setdefault(key, Future())
            self._found.move_to_end(key)
            if len(self._found) > self.most:
                self._found.popitem(last=False)
        if ours:
            try:
                with _TURNS.one(wait):
                    future.set_result(make())
            finally:
                if not future.done():  # given up: it is for those who wait to make
                    with self._lock:
                        self._found.pop(key, None)
                    future.cancel()
        while True:
            try:
                return future.result(timeout=0.1)
            except TimeoutError:
                wait()
            except CancelledError:
                return self.get(key, make, wait)


# What comes from bundled ranks serves everybody, what comes from an upload its session only.
# Entries of the large stores hold every m: some tens of MB for many systems.
_SHARED = {True: LruStore(48), False: LruStore(512)}
_OWN = {True: 6, False: 256}  # eight systems in one metric have 160 results
_ALONE: dict[Any, Any] = {}  # the only session of a process without readers
_sessions: list[Callable[[], MutableMapping[Any, Any]]] = [lambda: _ALONE]


def keep_in(session: Callable[[], MutableMapping[Any, Any]]) -> None:
    """Say what holds the results of the present reader; a look into it may stop the work."""
    _sessions[0] = session


def _look() -> bool:
    """Look into the session, where Streamlit stops a run that is no longer wanted."""
    return "v" in _sessions[0]()


def cached(key: Key, make: Callable[[], T], *, shared: bool, large: bool = False) -> T:
    """Look a result up by its key, which holds everything it depends on, or make it.

    Unlike Streamlit's caches ``make`` may write to the page, such as a progress bar, and may be
    stopped by a change of mind. ``shared``: the ranks are bundled, the result may serve other
    sessions; ``large``: few of these are to be held.
    """
    if shared:
        store = _SHARED[large]
    else:
        store = _sessions[0]().setdefault(f"_store_{large}", LruStore(_OWN[large]))
    result: T = store.get(key, make, _look)
    return result


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Make what is the same for everybody when it is first asked for."""
    return wraps(make)(lambda: cached((make.__module__, make.__name__), make, shared=True))


def remembered(method: Callable[..., T]) -> Callable[..., T]:
    """Look up what a method found, by its name, its arguments and the ``key`` of its object.

    The object says by ``shared`` for whom; ``progress`` is no part of what is asked.
    """

    @wraps(method)
    def found(self: Any, *asked: Hashable, progress: Progress | None = None) -> T:
        more = {} if progress is None else {"progress": progress}
        key = method.__qualname__, self.key, *asked
        return cached(key, lambda: method(self, *asked, **more), shared=self.shared)

    return found


def orders(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m_max: int,
    protocol: Protocol,
    *,
    shared: bool,
    progress: Progress | None = None,
    m_values: Sequence[int] | None = None,
) -> Orders:
    """Orders over all m (``comparison.order.orders``)."""

    def make() -> Orders:
        every = find_orders(metrics, sets, m_max, protocol, progress, m_values)
        return Orders(frozen(every.m_values), frozen(every.means))

    values = None if m_values is None else tuple(m_values)
    key = "orders", tuple(metrics), digests(sets), m_max, protocol, values
    return cached(key, make, shared=shared, large=True)


def digests(sets: Sequence[RankSet]) -> tuple[str, ...]:
    """The same only for the same ranks."""
    return tuple(ranks.digest for ranks in sets)
