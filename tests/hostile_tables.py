"""Hostile files whose table is known: each kind with a second reader that is told how it is made.

The second readers are pandas, pyarrow and NumPy with the right options for one kind, which our
readers have to find out by themselves, or refuse the file.
"""

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

SYSTEMS = ["A", "B b", "iALS d=16"]
USERS = 7
_INDEX_NAMES = (
    "Unnamed: 0~index~level_0~X~id~row~#~rownames~...1~~Index~row_id~ID~V1~__index_level_0__~idx"
)
_NO_NUMBERS = "{}%~{};~#{}~{}th~{},{}00~{}.~~{}'000~½{}~({})~{}/9~<{}~０{}~{} %~{}*~ ~≈{}"
_HIDDEN = (
    "\ufeff\ufeff{}~\u200b{}~{}\u200b~s\u200bystem~ｓｙｓｔｅｍ~sys\u00adtem~\u2060{}~\xa0{}\u3000~'{}'~"
    "`{}`~[{}]~# {}~#{}~{}\x0b~S Y S T E M~\u200e{}~{}\ufe0f~\u202a{}\u202c~‘{}’~*{}*~{}:~;{}"
)
_OTHER_NAMES = "r.orc r.avro r.parquet.gz part-0 r.csv.parquet r.xlsx r.csv.bz2"
_PARTITIONS = (
    "iALS d=16|iALS d=32~a%2Fb|a%20b|a%3Db~%C3%9Cber|Übel~5%|007|7~a+b|a'b|a\"b|a b ~"
    "2024-01-01|1e3|true|NULL|nan~=|a==b|x=system=y"
)
#: Names of folders that look like patterns, each beside a folder that it would match.
PATTERNS = {"r[1]": "r1", "r*": "r12", "r?": "r2", "r[!a]": "rb", "r[": "r", "r{1,2}": "r1"}


def long_table(rng: np.random.Generator) -> pd.DataFrame:
    pairs = [(system, f"u{user}") for system in SYSTEMS for user in range(USERS)]
    table = pd.DataFrame(pairs, columns=["system", "user"])
    return table.assign(rank=rng.integers(2, 900, len(table)), n=1000)


def wide_table(rng: np.random.Generator) -> pd.DataFrame:
    table = pd.DataFrame({"user": [f"u{i}" for i in range(USERS)], "n": 1000})
    return table.assign(**{system: rng.integers(2, 900, USERS) for system in SYSTEMS})


def text(table: pd.DataFrame, **how: Any) -> bytes:
    return table.to_csv(**{"index": False, **how}).encode()


def stored(table: Any, **how: Any) -> bytes:
    stream = io.BytesIO()
    if isinstance(table, pd.DataFrame):
        table.to_parquet(stream, **how)
    else:
        parquet.write_table(table, stream, **how)
    return stream.getvalue()


def by_pandas(**how: Any) -> Callable[[bytes], pd.DataFrame]:
    """A second reader of text with the options that are right for the file."""
    how = {"keep_default_na": False, "dtype": str, "encoding": "utf-8", **how}
    return lambda data: pd.read_csv(io.BytesIO(data), **how)


def with_names(table: pd.DataFrame, **how: Any) -> Callable[[bytes], pd.DataFrame]:
    """A second reader that knows the names of the columns, whatever the header says."""
    return by_pandas(skiprows=1, header=None, names=[*table.columns], **how)


def without(column: int, read: Callable[[bytes], pd.DataFrame]) -> Callable[[bytes], pd.DataFrame]:
    """A second reader that leaves a column out by its place."""
    return lambda data: (table := read(data)).drop(columns=table.columns[column])


def from_parquet(data: bytes) -> pd.DataFrame:
    return parquet.read_table(io.BytesIO(data)).to_pandas().reset_index(drop=True)


def packed(folder: str, files: dict[str, bytes]) -> bytes:
    """Files of a folder and of those beside it, as an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}"), data)
    return stream.getvalue()


def unpacked(data: bytes) -> Iterator[Path]:
    """A temporary folder with the files of an archive, given once."""
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                (path := Path(place, name)).parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
        yield Path(place)


def by_pyarrow(name: str, data: bytes) -> pd.DataFrame:
    """The table of a partitioned folder by pyarrow, which reads all behind the first = as value."""
    import pyarrow.dataset as ds  # which takes room that other files are measured by

    for place in unpacked(data):
        base = place / name
        files = sorted(base.rglob("*.parquet"))
        folders = {part for file in files for part in file.relative_to(base).parts[:-1]}
        keys = sorted({folder.split("=")[0] for folder in folders})
        fields = pa.schema([(key, pa.int64() if key == "n" else pa.string()) for key in keys])
        how = ds.partitioning(fields, flavor="hive")
        options = {"partitioning": how, "partition_base_dir": str(base)}
        table = ds.dataset([*map(str, files)], **options).to_table()
        return table.to_pandas()
    raise AssertionError


def add_tables(c: Any, seed: int) -> None:
    rng = np.random.default_rng([seed, 28])
    for part in (_indices, _systems, _headers, _foreign, _texts, _numbers, _binaries, _folders):
        part(c, rng)


def _indices(c: Any, rng: np.random.Generator) -> None:
    for place, name in enumerate(_INDEX_NAMES.split("~")):
        table, running = wide_table(rng), np.arange(USERS) + place % 2
        gaps = np.sort(rng.choice(99, USERS, replace=False))
        for values in (running, rng.permutation(running), gaps):
            indexed = table.copy()
            indexed.insert(0, name, values)
            # X with other values than a running number is a system, as far as one can see.
            system = name in ("X", "V1") and values is not running
            read = by_pandas() if system else without(0, by_pandas())
            c.add("table: index column", "i.csv", text(indexed), right=read)
        indexed[name] = running
        alone = text(indexed.drop(columns="user"), sep=";")
        c.add("table: index column", "i.csv", alone, right=without(0, by_pandas(sep=";")))
        if name:
            data, right = stored(indexed, index=False), without(0, from_parquet)
            c.add("table: index column", "i.parquet", data, right=right)
    for name in ("index", "level_0", "id", "customer", "X", None):
        table = pd.concat([wide_table(rng)] * 2, ignore_index=True)
        table["user"] += np.repeat(["a", "b"], USERS)
        table = table.set_index(pd.Index(range(1, len(table) + 1), name=name))
        data = stored(table, index=True)
        c.add("table: index of pandas", "i.parquet", data, right=from_parquet)
        data = text(table, index=True)
        c.add("table: index of pandas", "i.csv", data, right=without(0, by_pandas()))
    long, right = text(long_table(rng), index=True), without(0, by_pandas())
    c.add("table: index of pandas", "i.csv", long, right=right, refused=False)


def _systems(c: Any, rng: np.random.Generator) -> None:
    for name in ("X", "x", "V1", "C0"):  # systems, whose ranks do not count the rows
        table = wide_table(rng)
        table.insert(0, name, rng.integers(2, 900, USERS)[::-1])
        c.add("table: system X", "x.csv", text(table), right=by_pandas(), refused=False)
    for form in _NO_NUMBERS.split("~"):
        table = wide_table(rng).astype({"A": object})
        table["A"] = [form.format(rank, rank) for rank in table["A"]]
        # "3." is a number.
        right, refused = (by_pandas(), None) if form == "{}." else (None, True)
        c.add("table: no plain number", "w.csv", text(table), right=right, refused=refused)
        data = stored(table, index=False)
        c.add("table: no plain number", "w.parquet", data, refused=refused)
    for header in ("modell", "系统", "sуstem", "Systems ", "nom", "variante", "systen"):
        for drop in (["user"], ["n"], []):
            table = long_table(rng).rename(columns={"system": header}).drop(columns=drop)
            c.add("table: systems merged", "l.csv", text(table), right=_renamed(by_pandas()))
            data = stored(table, index=False)
            c.add("table: systems merged", "l.parquet", data, right=_renamed(from_parquet))


def _renamed(read: Callable[[bytes], pd.DataFrame]) -> Callable[[bytes], pd.DataFrame]:
    return lambda data: (table := read(data)).rename(columns={table.columns[0]: "system"})


def _headers(c: Any, rng: np.random.Generator) -> None:
    for place, form in enumerate(_HIDDEN.split("~")):
        table, mark = long_table(rng), ",\t;"[place % 3]
        data = text(table, sep=mark).replace(b"system", form.format("system").encode(), 1)
        right = with_names(table, sep=mark)
        c.add("table: hidden header", "h.csv", data, right=right)
        data = data.replace(b"rank", "ｒank\u200b".encode(), 1)
        c.add("table: hidden header", "h.csv", data, right=right)
    data = b"".join(b";" + line for line in text(long_table(rng)).splitlines(True))
    c.add("table: hidden header", "h.csv", data, right=lambda x: by_pandas()(x.replace(b";", b"")))
    for aliases in ("aaaa", "aabb", "aab-", "----", "db.db.db.db."):
        for table in (long_table(rng), wide_table(rng)[["user", "n", "A", "B b"]]):
            prefixes = [x + "." for x in (aliases[:4] if "d" not in aliases else ["db.t"] * 4)]
            pairs = zip(prefixes, table.columns, strict=True)
            names = [(prefix + name).removeprefix("-.") for prefix, name in pairs]
            data = text(table.set_axis(names, axis=1))
            right = _unqualified(by_pandas(), wide="A" in table)
            c.add("table: qualified header", "q.csv", data, right=right)
    for names in (["A.rank", "B.rank"], ["A.n", "A.rank", "B.n", "B.rank"], ["A.B", "A.n", "user"]):
        data = text(pd.DataFrame(rng.integers(900, 999, (USERS, len(names))), columns=names))
        c.add("table: qualified header", "q.csv", data)
    table = long_table(rng)
    for twice in ("rank", "Rank", " rank ", "system", "ranks", "User"):
        data = text(table.assign(**{"other": 5}).rename(columns={"other": twice}))
        c.add("table: header twice", "t.csv", data, refused=True)
    wide = wide_table(rng).assign(a=5, **{"b b": 6})
    c.add("table: header twice", "t.csv", text(wide), right=by_pandas(), refused=False)
    for columns in (["user", "item", "rating"], ["user", "item"]):
        for twice in columns:
            for again in (twice, twice.upper(), f" {twice}"):
                end = ",1" * (len(columns) > 2)
                rows = [f"{i % 3},{i},{i % 5}{end}\n" for i in range(9)]
                data = f"{','.join([*columns, again])}\n{''.join(rows)}".encode()
                more = {"reader": "interactions", "refused": True}
                c.add("table: interactions twice", "i.csv", data, **more)


def _unqualified(read: Callable[[bytes], pd.DataFrame], *, wide: bool) -> Any:
    """Without the names of tables; systems of a wide table may keep theirs."""

    def right(data: bytes) -> pd.DataFrame:
        table = read(data)
        tails = [name.rpartition(".")[2] for name in table.columns]
        known = {"user", "n"} if wide else {"system", "user", "rank", "n"}
        pairs = zip(table.columns, tails, strict=True)
        return table.set_axis([tail if tail in known else name for name, tail in pairs], axis=1)

    return right


def _foreign(c: Any, rng: np.random.Generator) -> None:
    days, prices = pd.date_range("2024-01-01", periods=USERS), rng.integers(100, 900, USERS)
    forms = ("date", "%Y-%m-%d"), ("date", "%d.%m.%Y"), ("Datum", "%m/%d/%Y")
    written = [(name, days.strftime(x)) for name, x in (*forms, ("when", "%Y-%m-%d %H:%M:%S"))]
    written += [("timestamp", days.astype("int64") // 10**9), ("day", days)]
    for name, dates in (*written, ("name", [f"user {i}" for i in range(USERS)])):
        for more in ({}, {"volume": prices[::-1]}):
            if name == "name" and more:  # may well be labels and two systems
                continue
            table = pd.DataFrame({name: dates, "price": prices, **more})
            for ending, data in (("csv", text(table)), ("parquet", stored(table, index=False))):
                c.add("table: of something else", f"f.{ending}", data, refused=True)


def _texts(c: Any, rng: np.random.Generator) -> None:
    def add(kind: str, data: bytes, right: Any = None, **more: Any) -> None:
        c.add(f"table: {kind}", "x.csv", data, right=right, **more)

    but_the_last = by_pandas(skipfooter=1, engine="python")
    for table in (long_table(rng), wide_table(rng)):
        data = text(table)
        lines = data.splitlines(keepends=True)
        middle = b"".join([*lines[:4], lines[0], *lines[4:]])
        add("header in the middle", middle, by_pandas(skiprows=[4]))
        ends = [b"\n", b"\r\n", b"\r"]
        mixed = b"".join(line.strip() + ends[i % 3] for i, line in enumerate(lines))
        add("mixed line ends", mixed, lambda x: by_pandas()(b"\n".join(x.splitlines())))
        for label in ("Total", "total", "Sum", "Mean", "", "TOTAL:"):
            sums = [str(table[x].sum()) if table[x].dtype.kind == "i" else label for x in table]
            add("totals", data + ",".join(sums).encode() + b"\n", but_the_last)
        for note in (b"n = 1000\n", b"# end\n", b"\x1a", b"Source: ours\n", b"...\n"):
            add("note at the end", data + note, but_the_last)
        for note in (b"# by us\n", b"sep=,\n", b"\n\n", b"Table 1,,,\n", b'"Ranks"\n', b"#,,,\n"):
            add("note at the top", note + data, by_pandas(skiprows=note.count(b"\n")))
        units = ",".join(["-"] * len(table.columns)).encode() + b"\n"
        below = b"".join([lines[0], units, *lines[1:]])
        add("units under the header", below, by_pandas(skiprows=[1]))
        add("all quoted", text(table, quoting=1), by_pandas(), refused=False)
        quoted = text(table, quoting=1).replace(b'"', b"'")
        add("single quotes", quoted, by_pandas(quotechar="'"))
        for mark in ("|", " ", ":", "::", "\x01", ", ", "\t\t"):
            marks = {"sep": mark.rstrip() if mark == ", " else mark, "skipinitialspace": True}
            plain = len(mark.strip()) == 1
            right = by_pandas(engine="python", **marks) if plain else None
            add("other separators", data.replace(b",", mark.encode()), right)
        ended = b"".join(x.rstrip() + b",\n" for x in lines)
        add("comma at the end", ended, without(-1, by_pandas(index_col=False)))
        add("comma at the beginning", b"".join(b"," + x for x in lines), without(0, by_pandas()))
        rows = [b"%d,%s" % (i, x) if i else x for i, x in enumerate(lines)]
        add("rows longer than the header", b"".join(rows), by_pandas(index_col=0))
        marked = b"".join(b"| " + x.strip().replace(b",", b" | ") + b" |\n" for x in lines)
        add("Markdown", marked, _cells_of("|"))
        marked = b"".join(x.strip().replace(b",", b" & ") + b" \\\\\n" for x in lines)
        add("LaTeX", marked, lambda x: _cells_of("&")(x.replace(b"\\\\", b"")))
        for code in ("utf-16", "utf-16-be", "utf-32", "cp1252", "utf-8-sig", "cp037"):
            marked = table.rename(columns={"A": "Ä"}).replace({"system": {"A": "Ä"}})
            data = marked.to_csv(index=False).encode(code)
            add("other encodings", data, by_pandas(encoding=code))
        add("JSON lines", table.to_json(orient="records", lines=True).encode(), refused=True)
    table = long_table(rng)
    once = table.assign(system=table["system"].where(~table["system"].duplicated(), ""))
    names = table["system"]  # also where they are left blank
    add("names said once", text(once), lambda data: by_pandas()(data).assign(system=names))
    spaced = table.assign(system=[x + " " * (i % 2) for i, x in enumerate(table["system"])])
    add("spaces behind names", text(spaced), lambda x: by_pandas()(x).map(str.strip), refused=False)
    two = b",".join([b"ranks"] * 4) + b"\n"
    add("two headers", two + text(table), by_pandas(skiprows=1))


def _cells_of(mark: str) -> Callable[[bytes], pd.DataFrame]:
    def read(data: bytes) -> pd.DataFrame:
        lines = (line.strip().strip(mark).split(mark) for line in data.decode().splitlines())
        head, *rows = ([cell.strip() for cell in line] for line in lines)
        return pd.DataFrame(rows, columns=head)

    return read


def _numbers(c: Any, rng: np.random.Generator) -> None:
    for form in ("{}.0", "{}.", "+{}", "00{}", "{}e0", " {} ", "{}.000", "{}00e-2"):
        table = long_table(rng)
        for mark in ",;":
            data = text(table.assign(rank=[form.format(x) for x in table["rank"]]), sep=mark)
            c.add("table: numbers otherwise", "n.csv", data, right=_whole(by_pandas(sep=mark)))
    for thousands in (",", ".", "'", " ", "\xa0", "\u202f", "_"):
        table = long_table(rng).assign(n=10_000)
        table["rank"] += 1000
        written = [f"{x:,}".replace(",", thousands) for x in table["rank"]]
        for mark in ",;\t":
            data = text(table.assign(rank=written), sep=mark, quoting=1)
            right = _plain(by_pandas(sep=mark), thousands)
            c.add("table: thousands apart", "n.csv", data, right=right)
    for mark in ";\t":
        for written in ("{},0", "{},5", "{},00"):
            table = long_table(rng)
            data = text(table.assign(rank=[written.format(x) for x in table["rank"]]), sep=mark)
            right, refused = (None, True) if "5" in written else (_whole(by_pandas(sep=mark)), None)
            c.add("table: decimal commas", "n.csv", data, right=right, refused=refused)


def _whole(read: Callable[[bytes], pd.DataFrame]) -> Callable[[bytes], pd.DataFrame]:
    def whole(number: str) -> int:
        return int(float(number.replace(",", ".")))

    return lambda data: (table := read(data)).assign(rank=table["rank"].map(whole))


def _plain(read: Callable[[bytes], pd.DataFrame], mark: str) -> Callable[[bytes], pd.DataFrame]:
    return lambda data: (table := read(data)).assign(rank=table["rank"].str.replace(mark, ""))


def _binaries(c: Any, rng: np.random.Generator) -> None:
    for codec in ("none", "gzip", "zstd", "brotli", "lz4", "snappy"):
        data = stored(pa.Table.from_pandas(wide_table(rng)), compression=codec, row_group_size=2)
        c.add("table: packed columns", "c.parquet", data, right=from_parquet, refused=False)
    for kind in ("int8", "uint64", "float32", "category", "Int16", "string", "object"):
        table = long_table(rng)
        table["rank"] = pd.Series(table["rank"] % 100 + 1).astype(kind)
        data = stored(table, index=False)
        c.add("table: types of ranks", "t.parquet", data, right=from_parquet, refused=False)
    for name in _OTHER_NAMES.split():
        table = long_table(rng)
        c.add("table: name of another kind", name, text(table), right=by_pandas(), refused=False)
        data = stored(table, index=False)
        c.add("table: name of another kind", name, data, right=from_parquet, refused=False)
    orc = b"ORC\x11\x00\x00\n\x12" + bytes(range(256)) + b"ORC\x17"
    c.add("table: ORC", "r.orc", orc, refused=True)
    data, gz = stored(long_table(rng), index=False), partial(gzip.compress, mtime=0)
    for twice in (gz(data), gz(gz(data)), gz(data[:9]) + gz(data[9:])):
        right = None if twice == gz(gz(data)) else lambda x: from_parquet(gzip.decompress(x))
        c.add("table: gzip of gzip", "g.parquet.gz", twice, right=right)
    marks = {"system": ["A"] * 4, "user": ["u"] * 4, "item": [1, 2, 3, 4], "score": [1.0, 2, 3, 2]}
    marked = [False, True, None, False], ["false", "TRUE", None, " no"], [0.0, 1.0, None, 0.0]
    for relevant in (*map(pa.array, marked[:2]), pa.array([0, 1, None, 0], pa.int8()), marked[2]):
        data = stored(pa.table({**marks, "relevant": relevant}))
        right = pd.DataFrame({"system": ["A"], "user": ["u"], "rank": [2], "ties": [1], "n": [4]})
        more = {"reader": "scores", "right": lambda _, right=right: right}
        c.add("scores: marks", "m.parquet", data, refused=False, **more)


def _folders(c: Any, rng: np.random.Generator) -> None:
    def add(kind: str, name: str, files: dict[str, bytes], **more: Any) -> None:
        inside = {key if key.startswith("../") else f"{name}/{key}": x for key, x in files.items()}
        data = packed("all", {key.removeprefix("../"): x for key, x in inside.items()})
        right = partial(by_pyarrow, f"all/{name}")
        c.add(f"folder: {kind}", name, data, reader="folder", **{"right": right, **more})

    def part() -> bytes:
        return stored(long_table(rng).query("system == 'A'").drop(columns="system"), index=False)

    for name, other in PATTERNS.items():
        both = {"part-0.parquet": stored(long_table(rng), index=False)}
        both[f"../{other}/part-0.parquet"] = stored(long_table(rng), index=False)
        add("named as a pattern", name, both, refused=False)
    for values in _PARTITIONS.split("~"):
        files = {f"system={x}/part-{i}.parquet": part() for i, x in enumerate(values.split("|"))}
        add("partitions", "er", files, refused=False)
        nested = {f"n=1000/{name}": _less(data, "n") for name, data in files.items()}
        add("nested partitions", "er[0]", nested, refused=False)
    files = {f"system={x}/part-0.parquet": part() for x in ("A", "__HIVE_DEFAULT_PARTITION__")}
    add("blank partition", "er", files, refused=True)
    empty = stored(from_parquet(part()).iloc[:0], index=False)
    files = {"system=A/0.parquet": part(), "system=A/1.parquet": empty}
    add("empty partition", "er", {**files, "_SUCCESS": b"", "system=A/.x.crc": b""})
    uneven = {"system=A/0.parquet": part(), "1.parquet": part()}
    add("uneven partitions", "er", uneven, refused=True)
    add("no Parquet", "er", {"a.csv": text(long_table(rng))}, refused=True)
    add("above the folder", "system=X/er", {"p.parquet": stored(long_table(rng), index=False)})


def _less(data: bytes, column: str) -> bytes:
    return stored(from_parquet(data).drop(columns=column), index=False)
