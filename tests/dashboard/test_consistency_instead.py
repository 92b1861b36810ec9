"""What to do instead of sampling: the page says what the core says, and the known costs."""

import re

import numpy as np
import pytest

import sampledash as sd
from sampledash.report.numbers import points
from tests.dashboard.driver import Page, array

# Scores an instance takes until Recall@10 is decided on movielens-xyz, from the law alone.
COSTS = (683.6, 680.5, 714.1)


def page(**query):
    return Page("consistency", answers="What to do instead", metrics=["Recall@k"], **query)


def test_designs_at_the_price_of_m_negatives_of_enough_and_of_what_nothing_decides():
    at = page(m="100")
    found = sd.designs("Recall@10", sd.example("movielens-xyz"), 100, scheme="without-replacement")
    table = at.table[0].value.set_index("Design")
    reached = round(6040 * 100 / np.mean(COSTS))  # 872
    assert table.loc["stop when decided", "Instances"] == str(reached)
    assert f"the exact Recall@10 of {reached} of 6,040 instances" in at.said
    chances = found.orders.query("better == 'Y' and worse == 'X'").set_index("design")
    for design in ("uncorrected", "CLS", "BV 0.01", "stop when decided"):
        errors = found.errors[found.errors["design"] == design]
        off = points(float(np.sqrt((errors["rmse"] ** 2).mean())))
        assert table.loc[design, "Off by"] == off.removesuffix(" points")
        assert off in at.said or design in ("CLS", "BV 0.01")
    shown = float(table.loc["stop when decided", "Shows Y > X"].removesuffix(" %"))
    assert shown == pytest.approx(100 * chances.loc["stop when decided", "probability"], abs=0.005)
    # Stopping is never worse than ranking everything for fewer; exact beyond its cost.
    (fig,) = [x for x in at.specs if "against its price" in x["layout"]["title"]["text"]]
    lines = {x["name"]: array(x["y"]) for x in fig["data"]}
    full, stopped = lines["full ranking of fewer instances"], lines["stop when decided"]
    assert np.all(np.isnan(stopped) | (stopped < full))
    # The best order looks at as many as are above first: the least that a proxy can cost.
    least = [np.where(x.ranks <= 10, x.n - 1, 10).mean() for x in sd.example("movielens-xyz")]
    reached = f"{round(6040 * 100 / np.mean(least)):,}"
    assert table.loc["stop when decided, best order", "Instances"] == reached
    assert "sampledash.proxy_cost" in at.captions
    assert "relevant item's own score comes on top" in at.captions
    at, cost = page(m="1000"), round(np.mean(COSTS))
    assert f"the exact Recall@10 of all 6,040 instances, at {cost} scores each" in at.said
    answers = {"answers": "What to do instead", "metrics": ["AUC"]}
    # Five instances among 10,000: 100 scores each do not pay for one, 2,000 for one.
    at = Page("consistency", source="Three toy recommenders", **answers)
    assert "not one instance can be ranked" in at.said
    assert "Nothing but the last candidate decides AUC" in at.put("m", 2_000).said


SIZES = [("MovieLens 1M: X, Y, Z", 6_040, 3_687), ("Three toy recommenders", 5, 10_000)]


@pytest.mark.parametrize(("source", "users", "size"), SIZES)
def test_the_snippet_runs_as_printed(source, users, size, capsys):
    (code,) = (x.value for x in page(source=source, m="20").code)
    exec(code, {})
    run, mean = capsys.readouterr().out.splitlines()
    finished = rf"Evaluation\(\d+ of {users} users finished, k = 10, scored: 'mine' \d+\)"
    assert re.match(finished, run)
    assert mean.startswith("InstanceMean(value=0.")
    assert f"np.arange({size:_})" in code
    assert "budget = max(20 * len(users), len(items))" in code


def test_the_price_is_that_of_m_until_the_reader_sets_another():
    at = page(m="200", source="Three toy recommenders")
    assert at.said.count("For the price of 200 negatives") == 1
    assert "For the price of 50 negatives" in at.put("m", 50).said
    assert "For the price of 500 negatives" in at.put("budget", 500).said
    assert "For the price of 500 negatives" in at.put("m", 20).said
    link = at.link
    assert (link["m"], link["budget"]) == (["20"], ["500"])
    assert "For the price of 500 negatives" in Page("consistency", **link).said
    for wrong in (10_000, 0):
        told, take = at.put("budget", wrong).notes, "take a whole number from 1 to 9,999"
        assert f"price is {wrong:,} scores per instance: {take}" in told
    assert "For the price of 1 negative not one" in at.put("budget", 1).said
    assert "1 sampled negative is off by" in at.said
