"""Write tables as CSV with all digits, and as Markdown and LaTeX, rounded as papers print them.

The module also writes and reads files of corrected metrics with their settings.
"""

import dataclasses
import json
import re
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.comparison.order import TIED
from sampledash.correction import Fit, parse_correction
from sampledash.metrics import parse_metric
from sampledash.rank_sets import RankSet
from sampledash.readers.columns import classes_text, overlaps_text
from sampledash.report import escape
from sampledash.report.numbers import listed, rounded
from sampledash.sampling import Sampling

# Name of a column of the package's own tables -> rules how to print it. A rule is a header, a kind
# of content, and names of other columns. Of the rules whose other columns are all in the table, the
# last one is used. If the kind is "any", the values of the column decide how they are printed.
_COLUMNS: dict[str, list[tuple[str, str, set[str]]]] = {}
_ROWS = pd.read_csv(Path(__file__).with_suffix(".csv"), keep_default_na=False).to_numpy().tolist()
for _name, _content, _header, _others in _ROWS:
    _COLUMNS.setdefault(_name, []).append((_header, _content, set(_others.split())))
_UNIT: dict[str, str] = {"share": " (%)", "points": " (pp)", "chance": " (%)"}
MISSING_TEX = "--"
# A spreadsheet runs text as a formula if it begins with one of these characters.
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_SYMBOL = re.compile(r"(?<!\w)[mnkpγ](?!\w)")


class Column(NamedTuple):
    """A table column as rounded text, which is not yet escaped for Markdown, LaTeX or HTML.

    ``header`` includes the unit; ``ours`` is true if sampledash, not a user, named the column. In
    ``cells``, numbers have a plain minus sign, and a missing value is ``""`` or, in some columns,
    words such as "not given".
    """

    name: str
    header: str
    ours: bool
    number: bool
    cells: list[str]


def columns_of(table: pd.DataFrame) -> list[tuple[str, list[Any]]]:
    """Return name and values of each column; an index other than row numbers comes first.

    A column of intervals becomes two columns, whose names end in ``_low`` and ``_high``.
    """
    if not isinstance(table.index, pd.RangeIndex):
        named = ["" if name is None else str(name) for name in table.index.names]
        table = table.reset_index(names=named, allow_duplicates=True)
    columns: list[tuple[str, list[Any]]] = []
    for place, label in enumerate(table.columns):
        name, values = str(label), table.iloc[:, place].tolist()
        if any(isinstance(value, tuple) for value in values):
            both = [v if isinstance(v, tuple) else (None, None) for v in values]
            low, high = zip(*both, strict=True)
            columns += [(f"{name}_low", list(low)), (f"{name}_high", list(high))]
        else:
            columns.append((name, values))
    return columns


def as_csv(table: pd.DataFrame) -> str:
    """Write a table as CSV.

    Floats have all their digits, and missing values are empty. Text that a spreadsheet would run as
    a formula is preceded by an apostrophe.
    """
    columns = [[_guarded(value) for value in (name, *values)] for name, values in columns_of(table)]
    return "".join(",".join(map(_field, line)) + "\n" for line in zip(*columns, strict=True))


def ranks_table(sets: Sequence[RankSet]) -> pd.DataFrame:
    """Return ranks as a table that :func:`read_rank_sets` reads.

    Columns whose values are all missing, or all the default, are left out.
    """
    parts = []
    for ranks in sets:
        pairs = zip(ranks.ranks.tolist(), ranks.beyond.tolist(), strict=True)
        beyond = [f">{rank - 1}" if past else str(rank) for rank, past in pairs]
        columns = {
            "system": ranks.system,
            "instance": ranks.instances,
            "rank": beyond if ranks.beyond.any() else ranks.ranks,
            "ties": ranks.ties,
            "n_candidates": ranks.n,
            "mass_above": ranks.mass_above,
            "count": ranks.counts,
            **{name: _groups(sets, ranks, name) for name in ("classes", "strata")},
            "overlaps": _overlaps(ranks) if any(x.overlaps for x in sets) else None,
            "provenance": ranks.provenance,
        }
        parts.append(pd.DataFrame(columns, index=range(len(ranks))))
    table = pd.concat(parts, ignore_index=True)
    plain = {"ties": 0, "count": 1, "provenance": ""}
    idle = [name for name, usual in plain.items() if (table[name] == usual).all()]
    return table.drop(columns=idle).dropna(axis=1, how="all")


def _groups(sets: Sequence[RankSet], ranks: RankSet, name: str) -> list[str] | None:
    """Return as text, for each relevant item, the numbers of negatives by group.

    A group holds negatives of one sampling weight (``name`` is "classes"), or negatives from which
    a fixed number is drawn ("strata"). Return None if a rank set lacks these numbers.
    """
    if any(getattr(x, name) is None for x in sets):
        return None
    return [classes_text(x) for x in getattr(ranks, name)]


def _overlaps(ranks: RankSet) -> list[str]:
    """Return the overlaps of each relevant item as JSON text.

    The text holds, by name of another system, how many items both systems rank above the relevant
    item (see ``overlaps`` of :class:`RankSet`).
    """
    rows = range(len(ranks))
    return [overlaps_text({other: x[row] for other, x in ranks.overlaps.items()}) for row in rows]


def _guarded(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if _missing(value):
        return ""
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _field(text: str) -> str:
    # Quote carriage returns too, which the csv module of some versions of Python does not do.
    plain = text == text.strip() and not any(c in text for c in ',"\n\r')
    return text if plain else '"' + text.replace('"', '""') + '"'


def printed(table: pd.DataFrame) -> list[Column]:
    """Return the columns of a table as rounded text, such as shares in percent with two decimals.

    If the package itself named a column, the name decides how it is printed. Other columns of
    integers are printed as whole numbers. Other columns of floats are printed as shares if no
    absolute value exceeds 1, otherwise as whole numbers or with two decimals.
    """
    columns = columns_of(table)
    names, made = {name for name, _ in columns}, []
    for name, values in columns:
        header, kind = _headed(name, names)
        kind = _kind(values) if kind == "any" else kind
        lacking = "no range" if name.endswith("_if_falling") else ""
        if name in ("m", "instances"):
            lacking = "not reachable" if {"better", "worse"} <= names else "not given"
        cells = [_cell(value, kind) or lacking for value in values]
        number = kind not in ("text", "flips")
        made.append(Column(name, header + _UNIT.get(kind, ""), name in _COLUMNS, number, cells))
    return made


def _headed(name: str, names: set[str]) -> tuple[str, str]:
    """Return header and kind of content of the column ``name``; the table has columns ``names``."""
    if "design" in names and " > " in name:  # a column for a pair of systems, such as "A > B"
        return f"Shows {name}", "chance"
    rows = [(header, kind) for header, kind, others in _COLUMNS.get(name, ()) if others <= names]
    return rows[-1] if rows else (name, "any")


def _kind(values: Sequence[Any]) -> str:
    known = [value for value in values if not _missing(value)]
    if not known or any(isinstance(v, bool) or not isinstance(v, Real) for v in known):
        return "text"
    if all(isinstance(value, (int, np.integer)) for value in known):
        return "count"
    if all(abs(value) <= 1 for value in known):
        return "share"
    return "count" if all(float(value).is_integer() for value in known) else "number"


def _cell(value: Any, kind: str) -> str:
    if _missing(value):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if kind == "flips":
        return listed(str(value).split()) if value else "never"
    if kind == "text" or not isinstance(value, (int, float, np.integer, np.floating)):
        return str(value)
    if kind == "count":
        return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"
    if kind == "p":
        return "<0.0001" if 0 < value < 5e-5 else f"{value:.4f}"
    if kind in ("number", "digits"):
        return f"{value:.2f}" if kind == "number" else f"{value:.4g}"
    if kind == "points" and abs(float(value)) <= TIED:
        return "0.00"
    return "".join(rounded(float(value), chance=kind == "chance"))


def _missing(value: Any) -> bool:
    return np.ndim(value) == 0 and bool(pd.isna(value))


def as_markdown(table: pd.DataFrame) -> str:
    """Write a table as a Markdown pipe table, rounded for print; missing values are en dashes."""
    columns = []
    for column in printed(table):
        # Numbers are not escaped, because an escaped "<" is hard to read in the Markdown source.
        cells = column.cells if column.number else map(escape.markdown, column.cells)
        head, cells = escape.markdown(column.header), [cell or "–" for cell in cells]
        width = max(3, *map(len, (head, *cells)))
        rule = "-" * (width - 1) + ":" if column.number else "-" * width
        padded = str.rjust if column.number else str.ljust
        columns.append([padded(text, width) for text in (head, rule, *cells)])
    return "".join(f"| {' | '.join(row)} |\n" for row in zip(*columns, strict=True))


def as_latex(table: pd.DataFrame) -> str:
    """Write a LaTeX ``tabular``, with numbers rounded for print.

    Its horizontal lines are those of the LaTeX package booktabs. Missing values are ``--``.
    """
    columns, heads, cells = printed(table), [], []
    for column in columns:
        head, write = escape.tex(column.header), _tex_number if column.number else escape.tex
        # Symbols in a header, such as m, are in math mode.
        symbols = _SYMBOL.sub(r"$\g<0>$", head).replace("γ", r"\gamma")
        heads.append(symbols if column.ours else head)
        cells.append([write(x) or MISSING_TEX for x in column.cells])
    styled = pd.DataFrame(dict(enumerate(cells))).set_axis(heads, axis=1).style
    sides = "".join("r" if column.number else "l" for column in columns)
    written = styled.hide(axis="index").to_latex(column_format=sides, hrules=True)
    return "% \\usepackage{booktabs}\n" + written


def _tex_number(cell: str) -> str:
    r"""Return a rounded number in TeX; a number with a sign (-1.26, <0.01) is in math mode."""
    return f"${cell}$" if cell[:1] in ("-", "<", ">") else cell


def vector_csv(fit: Fit) -> str:
    """Write a corrected metric as CSV: a comment with the settings, then ``sampled_rank,value``.

    Values have 17 significant digits, so that a program that reads them gets the same numbers.
    """
    recipe, sampling = fit.correction, fit.sampling
    head = f"# metric = {fit.metric}, {sampling}, correction = {recipe}"
    rows = (f"{t},{value:.17g}" for t, value in enumerate(fit.values.tolist(), start=1))
    return "\n".join([head, "sampled_rank,value", *rows]) + "\n"


def vector_json(fit: Fit) -> str:
    """Write a corrected metric as JSON; :func:`read_vector_json` reads it back.

    Returns
    -------
    An object with the keys ``metric n m scheme odds correction gamma prior values``. If the sampled
    rank is t, ``values[t - 1]`` is the value to report. ``prior`` holds the weights of the true
    ranks for which the correction was fitted, ``null`` if all are the same.
    """
    checks.of_kind("fit", fit, Fit, "Fit", "make one with sampledash.correction(name).fit(...)")
    recipe, sampling = fit.correction, fit.sampling
    prior = None if recipe.prior is None else recipe.prior.tolist()
    named = recipe if prior is None else dataclasses.replace(recipe, prior=None)
    law = {"n": sampling.n, "m": sampling.m, "scheme": sampling.scheme, "odds": sampling.odds}
    method = {"correction": str(named), "gamma": recipe.gamma, "prior": prior}
    content = {"metric": str(fit.metric), **law, **method, "values": fit.values.tolist()}
    return json.dumps(content, allow_nan=False) + "\n"


def read_vector_json(text: str) -> Fit:
    """Read a corrected metric that :func:`vector_json` wrote.

    Raises
    ------
    ValueError
        If :func:`vector_json` did not write the text, or the number of values is not m + 1.
    """
    keys = ("n", "m", "scheme", "odds", "correction", "metric", "values", "prior")
    try:
        content = json.loads(text)
        *law, name, of, given, prior = (content[key] for key in keys)
    except KeyError as error:
        why = f"{error} is missing"
        raise ValueError(f"this is not a vector written by vector_json: {why}") from None
    except (TypeError, ValueError, RecursionError):
        raise ValueError("this is not a vector written by vector_json, but other text") from None
    sampling, values = Sampling(*law), checks.numbers("values", given)
    recipe, metric = parse_correction(name), parse_metric(of)
    if values.shape != (sampling.m + 1,):
        needed = f"m = {sampling.m} needs {sampling.m + 1}, one for each sampled rank"
        raise ValueError(f"values has shape {values.shape}: {needed}")
    if prior is not None:
        recipe = dataclasses.replace(recipe, prior=prior)
    values.setflags(write=False)
    return Fit(recipe, metric, sampling, values)
