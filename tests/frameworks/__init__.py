"""From frameworks to ranks: scripts to run where the framework is installed, not in CI.

Each is run by itself from the root of the repository, in an environment of its own, which needs
nothing of sampledash: ``python -m tests.frameworks implicit``. It trains a model on a small
world and ranks with the lines of ``sampledash/data/templates/from_frameworks.md``.

Run on Python 3.11: implicit 0.7.3, LensKit 2025.8.1, Cornac 3.0.1, RecBole 1.2.1. The columns of
lists that RecTools 0.19.0 and RePlay 0.22.0 save are those that ``readers/test_read_trec`` reads.
"""
