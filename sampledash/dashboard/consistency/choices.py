"""The controls of the Consistency page: what is compared and what is looked at more closely."""

from __future__ import annotations

from typing import Any

import streamlit as st

from sampledash.dashboard import state
from sampledash.dashboard.consistency.ask import CORRECTIONS, DEFAULTS, TIES, WEIGHTINGS, several
from sampledash.dashboard.consistency.result import Scene
from sampledash.dashboard.ranks import Source

CUTOFFS = (1, 5, 10, 20, 50, 100)
MOST_PAIRS = 10  # of the tile map, and of a list of pairs to choose from
TILES = "consistency_tiles"
_FOLLOWED = "_consistency_worst"  # what the focus was put on because it was the worst


def correction_choice() -> str:
    """What is done to each sampled rank."""
    chosen = st.segmented_control(
        "Correction", list(CORRECTIONS), default=DEFAULTS["correction"], required=True,
        key="correction", bind="query-params",
        help=(
            "Rank estimate: the metric at the scaled-up rank. CLS: least squares among vectors "
            "that never rise. BV: bias² + γ · variance, with the γ of the sidebar."
        ),
    )  # fmt: skip
    return str(chosen)


def more_cutoffs() -> None:
    """Further cutoffs, next to the one of the sidebar."""
    st.pills(
        "Also at k =", list(CUTOFFS), selection_mode="multi", default=DEFAULTS["also_k"],
        key="also_k", bind="query-params", help="Several cutoffs at once, for metrics with @k.",
    )  # fmt: skip


def readings(source: Source) -> None:
    """Choices that only some data leave open."""
    if several(source.sets):
        st.segmented_control(
            "Mean over", list(WEIGHTINGS), default=DEFAULTS["weighting"], required=True,
            key="weighting", bind="query-params",
            help=(
                "Instances: each weighs the same, however many relevant items it has (macro). "
                "Relevant items: it weighs as much as it has relevant items (micro)."
            ),
        )  # fmt: skip
    if any(ranks.has_ties for ranks in source.sets):
        st.segmented_control(
            "Ties read", list(TIES), default=DEFAULTS["ties"], required=True, key="ties",
            bind="query-params",
            help="Items tied with a relevant one: in random order, redrawn in each run; or all "
            "below it (optimistic); or all above it (pessimistic).",
        )  # fmt: skip


def focus(scene: Scene) -> tuple[int, int]:
    """Which metric the numbers are about and which pair the curves mark: two places.

    Both follow the worst case until the reader chooses.
    """
    metrics = [str(metric) for metric in scene.asked.metrics]
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    x = scene.worst_metric
    _follow(("shown",), metrics, (metrics[x],), bound=True)
    if len(metrics) > 1:
        picked = left.segmented_control(
            "Numbers and tabs for", metrics, default=metrics[x], required=True, key="shown",
            bind="query-params", wrap=True,
            help="The metric of the numbers and tabs below; a tile of the map chooses it too.",
        )  # fmt: skip
        x = metrics.index(picked) if picked in metrics else x
    with right:
        pair = _pair(scene, x)
    _put_in_address("" if pair == scene.worst_pair(x) else scene.label(pair))
    return x, pair


def _put_in_address(pair: str) -> None:
    """The marked pair, where the address and the copied link find it."""
    st.session_state["pair"] = pair
    state.put_in_address("pair", pair)


def _follow_link(scene: Scene, keys: tuple[str, ...]) -> None:
    """Take the marked pair from the address, once."""
    asked = st.query_params.get("pair", "") if "pair" not in st.session_state else ""
    found = [pair for pair in range(scene.pairs if asked else 0) if scene.label(pair) == asked]
    for pair in found[:1]:
        ends = [int(end[pair]) for end in scene.ends] if len(keys) == 2 else [pair]
        st.session_state.update(zip(keys, ends, strict=True))


def _pair(scene: Scene, x: int) -> int:
    about = "Red stretches of the curves: where sampling orders this pair wrongly."
    worst, keys = scene.worst_pair(x), _pair_keys(scene)
    _follow_link(scene, keys)
    if len(keys) == 1:
        every = list(range(scene.pairs))
        _follow(keys, every, (worst,))
        pair = st.selectbox(
            "Marked pair", every, format_func=scene.label, key=keys[0], help=about
        )  # fmt: skip
        return int(pair)
    systems = list(range(len(scene.systems)))
    _follow(keys, systems, tuple(int(end[worst]) for end in scene.ends))
    one, other = (
        place.selectbox(
            label, systems, format_func=lambda i: scene.systems[i], key=key, help=about
        )
        for place, label, key in zip(st.columns(2), ("Marked pair", "and"), keys, strict=True)
    )  # fmt: skip
    return worst if one == other else scene.pair_of(int(one), int(other))


def _pair_keys(scene: Scene) -> tuple[str, ...]:
    """Few pairs are chosen from one list, many by their two systems."""
    ident = scene.asked.source.key[0][:12]
    if scene.pairs <= MOST_PAIRS:
        return (f"pair_{scene.pairs}_{ident}",)
    return f"pair_one_{ident}", f"pair_other_{ident}"


def _follow(
    keys: tuple[str, ...], options: list[Any], worst: tuple[Any, ...], *, bound: bool = False
) -> None:
    """Keep a choice on the worst case, unless the reader has put it elsewhere.

    ``bound``: on its first run the address may know better.
    """
    followed: dict[tuple[str, ...], Any] = st.session_state.setdefault(_FOLLOWED, {})
    now = tuple(st.session_state.get(key) for key in keys)
    first = bound and None in now
    for key in keys if first else ():
        st.session_state.pop(key, None)  # put to nothing by Reset: the default is the worst
    free = now == followed.get(keys) or any(x not in options for x in now)
    if free and now != worst and not first:
        st.session_state.update(zip(keys, worst, strict=True))
    followed[keys] = worst


def tile_clicked(scene: Scene) -> None:
    """Put the focus on the metric and the pair of a tile (a callback)."""
    points = st.session_state[TILES].selection.points
    if not points:
        return
    metric, pair = points[0]["customdata"]
    if metric in [str(x) for x in scene.asked.metrics] and 0 <= int(pair) < scene.pairs:
        if len(scene.asked.metrics) > 1:
            st.session_state["shown"] = metric
        keys = _pair_keys(scene)
        ends = [int(end[int(pair)]) for end in scene.ends] if len(keys) == 2 else [int(pair)]
        st.session_state.update(zip(keys, ends, strict=True))


def gamma_unused(chosen: str) -> dict[str, str]:
    """Why γ does nothing, for the sidebar."""
    return {} if chosen == "BV" else {"gamma": "BV only"}
