"""From frameworks to ranks: scripts to run where the framework is installed, not in CI.

Each is run by itself from the root of the repository, in an environment of its own, which needs
nothing of sampledash: ``python -m tests.frameworks implicit``. It trains a model on a small
world and ranks with the lines of ``sampledash/data/templates/from_frameworks.md``.

Those that save lists, RecTools and RePlay, are given a folder, which ``read_lists`` reads where
sampledash is installed.

Run on Python 3.11: implicit 0.7.3, LensKit 2025.8.1, Cornac 3.0.1, RecBole 1.2.1, RecTools 0.19.0,
RePlay 0.22.0 with PySpark 4.3.0. Only read, not run: Elliot, WarpRec.
"""
