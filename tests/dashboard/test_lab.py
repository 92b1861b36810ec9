"""The Lab: what it shows is what the core trains; nothing trained is lost; training can wait."""

from io import BytesIO

import numpy as np
import pytest

import sampledash as sd
from sampledash.dashboard.lab.result import Job
from sampledash.lab.models import finish
from sampledash.lab.ranking import rank
from sampledash.lab.reading import read_interactions
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender
from sampledash.lab.splits import split
from sampledash.report.numbers import percent
from tests.dashboard.driver import Page

HOW = {"scheme": "without-replacement"}
ASKED = {"m": "9", "k": "5", "metrics": ["Recall@k", "NDCG"]}


def ratings():
    """Fifty users of forty items, some popular, as a file."""
    rng = np.random.default_rng(3)
    lines = []
    for user in range(50):
        taken = np.argsort(rng.gumbel(size=40) + 3 / (1 + np.arange(40)))[-9:]
        lines += [f"u{user},i{item},{1 + item % 5}" for item in taken]
    return "\n".join(["user,item,rating", *rng.permutation(lines)]).encode()


def trained(text, name, rule="last 1"):
    """The same by the core alone."""
    parts = split(read_interactions(BytesIO(ratings()), name="own.csv"), rule)
    model = finish(parse_recommender(text).train(parts.training, 0))
    return finish(rank(model.scores, parts, system=name))


def order(sets, means):
    values = [round(value, 12) for value in means]
    assert len(set(values)) == len(values)
    return " > ".join(s.system for _, s in sorted(zip(values, sets, strict=True), reverse=True))


def cells(at):
    """The table of exact metrics by system."""
    return at.table[0].value.set_index("On all items")


@pytest.fixture(scope="module")
def xyz():
    return [trained(text, name) for name, text in OF_THE_PAPERS.items()]


@pytest.fixture
def lab():
    at = Page("lab", **ASKED)
    return at.upload("own.csv", ratings())


def test_halted_or_not_the_numbers_are_those_of_the_core(lab, xyz, monkeypatch):
    assert "50 users, 40 items, 450 interactions, rated 1 to 5" in lab.captions
    advance = Job.advance

    def one_step(job, seconds=0):
        for _ in range(3):
            advance(job, 1e-9)
        job.halted = True

    monkeypatch.setattr(Job, "advance", one_step)
    lab.click("Train and rank")
    job = lab.session_state["_lab_job"]
    assert not job.done
    assert job.place == 0
    assert "halted" in lab.get("progress")[0].proto.text
    assert not lab.table
    monkeypatch.undo()
    lab.run().click("Go on")
    for ranks in xyz:
        for metric in ("Recall@5", "NDCG"):
            assert cells(lab)[metric][ranks.system] == percent(sd.mean(metric, ranks))
    # The worse of the two metrics is told.
    metric = next(x for x in ("Recall@5", "NDCG") if f" {x} " in lab.headline)
    exact = [sd.mean(metric, ranks) for ranks in xyz]
    sampled = [sd.expected_mean(metric, ranks, 9, **HOW) for ranks in xyz]
    assert f"With 9 negatives {metric}" in lab.headline
    assert f"ranks {order(xyz, sampled)}" in lab.headline
    right = order(xyz, exact) == order(xyz, sampled)
    assert right or f"on all items {order(xyz, exact)}" in lab.headline
    wrong = (sd.verdict([metric], xyz, 9, **HOW)["state"] == "wrong").any()
    assert (":red-badge" in lab.headline) == wrong
    # Consistency takes the same ranks, and says the same of them.
    said = lab.headline
    lab.press("to_consistency")
    assert lab.headline == said
    assert "Still using lab-ranks.csv." in lab.captions
    sets = lab.session_state["_good_sets"].sets
    assert [x.digest for x in sets] == [x.digest for x in xyz]


def test_wrong_input_loses_nothing_and_only_what_is_new_is_trained(lab):
    lab.click("Train and rank")
    before, kept = cells(lab), dict(lab.session_state["_lab_trained"])
    lab.text_input(key="knobs_x_ials").set_value("iALS d=many").run()
    assert lab.complaint == "X: iALS: d must be a number, got 'many'."
    assert cells(lab).equals(before)
    assert lab.button(key="train").disabled
    lab.text_input(key="knobs_x_ials").set_value("iALS d=4").run()
    assert "2 of 3 are trained and kept." in lab.captions
    lab.click("Train and rank")
    assert list(cells(lab).index) == ["X d=4", "Y", "Z"]
    text = "iALS d=4 alpha=0.2 reg=10 sweeps=5"
    assert cells(lab)["NDCG"]["X d=4"] == percent(sd.mean("NDCG", trained(text, "X")))
    now = lab.session_state["_lab_trained"]
    assert len(now) == 4
    assert all(now[key] is ranks for key, ranks in kept.items())
    lab.file_uploader[0].set_value([("bad.csv", b"a,b\n1,2\n", "")])
    lab.run()
    assert "bad.csv has no column of users: found 'a', 'b'" in lab.complaint
    assert list(cells(lab).index) == ["X d=4", "Y", "Z"]
    lab.file_uploader[0].set_value([("who.csv", b"user,item,to\n1,2,3\n1,3,3\n4,3,3\n", "")])
    lab.run()
    assert not lab.error
    next(x for x in lab.selectbox if x.label == "Users in").set_value("item").run()
    assert "who.csv has no column of items: found 'user'" in lab.complaint
    next(x for x in lab.selectbox if x.label == "Users in").set_value("to").run()
    assert "1 user, 2 items, 2 interactions" in lab.captions
    assert list(cells(lab).index) == ["X d=4", "Y", "Z"]


def test_other_splits_are_told_and_trained_apart(lab):
    lab.pick("split", "last 10 %")
    assert "Of all interactions the last in the file: 45 tested" in lab.captions
    lab.pick("seen", "kept in")
    assert "stays a candidate" in lab.captions
    lab.click("Train and rank")
    kept = trained(OF_THE_PAPERS["Y"], "Y", "latest 10% seen=kept")
    assert cells(lab)["NDCG"]["Y"] == percent(sd.mean("NDCG", kept))
    assert (
        "split: latest 10% seen=kept"
        in next(iter(lab.session_state["_lab_trained"].values())).provenance
    )
