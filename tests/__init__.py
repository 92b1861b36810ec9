"""Tests of sampledash, and the benchmarks. Linear algebra uses one thread: on a busy machine two
threads that wait for each other take thirty times as long. This must be set before numpy is
loaded."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
