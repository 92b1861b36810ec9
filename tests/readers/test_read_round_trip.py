"""Random tables are read as by a loop over rows; hostile files give a result or a clear error.
Here, only small hostile files are read; ``python -m tests.benchmarks.hostile`` reads all."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash import RankSet
from sampledash.readers import tables
from sampledash.readers.files import open_sources
from sampledash.readers.upload_limits import DifferentInstances
from tests import hostile
from tests.benchmarks.hostile import judged
from tests.hostile import named_fields, saved
from tests.readers.reading import buffer, read, refused

NAMES = ["A", "NA", "x y", "Ä", "BPR (d=16)", "'q'", "007", "nan", "1e3x"]
ODD = ["5", "17", "007", "7", "-3", "ü v", "x,y", "x;y", 'q"q', "1e3", "0x1", "a\nb"]
MORE = ["ties", "mass_above", "n", "provenance", "m", "adaptive"]
HAS = ["labelled", "several", "counted", "seeds", "beyond", "zero_based", "complete", *MORE]


def drawn(rng: np.random.Generator, never: str) -> tuple[list[dict[str, Any]], dict[str, bool]]:
    """Return random rows of a table, and which features of HAS it has (none in ``never``)."""
    has = {name: bool(rng.integers(2)) and name not in never.split() for name in HAS}
    labels = ["u", *rng.permutation(ODD)[: rng.integers(5)].tolist()]
    labels = [10 * i + 3 for i in range(5)] if rng.integers(2) else labels
    sizes = {x: int(rng.integers(1, 4)) for x in labels} if has["labelled"] & has["several"] else {}
    n = {x: int(rng.integers(90, 1000)) if has["n"] else 1000 for x in labels}
    rows = []
    for system in rng.permutation(NAMES)[: rng.integers(1, 4)].tolist():
        for seed, x in product((1, 2)[: 1 + has["seeds"]], labels):
            size = sizes.get(x, 1)
            if not has["complete"] and x != labels[0]:
                size = int(rng.integers(size + 1))
            count = int(rng.integers(x == labels[0], 5)) / 2 if has["counted"] else 1.0
            for k in sorted(rng.choice(20, size, replace=False).tolist()):
                late = has["beyond"] and k > 15
                rank = 71 if late else 3 * k + 1
                row = {"system": system, "user": x, "seed": seed, "rank": rank, "n": n[x]}
                row |= {"ties": has["ties"] * (not late) * int(rng.integers(3)), "count": count}
                row |= {"mass_above": (rank - 1) / 1000, "beyond": late, "provenance": "of ours"}
                row |= {"adaptive": "yes" if len(system) > 2 else "no"}
                rows.append(row | {"m": int(rng.integers(60, 80)) if has["m"] else 70})
    return [rows[i] for i in rng.permutation(len(rows))], has


def columns_of(rows, has, *, sampled: bool) -> dict[str, list[Any]]:
    ranks = [row["rank"] - has["zero_based"] for row in rows]
    if has["beyond"]:
        ranks = [">" * x["beyond"] + str(r - x["beyond"]) for r, x in zip(ranks, rows, strict=True)]
    told = {"user": has["labelled"], "seed": has["seeds"], "count": has["counted"], "system": True}
    told |= {name: has[name] for name in MORE}
    columns = {name: [row[name] for row in rows] for name, wanted in told.items() if wanted}
    return columns | {"sampled_rank" if sampled else "rank": ranks}


def systems_of(rows, has, apart: bool, sampled: bool) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each system (and seed, if ``apart``), with instance labels added."""
    order, groups = [row["system"] for row in rows], {}
    for row in rows:
        name = f"{row['system']} (seed {row['seed']})" if apart and has["seeds"] else row["system"]
        if row["count"]:
            groups.setdefault((order.index(row["system"]), name), []).append(row)
    averaged, named = has["seeds"] and not apart, {}
    for (_, name), group in sorted(groups.items(), key=lambda item: item[0][0]):
        numbers, named[name] = Counter(), []
        for row in group:
            numbers[row["seed"] * averaged] += 1
            label = row["user"] if has["labelled"] else numbers[row["seed"] * averaged]
            if averaged:
                label = f"{label} (seed {row['seed']})"
            if not has["labelled"] and (has["counted"] or (sampled and not averaged)):
                label = None
            named[name].append(row | {"label": label})
    return named


def aligned(named, has, instances: str):
    """Return the rows of the instances that are compared, or None if the table must be refused."""
    items = {name: Counter(row["label"] for row in rows) for name, rows in named.items()}
    if instances == "any" or len(named) < 2:
        return named
    if has["counted"] or not has["labelled"]:
        # Rows of a system with the same label are one instance, whose count is taken once.
        alone = (
            {row["label"] or i: row["count"] for i, row in enumerate(x)} for x in named.values()
        )
        return named if len({sum(counts.values()) for counts in alone}) == 1 else None
    every = set().union(*items.values())
    shared = {x for x in every if len({counter[x] for counter in items.values()}) == 1}
    if shared != every and (instances == "same" or not shared):
        return None
    return {name: [row for row in rows if row["label"] in shared] for name, rows in named.items()}


def set_of(system: str, rows, has, sampled: bool, options) -> sd.RankSet | sd.SampledRankSet:
    values = {name: [row[name] for row in rows] for name in rows[0]}
    labels = None if values["label"][0] is None else values["label"]
    if sampled:
        how = {"adaptive": values["adaptive"][0] == "yes" if has["adaptive"] else None}
        how |= {name: x for name in ("adaptive", "scheme") if (x := options[name]) is not None}
        columns = (values[name] for name in ("rank", "n", "m"))
        return sd.SampledRankSet(system, *columns, instances=labels, counts=values["count"], **how)
    mass = values["mass_above"] if has["mass_above"] else None
    how = {name: values[name] for name in ("ties", "beyond")} | {"counts": values["count"]}
    how["provenance"] = "of ours" * has["provenance"]
    return RankSet(system, values["rank"], values["n"], instances=labels, mass_above=mass, **how)


@pytest.mark.parametrize("seed", range(60))
def test_any_table_is_read_as_a_loop_over_its_rows_says(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    sampled = seed % 3 == 0
    rows, has = drawn(rng, "ties mass_above beyond provenance" if sampled else "m adaptive")
    options = {"runs": str(rng.choice(["averaged", "apart"])), "zero_based": has["zero_based"]}
    options["n"] = None if has["n"] else 1000
    named = systems_of(rows, has, options["runs"] == "apart", sampled)
    chosen = rng.permutation([*named])[: rng.integers(1, 9)].tolist() if seed % 2 else named
    names = {x: x + "*" * (seed % 4 == 3) for x in chosen}
    options["systems"] = [None, [*names], None, names][seed % 4]
    wanted = {names[x]: group for x, group in named.items() if x in names}
    if sampled:
        scheme = ["without-replacement", "with-replacement"][seed % 2]
        options |= {"m": None if has["m"] else 70, "scheme": scheme}
        options["adaptive"] = [None, True, False][rng.integers(3)]
    else:
        options["instances"] = str(rng.choice(["same", "shared", "any"]))
        wanted = aligned(wanted, has, options["instances"])
    call = sd.read_sampled_ranks if sampled else sd.read_rank_sets
    columns = columns_of(rows, has, sampled=sampled)
    frame = pd.DataFrame(columns)
    array, text = named_fields(columns), frame.to_csv(index=False, sep=",;\t"[seed // 3 % 3])
    for data, small in ((text, 2**20), (text, 0), (saved(columns), 0), (array, 0)):
        monkeypatch.setattr(tables, "SMALL", small)  # with 0, the parser of large files is used
        if wanted is None:
            refused(lambda x=data: call(buffer(x), **options), kind=DifferentInstances)
            continue
        found = call(buffer(data), **options)
        assert found == [set_of(x, group, has, sampled, options) for x, group in wanted.items()]
        if not sampled:
            assert {x.provenance for x in found} == {"of ours" * has["provenance"]}
    opened = open_sources(buffer(data))
    assert opened.systems(options["runs"]) == {x: len(group) for x, group in named.items()}
    assert (opened.repeated, opened.censored, opened.runs) == (has["seeds"], False, [])


@pytest.mark.parametrize("seed", range(20))
def test_a_column_for_each_system_is_a_row_for_each_rank(seed):
    rng = np.random.default_rng(seed)
    rows, has = drawn(rng, "several counted ties mass_above provenance m adaptive")
    every = {x: list(dict.fromkeys(row[x] for row in rows)) for x in ("system", "seed", "user")}
    rows.sort(key=lambda row: [every[x].index(row[x]) for x in every])
    ranks = columns_of(rows, has, sampled=False)["rank"]
    cells = {tuple(row[x] for x in every): rank for row, rank in zip(rows, ranks, strict=True)}
    sizes = {row["user"]: row["n"] for row in rows}
    pairs = [*product(every["seed"], every["user"])]
    wide = {"seed": [x for x, _ in pairs], "n": [sizes[x] for _, x in pairs]}
    wide |= {"user": [x for _, x in pairs]} if has["labelled"] else {}
    wide |= {f"of {x}": [cells.get((x, *pair), "") for pair in pairs] for x in every["system"]}
    for row in rows:  # if there is no column of labels, the reader numbers the rows
        row["system"] = f"of {row['system']}"
        row["user"] = row["user"] if has["labelled"] else every["user"].index(row["user"]) + 1
    has |= {"labelled": True, "seeds": len(every["seed"]) > 1}
    for runs, instances in product(["averaged", "apart"], ["same", "shared", "any"]):
        named = aligned(systems_of(rows, has, runs == "apart", False), has, instances)
        options = {"runs": runs, "instances": instances, "zero_based": has["zero_based"]}
        text = pd.DataFrame(wide).to_csv(index=False)
        if named is None:
            refused(lambda text=text, o=options: read(text, **o), kind=DifferentInstances)
        else:
            expected = [set_of(x, group, has, False, options) for x, group in named.items()]
            assert read(text, **options) == sd.parse_rank_text(text, **options) == expected


CASES: dict[str, list[hostile.Case]] = {}
for case in hostile.corpus():
    if not case.large:
        CASES.setdefault(case.kind, []).append(case)


@pytest.mark.parametrize("kind", CASES)
def test_hostile_files_end_in_a_sentence_or_a_right_result(kind):
    for case in CASES[kind]:
        wrong, _, _ = judged(case, case.data)
        assert not wrong, (case.kind, case.number, case.data[:200])


def test_the_second_reader_notices_a_difference():
    data = b"system,rank,n,count\nA,3,9,0.1\n"
    found = read(data, "x.csv")
    assert hostile.compared(data, found, "x") == ""
    for old, new in ((b"3,9", b"4,9"), (b"3,9", b"3,8"), (b"0.1", b"0.2"), (b"A", b"B")):
        assert hostile.compared(data.replace(old, new), found, "x")
