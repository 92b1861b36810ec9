"""The Lab shows what the library trains, keeps everything trained, and can pause the training."""

from io import BytesIO

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses.lab import pictures, words
from sampledash.analyses.lab.result import Job, top_shares
from sampledash.lab.experiments import GRIDS, Point, sweep, toy
from sampledash.lab.models import finish
from sampledash.lab.ranking import rank
from sampledash.lab.reading import read_interactions
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender
from sampledash.lab.splits import split
from sampledash.report.numbers import in_runs, percent, points
from sampledash.report.sentences import ranking
from sampledash.report.tables import as_csv, ranks_table
from sampledash.schemes import SCHEMES, uniform, usual_first
from tests.dashboard.driver import Page, array

ASKED = {"m": "9", "k": "5", "metrics": ["Recall@k", "NDCG"]}


def ratings():
    """Return a file with ratings of 40 items, some of them popular, by 50 users."""
    rng = np.random.default_rng(3)
    lines = []
    for user in range(50):
        taken = np.argsort(rng.gumbel(size=40) + 3 / (1 + np.arange(40)))[-9:]
        lines += [f"u{user},i{item},{1 + item % 5}" for item in taken]
    return "\n".join(["user,item,rating", *rng.permutation(lines)]).encode()


def parted(rule="last 1"):
    return split(read_interactions(BytesIO(ratings()), name="own.csv"), rule)


def trained(text, name, rule="last 1", **how):
    """Return ranks by a recommender, trained with the library alone, without the page."""
    parts = parted(rule)
    model = finish(parse_recommender(text).train(parts.training, 0))
    return finish(rank(model.scores, parts, system=name, **how))


def cells(at):
    """Return the table of exact metrics by system."""
    return at.table[0].value.set_index("On all items")


@pytest.fixture(scope="module")
def xyz():
    return [trained(text, name) for name, text in OF_THE_PAPERS.items()]


@pytest.fixture
def lab():
    return Page("lab", **ASKED).upload("own.csv", ratings())


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
    # The headline is about the first metric until another is chosen; the picture names the metric.
    first = lab.headline
    for metric in ("NDCG", "Recall@5"):
        lab.pick("shown", metric)
        assert f"With 9 negatives {metric}" in lab.headline
        (title,) = (x["layout"]["title"]["text"] for x in lab.specs if x.get("frames"))
        assert f" by {metric}: " in title
        assert f"{metric} on all items" in lab.pictures[0]["alt"]
    assert lab.headline == first
    # The significance sentence is about the pair with the largest p-value.
    tests = sd.significance(metric, xyz, np.random.default_rng(1))
    row = tests.loc[tests["p_holm"].idxmax()]
    (said,) = (x.value.replace("\u00a0", " ") for x in lab.markdown if "to order" in x.value)
    assert f"{row['better']} is ahead of {row['worse']} by {points(row['difference'])}" in said
    assert f"p = {row['p_holm']:.4f} after Holm over 3 pairs" in said
    # The Consistency page takes the same ranks and shows the same headline.
    said = lab.headline
    lab.press("to_consistency")
    assert lab.headline == said
    assert "Still using lab-ranks.csv." in lab.captions
    sets = lab.session_state["_good_sets"].sets
    assert [x.without_classes.with_overlaps({}) for x in sets] == xyz
    # They come with overlaps, so that chances with shared negatives are exact, not bounds.
    parts, texts = parted(), OF_THE_PAPERS.values()
    scores = [finish(parse_recommender(x).train(parts.training, 0)).scores for x in texts]
    known = sd.overlaps(xyz, scores, parts.test.matrix, parts.training.matrix)
    chances = sd.probability_if_shared("Recall@5", xyz, 9, overlaps=known)
    file = as_csv(ranks_table(sets)).encode()
    at = Page("consistency", **ASKED).upload("lab-ranks.csv", file).press("bounds")
    printed = at.table[0].value
    assert sorted(printed["if shared"]) == sorted(map(in_runs, chances["low"]))


def test_wrong_input_loses_nothing_and_only_what_is_new_is_trained(lab):
    lab.click("Train and rank")
    before, kept = cells(lab), dict(lab.session_state["_lab_made"])
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
    now = lab.session_state["_lab_made"]
    assert len(now) == 4
    assert all(now[key] is trained for key, trained in kept.items())
    lab.upload("bad.csv", b"a,b\n1,2\n")
    assert "bad.csv has no column of users: found 'a', 'b'" in lab.complaint
    assert list(cells(lab).index) == ["X d=4", "Y", "Z"]
    rows = "".join(f"{u},{i}\n" for u in "ab" for i in range(3))
    lab.upload("all.csv", f"user,item\n{rows}".encode())
    assert "User 'a' took every other item in training" in lab.complaint
    assert list(cells(lab).index) == ["X d=4", "Y", "Z"]
    assert not lab.upload("who.csv", b"user,item,to\n1,2,3\n1,3,3\n4,3,3\n4,5,3\n").error
    next(x for x in lab.selectbox if x.label == "Users in").set_value("item").run()
    assert "who.csv has no column of items: found 'user'" in lab.complaint
    next(x for x in lab.selectbox if x.label == "Users in").set_value("to").run()
    assert "1 user, 3 items, 3 interactions" in lab.captions
    assert list(cells(lab).index) == ["X d=4", "Y", "Z"]
    lab.upload("twice.csv", b"user,item\n" + b"".join(b"a,%d\n" % (i % 7) for i in range(9)))
    assert "2 interactions with the same user and item as another left out: the" in lab.captions


def test_other_splits_are_told_and_trained_apart(lab):
    lab.pick("split", "last 10 %")
    assert "Of all interactions the last in the file: 45 tested" in lab.captions
    lab.pick("seen", "kept in")
    assert "stays a candidate" in lab.captions
    assert not lab.click("Train and rank").warning
    kept = trained(OF_THE_PAPERS["Y"], "Y", "latest 10% seen=kept")
    assert cells(lab)["NDCG"]["Y"] == percent(sd.mean("NDCG", kept))
    first = next(iter(lab.session_state["_lab_made"].values()))
    assert "split: latest 10% seen=kept" in first.ranks.provenance
    # A warning says that the shown results belong to an earlier choice.
    lab.put("least_rating", 3)
    high = int(np.sum(parted("latest 10%").test.rating >= 3))
    assert f"{high} rated 3 or more are relevant" in lab.captions
    (said,) = (x.value for x in lab.warning)
    assert "Still X, Y and Z as trained before (the Lab, split latest 10% seen=kept)" in said
    lab.put("least_rating", 9).click("Train and rank")
    assert lab.complaint == "X, Y and Z: No held-out interaction is rated 9 or more: lower it."
    assert not lab.put("least_rating", 3).click("Train and rank").warning
    kept = trained(OF_THE_PAPERS["Y"], "Y", "latest 10% seen=kept", least_rating=3)
    assert cells(lab)["NDCG"]["Y"] == percent(sd.mean("NDCG", kept))
    lab.pills(key="recommenders").set_value(["X: iALS", "Random"]).run()
    (said,) = (x.value.replace("\\", "") for x in lab.warning)
    assert said == "Without Random: not trained on this choice yet."


def test_a_link_carries_changed_knobs(lab):
    lab.text_input(key="knobs_x_ials").set_value("iALS d=4").run()
    lab.pick("split", "random").put("least_rating", 4).put("lab_seed", 7)
    other = Page("lab", **lab.link).upload("own.csv", ratings())  # files never travel in a link
    assert other.text_input(key="knobs_x_ials").value == "iALS d=4"
    assert other.text_input(key="knobs_y_itemcf").value == "itemCF q=3 k=all"
    assert "Of each user a random interaction" in other.captions
    assert "rated 4 or more are relevant" in other.captions
    other.click("Train and rank")
    assert list(cells(other).index) == ["X d=4", "Y", "Z"]
    # The copied page has m and the metrics of the link, though it shows them only once trained.
    assert other.number_input(key="m").value == 9
    assert list(cells(other).columns) == ["Recall@5", "NDCG"]
    made = other.session_state["_lab_made"].values()
    assert all("seed: 7" in trained.ranks.provenance for trained in made)


def test_other_negatives_are_those_of_the_core(lab):
    lab.click("Train and rank")
    sets = [trained(text, name, weights="popularity") for name, text in OF_THE_PAPERS.items()]
    exact = {ranks.system: sd.mean("Recall@5", ranks) for ranks in sets}
    table = lab.table[-1].value.set_index("Recall@5")
    assert table.loc["all candidates"].to_dict() == {x: percent(v) for x, v in exact.items()}
    orders = []
    schemes = [name for name, design in SCHEMES.items() if design.needs != "strata"]
    assert sorted(table.index[1:]) == sorted(SCHEMES[name].label for name in schemes)
    for scheme in schemes:
        means = {x.system: sd.expected_mean("Recall@5", x, 9, scheme=scheme) for x in sets}
        assert table.loc[SCHEMES[scheme].label].to_dict() == {
            x: percent(v) for x, v in means.items()
        }
        orders.append(ranking(list(means), list(means.values())))
    right = orders.count(ranking(list(exact), list(exact.values())))
    begin = {0: "None of", len(orders): "All"}.get(right, f"{right} of")
    assert f"{begin} {len(orders)} ways of drawing 9 negatives" in lab.said
    few, many = (
        np.array([sd.expected_mean("Recall@5", x, 9, scheme=scheme) for x in sets])
        for scheme in ("without-replacement", "collapsed")
    )
    assert f"differs by at most {points(np.abs(few - many).max())} from" in lab.said
    (spec,) = (x for x in lab.specs if len(x["data"]) == len(sets) and not x.get("frames"))
    assert array(spec["data"][0]["x"])[0] == pytest.approx(100 * exact["X"])
    # With several relevant items of a user, only uniform draws are defined.
    lab.pick("split", "last 10 %").click("Train and rank")
    shown = lab.table[-1].value["Recall@5"].tolist()
    assert shown == ["all candidates", *(SCHEMES[x].label for x in usual_first() if x in uniform())]
    assert "needs one relevant item for each user" in lab.captions


def test_a_sweep_shows_its_points_as_they_come(monkeypatch):
    lab = Page("lab", lab_tab="Steck's sweeps", **ASKED).upload("own.csv", ratings())
    lab.pick("split", "last 5 halved")
    advance = Job.advance

    def two_points(job, seconds=0):
        while len(next(iter(job.points.values()), ())) < 2:
            advance(job, 1e-9)
        job.halted = True

    points = finish(sweep(parted("last 5 halved seed=0"), "wm"))
    monkeypatch.setattr(Job, "advance", two_points)
    lab.press("sweep_begin")
    assert "Sweep of w\\_m" in lab.get("progress")[0].proto.text

    def drawn(trace):
        """Return x or y of the points of ATOP, Recall and RMSE."""
        found = next(spec for spec in lab.specs if len(spec["data"]) == 9)["data"]
        return [array(found[3 * panel + 1][trace]) for panel in range(3)]

    atop = [100 * sd.mean("ATOP", point.ranks) for point in points]
    assert drawn("y")[0] == pytest.approx(atop[:2])
    monkeypatch.undo()
    lab.run().click("Go on")
    assert drawn("y")[0] == pytest.approx(atop)
    assert drawn("y")[1] == pytest.approx([100 * sd.mean("Recall@5", x.ranks) for x in points])
    rmse = [point.rmse for point in points]
    assert drawn("y")[2] == pytest.approx(rmse)
    assert drawn("x")[0][1:] == pytest.approx(np.log10(GRIDS["wm"][1:]))
    best, least = GRIDS["wm"][np.argmax(atop)], GRIDS["wm"][np.argmin(rmse)]
    assert f"ATOP is highest at w_m = {best:g} ({percent(max(atop) / 100)})" in lab.said
    assert best == least or f"RMSE lowest at w_m = {least:g} ({min(rmse):.3f})" in lab.said
    # Steck's Figure 3 has two curves if ATOP and RMSE have the same best w_m, otherwise four.
    *_, curves = (spec["data"] for spec in lab.specs)
    assert [curve["name"] for curve in curves] == [f"w_m = {best:g}"] * (2 if best == least else 4)
    shares = top_shares("w_m", points)
    assert array(curves[0]["y"]) == pytest.approx(100 * shares[f"w_m = {best:g}"])


def test_of_a_sweep_the_best_by_ranks_stands_beside_the_best_by_error():
    made = [
        Point(0.0, sd.RankSet("a", [30, 90, 101], 101, ties=[10, 0, 0]), 0.5),
        Point(0.1, sd.RankSet("b", [1, 3, 40], [101, 101, 51], ties=[0, 1, 0]), 0.9),
        Point(1.0, sd.RankSet("c", [50, 50, 50], 101), 0.7),
    ]
    shares = top_shares("w_m", made[::-1])
    assert list(shares.columns) == ["k", "w_m = 0.1", "w_m = 0"]
    for name, point in (("w_m = 0.1", made[1]), ("w_m = 0", made[0])):
        # An item is a hit if at most a share k of the others ranks above it, averaged over ties.
        given = zip(point.ranks.ranks, point.ranks.ties, point.ranks.n, strict=True)
        hits = [
            np.mean([(r + t - 1) / (n - 1) <= shares["k"] + 1e-9 for t in range(tied + 1)], axis=0)
            for r, tied, n in given
        ]
        assert shares[name].to_numpy() == pytest.approx(np.mean(hits, axis=0))
    hold = "50.00 % with w_m = 0.1 and 0.00 % with w_m = 0."
    assert words.tops(shares) == f"Of what is relevant, the first 2 % of the list hold {hold}"
    whole, top = pictures.tops(shares, dark=False).data[1::2]
    assert (whole.line.dash, top.line.dash) == ("dash", "dash")
    assert (max(whole.x), max(top.x)) == (100, 2)


def test_of_the_toy_the_ranks_alone_tell_what_is_known():
    lab = Page("lab", lab_tab="Why not RMSE")
    frames = next(spec["frames"] for spec in lab.specs if spec.get("frames"))
    for known, frame in enumerate(frames):
        title = frame["layout"]["title"]["text"]
        assert "RMSE on the ratings 0.00" in title
        assert f"ATOP {percent(toy(known).atop)}" in title
    # Knowing no user's taste, the model predicts 5 for all movies; knowing all, for half of them.
    colors = [frame["data"][0]["marker"]["color"] for frame in frames]
    assert len(set(colors[0])) == 1
    assert colors[8].count(colors[0][0]) == 32
