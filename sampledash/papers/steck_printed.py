"""Tables 2 and 3 of Steck (KDD 2010) as printed.

They cannot be recomputed here: they need the ratings of MovieLens and Netflix, which do not come
with the package, and trained models. So they are outside every count of matched cells. Numbers
that follow from printed ones are checked in :mod:`sampledash.papers.text_steck`.
"""

from __future__ import annotations

#: Why no cell of these tables is counted.
NOT_RECOMPUTED = "needs the ratings and a trained model; neither is part of the package"

BESTSELLERS = (
    "bestseller list 1: mean of observed ratings",
    "bestseller list 2: count of observed ratings",
    "bestseller list 3: count of observed 5-star ratings",
)

#: MovieLens: w_m, r_m, λ, RMSE (test), ATOP (XV), ATOP (test); ``None`` where a dash is printed.
STECK_TABLE_2: dict[str, tuple[float | None, ...]] = {
    BESTSELLERS[0]: (None, None, None, 0.990, 0.804, 0.803),
    BESTSELLERS[1]: (None, None, None, None, 0.874, 0.873),
    BESTSELLERS[2]: (None, None, None, None, 0.883, 0.880),
    "observed ratings only, λ for RMSE": (0, None, 0.06, 0.901, 0.863, 0.861),
    "observed ratings only, λ for ATOP": (0, None, 0.05, 0.914, 0.866, 0.864),
    "AllRank-Regression": (0.05, 2, 0.05, 1.218, 0.933, 0.933),
    "'dense' SVD": (1, 2, 0.03, 1.766, 0.915, 0.915),
    "AllRank-Binary-Logistic": (0.02, 0, 0.02, None, 0.923, 0.928),
    "AllRank-Binary-Regression": (0.01, 0, 0.03, None, 0.919, 0.924),
}

#: Netflix: RMSE, ATOP, then TOPK at 0 %, 0.2 % and 2 % (in %), from 1,000 sampled others.
STECK_TABLE_3: dict[str, tuple[float | None, ...]] = {
    BESTSELLERS[0]: (0.999, 0.81, 1.8, 4.4, 19.8),
    BESTSELLERS[1]: (None, 0.90, 2.6, 7.9, 37.6),
    BESTSELLERS[2]: (None, 0.92, 3.4, 10.0, 41.9),
    "observed ratings only": (0.921, 0.90, 4.7, 11.7, 39.1),
    "integrated model": (0.887, 0.91, 6.7, 15.7, 43.0),
    "AllRank-Regression": (1.106, 0.96, 9.3, 23.3, 64.8),
}

#: Items and sampled others of the two data sets (sections 6.1 and 6.2).
NETFLIX_ITEMS, NETFLIX_SAMPLED = 17_770, 1_000
MOVIELENS_ITEMS, MOVIELENS_USERS = 3_900, 6_040
