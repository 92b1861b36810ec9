"""Convert scores and JSON lines to Parquet: scores become sampled ranks with their ties."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Container
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike
from pyarrow import compute, json, parquet

from sampledash.checks import Refusal
from sampledash.scores import above_and_tied

#: Names of the arrays or columns of relevant items and of negatives; OGB and TGB use the second.
NAMES = (("pos", "neg"), ("y_pred_pos", "y_pred_neg"), ("pos_scores", "neg_scores"))
_BLOCK = 2**24  # bytes of JSON that are parsed at a time, and the longest line


def named(names: Container[str]) -> tuple[str, str] | None:
    """Return the pair of :data:`NAMES` that is among the names, or None."""
    return next((pair for pair in NAMES if pair[0] in names and pair[1] in names), None)


def ranks_of_scores(pos: ArrayLike, neg: ArrayLike, name: str) -> dict[str, Any]:
    """Return columns of sampled ranks; all rows are one instance if they share their negatives."""
    try:
        above, tied, m = above_and_tied(pos, neg)
    except ValueError as error:
        raise Refusal(f"{name}: {error}") from None
    columns = {"sampled_rank": above + 1, "ties": tied, "m": np.full(len(above), m)}
    one_list = {"instance": np.ones(len(above), dtype=int)} if np.ndim(neg) == 1 else {}
    return columns | one_list


def npz_to_parquet(data: bytes, name: str, most: int) -> bytes:
    """Convert an archive of NumPy with scores; its arrays may have ``most`` bytes unpacked."""
    try:
        members = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except zipfile.BadZipFile:
        members = []
    if not members or not all(member.filename.endswith(".npy") for member in members):
        what = "a zip archive or an Excel workbook"
        raise Refusal(f"{name} is {what}; save the table as CSV in UTF-8")
    sizes = {member.filename.removesuffix(".npy"): member.file_size for member in members}
    if (pair := named(sizes)) is None:
        raise Refusal(
            f"{name} holds the arrays {', '.join(sizes)[:200]}; save scores as pos (P,) and neg "
            "(P, m), as in numpy.savez(file, pos=pos, neg=neg)"
        )
    if sum(map(sizes.__getitem__, pair)) > most:
        raise Refusal(
            f"{name} unpacks to more than {most >> 20} MiB; save float32, or call "
            "sampledash.from_scores from Python"
        )
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return _written(pa.table(ranks_of_scores(arrays[pair[0]], arrays[pair[1]], name)))


def json_to_parquet(data: bytes, name: str) -> bytes:
    """Convert JSON lines, one record a line, as pandas writes them with ``lines=True``."""
    options = json.ReadOptions(block_size=_BLOCK)
    try:
        return _written(json.read_json(io.BytesIO(data), options))
    except pa.ArrowException:
        raise Refusal(
            f"{name} is JSON, but not JSON lines with one record of the same fields a line; save "
            "the table as CSV in UTF-8"
        ) from None


def ranked(table: Any, pair: tuple[str, str], name: str) -> bytes:
    """Return Parquet in which sampled ranks replace the two columns of scores."""
    pos, neg = (table[column].combine_chunks() for column in pair)
    lengths = compute.fill_null(compute.list_value_length(neg), 0).to_numpy()
    if np.any(odd := lengths != lengths[0]):
        row = int(np.argmax(odd))
        raise Refusal(
            f"{name}, row {row + 1}, column {pair[1]!r}: {lengths[row]} scores, but row 1 has "
            f"{lengths[0]}; write as many in each row, or columns sampled_rank, ties and m instead"
        )
    scores = (x.to_numpy(zero_copy_only=False) for x in (pos, neg.flatten()))
    columns = ranks_of_scores(next(scores), next(scores).reshape(len(lengths), lengths[0]), name)
    table = table.drop_columns(list(pair))
    for header, values in columns.items():
        table = table.append_column(header, pa.array(values))
    return _written(table)


def _written(table: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()
