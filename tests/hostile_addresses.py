"""Malformed query strings for every page, made from a seed; some must be ignored or refused."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.dashboard.driver import Page


def parted(text: str) -> list[str]:
    return text.split("~")


PAGES = ("start", "explore", "consistency", "correct", "learn", "paper", "lab")
NUMBERS = parted("n~m~k~gamma~odds~zipf~bestsellers~rank~seed~draw_seed~times~table_instances")
CHOICES = parted(
    "metrics~scheme~source~also_k~answers~cell_metric~correction~distribution_view~drawn~"
    "estimate_tab~estimates_view~estimator~focus~instances~item~metric~numbers_view~printed~"
    "prior~repeats~sampled_source~sees~sheet~shown~sure_view~tab~take~ties~turn~view~wanted~way~"
    "weighting~what~why~pair~lesson~present~v~unknown~__proto__~constructor~_history~"
    "interactions~split~seen~recommenders~knobs_x_ials~lab_seed~"
    "_link_complaints~pasted~sampled_typed~_typed"
)
TEXTS = ("ranks", "sampled", "weights")
BAD = parted(
    "~ ~nan~inf~-inf~1e400~1_000~0x10~٣~１０~abc~None~null~true~[]~{}~1,000~1.5.5~--1~\x00~"
    "\x07\x1b[31m~\u202e1~\ud7ff~<script>alert(1)</script>~'; drop table~%00~%s~{n}~💥"
)
BAD += ["x" * 3000, "\n", "../../etc/passwd", "**bold** $x$ [a](http://b)", "1" * 400]
ODD = parted(
    "0~-1~1~2~1e3~2.5~1e-300~999999999~1000000000000~-0~0.0~1e15~9007199254740993~5e-324~100000"
)
RANKS = parted(
    "A: 1, 2; B: 3 4; n = 9~A: ٣ 4\nB: 1 2\nn = 9~A: 9223372036854775807\nB: 1\nn = 9~"
    "run 1: 5 6\nrun 2: 7 8\nn = 99~rank,n\n3,9\n"
)
RANKS += ["A:" * 50, "x" * 5000]
RANKS += parted(
    "\x00\x00~n = 5~system,rank,count\nA,1,1e308\nA,2,1e308~A: 1\nn = 99999999999999~;;;;~1 2 3~"
    "A: 1 2\nm = 99999999999, n = 999999999999~A: 0 1\nB: 1 2\nn = 9~A: 1 2; A: 3 4; n=9~"
    "rank,weight\n1,1e400\n2,-1~system,sampled_rank,m,n\nA,1,1000000000000,10\nA,2,5,10~"
    "💥: 1 2\nB: 2 1\nn = 9"
)


@dataclass(frozen=True)
class Address:
    """A page and its query; if ``harmless``, the page shows its usual headline or a message."""

    page: str
    query: tuple[tuple[str, tuple[str, ...]], ...]
    harmless: bool


def addresses(seed: int = 0) -> list[Address]:
    rng = np.random.default_rng(seed)
    found: list[Address] = []

    def add(page: str, query: dict[str, list[str]], *, harmless: bool) -> None:
        given = tuple((key, tuple(values)) for key, values in query.items())
        found.append(Address(page, given, harmless))

    def some(options: list[str], size: int) -> list[str]:
        return [options[i] for i in rng.choice(len(options), size, replace=False)]

    for page in PAGES:
        for key in NUMBERS:
            add(page, {key: some(BAD, 1)}, harmless=True)
            add(page, {key: some(ODD, 1)}, harmless=False)
        for key in some(CHOICES, 24):
            add(page, {key: some(BAD, 1)}, harmless=True)
            add(page, {key: some(BAD, 2)}, harmless=True)
        for key in TEXTS:
            for text in some(RANKS, 3):
                add(page, {"source": ["Paste ranks"], key: [text]}, harmless=False)
    for text in RANKS:
        add("consistency", {"source": ["Paste ranks"], "ranks": [text]}, harmless=False)
        sampled = {"what": ["Sampled ranks"], "sampled_source": ["Paste sampled ranks"]}
        add("correct", {**sampled, "sampled": [text]}, harmless=False)
        own = {"prior": ["own weights"], "weights": [text], "n": ["5"], "m": ["3"]}
        add("correct", own, harmless=False)
    for _ in range(40):
        keys = [*some(NUMBERS, 4), *some(CHOICES, 6)]
        query = {key: some(BAD + ODD, int(rng.integers(1, 3))) for key in keys}
        add(PAGES[int(rng.integers(len(PAGES)))], query, harmless=False)
    return found


@cache
def plain(page: str) -> str:
    return Page(page).headline


def wrong(address: Address) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            at = Page(address.page, **{key: [*values] for key, values in address.query})
        except AssertionError as error:
            return f"exception: {str(error)[:300]}"
    if ours := [w for w in caught if "sampledash" in w.filename]:
        return f"warning: {ours[0].message}"
    complaints = " ".join(x.value for part in (at.error, at.warning, at.info) for x in part)
    for leak in ("Traceback", "dtype", "NoneType", "invalid literal", "could not convert"):
        if leak in complaints:
            return f"no sentence: {complaints[:300]}"
    if address.harmless and not complaints and at.headline != plain(address.page):
        return f"says {at.headline!r}, not {plain(address.page)!r}, and no complaint"
    if not complaints and not at.headline and plain(address.page):
        return "says nothing"
    return ""
