"""A cache of results, each stored under a key that holds everything the result depends on.

Results from uploaded ranks stay in the session of their user; all users share other results.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from functools import wraps
from threading import Condition, Lock, get_ident
from time import monotonic
from typing import Any, TypeVar

from sampledash.comparison.order import Orders
from sampledash.comparison.order import orders as find_orders
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Progress, frozen

T = TypeVar("T")
Key = tuple[Hashable, ...]


class Turns:
    """A lock that lets one thread compute while others wait, for at most ``LONGEST`` seconds.

    NumPy releases Python's global interpreter lock (GIL) in each operation. Threads that compute at
    the same time would pass the GIL on at every operation and need four times the processor time.
    """

    # If a thread computes for longer than this many seconds, a waiting thread starts too.
    LONGEST = 0.3

    def __init__(self) -> None:
        self._changed = Condition()
        self._holder, self._since, self._waiting = 0, 0.0, 0

    @contextmanager
    def one(self, wait: Callable[[], object]) -> Iterator[None]:
        """Hold the lock in a ``with`` block.

        While another thread holds the lock, ``wait`` is called; an exception of ``wait`` ends the
        waiting.
        """
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
        """Let other threads go first: wait until the lock is free, at most ``LONGEST`` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._waiting or self._holder), self.LONGEST)


_TURNS, _USUAL = Turns(), sys.getswitchinterval()


@contextmanager
def turn() -> Iterator[None]:
    """Hold the lock ``_TURNS`` for one step of a computation, after letting other threads go first.

    During the step, Python switches threads five times as often, so that other threads wait less.
    """
    _TURNS.give_way()
    sys.setswitchinterval(_USUAL / 5)
    try:
        with _TURNS.one(_look):
            yield
    finally:
        sys.setswitchinterval(_USUAL)


class LruStore:
    """A store of at most ``most`` results by key; the least recently used results are dropped.

    If several threads ask for the same result at once, one thread computes it and the others wait.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._found: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Any], wait: Callable[[], object]) -> Any:
        """Return the result of this key; if it is not stored, compute it by ``make`` and store it.

        While another thread computes the result, call ``wait``, which may raise to end the waiting.
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
                # If ``make`` failed, cancelling the future wakes the waiting threads, and one of
                # them computes the result instead.
                if not future.done():
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


# ``_SHARED`` holds the stores of results that all sessions share. ``_OWN`` says how many results
# each session's own stores hold. The key True is for large results, such as a metric for every
# number of negatives, which takes tens of MB with many systems.
_SHARED = {True: LruStore(48), False: LruStore(512)}
_OWN = {True: 6, False: 256}  # a comparison of 8 systems by one metric stores 160 small results
_ALONE: dict[Any, Any] = {}  # stands in for the session in scripts and tests
_sessions: list[Callable[[], MutableMapping[Any, Any]]] = [lambda: _ALONE]


def keep_in(session: Callable[[], MutableMapping[Any, Any]]) -> None:
    """Set the function that returns the user's session, which is a store of the user's results."""
    _sessions[0] = session


def _look() -> bool:
    """Read from the user's session: Streamlit then stops this run of the page if it is outdated."""
    return "v" in _sessions[0]()


def cached(key: Key, make: Callable[[], T], *, shared: bool, large: bool = False) -> T:
    """Return the cached result of a key, or compute it by ``make`` and store it.

    The key must hold everything that the result depends on. Unlike in Streamlit's caches, ``make``
    may write to the page, and users may stop it. If ``shared``, all sessions may use the result. If
    ``large``, the result takes much memory, and its store holds only a few results.
    """
    if shared:
        store = _SHARED[large]
    else:
        store = _sessions[0]().setdefault(f"_store_{large}", LruStore(_OWN[large]))
    result: T = store.get(key, make, _look)
    return result


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function without arguments: cache its result for all sessions."""
    return wraps(make)(lambda: cached((make.__module__, make.__name__), make, shared=True))


def remembered(method: Callable[..., T]) -> Callable[..., T]:
    """Decorate a method, so that its results are cached.

    The key of a result holds the method's name, ``self.key`` and all arguments but ``progress``.
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
    """Return the cached result of :func:`~sampledash.comparison.order.orders`."""

    def make() -> Orders:
        every = find_orders(metrics, sets, m_max, protocol, progress, m_values)
        return Orders(frozen(every.m_values), frozen(every.means))

    values = None if m_values is None else tuple(m_values)
    key = "orders", tuple(metrics), digests(sets), m_max, protocol, values
    return cached(key, make, shared=shared, large=True)


def digests(sets: Sequence[RankSet]) -> tuple[str, ...]:
    """Return the digest (hash) of each rank set; only equal rank sets have equal digests."""
    return tuple(ranks.digest for ranks in sets)
