"""Ranks typed or pasted as text."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate

import numpy as np

from sampledash.checks import shown
from sampledash.ranksets import RankSet
from sampledash.readers.align import Instances
from sampledash.readers.choose import Systems
from sampledash.readers.columns import Role, is_number, role_of
from sampledash.readers.errors import ReadError
from sampledash.readers.files import Opened
from sampledash.readers.layouts import rows_of
from sampledash.readers.repetitions import Runs
from sampledash.readers.rows import Facts, Rows
from sampledash.readers.tables import text_table

_NAME = "pasted text"
_N = re.compile(r"(?im)(?:^|(?<=;))[ \t]*n[ \t]*=[ \t]*([^\n;]*?)[ \t]*(?=;|$)")


def parse_rank_text(
    text: str,
    *,
    n: int | None = None,
    zero_based: bool = False,
    instances: Instances = "same",
    runs: Runs = "averaged",
    systems: Systems | None = None,
) -> list[RankSet]:
    """Read ranks from text such as ``A: 100, 100, 100; B: 40 40 8437; n = 10000``.

    Parameters
    ----------
    text
        ``NAME: ranks`` for each system, on lines of their own or separated by semicolons; or bare
        ranks of one system; or a table as in :func:`read_rank_sets`, header included. ``n = ...``
        may stand anywhere between.
    n
        Candidates per instance. Used only if the text does not say it.
    zero_based, instances, runs, systems
        As in :func:`read_rank_sets`.

    Returns
    -------
    One rank set per system. The i-th ranks of all systems belong to instance i.

    Raises
    ------
    ReadError
        A ``ValueError`` that names the system and the value; its kinds as in
        :func:`read_rank_sets`.

    Examples
    --------
    >>> parse_rank_text("A: 100, 100; B: 40 8437; n = 10,000")
    [RankSet('A', 2 instances, n = 10000), RankSet('B', 2 instances, n = 10000)]
    """
    reading = open_text(text).read(
        n=n, zero_based=zero_based, instances=instances, runs=runs, systems=systems
    )
    return list(reading.sets)


def open_text(text: str) -> Opened:
    """Parse pasted text without deciding yet what it leaves open; as :func:`open_sources`."""
    given = _N.findall(text)
    n = None
    if given:
        n = _given_n(given)
        # Blank lines keep the line numbers of a pasted table.
        text = _N.sub("", text)
    if not text.strip(" \t\r\n;,"):
        raise ReadError(f"the {_NAME} holds no ranks: write NAME: ranks, such as A: 3, 17, 250")
    if _is_table(text):
        rows = rows_of(text_table(text.encode(errors="replace"), _NAME))
    else:
        rows = _rows(_systems(text))
    if n is not None and rows.n is None:
        rows = replace(rows, n=np.full(len(rows), n))
    return Opened((rows,))


def _given_n(given: list[str]) -> int:
    values = {re.sub(r"[,_ ]", "", value) for value in given}
    if len(values) > 1:
        raise ReadError(f"the {_NAME} gives n twice, {given[0]} and {given[1]}: keep one")
    value = values.pop()
    if not value.isascii() or not value.isdigit() or len(value) > 18 or int(value) < 2:
        raise ReadError(f"the {_NAME} says n = {given[0]}: write a whole number from 2")
    return int(value)


def _is_table(text: str) -> bool:
    """Whether the first line is a header: it names a known column, or holds no number."""
    lines = [line for line in text.splitlines() if line.strip()]
    separated = re.search(r"[,;\t]", lines[0]) is not None
    header = re.split(r"[,;\t]" if separated else r"\s+", lines[0])
    if any(map(role_of, header)):
        return True
    ranks_follow = re.search(r":([\s\-]*\d|\s*$|\s*[,;])", lines[0])
    return len(lines) > 1 and not any(map(is_number, header)) and ranks_follow is None


def _systems(text: str) -> list[tuple[str, list[int]]]:
    systems: list[tuple[str, list[int]]] = []
    segments = [s.strip() for s in re.split(r"[;\n\r]+", text) if s.strip(" \t,")]
    if all(":" not in segment for segment in segments):
        return [_nameless(segments)]
    for segment in segments:
        name, colon, values = (part.strip() for part in segment.rpartition(":"))
        if not colon or not name:
            raise ReadError(f"the {_NAME} has {shown(segment)} without a name: write NAME: ranks")
        if any(name == known for known, _ in systems):
            raise ReadError(f"the {_NAME} names system {name!r} twice: give it one line")
        ranks = _values(name, values)
        if not ranks:
            raise ReadError(f"the {_NAME} gives no ranks for system {name!r}: write them after ':'")
        systems.append((name, ranks))
    return systems


def _nameless(segments: list[str]) -> tuple[str, list[int]]:
    """Bare ranks: one line of them, or one on each line."""
    words = [segment.split(",") if "," in segment else segment.split() for segment in segments]
    odd = next((i for i, w in enumerate(words) if len(segments) > 1 and len(w) > 1), None)
    letters = next((s for s in segments if re.search(r"[^\W\d_]", s)), None)
    if letters is not None or odd is not None:
        segment = letters if letters is not None else segments[odd or 0]
        raise ReadError(
            f"the {_NAME} has {shown(segment)} without a name: write NAME: ranks, with a colon"
        )
    return "ranks", _values("ranks", " ".join(segments))


def _values(name: str, text: str) -> list[int]:
    ranks: list[int] = []
    for word in re.split(r"[,\s]+", text.strip(" \t,")):
        if not word:
            continue
        where = f"{_NAME}, system {name!r}, value {len(ranks) + 1}"
        if re.fullmatch(r"0\d+", word):
            raise ReadError(
                f"{where}: {word!r} starts with 0; write numbers without separators, as in 10000"
            )
        if not re.fullmatch(r"[+-]?\d{1,18}(\.0*)?", word, re.ASCII):
            raise ReadError(
                f"{where}: {shown(word)} is not a whole number; write ranks as whole numbers from 1"
            )
        ranks.append(int(word.split(".")[0]))
    return ranks


def _rows(systems: list[tuple[str, list[int]]]) -> Rows:
    sizes = [len(ranks) for _, ranks in systems]
    starts = [0, *accumulate(sizes)]
    system = np.repeat(np.arange(len(systems)), sizes)

    def place(row: int, role: Role) -> str:
        code = int(system[row])
        return f"{_NAME}, system {systems[code][0]!r}, value {row - starts[code] + 1}"

    return Rows(
        name=_NAME,
        systems=[name for name, _ in systems],
        system=system,
        labels=None,
        label=None,
        rank=np.array([rank for _, ranks in systems for rank in ranks], dtype=np.int64),
        n=None,
        ties=None,
        mass=None,
        count=None,
        repetition=None,
        place=place,
        facts=Facts(_NAME, "typed ranks"),
        how_to_give_n='write "n = 10000" with it',
    )
