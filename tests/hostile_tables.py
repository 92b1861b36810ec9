"""Files of known tables in unusual formats, each kind with a second, independent reader. The
second readers are pandas, pyarrow and NumPy with the right options for one kind. Our readers must
find these options by themselves, or refuse the file."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

SYSTEMS = ["A", "B b", "iALS d=16"]
USERS = 7
_NO_NUMBERS = "{}%~{};~#{}~{}th~{},{}00~~{}'000~½{}~({})~{}/9~<{}~０{}~{} %~{}*~ ~≈{}"
_OTHER_NAMES = "r.orc r.avro r.parquet.gz part-0 r.csv.parquet r.xlsx r.csv.bz2"


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
    """Return a function that reads a text file by pandas with the options that are right for it."""
    how = {"keep_default_na": False, "dtype": str, "encoding": "utf-8", **how}
    return lambda data: pd.read_csv(io.BytesIO(data), **how)


def without(column: int, read: Callable[[bytes], pd.DataFrame]) -> Callable[[bytes], pd.DataFrame]:
    """Return a function that reads a file by ``read`` and drops the column at index ``column``."""
    return lambda data: (table := read(data)).drop(columns=table.columns[column])


def from_parquet(data: bytes) -> pd.DataFrame:
    return parquet.read_table(io.BytesIO(data)).to_pandas().reset_index(drop=True)


def add_tables(c: Any, seed: int) -> None:
    rng = np.random.default_rng([seed, 28])
    for part in (_odd_numbers, _texts, _numbers, _binaries):
        part(c, rng)


def _odd_numbers(c: Any, rng: np.random.Generator) -> None:
    for form in _NO_NUMBERS.split("~"):
        table = wide_table(rng).astype({"A": object})
        table["A"] = [form.format(rank, rank) for rank in table["A"]]
        for ending, data in (("csv", text(table)), ("parquet", stored(table, index=False))):
            c.add("table: no plain number", f"w.{ending}", data, refused=True)


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
        data = table.to_json(orient="records", lines=True).encode()
        add("JSON lines", data, lambda x: pd.read_json(io.BytesIO(x), lines=True))
    table = long_table(rng)
    once = table.assign(system=table["system"].where(~table["system"].duplicated(), ""))
    names = table["system"]  # the file has blanks for repeated names
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
    for name in _OTHER_NAMES.split():
        table = long_table(rng)
        c.add("table: name of another kind", name, text(table), right=by_pandas(), refused=False)
        data = stored(table, index=False)
        c.add("table: name of another kind", name, data, right=from_parquet, refused=False)
