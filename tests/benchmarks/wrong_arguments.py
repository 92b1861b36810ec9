"""3,000 calls with arguments of the wrong type: what is not refused in a sentence of ours."""

import signal
import time
from collections.abc import Iterator
from itertools import islice

from tests.benchmarks.frame import Result
from tests.wrong_calls import wrong_calls

MOST_SECONDS = 60  # of one call


def wrong_arguments(quick: bool) -> Iterator[Result]:
    """ValueError and TypeError raised by sampledash, and nothing else; none takes a minute."""
    count = 300 if quick else 3000

    def too_long(*_: object) -> None:
        raise TimeoutError(f"longer than {MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_long)
    wrong, start = [], time.perf_counter()
    for call in islice(wrong_calls(2), count):
        signal.alarm(MOST_SECONDS)
        try:
            found = call.judged()
        finally:
            signal.alarm(0)
        wrong += [f"{call}: {found}"] if found else []
    signal.signal(signal.SIGALRM, before)
    seconds = time.perf_counter() - start
    note = f"{len(wrong)} wrong {wrong[:3] or ''}"
    yield Result(f"{count:,} calls with wrong arguments", seconds, None, len(wrong), 0, note=note)


BENCHMARKS = (wrong_arguments,)
