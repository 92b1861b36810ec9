"""Rank sets are immutable, compared by their contents, and reduced to counts."""

import re
from collections import Counter, defaultdict, namedtuple
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any, NamedTuple

import numpy as np
import pytest

import sampledash as sd
from sampledash import rank_sets
from sampledash.rank_counts import codes_of, unique_rows
from sampledash.rank_sets import draw_shared_ties

TRUE = {
    "system": "S", "ranks": [3, 1], "n": [9, 8], "instances": ["a", "b"], "ties": [0, 1],
    "mass_above": [0.5, 0.0], "counts": [1, 2],
}  # fmt: skip
SAMPLED = {
    "system": "S", "sampled_ranks": [1, 2], "n": [50, 50], "m": [10, 10], "instances": ["u", "v"],
    "counts": [1, 1],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "given_"), [(sd.RankSet, TRUE), (sd.SampledRankSet, SAMPLED)])
def test_arrays_are_copied_and_read_only(kind, given_) -> None:
    columns = {name: np.array(value) for name, value in given_.items() if name != "system"}
    one = kind(given_["system"], **columns)
    for name, array in columns.items():
        array[0] = array[1]
        with pytest.raises(ValueError, match="read-only"):
            getattr(one, name)[0] = getattr(one, name)[1]
        assert getattr(one, name).tolist() == given_[name]
    with pytest.raises(AttributeError):
        one.system = "T"
    assert one.digest == kind(**given_).digest


CHANGES = [
    (sd.SampledRankSet, SAMPLED,
     {"system": "T", "sampled_ranks": [2, 1], "n": 51, "m": 11, "instances": None,
      "counts": [1, 2], "scheme": "with-replacement", "adaptive": False}),
    # Different labels that are equal if joined by line breaks, as texts, or as 64 bits.
    (sd.RankSet, TRUE | {"instances": ["a\nb", "c"]}, {"instances": ["a", "b\nc"]}),
    (sd.RankSet, TRUE | {"instances": [1, 2]}, {"instances": ["1", "2"], "mass_above": None}),
    (sd.RankSet, TRUE | {"instances": np.array([1, 2**63], dtype=np.uint64)},
     {"instances": [1, -(2**63)], "system": "T"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given_", "changes"), CHANGES)
def test_contents_tell_them_apart(kind, given_, changes) -> None:
    one = kind(**given_)
    same = kind(**{k: np.array(v) if isinstance(v, list) else v for k, v in given_.items()})
    assert one == same
    assert (hash(one), one.digest) == (hash(same), same.digest)
    assert one != "S"
    others = [kind(**given_ | {name: value}) for name, value in changes.items()]
    assert len({one.digest, *(other.digest for other in others)}) == 1 + len(others)
    assert one not in others
    assert len(one.digest) == 64


class Row(NamedTuple):
    label: Any
    rank: int
    n: int
    ties: int
    count: float
    beyond: bool
    mass: float


LABELS = [3, 7, 8, 5], ["b", "a", "c", "d"], [0.5, -1.5, 2.5, 3.5]
VALUES = {
    "rank": [1, 3, 5, 9], "n": [4, 6, 12], "ties": [0, 1, 4], "count": [0, -1, 2, 3],
    "mass": [0, 1e-7, 2e-6, 0.5, 1 - 2e-6, 1 - 1e-7, 1, 1.5, -0.5], "beyond": [True, False],
}  # fmt: skip


def table(rng: np.random.Generator) -> list[Row]:
    """Return up to nine random rows of up to three instances, in any order."""
    labels = LABELS[rng.integers(3)]
    rows: list[Row] = []
    for label in labels[: rng.integers(1, 4)]:
        n, size, count = (int(rng.integers(low, high)) for low, high in ((4, 13), (1, 4), (1, 4)))
        known, place = bool(rng.integers(2)), 0
        for position in range(size):
            place += int(rng.choice([1, 1, 2, 4]))
            ties, beyond = int(rng.choice([0, 0, 1, 2])), not known and position >= size - 2
            above = place - position - 1
            share = (above > 0) * max(0.3, round(above / (n - size), 2)) if n > size else 0.0
            rank = place - position if beyond and rng.integers(2) else place
            rows.append(Row(label, rank, n, ties * (not beyond), count, beyond, min(share, 1.0)))
            place += rows[-1].ties
    return [rows[i] for i in rng.permutation(len(rows))] if rng.integers(2) else rows


def altered(rng: np.random.Generator, rows: list[Row]) -> list[Row]:
    """Return the rows with one cell changed, perhaps to an invalid value."""
    i, name = int(rng.integers(len(rows))), Row._fields[rng.integers(7)]
    values = VALUES | {"label": next(x for x in LABELS if rows[0].label in x)[2:]}
    row = rows[i]._replace(**{name: values[name][rng.integers(len(values[name]))]})
    return [*rows[:i], row, *rows[i + 1 :]]


def placed(rows: list[Row]) -> list[Row]:
    """Sort rows by instance and rank; give items beyond the end of the list distinct ranks."""
    result = []
    for label in dict.fromkeys(row.label for row in rows):
        last = 0
        for row in sorted((x for x in rows if x.label == label), key=lambda x: (x.rank, x.beyond)):
            result.append(row._replace(rank=max(row.rank, last + 1)) if row.beyond else row)
            last = max(last, result[-1].rank + row.ties)
    return result


def refusal(rows: list[Row], with_mass: bool) -> str:
    """Return the error message expected for the first fault in the rows; "" if there is none."""
    items, size = placed(rows), Counter(row.label for row in rows)
    pairs = [(a, b) for a, b in pairwise(items) if a.label == b.label]
    faults = [
        *((r.rank > r.n, f"rank of system 'S' {r.rank} is larger than n = {r.n}") for r in rows),
        *((r.rank + r.ties > r.n, f"ties of system 'S': rank {r.rank} with {r.ties} others tied "
           f"reaches beyond n = {r.n}; `ranks` is the best rank of the tied block") for r in rows),
        *((r.count <= 0, f"counts of system 'S' must be above 0, got {r.count:g}") for r in rows),
        *((with_mass and not 0 <= r.mass <= 1,
           f"mass_above of system 'S' must be a share in 0..1, got {r.mass:g}") for r in rows),
        *((r.beyond and r.ties, f"ties of system 'S': {r.ties} others tied with an item whose rank "
           f"is only known to lie beyond {r.rank - 1}; give 0 there") for r in rows),
    ]  # fmt: skip
    of_one = [
        *((a.rank == b.rank, a, f"holds rank {a.rank} twice: relevant items have distinct ranks; "
           "remove the repeat") for a, b in pairs),
        *((b.rank <= a.rank + a.ties, a, "has two relevant items in one block of ties (rank "
           f"{a.rank}): break that tie") for a, b in pairs),
        *((a.n != b.n, a, f"has two values of n, {a.n} and {b.n}: give one") for a, b in pairs),
        *((a.count != b.count, a, "has different counts in its rows: give one") for a, b in pairs),
        *((size[a.label] >= a.n, a, f"has as many relevant items as candidates, n = {a.n}")
          for a in items),
        *((a.beyond and a.rank > a.n, a, f"has more items beyond its list than n = {a.n} allows")
          for a in items),
        *((a.beyond and not b.beyond, a, f"has a known rank after one that lies beyond "
           f"{a.rank - 1}: give it as beyond too") for a, b in pairs),
        *((with_mass and b.mass < a.mass, a, "has a mass_above that falls as the rank grows (rank "
           f"{a.rank})") for a, b in pairs),
    ]  # fmt: skip
    if len(rows) > len(size):
        faults += [(x, f"instance {str(a.label)!r} of system 'S' {y}") for x, a, y in of_one]
    for share, who in ((0, "no"), (1, "every")) if with_mass else ():
        for c in columns(items):
            sure = not c.beyond and c.above == share * c.negatives
            faults.append((
                sure and abs(c.mass - share) > 1e-6,
                f"mass_above of system 'S' is {c.mass:g} at rank {c.above + c.position}, but {who} "
                f"irrelevant item is ranked above: it is {share} there",
            ))  # fmt: skip
    return next((sentence for wrong, sentence in faults if wrong), "")


Item = namedtuple("Item", "above negatives tied position relevant mass count beyond")


def columns(items: list[Row]) -> list[Item]:
    """Return an Item for each row, with its position and the negatives of its instance counted."""
    size, seen = Counter(row.label for row in items), Counter[Any]()
    result = []
    for row in items:
        seen[row.label] += 1
        place, of = seen[row.label], size[row.label]
        above = row.rank - place
        result.append(Item(above, row.n - of, row.ties, place, of, row.mass, row.count, row.beyond))
    return result


def made(rows: list[Row], with_mass: bool) -> sd.RankSet:
    label, rank, n, ties, count, beyond, mass = zip(*rows, strict=True)
    more = {"mass_above": mass} if with_mass else {}
    return sd.RankSet("S", rank, n, instances=label, ties=ties, counts=count, beyond=beyond, **more)


def nearest(values: list[int], weights: list[float]) -> int:
    """Return the integer nearest to the weighted mean, rounding halves up."""
    pairs = list(zip(map(Fraction, weights), values, strict=True))
    return int(sum(w * x for w, x in pairs) / sum(w for w, _ in pairs) + Fraction(1, 2))


def check(rs: sd.RankSet, items: list[Item], with_mass: bool) -> None:
    """Check all derived values of a rank set by loops over its items."""
    rows, fields = rs.rows(), [name for name in Item._fields[:7] if with_mass or name != "mass"]
    for name in fields:
        assert getattr(rows, name).tolist() == [getattr(x, name) for x in items]
    assert (rows.mass is not None) == (rs.mass_above is not None) == with_mass
    firsts, ranks = [x for x in items if x.position == 1], [x.above + x.position for x in items]
    assert rank_sets.first_items(rs).negatives.tolist() == [x.negatives for x in firsts]
    total = sum(x.count for x in firsts)
    n = [x.negatives + x.relevant for x in items]
    hidden = [rank for rank, x in zip(ranks, items, strict=True) if x.beyond]
    most = max(x.relevant for x in items), max(x.negatives for x in items)
    assert (len(rs), rs.n_instances, rs.max_relevant, rs.max_negatives) == (len(n), total, *most)
    assert rs.has_ties == any(x.tied for x in items)
    largest = min(hidden) - 1 if hidden else None
    assert rs.largest_cutoff == largest
    sizes = f"{min(n)}" if min(n) == max(n) else f"{min(n)}..{max(n)}"
    end = f", ranks beyond {largest} unknown" if hidden else ""
    assert repr(rs) == f"RankSet('S', {total:g} instances, n = {sizes}{end})"
    for best in (True, False):
        ends = [rank if best or not x.beyond else x.negatives + x.position
                for rank, x in zip(ranks, items, strict=True)]  # fmt: skip
        whole = rs.completed(best)
        assert (whole.rows().above + whole.rows().position).tolist() == ends
        assert (whole.mass_above, whole.largest_cutoff) == (None, None)
        assert whole.rows().count.tolist() == [x.count for x in items]
    for ties in ("expected", "optimistic", "pessimistic"):
        wanted, masses, sizes = Counter[Any](), [0.0] * 14, defaultdict(list)
        for x in items:
            tied = x.tied if ties == "expected" else 0
            above = x.above + (x.tied if ties == "pessimistic" else 0)
            mass = (x.mass,) if with_mass else ()
            wanted[x.position, x.relevant, tied, x.negatives, above, *mass] += x.count
            sizes[x.position].append((x.negatives + 1, x.count))
            for rank in range(above + x.position, above + x.position + tied + 1):
                masses[rank] += x.count / (tied + 1)
        counts = rs.counted(ties)
        rows_of = zip(*(column.tolist() for column in counts.columns), strict=True)
        assert dict(zip(rows_of, counts.count.tolist(), strict=True)) == wanted
        assert counts.instances == total
        assert counts.positions == sorted(sizes)
        means = {at: nearest(*zip(*pairs, strict=True)) for at, pairs in sizes.items()}
        assert counts.populations == means
        shares = np.cumsum(masses) / sum(masses)
        ours = rank_sets.rank_distribution_at(rs, np.arange(14) + [0.0, 0.9] * 7, ties=ties)
        assert ours == pytest.approx(shares, abs=1e-14)


def test_tables_are_refused_by_rule_or_counted_row_by_row(monkeypatch) -> None:
    """``RankSet`` counts or refuses random tables as plain loops do, also with a cell changed."""
    monkeypatch.setattr(rank_sets, "_TABLE", 50)  # small, so that several blocks are needed
    rng, refused, digests = np.random.default_rng(1), Counter[str](), {}
    for number in range(400):
        rows, with_mass = table(rng), bool(number % 2)
        for cells in (rows, *(altered(rng, rows) for _ in range(4))):
            if sentence := refusal(cells, with_mass):
                refused[re.sub(r"'.*?'|[^a-z]", "", sentence)[:40]] += 1
                with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
                    made(cells, with_mass)
                continue
            rs = made(cells, with_mass)
            cut = 7 if with_mass else 6
            key = ((x.label, *x[2:cut]) for x in cells)
            digests[*key, *rs.ranks.tolist()] = rs.digest
            if cells is rows or number < 50:
                check(rs, columns(placed(cells)), with_mass)
    assert len(set(digests.values())) == len(digests) > 600
    assert len(refused) == 15, refused


def test_rows_and_labels_are_numbered_as_a_loop_numbers_them() -> None:
    rng = np.random.default_rng(2)
    ends = [0, 2**31 - 2, 2**31 - 1, 2**31], [5, -5, 10**12], [0.5, -1.5], [1, 2, 3]
    for _ in range(400):
        size = int(rng.integers(1, 12))
        columns = [rng.choice(ends[i], size) for i in rng.integers(0, 4, rng.integers(1, 6))]
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        first, kind = unique_rows(columns)
        assert first.tolist() == [rows.index(row) for row in sorted(set(rows))]
        assert kind.tolist() == [sorted(set(rows)).index(row) for row in rows]
        labels = np.sort(columns[0]) if rng.integers(2) else columns[0].astype(str)
        distinct = list(dict.fromkeys(labels.tolist()))
        codes, number = codes_of(labels)
        assert (codes.tolist(), number) == ([distinct.index(x) for x in labels], len(distinct))


def test_relevant_items_that_are_tied_get_each_order_equally_often() -> None:
    lists = np.repeat(np.arange(3000), 4)
    ranks, ties = np.tile([5, 2, 5, 9], 3000), np.tile([2, 3, 2, 1], 3000)
    places, left = (x.reshape(-1, 4) for x in draw_shared_ties(lists, ranks, ties))
    assert np.unique(places[:, [1, 3]], axis=0).tolist() == [[2, 9]]
    assert np.unique(left, axis=0).tolist() == [[0, 3, 0, 1]]
    seen = Counter(map(tuple, places[:, [0, 2]].tolist()))
    assert sorted(seen) == sorted(permutations([5, 6, 7], 2))
    assert max(abs(x - 500) for x in seen.values()) < 4 * np.sqrt(500 * 5 / 6)


def test_ranks_without_their_sampling_weights_are_those_of_a_uniform_scheme() -> None:
    rows = {"counts": [1, 2, 1], "provenance": "made"}
    known = sd.RankSet("M", [1, 5, 10], 10, mass_above=[0, 0.9, 1 - 1e-9], **rows)
    plain = known.without_mass()
    assert (plain.provenance, known.completed(True).provenance) == ("made", "made")
    assert plain == sd.RankSet("M", [1, 5, 10], 10, counts=[1, 2, 1])
    assert plain.without_mass() is plain
    # The items above a relevant item, or those below it, may have no sampling weight.
    sd.RankSet("M", [2, 9], 10, mass_above=[0, 1])
    # An item whose rank is only known to be beyond 9 may have rank 10 or more.
    listed = sd.RankSet("L", [10], 12, beyond=[True], mass_above=[0.7])
    assert listed.without_mass() == sd.RankSet("L", [10], 12, beyond=[True])
