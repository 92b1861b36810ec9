"""Section 4.2 and Figure 2 of Krichene & Rendle (KDD 2020): recommenders A, B and C."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import exact_means
from sampledash.metrics import parse_metric
from sampledash.papers.findings import Finding
from sampledash.papers.printed import METRICS_12
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Floats

_DRAWN = 99  # negatives in section 4.2
_CLOSE = 0.005  # what a reader of Figure 2 cannot tell apart


def check(abc: Sequence[RankSet]) -> list[Finding]:
    """Every statement about A, B and C, in the order of the text."""
    metrics = [parse_metric(name) for name in METRICS_12]
    protocol = Protocol.of({})
    exact = exact_means(metrics, abc, protocol)
    every = np.arange(1, 10_000)
    means = expected_means(metrics, abc, every.tolist(), protocol)
    return [*_table_2(exact, means[_DRAWN - 1]), *_figure_2(exact, means)]


def order(values: Floats) -> str:
    """Letters of the recommenders, best first."""
    return "".join("ABC"[i] for i in np.argsort(-values, kind="stable"))


def _table_2(exact: Floats, sampled: Floats) -> list[Finding]:
    auc, ap = (METRICS_12.index(name) for name in ("AUC", "AP"))
    a, b, c = exact[:, ap]
    better = min(c / a, c / b)
    worse = float(sampled[2, ap] - min(sampled[:2, ap]))
    other = [x for x, name in enumerate(METRICS_12) if name != "AUC"]
    kept = sum(order(sampled[:, x]) == order(exact[:, x]) for x in other)
    shift = float(np.max(np.abs(sampled[:, auc] - exact[:, auc])))
    return [
        Finding(
            "section 4.2", "C is clearly the best with a 10x higher average precision than B and A",
            float(better), "exact AP of C over the better of A and B", round(float(better)) == 10,
        ),
        Finding(
            "section 4.2", "C has the lowest average precision when sampled measurements are used",
            worse, "expected AP of C at m = 99 minus the lower of A and B", worse < 0,
        ),
        Finding(
            "section 4.2", "A and B perform the same on the exact metrics (average precision)",
            float(abs(a - b)), "difference of their exact AP", bool(abs(a - b) < 0.0005),
            "to three decimals, and on AP and Recall@10 only: AUC and NDCG differ",
        ),
        Finding(
            "section 4.2", "A has a 2x better average precision on the sampled metrics",
            float(sampled[0, ap] / sampled[1, ap]), "expected AP of A over that of B, m = 99",
            round(float(sampled[0, ap] / sampled[1, ap])) == 2,
        ),
        Finding(
            "section 4.2", "only AUC is consistent between sampled and exact computation", shift,
            f"largest change of a mean AUC at m = 99; of AP, NDCG and Recall@10 {kept} keep "
            "their order", shift < 1e-12 and kept == 0,
        ),
    ]  # fmt: skip


def _figure_2(exact: Floats, means: Floats) -> list[Finding]:
    auc, ap, ndcg, recall = (METRICS_12.index(name) for name in ("AUC", "AP", "NDCG", "Recall@10"))
    orders = [order(row) for row in means[:, :, ap]]
    first = next(m for m, seen in enumerate(orders, start=1) if seen != "ACB")
    last = means[-1, :, ap]
    alike = float(abs(last[0] - last[1]))
    turns = sum(a != b for a, b in pairwise(orders))
    ndcg_orders = {order(row) for row in means[:, :, ndcg]}
    lines = means[:, :, recall]
    # C ahead, and A and B, which the exact metric ties, no longer to be told apart.
    wrong = (lines[:, 2] <= lines[:, :2].max(axis=1)) | (
        np.abs(lines[:, 0] - lines[:, 1]) >= _CLOSE
    )
    settled = int(np.flatnonzero(wrong)[-1]) + 2
    spread = float(np.max(np.ptp(means[:, :, auc], axis=0)))
    same = {order(means[0, :, x]) for x in (auc, ap, ndcg)}
    return [
        Finding(
            "Figure 2", "A better than C better than B (for sample size < 50)", float(first),
            "smallest m where the order of AP is another", first >= 50,
        ),
        Finding(
            "Figure 2", "A better than B better than C (for sample size ≈ 200)", 200.0,
            f"m at which AP orders them {' > '.join(orders[199])}", orders[199] == "ABC",
        ),
        Finding(
            "Figure 2", "C better than A better than B (for sample size ≈ 500)", 500.0,
            f"m at which AP orders them {' > '.join(orders[499])}", orders[499] == "CAB",
        ),
        Finding(
            "Figure 2", "finally C better than A equal B (for large sample sizes)", alike,
            "difference of the expected AP of A and B at m = 9,999",
            alike < 0.0005 and bool(last[2] > last[:2].max()),
        ),
        Finding(
            "section 4.2", "the relative ordering changes as we change the sample size",
            float(turns), "changes of the order of AP over m = 1..9,999", turns > 1,
        ),
        Finding(
            "section 4.2", "similar observations can be made for NDCG", float(len(ndcg_orders)),
            "different orders of NDCG over m = 1..9,999", len(ndcg_orders) > 1,
        ),
        Finding(
            "section 4.2", "Recall takes about m = 5,000 samples out of n = 10,000 to become "
            "consistent", float(settled),
            "m from which Recall@10 has C ahead and A and B within 0.005", 4000 < settled < 6000,
            "C is ahead for good from m = 2,479",
        ),
        Finding(
            "section 4.2", "only AUC is consistent for all m, and the expected metric is "
            "independent of sample size", spread, "largest range of a mean AUC over m = 1..9,999",
            spread < 1e-9,
        ),
        Finding(
            "section 4.4.4", "for m = 1 all metrics give the same qualitative result, which "
            "coincides with exhaustive AUC", float(len(same)),
            "different orders by AUC, AP and NDCG at m = 1",
            same == {order(exact[:, auc])},
        ),
    ]  # fmt: skip
