"""``python -m sampledash``: see :mod:`sampledash.command_line`."""

from sampledash.command_line import main

if __name__ == "__main__":
    raise SystemExit(main())
