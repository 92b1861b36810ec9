"""What was understood of the ranks, for the reader to check and to correct before computing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from sampledash.dashboard.words import escaped
from sampledash.readers import Facts, Opened, Reading, Summary
from sampledash.report.numbers import count

_MOST_COLUMNS = 12
_USE, _NAME, _RANKS = "Use", "System", "Ranks"
_INSTANCES = {"same": "All the same", "shared": "Those they share", "any": "As they are"}
_RUNS = {"averaged": "Averaged", "apart": "Each a system"}
_CENSORED = {"tied": "Tied behind the ranked ones", "left-out": "Their queries left out"}
_FROM = {False: "1", True: "0"}


def preview(ident: str, opened: Opened, how: dict[str, Any], reading: Reading | None) -> None:
    """Draw the preview, folded unless something is doubtful; corrections go into ``how``."""
    doubts = () if reading is None else reading.summary.doubts
    # Decided once: it must not fold while the reader is at work in it.
    unfolded = how.setdefault("unfolded", bool(doubts))
    with st.expander(
        "What was understood", expanded=unfolded, icon=":material/fact_check:",
        key=f"understood_{ident}",
    ):  # fmt: skip
        for doubt in doubts:
            st.warning(escaped(doubt), icon=":material/help:")
        if reading is not None:
            lines = [line for file in reading.summary.files for line in file_lines(file)]
            st.markdown("\n".join([*lines, f"- {escaped(numbers(reading.summary))}"]))
        _ways(ident, opened, how)
        _systems(ident, opened, how)


def file_lines(facts: Facts) -> list[str]:
    """Lines of Markdown: what a file is, which columns were used and which not."""
    used = [
        f"*{escaped(header)}*" if header.lower() == meaning else f"*{escaped(header)}* → {meaning}"
        for header, meaning in facts.columns
    ]
    parts = [f"**{escaped(facts.file)}**, {facts.kind}"]
    if used:
        parts.append(_few(used))
    if facts.ignored:
        parts.append(f"ignored: {_few([f'*{escaped(header)}*' for header in facts.ignored])}")
    notes = [f"    - {escaped(note)}" for note in facts.notes]
    return [f"- {'; '.join(parts)}", *notes]


def _few(names: list[str]) -> str:
    rest = len(names) - _MOST_COLUMNS
    return ", ".join(names[:_MOST_COLUMNS]) + (f" and {rest:,} more" if rest > 0 else "")


def numbers(summary: Summary) -> str:
    """The numbers behind the ranks, in one sentence."""
    few, many = min(summary.instances), max(summary.instances)
    covered = count(few) if few == many else f"{count(few)} to {count(many)}"
    n = count(summary.n_low)
    if summary.n_high > summary.n_low:
        n += f" to {count(summary.n_high)}"
    parts = [
        f"{count(summary.rows)} ranks from {count(summary.smallest_rank)} to "
        f"{count(summary.largest_rank)} for {covered} "
        f"instance{'s' * (many != 1)} of each system, n = {n}",
        "1 was added to ranks counted from 0" if summary.zero_based else "counted from 1",
        "each row counts for its number of instances" if summary.has_counts else "",
        f"up to {summary.max_relevant} relevant items an instance"
        if summary.max_relevant > 1
        else "",
        "with ties" if summary.has_ties else "no ties",
        f"{count(summary.censored)} of {count(summary.relevant)} relevant items not in the run"
        if summary.censored
        else "",
    ]
    return "; ".join(part for part in parts if part) + "."


def _ways(ident: str, opened: Opened, how: dict[str, Any]) -> None:
    """Ways of reading that the data leave open, in one row."""
    with st.container(horizontal=True):
        if how.get("zero_based") or opened.shifts:
            _way(ident, how, "zero_based", "Ranks count from", _FROM)
        if opened.repeated:
            _way(ident, how, "runs", "Repetitions", _RUNS)
        if opened.censored and how.get("censored"):
            _way(ident, how, "censored", "Items missing from a run", _CENSORED)
        if how.get("instances"):
            _way(ident, how, "instances", "Instances", _INSTANCES)


def _way(ident: str, how: dict[str, Any], key: str, label: str, titles: Mapping[Any, str]) -> None:
    widget = f"{key}_{ident}"
    now = how.get(key)
    st.session_state[widget] = titles.get(now, next(iter(titles.values())))

    def follow() -> None:
        chosen = st.session_state[widget]
        how[key] = next(value for value, title in titles.items() if title == chosen)
        if key == "runs":
            how.pop("systems", None)  # other systems: their old names say nothing

    st.segmented_control(label, list(titles.values()), key=widget, required=True, on_change=follow)


def _systems(ident: str, opened: Opened, how: dict[str, Any]) -> None:
    """A table in which systems are renamed and left out."""
    runs: Any = how.get("runs") or "averaged"
    widget = f"systems_{runs}_{ident}"
    base = f"_{widget}"
    if widget not in st.session_state or base not in st.session_state:
        # Edits count from what the table showed first, also when the page is drawn anew.
        names = opened.systems(runs)
        st.session_state[base] = table_of(names, how.get("systems")), list(names)
    table, known = st.session_state[base]

    def follow() -> None:
        edits = st.session_state[widget]["edited_rows"]
        how["systems"] = chosen_of(table, edits, known)

    st.data_editor(
        table,
        key=widget,
        hide_index=True,
        on_change=follow,
        disabled=[_RANKS],
        width="stretch",
        column_config={
            _USE: st.column_config.CheckboxColumn(_USE, width="small", help="Leave out or take in"),
            _NAME: st.column_config.TextColumn(_NAME, width="large", help="Change to rename"),
            _RANKS: st.column_config.NumberColumn(_RANKS, width="small", format="localized"),
        },
        alt="Systems to use, their names and how many ranks they have",
    )


def table_of(names: Mapping[str, int], systems: Mapping[str, str] | None) -> pd.DataFrame:
    """One row per system: whether it is used, what it is called, how many ranks it has."""
    return pd.DataFrame(
        {
            _USE: [systems is None or name in systems for name in names],
            _NAME: [(systems or {}).get(name, name) for name in names],
            _RANKS: list(names.values()),
        }
    )


def chosen_of(
    table: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]], names: list[str]
) -> dict[str, str] | None:
    """The systems a reader left, by their names in the data; None if nothing was changed."""
    used, called = table[_USE].tolist(), table[_NAME].tolist()
    for row, changes in edits.items():
        used[row] = bool(changes.get(_USE, used[row]))
        # An emptied cell is the name in the data again.
        called[row] = str(changes.get(_NAME, called[row]) or "").strip() or names[row]
    if all(used) and called == names:
        return None
    return {name: new for name, new, use in zip(names, called, used, strict=True) if use}
