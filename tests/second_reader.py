"""A second, slow reader of text tables by csv and fractions, independent of sampledash."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from unicodedata import normalize

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
NAMES = """system model run tag recommender algorithm method
instance instanceid user userid uid query queryid qid session sessionid
rank ranks position truerank bestrank sampledrank
n ncandidates nitems candidates numcandidates numitems; m nnegatives negatives numnegatives nsampled
ties ntiedothers tied; mass massabove; count counts frequency freq
seed repetition repeat runid fold split"""
ROWS = [row.split() for row in re.split("[\n;]", NAMES)]
ROLES = {name: row[0] for row in ROWS for name in row} | {"mass": None}  # "mass" alone is no name


class Refused(Exception):
    """The second reader cannot read the table."""


@dataclass(frozen=True)
class Entry:
    """One rank of a table; a field is None if the table does not give it."""

    label: str | None
    rank: int
    n: int | None
    m: int | None
    ties: int
    count: Fraction


def number(cell: str) -> Fraction:
    if not NUMBER.fullmatch(cell.strip()):
        raise Refused(f"{cell!r} is no number")
    return Fraction(cell.strip())


def whole(cell: str) -> int:
    value = number(cell)
    if value.denominator != 1 or abs(value) > 10**15:
        raise Refused(f"{cell!r} is not whole")
    return int(value)


def read(data: bytes, name: str) -> dict[str, list[Entry]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("not UTF-8") from error
    if "\0" in text:
        raise Refused("zero bytes")
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]
    if not lines:
        raise Refused("empty")
    mark = max(",;\t", key=lines[0].count)
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        raise Refused(str(error)) from error
    records = [r for r in records if len(r) > 1 or (r and r[0].strip())]
    if len(records) < 2:
        raise Refused("no rows")
    header = [cell.strip() for cell in records[0]]
    seen = ["".join(filter(str.isprintable, normalize("NFKC", cell))) for cell in header]
    roles = [ROLES.get(re.sub(r"[\s_\-\"'`#\[\]]", "", cell).lower()) for cell in seen]
    known = Counter(role for role in roles if role)
    repeated = any(times > 1 for h, times in Counter(header).items() if h)
    if repeated or any(times > 1 for times in known.values()):
        raise Refused("ambiguous names")
    rows = []
    for record in records[1:]:
        if len(record) > len(header):
            raise Refused("too many cells")
        rows.append(record + [""] * (len(header) - len(record)))
    if "rank" in known:
        return _long(rows, roles, name)
    if known.keys() & {"system", "ties", "mass", "count", "m"}:
        raise Refused("no ranks")
    return _wide(rows, header, roles)


def _long(rows: list[list[str]], roles: list[str | None], name: str) -> dict[str, list[Entry]]:
    if "mass" in roles or "seed" in roles:
        raise Refused("not for this reader")

    def cell(row: list[str], role: str) -> str | None:
        return row[roles.index(role)] if role in roles else None

    found: dict[str, list[Entry]] = {}
    for row in rows:
        own = cell(row, "system")
        system = name if own is None else own.strip()
        label = cell(row, "instance")
        if not system or (label is not None and not label.strip()):
            raise Refused("blank name")
        cells = [cell(row, role) for role in ("rank", "n", "m", "ties")]
        rank, n, m, ties = (None if each is None else whole(each) for each in cells)
        count = cell(row, "count")
        size = Fraction(1) if count is None else number(count)
        entry = Entry(label and label.strip(), rank, n, m, ties or 0, size)
        if entry.count < 0:
            raise Refused("count below 0")
        found.setdefault(system, []).extend([entry] if entry.count else [])
    return {system: entries for system, entries in found.items() if entries}


def _wide(rows, header, roles):
    if "seed" in roles:
        raise Refused("not for this reader")
    found: dict[str, list[Entry]] = {}
    for i, (system, role) in enumerate(zip(header, roles, strict=True)):
        column = [row[i] for row in rows]
        if role or not system or not any(NUMBER.fullmatch(cell.strip()) for cell in column):
            continue
        for at, row in enumerate(rows):
            label, n = str(at + 1), None
            if "instance" in roles:
                label = row[roles.index("instance")].strip()
            if not label:
                raise Refused("blank label")
            if "n" in roles:
                n = whole(row[roles.index("n")])
            if row[i].strip():
                entry = Entry(label, whole(row[i]), n, None, 0, Fraction(1))
                found.setdefault(system, []).append(entry)
    if not found:
        raise Refused("no ranks")
    return found
