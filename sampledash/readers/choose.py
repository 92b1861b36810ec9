"""Which systems to read, and under which names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.readers.rows import Rows

Systems = Sequence[str] | Mapping[str, str]


def distinct_names(taken: Sequence[str], names: Sequence[str], file: str) -> list[str]:
    """Names of a file's systems; those taken by earlier files get its name: "X (b.csv)"."""
    known, result = set(taken), []
    for name in names:
        new, number = name, 1
        while new in known or (number > 1 and new in names):
            new = f"{name} ({file})" if number == 1 else f"{name} ({file}, {number})"
            number += 1
        result.append(new)
        known.add(new)
    return result


def distinct_files(names: Sequence[str]) -> list[str]:
    """Names of files; one of a name that came before says so: "b.csv, 2nd"."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        tens, ones = divmod(seen[name] % 100, 10)
        ending = {1: "st", 2: "nd", 3: "rd"}.get(ones, "th") if tens != 1 else "th"
        result.append(name if seen[name] == 1 else f"{name}, {seen[name]}{ending}")
    return result


def with_distinct_names(parts: Sequence[Rows]) -> list[Rows]:
    """Systems of one name in several files told apart."""
    taken: list[str] = []
    result: list[Rows] = []
    files = distinct_files([part.name for part in parts])
    for part, file in zip(parts, files, strict=True):
        names = distinct_names(taken, part.systems, file)
        taken += names
        result.append(replace(part, systems=names))
    return result


def chosen(parts: Sequence[Rows], systems: Systems | None) -> list[Rows]:
    """Only the systems asked for, under the names asked for."""
    if systems is None:
        return list(parts)
    if isinstance(systems, str):
        raise ValueError(f"systems must be a list of names, got {systems!r}; write [{systems!r}]")
    wanted = dict(systems) if isinstance(systems, Mapping) else {s: s for s in systems}
    known = [name for part in parts for name in part.systems]
    for old, new in wanted.items():
        if old not in known:
            raise ValueError(
                f"systems names {checks.shown(old)}, which is not there; "
                f"found {', '.join(map(repr, known[:8]))}{' ...' if len(known) > 8 else ''}"
            )
        if not isinstance(new, str) or not new.strip():
            raise ValueError(f"systems gives {old!r} the name {new!r}; write some text")
    repeated = pd.Index(list(wanted.values()))
    if repeated.has_duplicates:
        twice = str(repeated[repeated.duplicated()][0])
        raise ValueError(f"systems gives the name {twice!r} twice; give each system its own")
    if not wanted:
        raise ValueError("no system is left: use at least one (systems is empty)")
    result = []
    for part in parts:
        keep = [i for i, name in enumerate(part.systems) if name in wanted]
        if not keep:
            continue
        code = np.full(len(part.systems), -1)
        code[keep] = np.arange(len(keep))
        names = [wanted[part.systems[i]] for i in keep]
        if len(keep) < len(part.systems):
            part = part.take(code[part.system] >= 0)
        result.append(replace(part, systems=names, system=code[part.system]))
    return result
