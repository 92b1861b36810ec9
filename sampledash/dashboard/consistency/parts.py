"""The parts of the Consistency page above its tabs: sentence, pictures, numbers, actions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import streamlit as st

from sampledash.comparison.order import TIED
from sampledash.dashboard import page
from sampledash.dashboard.consistency import choices, words
from sampledash.dashboard.consistency import pictures as figures
from sampledash.dashboard.consistency.choices import MOST_PAIRS, TILES
from sampledash.dashboard.consistency.result import CODES, Scene
from sampledash.dashboard.words import system_name
from sampledash.report.numbers import count, in_runs, percent

MOST_EXACT = 4  # systems whose exact lines are all drawn
MOST_CURVES = 10  # systems drawn
MOST_SYSTEMS = 3  # that the sentence names one by one


def headline(scene: Scene) -> None:
    """The verdict on the worst case."""
    x = scene.worst_metric
    word = words.overall([CODES[code] for code in np.unique(scene.states[x])])
    icon, color, _ = words.STATES[word]
    st.markdown(f"### :{color}-badge[{icon} {word}] {_sentence(scene, x)}")
    if note := scene.note():
        st.caption(note)
    if said := words.looked_at(scene.ladder, scene.m_max, scene.capped):
        st.caption(said)
    metric, first = scene.asked.metrics[x], scene.asked.sets[0]
    if beware := scene.asked.protocol.note(metric, first, scene.asked.m):
        st.caption(f"{metric}: {beware}")


def _sentence(scene: Scene, x: int) -> str:
    asked = scene.asked
    metric = words.metric_name(str(asked.metrics[x]), str(asked.recipe))
    if len(scene.systems) <= MOST_SYSTEMS:
        named = [
            {**row, "better": system_name(row["better"]), "worse": system_name(row["worse"])}
            for row in scene.rows(x)
        ]
        return words.sentence(
            metric, asked.m, [system_name(name) for name in scene.systems], scene.exact[:, x],
            scene.sampled()[:, x], named, scene.m_max,
        )  # fmt: skip
    pair = scene.rows(x, [scene.worst_pair(x)])[0]
    states = Counter(CODES[code] for code in scene.states[x].tolist())
    last = scene.rights[x][scene.states[x] != CODES.index("tied")].max(initial=1.0)
    return words.sentence_of_many(
        metric, asked.m, system_name(pair["better"]), system_name(pair["worse"]),
        states, pair["state"], pair["sampled"] > TIED,
        pair["probability"], int(last) if np.isfinite(last) else None, scene.m_max,
    )  # fmt: skip


def tiles(scene: Scene, focus: tuple[int, int], *, dim: bool) -> None:
    """Pairs by metrics; of many pairs the worst. A click on a tile puts the focus there."""
    pairs = list(range(scene.pairs))
    if len(pairs) > MOST_PAIRS:
        pairs = scene.worst_pairs(MOST_PAIRS)
        st.caption(f"The {len(pairs)} worst of {count(scene.pairs)} pairs.")
        if focus[1] not in pairs:
            pairs.append(focus[1])
    rows = tile_rows(scene, pairs)
    x, pair = focus
    names = [[scene.systems[end[p]] for end in scene.ends] for p in pairs]
    page.picture(
        figures.tiles(
            rows, [figures.pair_name(*both) for both in names], m_max=scene.m_max,
            focus=(x, pairs.index(pair)) if pair in pairs else None, dark=page.is_dark(),
        ),
        key=TILES, dim=dim,
        on_select=None if dim else lambda: choices.tile_clicked(scene),
        alt="; ".join(
            f"{r['metric']}: {r['better']} over {r['worse']}: {r['state']}" for r in rows[:12]
        ),
    )  # fmt: skip


def tile_rows(scene: Scene, pairs: list[int]) -> list[dict[str, Any]]:
    """The verdict on some pairs, metric by metric, with the numbers of the pairs."""
    return [
        {**row, "pair": pair}
        for x in range(len(scene.asked.metrics))
        for row, pair in zip(scene.rows(x, pairs), pairs, strict=True)
    ]


def drawn(scene: Scene, pair: int) -> list[int]:
    """The systems of the curves: all, or the marked pair and those of the worst pairs."""
    if len(scene.systems) <= MOST_CURVES:
        return list(range(len(scene.systems)))
    first, second = scene.ends
    worst = [pair, *scene.worst_pairs(MOST_PAIRS)]
    both = np.array([(first[p], second[p]) for p in worst]).ravel().tolist()
    return list(dict.fromkeys(both))[:MOST_CURVES]


def curves(scene: Scene, focus: int, pair: int, *, dim: bool) -> None:
    """One panel a metric, three in a row; on a phone, that of the metric in focus comes first."""
    metrics, systems = scene.asked.metrics, drawn(scene, pair)
    per_row = 2 if len(metrics) == 4 else min(len(metrics), 3)
    names = [scene.systems[i] for i in systems]
    more = len(scene.systems) - len(systems)
    st.html(figures.legend(names, more=more, dark=page.is_dark()))
    if len(metrics) <= per_row:
        column = f'.st-key-panels [data-testid="stColumn"]:nth-child({focus + 1})'
        st.html(f"<style>@media (max-width: 640px) {{ {column} {{ order: -1; }} }}</style>")
    panels = st.container(key="panels")
    for start in range(0, len(metrics), per_row):
        columns = panels.columns(per_row)
        for x, place in zip(
            range(start, min(start + per_row, len(metrics))), columns, strict=False
        ):
            with place:
                _panel(scene, x, pair, systems, dim)


def panel_figure(scene: Scene, x: int, pair: int, systems: list[int], *, dark: bool) -> Any:
    """Curves of one metric with the flips of the marked pair."""
    m = scene.found.m_values
    i, j, truth = scene.pair(x, pair)
    flips = scene.found.flips(i, j, x)
    exact = scene.exact[systems, x]
    if len(systems) > MOST_EXACT:  # more dashed lines than anyone could tell apart
        exact = np.where(np.isin(systems, (i, j)), exact, np.nan)
    grid = m
    if len(m) > figures.MOST_POINTS:
        grid = figures.m_grid(scene.m_max, [scene.asked.m, *flips, *(f - 1 for f in flips)])
    means = scene.found.means[np.searchsorted(m, grid)][:, systems, x]
    wrong = figures.stretches(m, scene.found.signs(i, j, x) == -1) if truth else []
    return figures.curves(
        str(scene.asked.metrics[x]), grid, [scene.systems[s] for s in systems], means, exact,
        at=scene.asked.m, wrong=wrong, flips=flips, dark=dark,
        height=380 if len(scene.asked.metrics) <= 3 else 300,
    )  # fmt: skip


def flips_in_words(scene: Scene, x: int, pair: int, name: Any = str) -> str:
    """Where the marked pair changes its order."""
    i, j, _ = scene.pair(x, pair)
    return words.flips(
        name(scene.systems[i]), name(scene.systems[j]), scene.found.flips(i, j, x),
        scene.right_from(x, pair),
    )  # fmt: skip


def _panel(scene: Scene, x: int, pair: int, systems: list[int], dim: bool) -> None:
    page.picture(
        panel_figure(scene, x, pair, systems, dark=page.is_dark()),
        key=f"consistency_{scene.asked.metrics[x]}", dim=dim, alt=flips_in_words(scene, x, pair),
    )  # fmt: skip
    if not dim:
        st.caption(flips_in_words(scene, x, pair, system_name))


def numbers(scene: Scene, x: int) -> None:
    """The strip: four numbers of the metric in focus."""
    ordered = np.flatnonzero(scene.states[x] != CODES.index("tied"))
    last = scene.rights[x][ordered].max(initial=0.0)
    right_from = count(int(last)) if 0 < last < np.inf else "–"
    lowest, least = float("nan"), "any pair"
    if len(ordered):
        row = scene.rows(x, [int(ordered[scene.chances[x][ordered].argmin()])])[0]
        lowest = row["probability"]
        least = " > ".join(system_name(row[end]) for end in ("better", "worse"))
    true_now = int((scene.ahead[x][ordered] > TIED).sum())
    instances = max(ranks.n_instances for ranks in scene.asked.sets)
    metric = scene.asked.metrics[x]
    share = f"{true_now} of {len(ordered)}"
    if len(ordered) > 999:  # no room for two such numbers on a phone
        share = percent(true_now / len(ordered))
    for place, (label, value, about) in zip(
        st.container(key="strip").columns(4),
        (
            ("Pairs in true order", share,
             f"{metric}: {true_now:,} of {len(ordered):,}, in expectation, at this m."),
            ("All right from m", right_from,
             f"{metric}: from here on every pair stays in its true order, as far as looked at."),
            ("Lowest chance", in_runs(lowest),
             f"{metric}: that one sampled run shows the true order of {least}, the pair least "
             "likely to be shown."),
            ("Instances", count(instances), "Each with its relevant items and its negatives."),
        ),
        strict=True,
    ):  # fmt: skip
        place.metric(label, value, help=about)


def verdict_download(scene: Scene) -> None:
    """The whole verdict, every pair and metric."""
    fold = st.popover(
        "Download verdict", icon=":material/download:", key="verdict_fold", on_change="rerun"
    )
    if not fold.open:
        return
    with fold:
        st.caption("Every pair and metric at this m: state, right from, chance in one run.")
        page.take(lambda: scene.table, "verdict")
