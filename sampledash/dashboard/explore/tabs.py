"""The three tabs of the Explore page: One draw, Law, Family."""

from __future__ import annotations

import numpy as np
import streamlit as st

from sampledash.dashboard import cache, draws, page, state
from sampledash.dashboard.explore import pictures as figures
from sampledash.dashboard.explore import pictures_law as law_figures
from sampledash.dashboard.explore import words
from sampledash.dashboard.grid import rank_grid
from sampledash.metrics import Metric
from sampledash.report.numbers import count
from sampledash.sampling import Sampling
from sampledash.types import Ints

NAMES = ("One draw", "Law", "Family")
FAMILY = (10, 100, 1_000)
LARGEST_POSTERIOR = 200_000  # candidates: its law is held for every rank
MOST_DRAWS = 100_000
_DRAWS, _SEED = "draws", "draws_seed"  # in the address
DEFAULTS = {_DRAWS: 1, _SEED: 1}


def show(
    sampling: Sampling, rank: int, focus: Metric, expected: float, *, ranks: Ints, top: int | None
) -> None:
    """Draw the tabs; only the open one is computed."""
    draw, law, family = st.tabs(list(NAMES), key="tab", bind="query-params")
    if draw.open:
        with draw:
            one_draw(sampling, rank, focus, expected)
    if law.open:
        with law:
            law_tab(sampling, rank, focus)
    if family.open:
        with family:
            family_tab(sampling, rank, focus, ranks, top)


def _more(draws_more: int) -> None:
    st.session_state[_DRAWS] = min(state.value(_DRAWS, DEFAULTS) + draws_more, MOST_DRAWS)


def _again() -> None:
    st.session_state[_SEED] = state.value(_SEED, DEFAULTS) + 1
    st.session_state[_DRAWS] = DEFAULTS[_DRAWS]


def one_draw(sampling: Sampling, rank: int, focus: Metric, expected: float) -> None:
    """The catalogue, the drawn negatives, the sampled rank; and many draws against the law."""
    catalogue = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Draw again", icon=":material/casino:", on_click=_more, args=(1,))
        st.button("Draw 100", on_click=_more, args=(100,))
        st.button("Start over", on_click=_again, help="A new seed, and one draw.")
        st.number_input(
            "Draws", min_value=1, max_value=MOST_DRAWS, value=DEFAULTS[_DRAWS], step=1, key=_DRAWS,
            bind="query-params", width=130, help="The last one is shown; more keep the earlier.",
        )  # fmt: skip
        st.number_input(
            "Seed", min_value=0, value=DEFAULTS[_SEED], step=1, key=_SEED, bind="query-params",
            width=130, help="Another seed draws other negatives.",
        )  # fmt: skip
    done, seed = (int(state.value(key, DEFAULTS)) for key in (_DRAWS, _SEED))
    seen = draws.sampled_ranks(sampling, rank, seed, done)
    last = int(seen[-1])
    drawn = draws.negatives(sampling, rank, last, seed, done)
    with catalogue:
        st.markdown(words.one_draw(focus, last - 1, sampling))
        page.picture(
            law_figures.catalogue(sampling.n, rank, drawn, dark=page.is_dark()),
            key="explore_catalogue",
            alt=words.one_draw(focus, last - 1, sampling),
        )  # fmt: skip
    values = focus.of_above(seen - 1, sampling.m) * focus.scale(1)
    p = cache.law(str(sampling), rank)
    if done > 1:
        st.markdown(words.many_draws(focus, float(values.mean()), expected, done))
    st.caption("Bars: the sampled ranks drawn so far. Dots: their law.")
    page.picture(
        law_figures.law(
            p,
            k=focus.cut(sampling.m),
            mean=float(seen.mean()),
            observed=seen,
            dark=page.is_dark(),
        ),
        key="explore_histogram",
        alt=f"Shares of the sampled ranks in {count(done)} draws as bars, their law as dots.",
    )


def law_tab(sampling: Sampling, rank: int, focus: Metric) -> None:
    """Law of the sampled rank; on demand what a sampled rank says about the true one."""
    p = cache.law(str(sampling), rank)
    mean = 1 + sampling.m * float(sampling.share_above(rank))
    st.markdown(words.law(focus, rank, sampling, p.tolist()))
    page.picture(
        law_figures.law(p, k=focus.cut(sampling.m), mean=mean, dark=page.is_dark()),
        key="explore_law",
        alt=f"Law of the sampled rank of true rank {count(rank)}, mean {mean:.2f}.",
    )  # fmt: skip
    if sampling.n > LARGEST_POSTERIOR:
        st.caption(
            f"Turning it round (which true rank?) is shown up to n = {count(LARGEST_POSTERIOR)}."
        )
    elif st.toggle(
        "Turn it round: which true rank is behind the likeliest sampled rank?",
        key="turn", bind="query-params",
    ):  # fmt: skip
        _posterior(sampling, rank, int(np.argmax(p)) + 1)


def _posterior(sampling: Sampling, rank: int, seen: int) -> None:
    below = cache.posterior(str(sampling), seen)
    low, high = (int(np.searchsorted(below, q)) + 1 for q in (0.05, 0.95))
    st.markdown(words.turned_round(seen, low, high))
    grid = rank_grid(sampling.n, keep=[rank])
    page.picture(
        law_figures.posterior(grid, below[grid - 1], at=rank, dark=page.is_dark()),
        key="explore_posterior",
        alt=f"Probability that the true rank is at most r, given sampled rank {count(seen)}.",
    )  # fmt: skip


def family_tab(sampling: Sampling, rank: int, focus: Metric, ranks: Ints, top: int | None) -> None:
    """The same metric with 10, 100, 1,000 and all negatives."""
    n, scheme, odds = sampling.n, sampling.scheme, sampling.odds
    sizes = [m for m in FAMILY if m < n - 1]
    if n - 1 <= 10_000:
        sizes.append(n - 1)
    exact, at_rank = focus(ranks, n), float(focus(rank, n))
    curves, here = {}, {}
    for m in sizes:
        if m == n - 1 and scheme == "without-replacement":
            curves[m], here[m] = exact, at_rank  # nothing is left out
            continue
        both = np.append(ranks, rank).astype(np.int64)
        values = cache.curves((str(focus),), str(Sampling(n, m, scheme, odds)), both.tobytes())
        curves[m], here[m] = values[1][0, :-1], float(values[1][0, -1])
    st.markdown(words.family(focus, rank, here, at_rank))
    dark = page.is_dark()
    page.picture(
        figures.family(focus, ranks, exact, curves, at=rank, log=top is None, dark=dark),
        key="explore_family",
        alt=words.family(focus, rank, here, at_rank),
    )  # fmt: skip
