"""The public readers of true ranks, of sampled ranks, and of the bundled examples."""

import json
import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from sampledash import checks
from sampledash.checks import Remedy, first
from sampledash.rank_sets import RankSet
from sampledash.readers import trec
from sampledash.readers import upload_limits as limits
from sampledash.readers.assemble import Instances, Opened, Systems, choose, from_one
from sampledash.readers.columns import ROLES, SAMPLED, TRUE, bare
from sampledash.readers.frame import Ranks, Runs, ranks_of, resolve_repetitions
from sampledash.readers.tables import read_table
from sampledash.readers.trec import Censored, Trec
from sampledash.readers.upload_limits import PathOrBuffer, ReadError
from sampledash.readers.warehouse import folder
from sampledash.sampled_rank_sets import SampledRankSet, as_sample
from sampledash.schemes import DEFAULT_SCHEME, Scheme


def open_sources(
    source: PathOrBuffer | Sequence[PathOrBuffer],
    *,
    name: str | Sequence[str] | None = None,
    qrels: PathOrBuffer | None = None,
) -> Opened:
    """Return the parsed files; :func:`read_rank_sets` explains the arguments."""
    many = isinstance(source, Sequence) and not isinstance(source, str)
    sources: list[Any] = list(source) if isinstance(source, Sequence) and many else [source]
    names: list[Any] = [name] * len(sources) if name is None or not many else list(name)
    if (many and isinstance(name, str)) or len(names) != len(sources):
        raise ValueError(f"name must give one name for each of the {len(sources)} files")
    given = [*zip(sources, names, strict=True), *([] if qrels is None else [(qrels, None)])]
    if not given:
        raise ReadError("source is empty: give at least one file")
    limits.FILES.check(len(given), "source")
    read: list[Ranks | Trec] = []
    files: list[tuple[bytes, str, limits.FileKind, trec.TrecKind | None, trec.ListKind | None]] = []
    size, rows, most = 0, 0, limits.ROWS.most
    for number, (file, label) in enumerate(given):
        if isinstance(file, str | Path) and os.path.isdir(file):
            data, called = folder(Path(file)), label or Path(file).name
        else:
            data, called = limits.load(file, label)
        who = f"{called} with the files before it" if files else called
        limits.check_size(size := size + len(data), who)
        kind = limits.kind_of(data, called)
        lines = trec.trec_kind(data, called) if kind == "text" else None
        listed = None if lines else trec.list_kind(data, kind)
        if number == len(sources):
            if listed == "list":  # a table given as qrels holds test items, even if it has scores
                listed = "items"
            if lines != "qrels" and listed != "items":
                form = "lines 'query iteration document relevance', or columns user and item"
                raise ReadError(f"{called} does not hold qrels; give {form}")
        files.append((data, called, kind, lines, listed))
    tested = any("items" in file for file in files)
    for data, called, kind, lines, listed in files:
        if listed == "list or ranks":
            listed = "list" if tested else None
        part: Ranks | Trec
        if lines:
            part = trec.read_trec(data, called, lines)
        elif listed:
            part = trec.read_list(data, called, kind, listed)
        else:
            part = ranks_of(*read_table(data, called, kind))
        read.append(part)
        most = min(most, _most(part))
        who = f"{called} with the files before it" if len(read) > 1 else called
        limits.Limit(most, "rows", limits.ROWS.remedy).check(rows := rows + len(part.frame), who)
    return Opened(_matched(read))


def _most(part: Ranks | Trec) -> int:
    """Return how many rows all files together may have if ``part`` is one of them."""
    if isinstance(part, Trec):
        return limits.LINES.most
    if "instance" not in part.frame:
        return limits.ROWS.most
    numbered = part.frame["instance"].cat.categories.dtype.kind in "iu"
    return limits.LABELLED.most if numbered else limits.TEXTS.most


def _matched(read: Sequence[Ranks | Trec]) -> tuple[Ranks, ...]:
    """Return the ranks of each file.

    In TREC runs and lists of recommendations, the relevant items are those that the qrels name.
    """
    both = [part for part in read if isinstance(part, Trec)]
    truths, runs = ([part for part in both if part.kind == kind] for kind in ("qrels", "run"))
    if len(truths) > 1:
        names = f"{truths[0].name} and {truths[1].name}"
        raise ReadError(f"{names} both say what is relevant; give one of them")
    if runs and not truths:
        raise ReadError(
            f"{runs[0].name} is {runs[0].facts.kind}, which does not say what is relevant; give "
            "its qrels, or a table with columns user and item; a table of scores with a column "
            "relevant is ranked by sampledash rank",
            Remedy("qrels", ...),
        )
    if truths and not runs:
        alone = f"{truths[0].name} says what is relevant, but ranks nothing"
        raise ReadError(f"{alone}; give runs or lists with it")
    return tuple(
        trec.rank_relevant(part, truths[0]) if isinstance(part, Trec) else part
        for part in read
        if part not in truths
    )


def read_rank_sets(
    source: PathOrBuffer | Sequence[PathOrBuffer],
    *,
    name: str | Sequence[str] | None = None,
    n: int | None = None,
    zero_based: bool = False,
    instances: Instances = "same",
    qrels: PathOrBuffer | None = None,
    runs: Runs = "averaged",
    censored: Censored = "refuse",
    systems: Systems | None = None,
) -> list[RankSet]:
    """Read the true ranks of one or several systems from one or several files.

    Parameters
    ----------
    source
        One path or binary buffer (read from its beginning), or a sequence of them. A file is CSV,
        TSV or semicolon-separated text in UTF-8, Parquet, JSON lines, a numpy array (.npy), a TREC
        run, or a list of recommendations, and may be compressed with gzip. A path may also be a
        folder of Parquet files, which may be partitioned (``system=iALS d=16/part-0.parquet``);
        this requires ``sampledash[warehouse]``, and more than three million ranks are reduced to a
        histogram. All files together may have 256 MiB unpacked. They may have three million rows,
        or ten million if their only known columns are system, rank, n and count. The limit is two
        million rows for text labels, TREC files and lists, and two million cells if each system has
        a column. If several files name the same system X, the later system is ``"X (b.csv)"``.
    name
        Name of the file in messages, or a name for each source; by default, the name of the path or
        of the buffer.
    n
        Number of candidates per instance, relevant items included, for files without a column of n.
        If None, n is taken from the other files, if all their rows have the same n.
    zero_based
        Whether the best rank is 0, in every file.
    instances
        What to do when systems cover different instances: ``"same"`` raises an error, ``"shared"``
        uses only the instances that all systems have, and ``"any"`` uses all instances.
    qrels
        Relevance judgements for TREC runs, or test items for lists; ``source`` may hold them too.
    runs
        How to read a column of repetitions (``fold``, ``seed``, ``split``, ``repetition``, or
        ``run`` beside a system column): ``"averaged"`` makes every instance of every repetition a
        separate instance, ``"apart"`` makes every repetition a separate system, ``"X (seed 1)"``.
    censored
        What to do if a TREC run or a list lacks a relevant item, whose rank then lies beyond the
        end of the list: ``"refuse"`` raises an error; ``"beyond"`` treats the rank as unknown, so
        that metrics with a cutoff before the end of every list are exact; ``"tied"`` ties the item
        with all unranked candidates; ``"left-out"`` drops the queries that lack an item, in all
        systems.
    systems
        Names of the systems to return (None: all), or a mapping from these names to new names.

    Returns
    -------
    One rank set per system, in order of appearance. Instances are labelled as in the file, or
    1, 2, 3 ... in the order of the rows.

    Raises
    ------
    ReadError
        A ``ValueError`` whose message is one sentence that names file, row, column, value and
        remedy. The subclasses ``MissingCandidates``, ``ZeroBasedRanks``, ``DifferentInstances`` and
        ``CensoredItems`` name the argument to pass.

    Notes
    -----
    A *long* file has one row per rank, columns ``system, rank`` and optionally ``instance,
    n_candidates, ties, mass_above`` (see :class:`~sampledash.RankSet`) under these or other usual
    names (user, qid, model, run, n_items ...); further columns are ignored. A file without a system
    column is one system, named after the file. Each row of a system and instance is a relevant
    item. A rank written ``>10`` is only known to lie beyond a list of 10, so metrics with a cutoff
    up to 10 are exact. A column ``count`` (or counts, frequency) gives the number of instances that
    a row stands for. Counts may be fractions (but simulations and exact distributions need whole
    numbers), and rows with count 0 are left out. All systems need the same sum of counts, but their
    rows may differ. A *wide* file has one column per system, named by its header, and optionally
    instance and n_candidates. A blank cell means that the system lacks the instance. Columns of
    text are ignored, but text that is meant as a number (``5%``) is refused. A column with the name
    of a row index (``index``, ``id`` ...) and increasing numbers is ignored. In 10 or more rows, a
    column that counts 1, 2, 3, ... under another name is refused. A file with a rank column is
    long, and any other file is wide, so no system of a wide file can be called "rank" or "n". A
    text column with an unknown header that may name systems is refused, because all systems would
    be read as one.

    A one-dimensional *array* holds the ranks of one system, a two-dimensional array is read like a
    wide file, and named fields are read like columns. Pickles are never read. A *TREC* run has
    lines ``qid Q0 docid rank score tag``, and qrels have lines ``qid 0 docid rel``. Documents are
    ranked by decreasing score in single precision, and documents of equal score by decreasing
    document id, as in trec_eval and pytrec_eval; the rank column is ignored, and a grade of 1 or
    more is relevant. Documents without a judgement are irrelevant candidates; queries without a
    relevant document are left out. If a run lacks several relevant items of a
    query, ``censored="tied"`` draws their ranks beyond the ranked documents, with a fixed seed.

    A *list of recommendations*, as frameworks save it, has one row per recommended item and columns
    for user, item and score (or rank) under the usual names. It needs a table of test items with
    columns user and item, among the sources or as ``qrels``. Lists are read like runs, but equal
    scores are ties, and rows with score -inf are left out: they mark items that are not candidates.

    Ranks must come from ranking *all* candidates. Ranks among sampled negatives can also be read,
    but everything computed from them is then wrong.
    """
    reading = open_sources(source, name=name, qrels=qrels).read(
        n=n,
        zero_based=zero_based,
        instances=instances,
        runs=runs,
        censored=censored,
        systems=systems,
    )
    return list(reading.sets)


def read_sampled_ranks(
    source: PathOrBuffer | Sequence[PathOrBuffer] | Opened,
    *,
    n: int | None = None,
    m: int | None = None,
    scheme: Scheme = DEFAULT_SCHEME,
    name: str | Sequence[str] | None = None,
    zero_based: bool = False,
    runs: Runs = "averaged",
    systems: Systems | None = None,
    adaptive: bool | None = None,
) -> list[SampledRankSet]:
    """Read the sampled ranks of one or several systems from one or several files.

    Parameters
    ----------
    source, name, runs, systems
        As in :func:`read_rank_sets`; the column of ranks may be called ``sampled_rank``, and a
        column ``ties`` counts the negatives tied with the item. A file may also hold scores, as in
        :func:`~sampledash.from_scores`: a numpy archive (.npz), a table with the columns ``pos``
        and ``neg`` (lists), or a numpy array of fractional numbers. A row of the array holds the
        score of the relevant item, then the scores of its negatives. ``source`` may also be files
        that have been parsed already.
    n, m
        Number of candidates, and of sampled negatives, of every instance, for files without the
        columns ``n_candidates`` and ``m``.
    scheme
        How the negatives were drawn, ``"without-replacement"`` or ``"with-replacement"``.
    zero_based
        Whether the best sampled rank is 0.
    adaptive
        Whether m depended on the negatives drawn so far. If None, the column ``adaptive`` says so.
        Without this column, a test of the sampled ranks decides
        (:class:`~sampledash.SampledRankSet`).

    Returns
    -------
    One set of sampled ranks per system, in order of appearance.

    Raises
    ------
    ReadError
        A ``ValueError`` whose message is one sentence that names file, row, column, value and
        remedy.
    """
    opened = source if isinstance(source, Opened) else open_sources(source, name=name)
    parts = []
    for part in opened.parts:
        if "depth" in part.frame:
            run = f"{part.name} is a TREC run, which ranks whole lists"
            table = "give a table with the columns system and sampled_rank"
            raise ReadError(f"{run}: bring it to the Consistency page, or {table}")
        named = next((header for header, _ in part.facts.columns if bare(header) in TRUE), None)
        if named is not None:
            raise ReadError(
                f"{part.name}, column {named!r}: these are true ranks by their name: bring them to "
                "the Consistency page",
                Remedy("read_rank_sets"),
                f", or rename the column to {SAMPLED} if they are sampled",
            )
        parts.append(resolve_repetitions(part, runs))
    lack = lacks(opened)
    sets = []
    for part in choose(parts, systems):
        numbers = zip(limits.NUMBERS.items(), (n, m), lack, strict=True)
        for (role, (symbol, what, *_)), given, other in numbers:
            # If some file lacks n (candidates) or m (negatives), the argument may be meant for that
            # file only. Files that have the number may then differ from the argument.
            part = part.with_number(role, given, agree=not other)
            if role not in part.frame:
                kind = limits.MissingCandidates if symbol == "n" else limits.MissingNegatives
                remedy = f"add a column {ROLES[role].names[0]}, or give {symbol}"
                raise kind(f"{part.name} does not say {symbol}, the number of {what}: {remedy}")
        if "beyond" in part.frame and (i := first(part.values("beyond"))) is not None:
            place = part.place(i, "rank")
            raise ReadError(f"{place}: estimates need every sampled rank; write the rank itself")
        part = from_one(part, zero_based)
        rank, most = part.values("rank"), part.values("negatives") + 1
        if (i := first(rank > most)) is not None:
            raise ReadError(
                f"{part.place(i, 'rank')}: sampled rank {rank[i]:,} is beyond m + 1 = {most[i]:,}; "
                "correct m, or bring true ranks to the Consistency page",
                Remedy("read_rank_sets"),
            )
        for system, frame in part.frame.groupby("system", observed=True):
            columns = {role: frame[role].to_numpy() for role in frame}
            decided = adaptive
            if adaptive is None and "adaptive" in columns:
                decided = bool(columns["adaptive"].any())
            try:
                rank_set = SampledRankSet(
                    str(system),
                    columns["rank"],
                    columns["n_candidates"],
                    columns["negatives"],
                    scheme=scheme,
                    instances=columns.get("instance"),
                    counts=columns.get("count"),
                    adaptive=decided,
                    ties=columns.get("ties", 0),
                )
            except ValueError as error:
                raise ReadError(f"{part.name}: {error}") from None
            sets.append(rank_set)
    return sets


def samples_of_corpus(
    opened: Opened, *, n: int, candidates: int | None = None, zero_based: bool = False
) -> list[SampledRankSet]:
    """Treat the candidates of a test as a sample of a corpus of n items, and return sampled ranks.

    ``candidates`` is the number of candidates in the test, for files that do not say this number.
    """
    if not any(part.source.sampled for part in opened.tables):
        read = opened.read(n=candidates, zero_based=zero_based)
        return [as_sample(ranks, n) for ranks in read.sets]
    if (part := next((x for x in opened.tables if "n_candidates" in x.frame), None)) is not None:
        advice = "name the ranks rank if n_candidates is the size of the test, else leave it out"
        raise ReadError(f"{part.name} has columns {SAMPLED} and n_candidates; {advice}")
    m = None if candidates is None else candidates - 1
    return read_sampled_ranks(opened, n=n, m=m, zero_based=zero_based)


def lacks(opened: Opened) -> tuple[bool, bool]:
    """Return whether some file lacks n, and whether some file lacks m.

    n is the number of candidates, m the number of negatives.
    """
    n, m = (any(role not in part.frame for part in opened.tables) for role in limits.NUMBERS)
    return n, m


def bundled() -> Traversable:
    """Return the folder of the package that holds the examples and the templates."""
    return resources.files("sampledash") / "data"


class Example(NamedTuple):
    """A bundled example: the title and text that a page shows, and its file in ``data/``."""

    title: str
    about: str
    file: str


_WRITTEN = json.loads((bundled() / "examples.json").read_text(encoding="utf-8"))
#: The bundled examples; ``sampledash/data/README.md`` gives their sources and what to cite.
EXAMPLES = {name: Example(**row) for name, row in _WRITTEN.items()}


def example(name: str) -> list[RankSet]:
    """Return one of the bundled examples.

    Parameters
    ----------
    name
        ``"paper-abc"``, ``"movielens-xyz"``, ``"movielens-xyz-ties"``, ``"movielens-steck"`` or
        ``"ncf"``; ``sampledash/data/README.md`` describes them and says what to cite.

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> example("paper-abc")[2].ranks.tolist()
    [212, 2, 743, 5342, 1548]
    """
    if checks.text("name", name) not in EXAMPLES:
        raise ValueError(f"unknown example {checks.shown(name)}: known are {', '.join(EXAMPLES)}")
    return list(_example(name))


@cache
def _example(name: str) -> list[RankSet]:
    return read_rank_sets(str(bundled() / EXAMPLES[name].file))
