"""Recheck an HTML report: it contains its ranks and settings, so that it can be computed again."""

import html
import json
import math
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from inspect import signature
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

import sampledash
from sampledash.metrics import Metric
from sampledash.rank_sets import RankSet
from sampledash.report.templates import Sentences

say = Sentences(Path(__file__).with_suffix(".jinja"))
_NOW = sampledash.__version__
_INPUTS = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
_TAG = re.compile(r"(<script.*?</script>|<style.*?</style>|<[^>]*>)", re.DOTALL)
_ARRAY = re.compile(r'"dtype": "(\w+)", "bdata": "([^"]*)"')
_TOKEN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|[^\W\d]+")
#: Matches what every version of sampledash must write alike: numbers, and verdicts on two systems.
_RESULT = re.compile(r".*\d|right|wrong|undecided|tied")
_Token = tuple[str, str]  # where a number or word is in a report, and the number or word


def embedded(sets: Sequence[RankSet], metrics: Sequence[Metric], **settings: Any) -> str:
    """Return the ranks and the settings of a report as JSON that may be put into HTML as it is."""
    columns = [{x: getattr(ranks, x) for x in signature(RankSet).parameters} for ranks in sets]
    text = json.dumps(columns, default=np.ndarray.tolist)
    packed = b64encode(zlib.compress(text.encode())).decode()
    inputs = {"sampledash": _NOW, "metrics": metrics, **settings, "ranks": packed}
    return json.dumps(inputs, default=str).replace("<", r"\u003c")


def recheck(page: str, name: str, anew: Callable[..., str]) -> tuple[str, bool]:
    """Compute a report again; return a sentence on the outcome, and whether the results agree.

    ``page`` is the HTML of the report, ``name`` the name of its file; ``anew`` makes a report from
    rank sets and the settings. Numbers must be the same up to rounding errors, and verdicts such as
    "right" must be the same. If the running version of sampledash made the report, all words must
    be the same too. Raises ValueError if the ranks or settings are missing or damaged.
    """
    if (block := _INPUTS.search(page)) is None:
        made = re.search(r"Made with sampledash ([\w.]+)\.<", page)
        raise ValueError(say.without_inputs(name, made and made[1]))
    try:
        settings = json.loads(block[1])
        version, packed = settings.pop("sampledash"), b64decode(settings.pop("ranks"))
        sets = tuple(RankSet(**columns) for columns in json.loads(zlib.decompress(packed)))
        old, new = [*_tokens(page, version)], [*_tokens(anew(sets, **settings), _NOW)]
    except (ValueError, TypeError, LookupError, zlib.error) as error:
        raise ValueError(say.damaged(name, error)) from error
    results = [[x for x in tokens if _RESULT.fullmatch(x[1])] for tokens in (old, new)]
    words = _first_difference(old, new)
    if wrong := words if version == _NOW else _first_difference(*results):
        return say.differs(name, *wrong, _NOW), False
    return say.holds(name, len(results[0]), _NOW, words and version), True


def _tokens(page: str, version: str) -> Iterator[_Token]:
    """Yield the words and numbers of a report, also those in its pictures, each with its place."""
    yield "the number of scripts and styles", str(len(re.findall("<script|<style", page)))
    parts, place, row = _TAG.split(page.replace(version, "…")), "", 0
    for tag, text in zip(parts[1::2], parts[2::2], strict=True):
        shown = html.unescape(text).strip()
        if heading := re.match(r"<(h\d|figcaption|/table)", tag):
            place, row = (place if heading[1] == "/table" else shown), -1
        row += tag == "<tr>"
        if tag.startswith("<script") and (start := re.search(r'"picture-\d+",\s*', tag)):
            shown = _drawn(tag, start.end())
        where = f"“{place}”" + f", row {row}," * (row > 0)
        plain = re.sub(r"(?<=\d),(?=\d{3})", "", shown.replace("−", "-"))
        yield from ((where, token) for token in _TOKEN.findall(plain))


def _drawn(script: str, start: int) -> str:
    """Return the data and layout of a picture as JSON, with base64 arrays decoded to numbers."""
    data, end = json.JSONDecoder().raw_decode(script, start)
    layout, _ = json.JSONDecoder().raw_decode(script, script.index("{", end))
    text = json.dumps([data, layout | {"template": None}], ensure_ascii=False)
    return _ARRAY.sub(lambda x: str(np.frombuffer(b64decode(x[2]), x[1]).tolist()), text)


def _first_difference(old: Sequence[_Token], new: Sequence[_Token]) -> tuple[str, str, str] | None:
    """Return the place where two reports first differ, and both words there; None if they agree.

    ``old`` and ``new`` hold the words and numbers of the reports, with their places. Numbers agree
    up to rounding errors.
    """
    for (place, x), (other, y) in zip_longest(old, new, fillvalue=("", "")):
        numbers = x[-1:].isdecimal() and y[-1:].isdecimal()
        close = numbers and math.isclose(float(x), float(y), rel_tol=1e-9, abs_tol=1e-12)
        if x != y and not close:
            return place or other, x, y
    return None
