"""A cache of results by key.

A key holds everything that its result depends on. All readers share the results of settings and
bundled ranks. Results of an upload stay in the session of its reader.
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
    """Make an array read-only: all pages share cached arrays, so a change would reach them all."""
    array.setflags(write=False)
    return array


class Turns:
    """A lock by which one thread computes at a time; it holds others at most ``LONGEST`` seconds.

    numpy releases the interpreter lock in each of its operations. Threads that compute side by side
    pass the lock on at every operation, which costs four times the processor time.
    """

    LONGEST = 0.3  # seconds after which a waiting thread starts although another still computes

    def __init__(self) -> None:
        self._changed = Condition()
        self._holder, self._since, self._waiting = 0, 0.0, 0

    @contextmanager
    def one(self, wait: Callable[[], object]) -> Iterator[None]:
        """Hold the turn; call ``wait``, which may raise, while another thread holds the turn."""
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
        """Let threads that wait or hold the turn go first, for ``LONGEST`` seconds at most."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._waiting or self._holder), self.LONGEST)


_TURNS, _USUAL = Turns(), sys.getswitchinterval()


@contextmanager
def turn() -> Iterator[None]:
    """Hold the turn for a step of long work, after giving way to other sessions.

    A shorter switch interval gives the interpreter sooner to threads that draw or send a page.
    """
    _TURNS.give_way()
    sys.setswitchinterval(_USUAL / 5)
    try:
        with _TURNS.one(_look):
            yield
    finally:
        sys.setswitchinterval(_USUAL)


class LruStore:
    """Results by key; a full store drops the least recently used result for each new result.

    If several threads ask for a result at the same moment, one thread makes it, the others wait.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._found: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Any], wait: Callable[[], object]) -> Any:
        """Return the result of this key, computed by ``make`` if needed; errors are not stored.

        ``wait`` is called every 0.1 seconds while another thread makes the result, and may raise.
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
                if not future.done():  # ``make`` failed or was stopped: a waiting thread takes over
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


# Stores that all readers share, and number of results in the stores of one session. Keys: whether
# the results are large. A large result has values for every m: tens of MB for many systems.
_SHARED = {True: LruStore(48), False: LruStore(512)}
_OWN = {True: 6, False: 256}  # room for the 160 small results of 8 systems in one metric
_ALONE: dict[Any, Any] = {}  # stands in for the session in a script or a test
_sessions: list[Callable[[], MutableMapping[Any, Any]]] = [lambda: _ALONE]


def keep_in(session: Callable[[], MutableMapping[Any, Any]]) -> None:
    """Set the function that returns the current reader's session; it may raise, to stop work."""
    _sessions[0] = session


def _look() -> bool:
    """Access the session, which lets Streamlit stop a run that is no longer wanted."""
    return "v" in _sessions[0]()


def cached(key: Key, make: Callable[[], T], *, shared: bool, large: bool = False) -> T:
    """Return the cached result of a key, or make it; the key holds all that the result depends on.

    Unlike in Streamlit's caches, ``make`` may write to the page, such as a progress bar, and the
    reader may stop ``make``. ``shared``: other sessions may use the result, because its ranks are
    bundled. ``large``: the result takes much memory, so that the store holds only a few.
    """
    if shared:
        store = _SHARED[large]
    else:
        store = _sessions[0]().setdefault(f"_store_{large}", LruStore(_OWN[large]))
    result: T = store.get(key, make, _look)
    return result


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Cache the result of a function without arguments, for all sessions."""
    return wraps(make)(lambda: cached((make.__module__, make.__name__), make, shared=True))


def remembered(method: Callable[..., T]) -> Callable[..., T]:
    """Cache the results of a method by its name, its arguments and the ``key`` of its object.

    The key omits ``progress``. ``shared`` of the object says whether all sessions may use a result.
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
    """Orders of the systems at all m, or at ``m_values``, cached (``comparison.order.orders``)."""

    def make() -> Orders:
        every = find_orders(metrics, sets, m_max, protocol, progress, m_values)
        return Orders(frozen(every.m_values), frozen(every.means))

    values = None if m_values is None else tuple(m_values)
    key = "orders", tuple(metrics), digests(sets), m_max, protocol, values
    return cached(key, make, shared=shared, large=True)


def digests(sets: Sequence[RankSet]) -> tuple[str, ...]:
    """Digests of the rank sets, equal only for equal ranks."""
    return tuple(ranks.digest for ranks in sets)
