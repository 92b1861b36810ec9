"""Turn parsed tables into rank sets, one for each system.

The module chooses and names the systems, finds n (the number of candidates of each instance), and
checks that the systems have the same instances.

The module also summarizes the data that were read, so that users can check them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from sampledash import checks
from sampledash.checks import counted, first
from sampledash.rank_sets import RankSet
from sampledash.readers import upload_limits as limits
from sampledash.readers.frame import Facts, Ranks, Runs, few, resolve_repetitions
from sampledash.readers.trec import Censored, missing, ranks_of_runs
from sampledash.readers.upload_limits import DifferentInstances, ReadError
from sampledash.types import Ints

Instances = Literal["same", "shared", "any"]
Systems = Sequence[str] | Mapping[str, str]
# Limits for warnings that the ranks of a file may not be true ranks among all candidates.
_FEW = 20  # with fewer instances there is no warning, because all ranks may be small by chance
_SAMPLE = 1010  # if no rank is larger, ranks may be from short lists, or among 1,000 negatives
_MANY = 5  # there is no warning if n (number of candidates) is less than 5 times the largest rank


def distinct_names(names: Sequence[Sequence[str]], files: Sequence[str]) -> list[list[str]]:
    """Return the names of the systems of each file, made distinct.

    If several files have a system X, the system of a later file b.csv is called "X (b.csv)".
    """
    known: set[str] = set()
    result = []
    for names_of_file, file in zip(names, files, strict=True):
        mine = []
        for name in names_of_file:
            new, number = name, 1
            while new in known or (number > 1 and new in names_of_file):
                new = f"{name} ({file}{f', {number}' * (number > 1)})"
                number += 1
            mine.append(new)
            known.add(new)
        result.append(mine)
    return result


def choose(parts: Sequence[Ranks], systems: Systems | None) -> list[Ranks]:
    """Return the ranks of the chosen ``systems`` (all if None), which get distinct names.

    If ``systems`` is a mapping, it maps names of systems to new names.
    """
    called = distinct_names([part.systems for part in parts], [part.name for part in parts])
    known = [name for names in called for name in names]
    given = known if systems is None else systems
    if not isinstance(given, Mapping):
        names = checks.several("systems", given, "name")
        given = {name: name for name in (checks.text("systems", x) for x in names)}
    wanted = dict(given)
    for old, new in wanted.items():
        if old not in known:
            there = f"which is not there; found {few(map(repr, known), 8)}"
            raise ValueError(f"systems names {checks.shown(old)}, {there}")
        if not isinstance(new, str) or not new.strip():
            raise ValueError(f"systems gives {old!r} the name {new!r}; write some text")
    twice = next((name for name, times in Counter(wanted.values()).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"systems gives the name {twice!r} twice; give each system its own")
    if not wanted:
        raise ValueError("no system is left: use at least one (systems is empty)")
    result = []
    for part, names in zip(parts, called, strict=True):
        if not (chosen := [name for name in names if name in wanted]):
            continue
        for name in chosen:
            limits.check_name(wanted[name], part.name)
        system = part.frame["system"].array.rename_categories(names).set_categories(chosen)
        rows = system.codes >= 0
        if not rows.all():
            part, system = part.only(rows), system[rows]
        system = system.rename_categories([wanted[name] for name in chosen])
        result.append(part.with_columns(system=system))
    return result


@dataclass(frozen=True)
class Reading:
    """Rank sets that were read together, and facts about them that a page shows."""

    sets: tuple[RankSet, ...]
    numbers: Mapping[str, Any]  # facts about all rank sets together, by name
    files: tuple[Facts, ...] = ()
    doubts: tuple[str, ...] = ()  # sentences about what may be wrong, for a user to check


def describe(sets: Sequence[RankSet], files: Sequence[Facts] = (), **read: Any) -> Reading:
    """Return rank sets and facts about them, such as the largest rank; ``read`` adds facts."""
    numbers = {
        "rows": sum(map(len, sets)),
        "n_low": min(int(s.n.min()) for s in sets),
        "n_high": max(int(s.n.max()) for s in sets),
        "smallest_rank": min(int(s.ranks.min()) for s in sets),
        "largest_rank": max(int(s.ranks.max()) for s in sets),
        "has_counts": any(bool(np.any(s.counts != 1)) for s in sets),
        # number of unknown ranks: the relevant item is missing from a truncated ranked list
        "beyond": sum(int(s.beyond.sum()) for s in sets),
    }
    doubts = (*(doubt for file in files for doubt in file.doubts), *_doubts(sets))
    return Reading(tuple(sets), numbers | read, tuple(files), doubts)


def _doubts(sets: Sequence[RankSet]) -> tuple[str, ...]:
    """Return a warning if ranks seem to be from short lists, or among sampled negatives."""
    # Ranks such as >10 already say that lists are short, so no warning is needed.
    if any(s.largest_cutoff is not None for s in sets):
        return ()
    largest = max(int((s.ranks + s.ties).max()) for s in sets)
    n = min(int(s.n.min()) for s in sets)
    if min(s.n_instances for s in sets) < _FEW or largest > min(_SAMPLE, n / _MANY):
        return ()
    return (
        f"The largest rank is {largest:,} of n = {n:,}: are these ranks among sampled negatives? "
        "Or was a list cut there? Only true ranks, among all candidates, can be checked here.",
    )


@dataclass(frozen=True, eq=False)
class Opened:
    """Parsed files, from which :meth:`read` makes rank sets with different options.

    Parsing takes most of the time, so a page stores the parsed files while a user changes options.
    """

    parts: tuple[Ranks, ...]

    @property
    def tables(self) -> list[Ranks]:
        """The parsed tables of ranks of relevant items; whole ranked lists are in :attr:`runs`."""
        return [part for part in self.parts if "depth" not in part.frame]

    @property
    def runs(self) -> list[Ranks]:
        """The parsed TREC runs and lists of recommendations, which also rank irrelevant items."""
        return [part for part in self.parts if "depth" in part.frame]

    @property
    def repeated(self) -> bool:
        """Whether some file has a column of repetitions, such as folds or seeds."""
        return any("repetition" in part.frame for part in self.parts)

    @property
    def censored(self) -> bool:
        """Whether some TREC run or list of recommendations lacks a relevant item."""
        return missing(self.runs) is not None

    def systems(self, runs: Runs = "averaged") -> dict[str, int]:
        """Map the name of each system to its number of known ranks.

        ``runs`` says how to read repetitions such as folds: see :func:`read_rank_sets`.
        """
        parts = [resolve_repetitions(p, runs) if runs == "apart" else p for p in self.parts]
        ranked = [part.frame["system"][part.frame["rank"].gt(0) | part.shifts] for part in parts]
        sizes = [system.value_counts(sort=False) for system in ranked]
        names = distinct_names([list(counts.index) for counts in sizes], [p.name for p in parts])
        every = zip(chain.from_iterable(names), chain.from_iterable(sizes), strict=True)
        return {name: int(size) for name, size in every}

    def read(
        self,
        *,
        n: int | None = None,
        zero_based: bool = False,
        instances: Instances = "same",
        runs: Runs = "averaged",
        censored: Censored = "refuse",
        systems: Systems | None = None,
    ) -> Reading:
        """Return the rank sets in the files, with facts to show, such as the largest rank.

        :func:`read_rank_sets` explains the options.
        """
        checks.choice("censored", censored, get_args(Censored))
        if part := next((part for part in self.tables if part.source.sampled), None):
            raise ReadError(
                f"{part.name} holds sampled ranks (its columns say so): estimate from them "
                "on the Correct page, or by sampledash correct",
                checks.Remedy("read_sampled_ranks"),
            )
        ranked = iter(ranks_of_runs(self.runs, n=n, censored=censored) if self.runs else [])
        parts = [
            next(ranked) if "depth" in part.frame else resolve_repetitions(part, runs)
            for part in self.parts
        ]
        checks.choice("instances", instances, ("same", "shared", "any"))
        parts = _one_labelling(choose(parts, systems))
        parts = _with_n([from_one(part, zero_based) for part in parts], n)
        for part in parts:
            shift = zero_based and part.shifts
            _check_range(part, shift)
            _check_repeats(part, shift)
        lacking = missing(self.runs)
        return describe(
            _rank_sets(parts, instances),
            [part.facts for part in parts],
            zero_based=zero_based,
            censored=0 if lacking is None else lacking.censored,
            relevant=sum(len(part.frame) for part in self.runs),
        )


def _one_labelling(parts: Sequence[Ranks]) -> list[Ranks]:
    """Give the columns of instance labels of all files the same pandas categories.

    If some file has no instance labels, change nothing.
    """
    labels = [part.frame["instance"] for part in parts if "instance" in part.frame]
    if len(parts) == 1 or len(labels) < len(parts):
        return list(parts)
    if any(column.cat.categories.dtype.kind not in "iu" for column in labels):
        labels = [column.cat.rename_categories(str) for column in labels]
    joint = union_categoricals(labels).categories
    return [
        part.with_columns(instance=column.cat.set_categories(joint))
        for part, column in zip(parts, labels, strict=True)
    ]


def from_one(ranks: Ranks, zero_based: bool) -> Ranks:
    """Return ranks that count from 1: add 1 if ``zero_based``; refuse ranks that are too small."""
    zero_based = checks.flag("zero_based", zero_based)
    if not ranks.shifts:
        return ranks
    rank = ranks.values("rank")
    lowest = int(np.argmin(rank))
    value, where = int(rank[lowest]), ranks.place(lowest, "rank")
    if value < 0:
        least = 0 if zero_based else 1
        raise ReadError(f"{where}: rank {value} is below {least}; correct it or remove the row")
    if value == 0 and not zero_based:
        raise limits.ZeroBasedRanks(
            f"{where}: rank 0; the best is 1: if the ranks count from 0, add 1 to each",
            checks.Remedy("zero_based", True),
            ways={"The ranks count from 0: add 1": {"zero_based": True}},
        )
    if not zero_based:
        return ranks
    note = "Ranks were counted from 0: 1 was added to each."
    doubt = f"No rank of {ranks.name} is 0, though ranks are said to count from 0."
    return ranks.with_columns(rank=rank + 1).noted(note, doubts=[doubt] * (value > 0))


def _with_n(parts: Sequence[Ranks], n: int | None) -> list[Ranks]:
    """Return the parsed files with the number of candidates n in every row.

    n is taken from the file itself, else from the argument, else from the other files.
    """
    parts = [part.with_number("n_candidates", n) for part in parts]
    known = [part for part in parts if "n_candidates" in part.frame]
    names = " and ".join(part.name for part in known)
    without = [part for part in parts if "n_candidates" not in part.frame]
    if not without:
        return parts
    sizes = {int(end) for part in known for end in part.frame["n_candidates"].agg(["min", "max"])}
    if len(sizes) != 1:
        largest = max(int(part.values("rank").max()) for part in without)
        advice = f"give n, as in n = 10000 (at least {max(largest, 2):,})"
        unsaid = f"{without[0].name} does not say n, the number of candidates"
        raise limits.MissingCandidates(f"{unsaid}: add a column n_candidates, or {advice}")
    note = f"n is taken from {names}: this file does not say it."
    return [
        part if part in known else part.with_columns(n_candidates=min(sizes)).noted(note)
        for part in parts
    ]


def _check_range(ranks: Ranks, shift: bool) -> None:
    rank, n = ranks.values("rank"), ranks.values("n_candidates")
    ties, mass = ranks.values("ties"), ranks.values("mass_above")
    if (i := first(rank > n)) is not None:
        written = f"{ranks.place(i, 'rank')}: rank {rank[i] - shift}{' counting from 0' * shift}"
        beyond = f"beyond the last of n = {n[i]} candidates"
        raise ReadError(f"{written} is {beyond}; correct the rank, or give a larger n")
    if ties is not None and (i := first((ties < 0) | (rank + ties > n))) is not None:
        block = f"rank {rank[i] - shift} with {ties[i]} others tied does not fit n = {n[i]}"
        raise ReadError(f"{ranks.place(i, 'ties')}: {block}; write the best of the tied ranks")
    if mass is not None and (i := first(~((mass >= 0) & (mass <= 1)))) is not None:
        wrong = f"{mass[i]:g} is no share; write a number in 0..1"
        raise ReadError(f"{ranks.place(i, 'mass_above')}: {wrong}")


def _check_repeats(ranks: Ranks, shift: bool) -> None:
    """Refuse two relevant items with the same rank in one ranked list.

    Two ranks such as >10 are allowed, because they only say that an item is not in the first 10.
    """
    keys = ["system", "instance", "rank"]
    if "instance" not in ranks.frame:
        return
    system, instance = (ranks.frame[key].cat for key in keys[:2])
    lists = np.sort(system.codes.astype(np.int64) * len(instance.categories) + instance.codes)
    if np.all(np.diff(lists)):  # a fast check: no instance has several ranks
        return
    known = ranks.only(~ranks.values("beyond")) if "beyond" in ranks.frame else ranks
    if (i := first(known.frame.duplicated(keys))) is not None:
        row = known.frame.iloc[i]
        of = f"system {row['system']!r}, instance {str(row['instance'])!r}"
        twice = f"has rank {row['rank'] - shift} twice; remove one row"
        raise ReadError(f"{known.place(i, 'rank')}: {of} {twice}")


def _rank_sets(parts: Sequence[Ranks], instances: Instances) -> list[RankSet]:
    """Return one rank set for each system in the parsed files, in order of appearance."""
    name = " and ".join(part.name for part in parts)
    frames = {str(system): frame for part in parts for system, frame in _by_system(part)}
    if not all("instance" in frame for frame in frames.values()):
        frames = {s: frame.drop(columns="instance", errors="ignore") for s, frame in frames.items()}
    counted = any("count" in frame for frame in frames.values())
    if instances != "any" and len(frames) > 1:
        frames = _aligned(frames, name, counted, instances == "shared")
    # Remove each frame by pop, so that its memory is freed once its rank set is made.
    return [_rank_set(system, frames.pop(system), name, counted) for system in list(frames)]


def _by_system(part: Ranks) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name of each system in a file, and its rows."""
    system = part.frame["system"].array
    for code in np.unique(system.codes):
        rows = system.codes == code
        yield system.categories[code], part.frame if rows.all() else part.only(rows).frame


def _aligned(
    frames: dict[str, pd.DataFrame], name: str, counted: bool, shared_only: bool
) -> dict[str, pd.DataFrame]:
    """Check that all systems have the same instances, and return the rows of each system.

    If systems differ in the number of relevant items of an instance, raise an error or, with
    ``shared_only``, drop the instance.
    """
    first_frame = next(iter(frames.values()))
    if "instance" not in first_frame or counted:
        # Rows without instance labels, and rows of histograms, cannot be paired between systems.
        # Compare only the number of instances of each system.
        _check_totals(frames, name)
        return frames
    fewest = most = _items(first_frame)
    for frame in frames.values():
        items = _items(frame)
        fewest, most = np.minimum(fewest, items), np.maximum(most, items)
    if np.array_equal(fewest, most):
        return frames
    shared = (fewest == most) & (fewest > 0)
    if not shared_only or not shared.any():
        raise _different(frames, name, fewest, most)
    return {s: frame[shared[frame["instance"].cat.codes]] for s, frame in frames.items()}


def _items(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the number of relevant items of each instance; each row is a relevant item.

    The number is 0 for an instance that the system lacks.
    """
    instance = frame["instance"].cat
    return np.bincount(instance.codes, minlength=len(instance.categories))


def _check_totals(frames: dict[str, pd.DataFrame], name: str) -> None:
    """Raise an error if systems have different numbers of instances."""
    sizes = {}
    for system, frame in frames.items():
        if "instance" in frame:
            # Rows with equal labels are relevant items of one instance, which is counted once.
            frame = frame.drop_duplicates("instance")
        sizes[system] = float(frame["count"].sum()) if "count" in frame else float(len(frame))
    (first_system, size), *others = sizes.items()
    for other, total in others:
        if abs(total - size) > 1e-9 * size:
            what = f"{first_system!r} has {size:,.15g} instances and {other!r} has {total:,.15g}"
            raise _unlike(f"{name}: system {what}; complete or label them")


def _different(
    frames: dict[str, pd.DataFrame], name: str, fewest: NDArray[Any], most: NDArray[Any]
) -> DifferentInstances:
    """Return the error for systems that cover different instances.

    In each instance, the systems have from ``fewest`` to ``most`` relevant items.
    """
    labels = next(iter(frames.values()))["instance"].cat.categories
    differ = np.flatnonzero(fewest != most)
    sizes = {system: int(_items(frame)[differ[0]]) for system, frame in frames.items()}
    low, high = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    what = f"the systems cover different instances: {str(labels[differ[0]])!r} has "
    what += f"{counted(sizes[high], 'relevant item')} in {high!r} and {sizes[low]} in {low!r}"
    shared = int(((fewest == most) & (fewest > 0)).sum())
    if not shared:
        return _unlike(f"{name}: {what}. They share none: complete the file")
    return DifferentInstances(
        f"{name}: {what}. All share {shared:,} of {int((most > 0).sum()):,} instances: compare "
        "those",
        checks.Remedy("instances", "shared"),
        ", or complete the file",
        ways={f"Compare the {counted(shared, 'instance')} they share": {"instances": "shared"}},
    )


def _unlike(what: str) -> DifferentInstances:
    """Return the error for different instances; its remedy is to compare the systems anyway."""
    remedy = checks.Remedy("instances", "any")
    ways = {"Compare them as they are": {"instances": "any"}}
    return DifferentInstances(f"{what}, or compare them as they are", remedy, ways=ways)


def _rank_set(system: str, frame: pd.DataFrame, name: str, counted: bool) -> RankSet:
    given = {role: frame[role].to_numpy() for role in frame if role != "system"}
    n = given["n_candidates"]
    arrays: dict[str, Any] = {
        role: np.stack(list(given[role])) for role in ("classes", "strata") if role in given
    }
    try:
        return RankSet(
            system,
            given["rank"],
            n[0] if n.min() == n.max() else n,  # one number takes less memory than an array
            # A row of a histogram stands for many instances, so it gets no instance label.
            instances=given.get("instance", None if counted else np.arange(1, len(frame) + 1)),
            ties=given.get("ties"),
            mass_above=given.get("mass_above"),
            counts=given.get("count"),
            beyond=given.get("beyond"),
            provenance=str(given["provenance"][0]) if "provenance" in given else "",
            **arrays,
            overlaps=_overlaps(given["overlaps"]) if "overlaps" in given else None,
        )
    except ValueError as error:
        raise ReadError(f"{name}: {error}") from None


def _overlaps(rows: NDArray[Any]) -> dict[str, Ints]:
    """Return the argument ``overlaps`` of :class:`~sampledash.RankSet`.

    It maps the name of each other system to an array of shape (relevant items, 2, 2). The array
    counts, for each relevant item, the items that both this system and the other system rank above
    the relevant item (index 0) or tie with it (index 1). ``rows`` holds the same counts as one
    dictionary for each relevant item.
    """
    for other in sorted(set(rows[0]).union(*rows) - set(rows[0]).intersection(*rows)):
        raise ValueError(f"overlaps: some rows name {other!r} and others do not: name it in all")
    return {other: np.array([row[other] for row in rows]) for other in rows[0]}
