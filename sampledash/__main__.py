"""``python -m sampledash`` and the command ``sampledash``: see :mod:`sampledash.command_line`.

Ctrl-C and ``kill`` end the process from within the handler of the signal. A KeyboardInterrupt would
not do: compiled modules that are being imported, engines and destructors swallow it, make another
error of it, or print a traceback.
"""

import os
import signal
import sys

from sampledash import leftovers


def stop(number: int, _frame: object) -> None:
    """Remove what is unfinished, say so in one line, and end with the exit code of the signal."""
    leftovers.remove_all()
    start = "\r" * os.isatty(2)  # where the progress stands
    name = " ".join(["sampledash", *sys.argv[1:2]])
    os.write(2, f"{start}{name}: stopped; nothing is written.\n".encode())
    os._exit(128 + number)


def main() -> int:
    """Run the command of this process; numpy is imported once the signals have their handler."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    from sampledash.command_line import main

    return main()


if __name__ == "__main__":
    raise SystemExit(main())
