"""Parse typed or pasted text: ranks of systems, settings such as m = 100, and weights of ranks."""

import re

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.checks import is_numeral, not_a_number, shown
from sampledash.expectation import prior_weights
from sampledash.rank_sets import RankSet
from sampledash.readers import columns as parsing
from sampledash.readers import upload_limits as limits
from sampledash.readers.assemble import Instances, Opened, Systems
from sampledash.readers.columns import TYPED_RANKS, Layout, role_of
from sampledash.readers.frame import Facts, Ranks, Runs, ranks_of
from sampledash.readers.tables import text_table
from sampledash.readers.upload_limits import NUMBERS, ReadError
from sampledash.types import Floats

_NAME = "pasted text"
_REMEDY = "write NAME: ranks, with a colon, and n = 3706 on a line of its own"
_WRITE = "ranks as whole numbers from 1, without separators: 10000; or >10 for one beyond 10"
# A setting of n (candidates) or m (sampled negatives), such as "n = 3,706" and "m: 100".
_SETTING = re.compile(r"(?i)\b([nm])\s*[=:]\s*(-?\d{1,3}(?:[,_]\d{3})+|-?\d+)\b")
_BETWEEN = re.compile(r"[\s,;#]")  # characters allowed in a line beside n = ... and m = ...
_APART = re.compile(r"[,;\s]+")  # separators between numbers, in a text with a weight per rank


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
        ``NAME: ranks`` for each system, on separate lines or separated by semicolons; or only the
        ranks of one system; or a table with a header, as in :func:`read_rank_sets`. A line, or
        a part between semicolons, may set ``n = ...`` or ``# n: ...``.
    n
        Number of candidates per instance, used only if the text does not give n.
    zero_based, instances, runs, systems
        As in :func:`read_rank_sets`.

    Returns
    -------
    One rank set per system. Without a table, the i-th rank of every system belongs to instance i.

    Raises
    ------
    ReadError
        A ``ValueError`` that names the system and the value; :func:`read_rank_sets` lists the
        subclasses.

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
    """Parse text with ranks; :meth:`Opened.read` then makes rank sets, with further options."""
    text = checks.text("text", text)
    limits.TYPED.check(len(text), f"the {_NAME}")
    text, n, m = settings_aside(text, f"the {_NAME}")
    if not text.strip(" \t\r\n;,"):
        raise ReadError(f"the {_NAME} holds no ranks: write NAME: ranks, such as A: 3, 17, 250")
    if _is_table(text):
        data = text.encode(errors="replace")
        limits.check_lines(data, f"the {_NAME}")
        ranks = ranks_of(*text_table(data, _NAME))
    else:
        ranks = _ranks(_systems(text))
    # The text holds true ranks, which do not depend on m, the number of sampled negatives.
    doubt = f"m = {m} is not used: true ranks are those among all candidates"
    ranks = ranks.noted(doubts=[doubt] * (m is not None))
    for role, value in zip(NUMBERS, (n, m), strict=True):
        ranks = ranks if value is None else ranks.with_number(role, value, agree=True)
    return Opened((ranks,))


def _is_table(text: str) -> bool:
    """Return whether a text begins with a header, unlike lines such as ``A: 3, 17``."""
    header = next(line for line in text.splitlines() if line.strip(" \t;,"))
    names = re.split(r"[,;\t]" if re.search(r"[,;\t]", header) else r"\s+", header)
    return ":" not in header and not any(is_numeral(name.strip(" >")) for name in names)


def _systems(text: str) -> dict[str, list[str]]:
    """Return the ranks of each system as text: "A: 3, 17; B: 5" gives A ["3", "17"] and B ["5"].

    Ranks without a name are those of a system "ranks": "3, 17" gives {"ranks": ["3", "17"]}.
    """
    segments = [s.strip() for s in re.split(r"[;\n\r]+", text) if s.strip(" \t,")]
    limits.SYSTEMS.check(sum(":" in segment for segment in segments), f"the {_NAME}")
    in_one_line = len(segments) == 1 or all(len(_values(segment)) == 1 for segment in segments)
    if in_one_line and not re.search(r":|[^\W\d_]", text):
        return {"ranks": _values(text)}
    systems: dict[str, list[str]] = {}
    for segment in segments:
        name, colon, values = (part.strip() for part in segment.rpartition(":"))
        if not colon or not name:
            raise ReadError(f"the {_NAME} has {shown(segment)} without a name: {_REMEDY}")
        limits.check_name(name, _NAME)
        if name in systems:
            raise ReadError(f"the {_NAME} names system {name!r} twice: give it one line")
        systems[name] = _values(values)
        if not systems[name]:
            raise ReadError(f"the {_NAME} gives no ranks for system {name!r}: write them after ':'")
    return systems


def _values(text: str) -> list[str]:
    return re.findall(r"(?:>\s*)?[^,;\s]+", text)


def _ranks(systems: dict[str, list[str]]) -> Ranks:
    source = Layout(_NAME, TYPED_RANKS, tuple(systems))
    column = np.repeat(np.arange(len(systems)), [len(words) for words in systems.values()])
    index = np.concatenate([np.arange(len(words)) for words in systems.values()])
    cells = pd.Series([word for words in systems.values() for word in words])

    def place(i: int) -> str:
        return source.place(int(index[i]), int(column[i]))

    # A comma separates two ranks, so 10,000 has been split into 10 and 000: refuse it.
    if (i := checks.first(cells.str.match(r"0\d"))) is not None:
        raise ReadError(f"{place(i)}: {cells[i]!r} is no number; write {_WRITE}")
    table = {"system": parsing.categories(column, source.headers), "column": column}
    table["rank"] = parsing.places(cells, place, _WRITE)
    if (late := parsing.beyond(cells)).any():
        table["beyond"] = late
    return Ranks(source, pd.DataFrame(table, index=index), Facts(_NAME, TYPED_RANKS))


def settings_aside(text: str, where: str) -> tuple[str, int | None, int | None]:
    r"""Remove parts such as "n = 1000" or "m = 99" from a text; return the text, n and m.

    A number that is not set is None. A part ends at a semicolon or a line break. Line breaks stay,
    so that line numbers stay right.

    Examples
    --------
    >>> settings_aside("m = 99, n = 1,000\nA 0.5", "the table")
    ('\nA 0.5', 1000, 99)
    """
    numbers: dict[str, int] = {}

    def blanked(line: re.Match[str]) -> str:
        if _BETWEEN.sub("", _SETTING.sub("", line[0])):
            return line[0]
        for name, value in _SETTING.findall(line[0]):
            role, plain = str(role_of(name)), re.sub("[,_]", "", value)
            symbol, _, least, most = NUMBERS[role]
            if not (re.fullmatch("[0-9]{1,18}", plain) and least <= int(plain) <= most):
                how = f"a whole number from {least} to {most:,} with the digits 0 to 9"
                raise ReadError(f"{where} says {symbol} = {value}: write {how}")
            if numbers.setdefault(role, int(plain)) != int(plain):
                both = f"{numbers[role]} and {value}"
                raise ReadError(f"{where} gives {symbol} twice, {both}: keep one")
        return ""

    text = re.sub(r"[^\r\n;]+", blanked, text)
    n, m = map(numbers.get, NUMBERS)
    return text, n, m


def weights_of_text(text: str, n: int, name: str = "pasted text") -> Floats:
    r"""Return the weights of the ranks 1..n, scaled so that the largest is 1: shape (n,).

    The text holds one number per rank, in order of rank, separated by commas, semicolons, spaces or
    line breaks. Or it holds at least two lines ``rank,weight``; then ranks without a line have
    weight 0. A header line is skipped. A :class:`ReadError` names the line, the value and the
    remedy.

    Examples
    --------
    >>> weights_of_text("4, 2, 1", 3), weights_of_text("1,2\n3,0.5", 3)
    (array([1.  , 0.5 , 0.25]), array([1.  , 0.  , 0.25]))
    """
    limits.WEIGHTS.check(len(text), name)
    split = ([x for x in _APART.split(line) if x] for line in text.splitlines())
    lines = [(f"{name}, line {i}", cells) for i, cells in enumerate(split, start=1) if cells]
    headed = bool(lines) and not any(map(is_numeral, lines[0][1]))
    lines = lines[headed:]
    cells = [(place, cell) for place, cells in lines for cell in cells]
    limits.WEIGHT_NUMBERS.check(len(cells), name)
    if not cells:
        raise ReadError(f"{name} holds no number: give a weight for each rank 1..{n}")
    for place, cell in cells:
        if not is_numeral(cell):
            raise ReadError(f"{place}: {not_a_number(cell)}; write weights as 0.5 or 2e-3")
    weights = np.array([float(cell) for _, cell in cells])
    if len(lines) > 1 and all(len(cells) == 2 for _, cells in lines):
        ranks, values, weights = weights[::2], weights[1::2], np.zeros(n)
        wrong = (ranks != np.floor(ranks)) | (ranks < 1) | (ranks > n)
        if (i := checks.first(wrong)) is not None:
            rank = shown(float(ranks[i]))
            raise ReadError(f"{lines[i][0]}: {rank} is no rank; write a whole number in 1..{n}")
        if (i := checks.first(pd.Series(ranks).duplicated())) is not None:
            raise ReadError(f"{name} gives rank {ranks[i]:.0f} twice: keep one")
        weights[ranks.astype(np.int64) - 1] = values
    try:
        prior_weights(weights, n)
    except ValueError as error:
        raise ReadError(f"{name}: {error}") from None
    return np.asarray(weights / weights.max())  # unscaled, a sum of huge weights might overflow
