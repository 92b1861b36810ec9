"""From frameworks to ranks: scripts to run where the framework is installed, not in CI.

Each is run by itself from the root of the repository, in an environment of its own, which needs
nothing of sampledash: ``python -m tests.frameworks.with_implicit``. It trains a model on a small
world and ranks with the lines of ``assets/templates/from_frameworks.md``.

Run on Python 3.11: implicit 0.7.3, LensKit 2025.8.1, Cornac 3.0.1. Only read, not run: RecBole,
RecTools, RePlay, Elliot, WarpRec.
"""
