"""Entry point of ``python -m sampledash`` and of the command ``sampledash``.

Ctrl-C and ``kill`` end the process inside the signal handler. A KeyboardInterrupt would not be
reliable: compiled modules during their import, database engines and destructors swallow it, turn it
into another error, or print a traceback.
"""

import os
import signal
import sys

from sampledash import leftovers


def stop(number: int, _frame: object) -> None:
    """Remove unfinished files, print one line, and end the process with the signal's exit code."""
    leftovers.remove_all()
    start = "\r" * os.isatty(2)  # on a terminal, overwrite the line that shows the progress
    name = " ".join(["sampledash", *sys.argv[1:2]])
    os.write(2, f"{start}{name}: stopped; nothing is written.\n".encode())
    os._exit(128 + number)


def main() -> int:
    """Install the signal handlers, then import and run the command line."""
    # As in app.py: several BLAS threads wait for each other on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    from sampledash.command_line import main

    return main()


if __name__ == "__main__":
    raise SystemExit(main())
