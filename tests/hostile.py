"""Malformed and misleading files, made from a seed, with facts about how they must be read."""

import gzip
import io
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from sampledash import RankSet, SampledRankSet
from sampledash.readers.files import read_rank_sets, read_sampled_ranks
from sampledash.readers.pasted import parse_rank_text
from sampledash.readers.printed_table import read_printed
from sampledash.readers.upload_limits import stem_of
from tests import second_reader
from tests.hostile_tables import add_tables, stored

N = 1000
gz = partial(gzip.compress, mtime=0)
QRELS = b"q1 0 d1 1\nq2 0 d2 1\nq2 0 d9 1\n"


@dataclass(frozen=True)
class Case:
    """A hostile file, identified by ``kind`` and ``number``; its ``name`` may be misleading.
    ``refused``: True if only an error is right, False if only a result is, None if either is
    right. ``right`` is an independent reader of the file, with the options that are right for
    it."""

    kind: str
    number: int
    name: str
    write: Callable[[], Iterator[bytes]]
    reader: str = "ranks"
    refused: bool | None = None
    large: bool = False
    right: Callable[[bytes], pd.DataFrame] | None = None

    @property
    def data(self) -> bytes:
        return b"".join(self.write())


@dataclass
class Corpus:
    rng: np.random.Generator
    cases: list[Case] = field(default_factory=list)

    def add(self, kind: str, name: str, data: bytes | Callable[[], Iterator[bytes]], **more: Any):
        number = sum(case.kind == kind for case in self.cases)
        write = data if callable(data) else (lambda: iter([data]))
        self.cases.append(Case(kind, number, name, write, **more))


def long_csv(rng, mark=",", counts=False, sampled=False) -> bytes:
    head = ["model", "user", "sampled_rank" if sampled else "rank", "n_items"]
    head += ["m"] if sampled else ["ties"]
    head += ["count"] if counts else []
    lines = [mark.join(head)]
    for system in ("A", "B b", "Ä"):
        for user in range(6):
            row = [system, f"u{user}", rng.integers(1, 21 if sampled else 500), N]
            row += [20] if sampled else [rng.integers(0, 9)]
            row += [rng.integers(0, 5) + 0.5 * rng.integers(0, 2)] if counts else []
            lines.append(mark.join(map(str, row)))
    return ("\n".join(lines) + "\n").encode()


def wide_csv(rng, mark=",") -> bytes:
    lines = [mark.join(["user", "n", "A", "B b", "comment"])]
    lines += [mark.join(map(str, [f"u{i}", N, *rng.integers(1, 999, 2), "x"])) for i in range(8)]
    return ("\n".join(lines) + "\n").encode()


def run_text(rng) -> bytes:
    lines = [
        f"q{q} Q0 d{d} {d + 1} {round(9 - d + float(rng.random()), 3)} {tag}"
        for tag, q, d in product("AB", (1, 2), range(12))
    ]
    return ("\n".join(lines) + "\n").encode()


def saved(table: Any) -> bytes:
    return stored(table if isinstance(table, pa.Table) else pa.table(table))


def npz(**arrays: Any) -> bytes:
    np.savez_compressed(stream := io.BytesIO(), **arrays)
    return stream.getvalue()


def npy(array, **options) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def named_fields(columns: dict[str, Any]) -> bytes:
    kinds = {name: np.asarray(values).dtype for name, values in columns.items()}
    return npy(pd.DataFrame(columns).to_records(index=False, column_dtypes=kinds))


PRINTED = (
    "Model & HR@10 & NDCG@10 & MRR \\\\\n\\midrule\nBPR & 0.662 & 0.392 & 0.311 \\\\\n"
    "SASRec & \\textbf{0.721} & 0.431 & 0.352 \\\\\nImprov. & 8 \\% & 9 \\% & 9 \\% \\\\\n"
)
_ODD = (
    "~ ~-1~0~1~2.5~1e3~1e300~1e400~nan~NaN~inf~-inf~NULL~None~True~0x10~1_000~1,000~1.000,5~٣~３~"
    "½~9223372036854775807~18446744073709551616~-9223372036854775808~1000000000001~"
    "4611686018427387904~5e-324~\u202e12~=1+1~<b>x</b>~12\xa0~\x0b7~a\tb~\"~'~\\~é́~💥~999~1000~"
    "1001~X1500~3.~+7~007~--5~5-~1/2~#N/A~#~n = 5"
)
TOKENS = [token.replace("X1500", "x" * 1500) for token in _ODD.split("~")]


def mutated(rng, data: bytes) -> bytes:
    """Return the data with one to three random changes of bytes, cells or lines."""
    for _ in range(int(rng.integers(1, 4))):
        way, lines = int(rng.integers(9)), data.split(b"\n")
        at = int(rng.integers(len(lines)))
        if way == 0 and data:
            place = int(rng.integers(len(data)))
            data = data[:place] + bytes([int(rng.integers(256))]) + data[place + 1 :]
        elif way == 1:
            data = data[: int(rng.integers(len(data) + 1))]
        elif way == 2:
            data = b"\n".join([*lines[:at], lines[at], *lines[at:]])
        elif way == 3:
            data = b"\n".join([*lines[:at], *lines[at + 1 :]])
        elif way in (4, 5, 6):
            marks = [m for m in (b",", b";", b"\t", b" ", b"&", b":") if m in lines[at]] or [b","]
            mark = marks[int(rng.integers(len(marks)))]
            cells, token = lines[at].split(mark), TOKENS[int(rng.integers(len(TOKENS)))].encode()
            cells[int(rng.integers(len(cells)))] = token
            lines[at] = mark.join(cells)
            data = b"\n".join(lines)
        elif way == 7:
            order = rng.permutation(len(lines))
            data = b"\n".join(lines[i] for i in order)
        else:
            data = data.replace(b"\n", [b"\r\n", b"\r", b"\n\n", b"\n \n"][int(rng.integers(4))])
    return data


HEAD = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }"


def npy_header(text: str, body: bytes = b"\1\0\0\0\0\0\0\0" * 60, version: int = 1) -> bytes:
    raw = text.encode("utf-8" if version == 3 else "latin-1", "replace").ljust(117) + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(raw))
    return b"\x93NUMPY" + bytes([version, 0]) + size + raw + body


def numbers(values) -> str:
    return ",".join(map(str, values))


def corpus(seed: int = 0) -> list[Case]:
    c = Corpus(np.random.default_rng(seed))
    rng = c.rng
    for i in range(24):
        mark, broken = ",;\t"[i % 3], mutated if i % 4 else (lambda rng, data: data)
        c.add("long", "long.csv", broken(rng, long_csv(rng, mark)))
        c.add("counts", "counts.csv", broken(rng, long_csv(rng, mark, counts=True)))
        seeds = long_csv(rng, mark).replace(b"ties", b"seed")
        c.add("seeds", "seeds.csv", broken(rng, seeds))
        c.add("wide", "wide.csv", broken(rng, wide_csv(rng, mark)))
        c.add("sampled", "s.csv", broken(rng, long_csv(rng, mark, sampled=True)), reader="sampled")
        c.add("run", "run.txt", broken(rng, run_text(rng)), reader="run")
    for _ in range(16):
        typed = f"A: {numbers(rng.integers(1, 99, 5))}\nrun 1: {numbers(rng.integers(1, 99, 5))}\n"
        c.add("pasted", "pasted text", mutated(rng, f"{typed}n = {N}\n".encode()), reader="pasted")
        c.add("printed", "the table", mutated(rng, PRINTED.encode()), reader="printed")
        table = {"system": [*"AAABBB"], "user": [0, 1, 2] * 2, "rank": rng.integers(1, N, 6)}
        c.add("parquet, damaged", "d.parquet", _flipped(rng, saved({**table, "n": [N] * 6})))
        c.add("array, damaged", "d.npy", _flipped(rng, npy(rng.integers(1, N, 20))))
        scores = _flipped(rng, npz(pos=rng.normal(size=9), neg=rng.normal(size=(9, 5))))
        c.add("scores, damaged", "d.npz", scores, reader="sampled")
        packed = gz(long_csv(rng))
        c.add("gzip, damaged", "d.csv.gz", _flipped(rng, packed))
    for token in TOKENS:
        for head in ("rank,n", "A,B", "system,rank,count,n", "user,rank,ties"):
            cells = ["3"] * (head.count(",") + 1)
            cells[int(rng.integers(len(cells)))] = token
            c.add("one odd cell", "odd.csv", f"{head}\n{','.join(cells)}\n".encode())
    _types(c)
    _headers(c)
    _packed(c)
    _encodings(c)
    add_tables(c, seed)
    _large(c)
    return c.cases


def _flipped(rng, data: bytes) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(0, len(data), int(rng.integers(1, 5))):
        changed[place] = int(rng.integers(256))
    return bytes(changed[: int(rng.integers(len(data)))] if rng.random() < 0.2 else changed)


def _types(c: Corpus) -> None:
    one_two, texts = [1, 2], [b"1", b"2"]
    rows: dict[str, tuple[Any, ...]] = {
        "list": ([[1], [2]],), "struct": ([{"a": 1}, {"a": 2}],),
        "map": ([[("k", 1)], [("k", 2)]], pa.map_(pa.string(), pa.int64())),
        "bytes": (texts,), "large bytes": (texts, pa.large_binary()),
        "fixed bytes": (texts, pa.binary(1)), "null": ([None] * 2, pa.null()),
        "date": (one_two, pa.date32()), "timestamp": (one_two, pa.timestamp("ns")),
        "zoned": (one_two, pa.timestamp("us", "UTC")), "time": (one_two, pa.time32("s")),
        "duration": (one_two, pa.duration("ms")), "bool": ([True, False],),
        "decimal": (one_two, pa.decimal128(38, 0)), "fine": (one_two, pa.decimal256(50, 9)),
        "dictionary": (["1", "x"], pa.dictionary(pa.int32(), pa.string())),
        "half": (np.array([1, 2], "f2"),), "huge": ([2**63 - 1, 1],),
        "unsigned": ([2**64 - 1, 1], pa.uint64()), "float": ([1e300, np.inf],),
        "nan": ([np.nan, 1.0],), "gap": ([None, 1],), "text": (["1", "2"], pa.large_string()),
        "nested": ([[{"a": [1]}], [None]],), "json": (['{"a": 1}', "[]"],),
        "long text": (["x" * 5000, "1"],),
    }  # fmt: skip
    for what, column in ((name, pa.array(*row)) for name, row in rows.items()):
        for role in ("system", "instance", "rank", "n", "count", "seed", "B"):
            base = {"A": [1, 2]} if role == "B" else {"rank": [1, 2]}
            c.add(f"type {what}", "t.parquet", saved({**base, role: column}))
    for name in ("rank", "rank", "a.b", "", "x" * 3000, "n", "__index_level_0__", "Rank "):
        table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["rank", name])
        c.add("parquet, names", "n.parquet", saved(table))


def _headers(c: Corpus) -> None:
    shapes = (
        "(True,)|(-1,)|(2, True)|(10**9,)|(1e2,)|3|None|()|(0,)|(1, 2, 3)|(99999999999999999999,)",
        "(3L,)|(2, 2, 2)|(3, 0)|(1, 60)|(60, 1)|(7.0,)|('3',)|[3]|(4611686018427387904, 4)|(1,)*9",
    )
    kinds = (
        "'O'~'a5'~'<U0'~'|V8'~'<f16'~'<c16'~'(2,)i8'~[('rank', 'O')]~[]~{}~'\\d'~"
        "[('rank', [('a', '<i8')])]~[('rank', '<f16')]~[('\\ud800', '<i8'), ('rank', '<i8')]",
        "'<i8, <i8'~'<M8[ns]'~'|b1'~None~5~[('', '<i8')]~'<i3'~'>u8'~'<f2'~__import__('os')~"
        "[('rank', '<i8'), ('rank', '<i8')]~[('system', '<U900'), ('rank', '<i8')]",
    )
    for refused, some, other in zip((True, None), shapes, kinds, strict=True):
        for shape in some.split("|"):
            data = npy_header(HEAD % ("'<i8'", "False", shape))
            c.add("array, shape", "s.npy", data, refused=refused)
        for kind in other.split("~"):
            data = npy_header(HEAD % (kind, "False", "(3,)"))
            c.add("array, type", "t.npy", data, refused=refused)
    for fortran in ("True", "1", "None", "'x'", "0.5"):
        c.add("array, order", "o.npy", npy_header(HEAD % ("'<i8'", fortran, "(3, 2)")))
    for version in (0, 2, 3, 4, 255):
        text = HEAD % ("'<i8'", "False", "(3,)")
        c.add("array, version", "v.npy", npy_header(text, version=version))


def _packed(c: Corpus) -> None:
    good, empty = gz(long_csv(c.rng)), gz(b"")
    after, cut = [good + more for more in (b"\0" * 99, b"x")], [gz(good), good[:-4], good[:10]]
    ends = b"", b"\x08\x08" + b"a" * 5000, b"\x08\x1f" + b"\xff" * 99
    heads = [b"\x1f\x8b" + more for more in ends]
    for data in (empty * 500 + good, *after, *cut, *heads, empty):
        c.add("gzip, odd", "p.csv.gz", data)
    zipped = (
        b"PK\x03\x04|BZh9|\xfd7zXZ|(\xb5/\xfd|%PDF-|\x89PNG|ARROW1|\x80\x04|SQLite format 3|"
        b'GIF8|\xff\xd8\xff|<html|{"a"|PAR1'
    )
    for magic in zipped.split(b"|"):
        for name in ("w.csv", "w.parquet", "w"):
            noise = c.rng.integers(0, 256, 200, dtype=np.uint8).tobytes()
            c.add("wrong kind", name, magic + noise, refused=True)


def _encodings(c: Corpus) -> None:
    text = long_csv(c.rng).decode()
    for encoding in ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-8-sig", "utf-7"):
        c.add("encoding", "e.csv", text.encode(encoding, "replace"))
    changes = (
        "u1->u\x001~u1->u\x07\x1b[31m~A->\u202eA~u->\u200b~,->，~\n->\u2028~\n->\x0c~\n->\r~"
        'A->"A~A->"A\n'
    )
    odd = [text.replace(*pair.split("->")) for pair in changes.split("~")]
    odd += ["\ufeff" * 3 + text, text.upper(), '"' * 999, "," * 500, ";" * 500 + "\n1", "\n" * 999]
    odd += ["rank\n" + "3\n" * 9 + '"', "rank;n,m\n1;2,3\n", "a:1\nb:2\n", "\\", "=", "#\n#"]
    for each in odd:
        c.add("odd text", "o.csv", each.encode())
        c.add("odd pasted text", "pasted text", each.encode(), reader="pasted")
    names = (
        "rank,rank|rank,Rank|,|1,2|rank,,| rank ,n|rаnk,n|user,uid,rank|system,system|"
        "n,n_items,rank|rank,n,m,ties,count,seed,fold|count,A|ties,A|mass_above,rank|"
        'sampled_rank,n|true_rank,m|"rank","n\n"|rank\trank|n|user'
    )
    for head in names.split("|"):
        cells = ["2"] * len(re.split("[,\t]", head))
        c.add("names of columns", "h.csv", f"{head}\n{','.join(cells)}\n".encode())


def _large(c: Corpus) -> None:
    def lines(head: str, one: Callable[[int], str], many: int) -> Callable[[], Iterator[bytes]]:
        def write() -> Iterator[bytes]:
            yield head.encode()
            for start in range(0, many, 100_000):
                stop = min(start + 100_000, many)
                yield "".join(one(i) for i in range(start, stop)).encode()

        return write

    def pieces(*parts: tuple[bytes, int]) -> Callable[[], Iterator[bytes]]:
        return lambda: (part for part, times in parts for _ in range(times))

    def big(kind: str, name: str, write, **more: Any) -> None:
        c.add(kind, name, write, large=True, **more)

    over, names = partial(big, refused=True), [f"S{i}" for i in range(100_000)]
    head, row = ",".join(names), ",".join(["3"] * len(names))
    over("many columns", "w.csv", f"rank,{head}\n3,{row}\n".encode())
    over("many columns", "w.npy", npy(np.ones((2, 100_000), dtype=int)))
    over("many columns", "w.parquet", lambda: iter([saved({n: [3] for n in names[:20_000]})]))
    over("many columns", "the table", f"Model,{head}\nA,{row}\n".encode(), reader="printed")
    many = partial(over, "many systems")
    many("s.csv", lines("system,rank,n\n", "S{},3,9\n".format, 100_000))
    sampled = lines("system,sampled_rank,n,m\n", "S{},3,9,5\n".format, 100_000)
    many("s.csv", sampled, reader="sampled")
    many("run.txt", lines("", "q1 Q0 d{0} 1 1.0 T{0}\n".format, 100_000), reader="run")
    many("pasted text", lines("", "S{}: 3\n".format, 100_000), reader="pasted")
    big("many repetitions", "r.csv", lines("seed,rank,n\n", "{},3,9\n".format, 300_000))
    over("many members", "m.csv.gz", pieces((gz(b"") * 1000, 8000)))
    bomb = b"rank,n\n", b"3,9\n"
    over("bomb", "b.csv.gz", lambda: iter([gz(bomb[0] + bomb[1] * 20_000_000, 9)]))

    def unfolding() -> Iterator[bytes]:
        part = pa.table({"user": ["x" * 190] * 10_000, "rank": np.ones(10_000, dtype=int)})
        stream = io.BytesIO()
        with parquet.ParquetWriter(stream, part.schema) as writer:
            for _ in range(190):
                writer.write_table(part)
        yield stream.getvalue()

    big("bomb", "b.parquet", unfolding)
    over("bomb", "b.parquet", lambda: iter([saved({"rank": np.ones(30_000_000, "i1")})]))
    over("long line", "l.csv", pieces((b"rank,n\n", 1), (b"x" * 10**6, 100)))
    over("long line", "l.txt", pieces((b"q Q0 d 1 1 ", 1), (b"t" * 10**6, 90)))
    cell = b"x\n" * 10**5
    over("long cell", "l.csv", pieces((b'system,rank,n\n"', 1), (cell, 500), (b'",3,9\n', 1)))

    def rows(head: str, one: Callable[[int], str], many: int, **more: Any) -> None:
        big("many rows", "r.csv", lines(head, one, many), **more)

    def varied(many: int) -> dict[str, Any]:
        rng = np.random.default_rng(many)
        own = {"rank": rng.integers(1, 99_999, many), "n": rng.integers(99_999, 10**6, many)}
        return own | {"count": rng.integers(1, 9, many)}

    most, labelled = 9_900_000, 2_900_000
    plain, users = "rank,n\n", "user,rank,n\n"
    rows(plain, lambda i: f"{i + 1},9999999\n", most)
    rows(plain, lambda i: f"{i + 1},9999999\n", 10_100_000, refused=True)
    counted, head = "S{},{},{},{}\n".format, "system,rank,n,count\n"
    rows(head, lambda i: counted(i % 3, i % 99_991 + 1, 99_999, i % 9), most)
    rows(plain, lambda i: f"{i + 1}{'x' * (i == 8_999_999)},9\n", most, refused=True)
    head = "sampled_rank,n,m\n"
    rows(head, lambda i: f"{i % 21 + 1},{99 + i},{20 + i % 5}\n", labelled, reader="sampled")
    rows(users, lambda i: f"{i},{i + 1},9999999\n", labelled)
    rows("seed,model,rank,n\n", lambda i: f"{i % 5},A{i % 2},3,{9 + i}\n", labelled)
    rows(users, lambda i: f"u{i % 9999},{i + 1},9999999\n", 1_900_000)
    big("many rows", "r.npy", npy(np.ones(10_100_000, "i1")), refused=True)
    big("many rows", "r.parquet", lambda: iter([saved(varied(most))]))
    fives = ",".join(["5"] * 900) + "\n"
    big("many rows", "w.csv", lines(",".join(names[:900]) + "\n", lambda i: fives, 2_000))
    ranked = "q{} Q0 d{} {} {} A\n".format
    run = lines("", lambda i: ranked(i // 100, i % 100, i % 100, 100 - i % 100), 1_500_000)
    big("many rows", "run.txt", run, reader="run")
    over("many rows", "pasted text", pieces((b"A: ", 1), (b"3 " * 10**6, 30)), reader="pasted")


def read(case: Case, data: bytes, **how: Any) -> Any:
    text, stream = partial(data.decode, errors="replace"), io.BytesIO(data)
    if case.reader == "printed":
        return read_printed(text())
    if case.reader == "pasted":
        return parse_rank_text(text(), **{"n": N, **how})
    if case.reader == "sampled":
        known = {} if b"," in data and b"m" in data[:99] else {"n": N, "m": 20}
        sets = read_sampled_ranks(stream, name=case.name, **{**known, **how})
        assert all(each.outcomes.total > 0 for each in sets)
        return sets
    usual: dict[str, Any] = {"n": N if len(data) < 10**6 else 10**9, "instances": "any"}
    if case.reader == "run":
        usual = {"qrels": io.BytesIO(QRELS), "censored": "tied", "n": 10**6}
    return read_rank_sets(stream, name=case.name, **{**usual, **how})


LEAKS = re.compile(
    r"Traceback|pandas|Arrow[A-Z]|arrow::|tokeniz|dtype|Error|unhashable|NoneType|invalid literal|"
    r"could not convert|cannot convert|has no attribute|not supported|out of bounds|buffer"
)


def wrong_sentence(case: Case, error: BaseException) -> str:
    """Return what is wrong with the error for a case; "" if it is a clear message of sampledash."""
    said = str(error)
    if case.refused is False:
        return f"refused, though it can be read: {said[:300]}"
    ours = type(error).__module__.split(".")[0] in ("sampledash", "builtins")
    if not (isinstance(error, ValueError) and ours):
        return f"{type(error)}: {said[:200]}"
    if "\n" in said or len(said) > 600 or LEAKS.search(said) or not re.search("[;:]", said):
        return f"no sentence: {said[:300]}"
    named = any(name in said for name in (case.name, "qrels", "pasted text", "the table"))
    return "" if named else f"names no file: {said[:300]}"


def wrong_result(case: Case, data: bytes, found: Any) -> str:
    if case.refused:
        return f"read, though it cannot be: {str(found)[:200]}"
    if case.right is not None:
        return compared(case.right(data).to_csv(index=False).encode(), found, stem_of(case.name))
    if case.reader in ("ranks", "sampled") and case.name.endswith(".csv") and len(data) < 10**6:
        return compared(data, found, case.name.removesuffix(".csv")) or ""
    if case.name.endswith((".parquet", ".npy")) and len(data) < 10**6:
        return compared(_as_csv(data, case.name), found, case.name.rpartition(".")[0]) or ""
    if case.reader == "run":
        return _compared_run(data, found)
    if case.reader == "printed":
        values = [x for row in found.rows for x in row.values.values()]
        return "" if all(0 <= x <= 1 for x in values) else f"values {values}"
    return ""


def _as_csv(data: bytes, name: str) -> bytes:
    """Return a table in .npy or Parquet as CSV, or "" if a column holds dates or times."""
    if name.endswith(".npy"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about outdated NumPy types
            array = np.load(io.BytesIO(data), allow_pickle=False)
        columns = None
        if array.dtype.names is None:
            stem = name.removesuffix(".npy")
            wide = [f"{stem} {i + 1}" for i in range(array.shape[-1])]
            columns = ["rank"] if array.ndim == 1 else wide
        return pd.DataFrame(array, columns=columns).to_csv(index=False).encode()
    table = parquet.read_table(io.BytesIO(data))
    kept = [i for i, each in enumerate(table.schema) if not each.name.startswith("__index")]
    if any(pa.types.is_temporal(table.schema.field(i).type) for i in kept):
        return b""
    found = table.select(kept).to_pandas(ignore_metadata=True)
    for i in found.columns[found.dtypes == np.float16]:
        found[i] = found[i].astype(int)
    return found.to_csv(index=False).encode()


def compared(data: bytes, found: Any, name: str) -> str | None:
    try:
        other = second_reader.read(data, name)
    except second_reader.Refused:
        return None
    if [each.system for each in found] != list(other):
        return f"systems {[each.system for each in found]}, not {list(other)}"
    for each in found:
        entries, sampled = other[each.system], isinstance(each, SampledRankSet)
        ranks = each.sampled_ranks if sampled else each.ranks
        pairs: list[tuple[list[Any], list[Any]]] = [(ranks.tolist(), [e.rank for e in entries])]
        pairs.append((each.counts.tolist(), [float(e.count) for e in entries]))
        for name in ("n", "m", "ties"):
            theirs = [getattr(e, name) for e in entries]
            if theirs[0] is not None and hasattr(each, name):
                pairs.append((getattr(each, name).tolist(), theirs))
        if entries[0].label is not None and each.instances is not None:
            pairs.append(([str(x) for x in each.instances], [e.label for e in entries]))
        for ours, theirs in pairs:
            if ours != theirs:
                return f"{each.system!r}: {ours[:9]}, not {theirs[:9]}"
    return ""


def _compared_run(data: bytes, found: list[RankSet]) -> str:
    """Return the first rank of a run that differs from the rank by sorting in Python, or ""."""
    lists: dict[tuple[str, str], list[tuple[Any, str]]] = {}
    for line in filter(str.strip, data.decode("utf-8-sig").split("\n")):
        query, _, document, _, score, tag = line.split()
        lists.setdefault((tag, query), []).append((np.float32(score), document))
    relevant = [line.split() for line in QRELS.decode().splitlines()]
    for each in found:
        for label, rank in zip(each.instances.tolist(), each.ranks.tolist(), strict=True):
            order = [d for _, d in sorted(lists.get((each.system, str(label)), []), reverse=True)]
            places = [order.index(d) + 1 for q, _, d, _ in relevant if q == label and d in order]
            if rank <= len(order) and rank not in places:
                return f"{each.system} {label}: rank {rank}, not {places}"
    return ""
