"""The fold "Why?": what consistency means, and the smallest ranks that break it here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.counterexample import counterexample
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import exact_means
from sampledash.dashboard import cache
from sampledash.dashboard import ranks as rank_source
from sampledash.dashboard.consistency import words
from sampledash.dashboard.consistency import words_sure as sure
from sampledash.dashboard.consistency.result import Scene
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.report.numbers import count, percent
from sampledash.sampling import Sampling

MOST_RANKS = 12  # of a system that are written out


def why(scene: Scene, x: int) -> None:
    """Definition 1 of the paper with the numbers of the page, then a counterexample."""
    st.markdown(
        "Consistent means: whichever of two systems is ahead on all items is ahead on the sample "
        "too, in expectation. It is not so when the left side holds and the right does not:"
    )
    instances = max(ranks.n_instances for ranks in scene.asked.sets)
    for step in words.formula(str(scene.asked.metrics[x]), scene.asked.m, instances):
        st.latex(step)
    st.caption(
        "Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, Definition 1. "
        "MovieLens ranks: Harper & Konstan 2015."
    )
    _smallest(scene, x)


def _smallest(scene: Scene, x: int) -> None:
    asked, metric, protocol = scene.asked, scene.asked.metrics[x], scene.asked.protocol
    st.markdown(f"##### Smallest counterexample for {metric}, uncorrected")
    n = max(int(ranks.n.max()) for ranks in asked.sets)
    m = min(asked.m, n - 1) if protocol.without else asked.m
    sampling = Sampling(n, m, protocol.scheme, protocol.odds)
    found: tuple[RankSet, RankSet] | None = cache.cached(
        ("counterexample", metric, sampling), lambda: counterexample(metric, sampling), shared=True
    )
    if found is None:
        every = metric.linear and protocol.scheme != "popularity"
        st.markdown(sure.NO_COUNTEREXAMPLE if every else sure.NONE.format(metric=metric))
        return
    options: Options = {"scheme": protocol.scheme, "odds": protocol.odds}
    plain = Protocol.of(options)
    exact = exact_means([metric], found, plain)[:, 0]
    sampled = expected_means([metric], found, [m], plain)[0, :, 0]
    st.markdown(sure.counterexample(found[0].system, found[1].system, str(metric), m))
    ranks = [np.repeat(s.ranks, s.counts.astype(int)).tolist() for s in found]
    few = [_written(each[:MOST_RANKS]) + (" …" if len(each) > MOST_RANKS else "") for each in ranks]
    table = {
        "System": [s.system for s in found],
        f"Ranks among {count(n)}": few,
        "On all items": [percent(value) for value in exact],
        f"Expected, m = {count(m)}": [percent(value) for value in sampled],
    }
    st.table(pd.DataFrame(table), hide_index=True)
    lines = [f"{s.system}: {', '.join(map(str, r))}" for s, r in zip(found, ranks, strict=True)]
    st.button(
        "Load it", icon=":material/input:", key="load_counterexample",
        on_click=rank_source.load_text, args=("\n".join([f"n = {n}", *lines]),),
        help="Puts these ranks into the page, in place of yours.",
    )  # fmt: skip


def _written(ranks: list[int]) -> str:
    return ", ".join(map(count, ranks))
