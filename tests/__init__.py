"""Tests of sampledash, and the benchmarks.

One thread for linear algebra: on a busy machine two threads that wait for each other take thirty
times as long as one. It must be said before numpy is loaded.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
