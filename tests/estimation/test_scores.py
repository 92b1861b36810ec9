"""Sampled ranks from scores, against evaluators written from their description and brute force."""

import io
import json
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import sampledash as sd
from sampledash.estimation.estimate import point
from tests.hostile import npy, npz, saved


def arrays(seed: int, most: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows, m, levels = *rng.integers(1, most, 2), rng.integers(1, 40)
    return rng.integers(0, levels, rows) / 7, rng.integers(0, levels, (rows, m)) / 7


published = partial(point, method="uncorrected")


def test_the_published_numbers_of_ogb_and_tgb():
    for seed in range(100):
        pos, neg = arrays(seed)
        # Both packages: the mean of the optimistic and the pessimistic number of negatives above.
        pairs = zip(pos.tolist(), neg.tolist(), strict=True)
        ranks = [1 + sum((x > score) + (x >= score) for x in row) / 2 for score, row in pairs]
        samples = sd.from_scores(pos, neg, 1_000, ties="mean-rank")
        wanted = {"MRR": np.mean([1 / rank for rank in ranks])}
        wanted |= {f"Hits@{k}": np.mean([rank <= k for rank in ranks]) for k in (1, 3, 10)}
        # OGB, one list for all: the share of positives strictly above its K-th best negative.
        one_list = sd.from_scores(pos, neg[0], 1_000, ties="pessimistic")
        for metric, value in wanted.items():
            assert published(metric, samples) == pytest.approx(value, abs=1e-12)
        for k in range(1, neg.shape[1] + 1):
            share = np.mean([score > sorted(neg[0])[-k] for score in pos])
            assert published(f"Hits@{k}", one_list) == pytest.approx(share, abs=1e-12)


def test_equal_scores_by_each_rule():
    # From the notes on designs: .0020 at the mean rank 501, and .0075 in expectation, H(1001)/1001.
    scores, rr = (np.zeros(2), np.zeros((2, 1_000)), 10_000), 1 / np.arange(1, 1002)
    wanted = {"optimistic": 1, "pessimistic": rr[-1], "expected": rr.mean(), "mean-rank": 1 / 501}
    assert (round(wanted["mean-rank"], 4), round(wanted["expected"], 4)) == (0.002, 0.0075)
    for rule, value in wanted.items():
        assert published("MRR", sd.from_scores(*scores, ties=rule)) == pytest.approx(value, 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_ties_in_every_order(seed):
    pos, neg = arrays(seed, most=5)
    samples = sd.from_scores(pos, neg, 40)
    orders = []
    for score, row in zip(pos, neg, strict=True):
        items = [(score, True), *((x, False) for x in row)]
        ranked = (sorted(order, key=lambda x: -x[0]) for order in permutations(items))
        orders.append([1 + [own for _, own in order].index(True) for order in ranked])
    for metric in ("MRR", "Hits@2", "NDCG@3", "AUC"):
        value = np.mean([sd.parse_metric(metric)(x, neg.shape[1] + 1).mean() for x in orders])
        assert published(metric, samples) == pytest.approx(value, abs=1e-12)
    # An instance stays one, however its weight is divided; with all items drawn, nothing is open.
    assert samples.outcomes.total == pytest.approx(len(pos))
    assert samples.design_effect == 1
    drawn = sd.from_scores(pos, neg, neg.shape[1] + 1)
    assert sd.bounds("MRR", drawn) == pytest.approx([published("MRR", samples)] * 2, abs=1e-12)


def test_more_instances_do_not_narrow_one_list():
    rng, runs = np.random.default_rng(3), 400
    pos, items = rng.normal(1, 0.3, 500), rng.normal(size=2_000)
    exact, held = np.mean(pos[:, None] > items), np.zeros(2)
    for _ in range(runs):
        samples = sd.from_scores(pos, rng.choice(items, 50, replace=False), len(items) + 1)
        ranges = [sd.bounds("AUC", x) for x in (samples, replace(samples, instances=None))]
        held += [low <= exact <= high for low, high in ranges]
    # 95 % less 4 standard errors; as if each instance had its own negatives, far too few.
    assert held[0] / runs > 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs) > 0.5 > held[1] / runs


def files() -> dict[str, bytes]:
    pos, neg = arrays(10)
    lines = [json.dumps({"pos": x, "neg": y.tolist()}) for x, y in zip(pos, neg, strict=True)]
    table = {"system": ["S"] * len(pos), "y_pred_pos": pos, "y_pred_neg": list(neg)}
    return {
        "s.npz": npz(pos=pos, neg=neg), "t.npz": npz(y_pred_pos=pos, y_pred_neg=neg, more=[1]),
        "u.npz": npz(pos=pos[:, None], neg=neg, n=1_000, system="U"),
        "s.npy": npy(np.column_stack([pos, neg])), "s.parquet": saved(pa.table(table)),
        "s.jsonl": "\n".join(lines).encode(),
    }  # fmt: skip


@pytest.mark.parametrize("name", files())
def test_files_of_scores(name):
    n = None if name == "u.npz" else 1_000
    (read,) = sd.read_sampled_ranks(io.BytesIO(files()[name]), name=name, n=n)
    wanted = sd.from_scores(*arrays(10), 1_000)
    assert read.ties.any()
    assert replace(read, system="scores", adaptive=False) == wanted
    assert read.system == {"s.parquet": "S", "u.npz": "U"}.get(name, name[0])
