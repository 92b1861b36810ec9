"""Queries on tables of scores and ranks, as Ibis expressions that an engine runs later.

Scores are not sorted: one join finds the score of each relevant item; a second join and an
aggregation count the candidates with a better score and with an equal score.
"""

from typing import Any

from sampledash.checks import NUMERAL, counted, shown
from sampledash.readers.columns import bare
from sampledash.readers.scores import roles_of
from sampledash.readers.upload_limits import ReadError, stem_of

KEYS = ["system", "instance", "item"]
STRATUM = "stratum"  # column of the scores: the group of an item, if sampling is stratified
YES, NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no", "")
HISTOGRAM = ["system", "n_candidates", "rank", "ties"]

Table = Any  # an Ibis table; its type is not imported, because Ibis is an optional dependency


def number_of(expression: Any) -> int:
    """Run a query whose result is one whole number, and return the number."""
    return int(expression.to_pyarrow().as_py())


def text_of(column: Any) -> Any:
    """Return a column as text."""
    return column if column.type().is_string() else column.cast("string")


def pairs_of(table: Table, name: str) -> Table:
    """Return the columns of instances and items of a table, renamed ``instance`` and ``item``."""
    roles = roles_of(table.columns, ("instance", "item"), name)
    return table.select(**{role: table[roles[role]] for role in ("instance", "item")})


def score_table(table: Table, name: str, *, marked: bool) -> Table:
    """Return a table of scores with the column names system, instance, item, score, relevant.

    The column ``relevant`` is left out unless ``marked``. A column ``stratum`` is kept.
    """
    wanted = ("instance", "item", "score", *(["relevant"] if marked else []))
    roles = roles_of(table.columns, wanted, name)
    import ibis

    columns = {role: table[roles[role]] for role in (*wanted, "system") if role in roles}
    for role, column in columns.items():
        kind = column.type()
        number = kind.is_numeric() or kind.is_string()
        if kind.is_nested() or (role == "score" and not number):
            wants = "numbers" if role == "score" else "text or numbers"
            raise ReadError(f"{name}: column {roles[role]!r} holds {kind}; write {wants}")
    if columns["score"].type().is_string():
        columns["score"] = _numbers(table, roles["score"], name)
    columns["system"] = text_of(columns.get("system", ibis.literal(stem_of(name))))
    if marked:
        mark = columns["relevant"]
        mark = mark.cast("int8") if mark.type().is_boolean() else mark
        number = mark.type().is_numeric()
        columns["relevant"] = mark.fill_null(0) if number else text_of(mark).lower().fill_null("")
    for header in table.columns:
        if bare(header) == STRATUM:
            columns[STRATUM] = text_of(table[header]).fill_null("")
    return table.select(**columns)


def _numbers(table: Table, header: str, name: str) -> Any:
    """Return the numbers in a column of text; refuse text that is not a number."""
    text = table[header].re_replace(r"\s", "").lower().nullif("")
    number = text.re_search(rf"^({NUMERAL}|[+-]?inf|-?nan)$")
    wrong = table.filter(~number.fill_null(True)).select(header)
    if size := number_of(wrong.count()):
        some = shown(wrong.limit(1).to_pyarrow()[0][0].as_py())
        what = counted(size, "score is no number", "scores are no numbers")
        raise ReadError(f"{name}: {what}, such as {some}; write them with the digits 0 to 9")
    return text.re_replace("^-nan$", "nan").try_cast("float64")


def means(flag: Any, words: tuple[str, ...]) -> Any:
    """Return whether each cell means yes (if ``words`` is YES) or means no (if ``words`` is NO).

    YES and NO are the texts that mean yes and no. In a column of numbers, 1 means yes and 0 no.
    """
    return flag == int(words is YES) if flag.type().is_numeric() else flag.isin(words)


def candidates(scores: Table, relevant: Table | None = None, seen: Table | None = None) -> Table:
    """Add a boolean column ``relevant`` to the scores; leave out irrelevant items in ``seen``.

    ``relevant`` and ``seen`` hold pairs of instance and item. If ``relevant`` is None, a column of
    ``scores`` marks the relevant items.
    """
    if relevant is None:
        every = scores.mutate(relevant=means(scores["relevant"], YES))
    else:
        every = _flagged(scores, relevant, "relevant")
    if seen is not None:
        every = _flagged(every, seen, "seen")
        every = every.filter(every["relevant"] | ~every["seen"]).drop("seen")
    return every


def _flagged(table: Table, pairs: Table, name: str) -> Table:
    """Add a column ``name``, which says whether instance and item are in ``pairs``.

    Labels of different types are compared as text.
    """
    pairs = pairs.distinct().mutate(flag=True)
    keys = []
    for key in KEYS[1:]:
        label, other = table[key], pairs[key]
        alike = label.type().is_integer() == other.type().is_integer()
        keys.append(label == other if alike else text_of(label) == text_of(other))
    joined = table.left_join(pairs, keys)
    return joined.select(*table.columns, **{name: joined["flag"].fill_null(False)})


def is_candidate(score: Any) -> Any:
    """Return whether a row is a candidate; the score -inf marks items that are not candidates."""
    return score.fill_null(0) != float("-inf")


def wanted_items(candidates: Table) -> Table:
    """Return the relevant items that have a score, with the score in the column ``wanted``.

    To count candidates, join this table with all scored items, and filter out items with the score
    -inf afterwards. If they were filtered out before, engines would join in an inefficient order.
    """
    score = candidates["score"]
    relevant = candidates.filter(candidates["relevant"] & score.notnull() & is_candidate(score))
    return relevant.select(*KEYS, wanted=relevant["score"])


def class_sums(candidates: Table, groups: Any, key: str) -> Table:
    """Count the items above, tied with and below each relevant item, by group of items.

    A group holds items of about equal sampling weight, or the items of one stratum. Each item of
    ``candidates`` is joined to the row of the data frame ``groups`` that has the same value in the
    column ``key``. In this row, ``first`` is the index of the item's group. An item may be divided
    over several groups: ``part0`` is the item's fraction in the group ``first``, ``part1`` its
    fraction in the group ``first + 1``, etc.

    The result has a record for each combination of ``row``, ``first`` and ``side``. ``row`` is the
    index of the relevant item, in the order of system and instance. ``side`` is 0 for items with a
    better score than the relevant item, 1 for an equal score, 2 for a worse score, and 3 for the
    relevant item itself and for items that are not candidates. ``size`` is the number of items, and
    the columns ``part…`` are the sums of their fractions.
    """
    import ibis

    wanted = wanted_items(candidates)
    number = ibis.row_number().over(ibis.window(order_by=KEYS[:2]))
    wanted = wanted.select(*KEYS[:2], "wanted", row=number, own=wanted["item"])
    columns = list(dict.fromkeys([*KEYS, "score", key]))
    both = wanted.join(candidates[columns], KEYS[:2]).join(ibis.memtable(groups), key)
    score, no_negative = both["score"], (both["item"] == both["own"]) | ~is_candidate(both["score"])
    known = [(no_negative, 3), (score > both["wanted"], 0), (score == both["wanted"], 1)]
    both = both.mutate(side=ibis.cases(*known, else_=2))
    sums = {x: both[x].sum() for x in groups.columns if x.startswith("part")}
    return both.group_by("row", "first", "side").agg(size=both.count(), **sums)


def overlaps(candidates: Table) -> Table:
    """Count the negatives that two systems both rank above the relevant item, or tie with it.

    A row gives the number of such negatives, ``size``, for the systems ``system`` and ``other`` and
    an ``instance``. The columns ``tied`` and ``tied_there`` say whether these negatives are tied
    with the relevant item in the ranking of ``system`` and in the ranking of ``other``.
    """
    both = wanted_items(candidates).rename(own="item").join(candidates[*KEYS, "score"], KEYS[:2])
    score, tied = both["score"], both["score"] == both["wanted"]
    high = both.filter((score >= both["wanted"]) & (both["item"] != both["own"]))
    high = high.select(*KEYS, tied=tied)
    there = high.select("instance", "item", other=high["system"], tied_there=high["tied"])
    pairs = high.join(there, KEYS[1:])
    pairs = pairs.filter(pairs["system"] < pairs["other"])
    return pairs.group_by("system", "other", "instance", "tied", "tied_there").agg(
        size=pairs.count()
    )


def item_weights(table: Table, name: str) -> Table:
    """Return a row for each item, with the item's smallest (``low``) and largest (``high``) weight.

    ``high`` is NaN if a weight of the item is not a number.
    """
    header = next((header for header in table.columns if bare(header) == "weight"), None)
    if header is None:
        raise ReadError(f"{name} has no column weight: add it, or draw negatives by popularity")
    item = table[roles_of(table.columns, ("item",), name)["item"]]
    weight = table[header].cast("string").try_cast("float64").fill_null(float("nan"))
    return table.group_by(item=item).agg(low=weight.min(), high=weight.max()).order_by("item")


def rank(candidates: Table) -> Table:
    """Return system, instance, rank, n and ties of every relevant item with a score.

    The rank is 1 + the number of candidates with a better score; a missing score is never better.
    If several relevant items of an instance have the same score, all candidates with this score are
    ordered by a hash of instance and item instead of at random; ``ties`` is then 0.
    """
    import ibis

    wanted = wanted_items(candidates).rename(own="item")
    several = wanted.count().over(ibis.window(group_by=["system", "instance", "wanted"])) > 1
    both = wanted.mutate(several=several).join(candidates[*KEYS, "score"], KEYS[:2])
    level, other = both["score"] == both["wanted"], both["item"] != both["own"]
    digests = [
        (text_of(both["instance"]) + "|" + text_of(both[item])).hexdigest("md5")
        for item in ("item", "own")
    ]
    # Compare hashes only where several relevant items of an instance have the same score.
    before = ibis.ifelse(level & both["several"], digests[0] < digests[1], False)
    numbers = {
        "rank": both.count(where=(both["score"] > both["wanted"]) | before) + 1,
        "n_candidates": both.count(where=is_candidate(both["score"])),
        "ties": both.count(where=level & other & ~both["several"]),
    }
    ranked = both.group_by([*KEYS[:2], "own"]).agg(
        **{name: number.cast("int64") for name, number in numbers.items()}
    )
    return ranked.drop("own").order_by("system", "instance", "rank")


def count(ranks: Table) -> Table:
    """Return a histogram: how many instances have the same system, n, rank and ties.

    Only instances with one relevant item are combined. Rows of other instances stay, with count 1
    if ``ranks`` has no counts.
    """
    import ibis

    keys = [key for key in HISTOGRAM if key in ranks.columns]
    if "instance" not in ranks.columns:
        return ranks.group_by(keys).agg(count=_instances(ranks))
    mine = ibis.window(group_by=["system", "instance"])
    ranks = ranks.mutate(many=ranks.count().over(mine), instance=text_of(ranks["instance"]))
    alone, several = ranks.filter(ranks["many"] == 1), ranks.filter(ranks["many"] > 1)
    counted = alone.group_by(keys).agg(count=_instances(alone), instance=alone["instance"].min())
    counts = several["count"] if "count" in ranks.columns else ibis.literal(1)
    columns = [*keys, "count", "instance"]
    listed = several.mutate(count=counts.cast(counted["count"].type()))
    return counted.select(columns).union(listed.select(columns))


def _instances(ranks: Table) -> Any:
    return ranks["count"].sum() if "count" in ranks.columns else ranks.count()
