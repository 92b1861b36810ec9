"""Convert scores and JSON lines to Parquet; scores become sampled ranks and numbers of ties."""

import io
import zipfile
from collections.abc import Container
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike
from pyarrow import compute, json, parquet

from sampledash.checks import Refusal, first
from sampledash.scores import above_and_tied

#: Names of the arrays or columns with the scores of relevant items and of negatives. OGB and TGB
#: use the second pair.
NAMES = (("pos", "neg"), ("y_pred_pos", "y_pred_neg"), ("pos_scores", "neg_scores"))
# Further arrays that are read, of one value or one value per relevant item.
_REST = ("system", "n", "n_candidates")
MOST_BYTES = 256 * 2**20  # largest unpacked size of a file
_BLOCK = 2**24  # bytes of JSON that are parsed at a time, which is also the longest possible line


def named(names: Container[str]) -> tuple[str, str] | None:
    """Return two names of columns: the scores of relevant items, and the scores of negatives.

    They are the first pair in :data:`NAMES` whose two names are both in ``names``. Return None if
    there is no such pair.
    """
    return next((pair for pair in NAMES if pair[0] in names and pair[1] in names), None)


def ranks_of_scores(pos: ArrayLike, neg: ArrayLike, name: str) -> dict[str, Any]:
    """Return columns of sampled ranks; items that share one list of negatives are one instance."""
    try:
        above, tied, m = above_and_tied(pos, neg)
    except ValueError as error:
        raise Refusal(f"{name}: {error}") from None
    same = np.ones(len(above), dtype=int)
    columns = {"sampled_rank": above + 1, "ties": tied, "m": m * same}
    return columns | ({"instance": same} if np.ndim(neg) == 1 else {})


def npz_to_parquet(data: bytes, name: str) -> bytes:
    """Convert an .npz file of scores to Parquet with sampled ranks; refuse other zip files."""
    stream = io.BytesIO(data)
    members = zipfile.ZipFile(stream).infolist() if zipfile.is_zipfile(stream) else []
    sizes = {member.filename.removesuffix(".npy"): member.file_size for member in members}
    if (pair := named(sizes)) is None:
        arrays = bool(sizes) and all(x.filename.endswith(".npy") for x in members)
        holds = "holds " + ", ".join(sizes) if arrays else "is an Excel workbook, a zip, or cut off"
        raise Refusal(f"{name} {holds}; save CSV, or arrays named pos and neg")
    if sizes[pair[0]] + sizes[pair[1]] > MOST_BYTES:
        raise Refusal(f"{name} unpacks to more than {MOST_BYTES >> 20} MiB; save scores as float32")
    try:
        with np.load(stream, allow_pickle=False) as archive:
            pos, neg = (archive[array] for array in pair)
            rest = {x: np.broadcast_to(archive[x], len(pos)) for x in _REST if x in sizes}
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise  # the archive is damaged
        raise Refusal(f"{name} holds Python objects, not numbers; save scores as float32") from None
    return _written(pa.table(rest | ranks_of_scores(pos, neg, name)))


def json_to_parquet(data: bytes, name: str) -> bytes:
    """Convert JSON lines (one record per line, as pandas writes with ``lines=True``) to Parquet."""
    try:
        return _written(json.read_json(io.BytesIO(data), json.ReadOptions(block_size=_BLOCK)))
    except pa.ArrowException:
        form = "JSON lines have one record a line, and one kind of values in each column"
        raise Refusal(f"{name} is JSON that cannot be read: {form}; save CSV") from None


def ranked(table: Any, pair: tuple[str, str], name: str) -> bytes:
    """Return Parquet in which sampled ranks replace the two columns of scores."""
    pos, neg = (table[column].combine_chunks() for column in pair)
    lengths = compute.fill_null(compute.list_value_length(neg), 0).to_numpy()
    if (row := first(lengths != lengths[0])) is not None:
        sizes = f"{lengths[row]} scores, but row 1 has {lengths[0]}; write as many in each row"
        raise Refusal(f"{name}, row {row + 1}, column {pair[1]!r}: {sizes}")
    best, others = (x.to_numpy(zero_copy_only=False) for x in (pos, neg.flatten()))
    ranks = ranks_of_scores(best, others.reshape(len(lengths), lengths[0]), name)
    rest = {header: table[header] for header in table.column_names if header not in pair}
    return _written(pa.table(rest | ranks))


def _written(table: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()
