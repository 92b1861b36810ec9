"""The commands ``serve``, which runs the dashboard, and ``lessons``, which needs no server."""

import argparse
import json
import os
import runpy
import sys
import sysconfig
from pathlib import Path

from sampledash.command_line.streams import Answer
from sampledash.types import Progress


def serve(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the dashboard until it is stopped."""
    beside = Path(__file__).resolve().parents[2]
    places = (
        beside,
        beside / "share" / "sampledash",  # the folder of app.py after pip install --target
        Path(sysconfig.get_path("data")) / "share" / "sampledash",
    )
    app = next((place / "app.py" for place in places if (place / "app.py").is_file()), None)
    if app is None:
        raise ValueError("app.py is not installed: install sampledash with pip, or use a clone")
    if not 0 < args.port < 65536:
        raise ValueError(f"--port {args.port} is no port: give one from 1 to 65535")
    os.environ["SAMPLEDASH_RESULTS"] = json.dumps(results(args.files))
    os.chdir(app.parent)  # Streamlit reads its settings from the folder in which it is started
    options = {"port": args.port, "address": args.address}
    if args.base_path:
        options["baseUrlPath"] = args.base_path
    sys.argv = ["streamlit", "run", str(app)]
    sys.argv += [f"--server.{name}={value}" for name, value in options.items()]
    # Run Streamlit in this process, so that Ctrl-C stops it together with the command.
    runpy.run_module("streamlit", run_name="__main__")
    return Answer(text="")


def lessons(args: argparse.Namespace, progress: Progress) -> Answer:
    """Return all lessons of the dashboard as one HTML page."""
    # Importing the code of the pictures is slow: import it only when this command runs.
    from sampledash.analyses.learn.html import page

    return Answer(text=page(progress))


def results(given: list[str]) -> list[str]:
    """Return the paths of the given files, and of all files in the given folders.

    If a folder holds a single table, divided into several files, return the path of the folder.
    """
    paths: list[str] = []
    for given_path in given:
        path = Path(given_path).absolute()
        if not path.exists():
            raise ValueError(f"{given_path}: there is no such file or folder; check the path")
        if path.parent == path:
            raise ValueError(f"{given_path} holds all folders: give the one that holds the results")
        inside = [x for x in path.iterdir() if x.name[0] not in "._"] if path.is_dir() else []
        # The dashboard offers the files of the folder, and then its subfolders that hold tables.
        inside = [x for x in inside if not x.is_dir() or any(x.rglob("*.parquet"))]
        inside.sort(key=lambda x: (x.is_dir(), x))
        # A folder with files of these names holds one table that is divided into several files. A
        # file such as lr=0.1.csv matches neither pattern.
        forms = ("*=*/**/*.parquet", "part-*.parquet")
        parts = any(next(path.glob(form), None) is not None for form in forms)
        paths += [str(path)] if parts or not inside else map(str, inside)
    return paths
