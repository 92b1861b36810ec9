"""Arrays of a link-prediction benchmark: what do the published numbers say about all entities?"""

import numpy as np

import sampledash as sd

ENTITIES, POSITIVES, NEGATIVES = 15_000, 2_000, 100
rng = np.random.default_rng(1)

# What an evaluator holds of each model: pos of shape (P,) and neg of shape (P, m).
arrays = {
    "TransE": (rng.normal(2.5, 1, POSITIVES), rng.normal(size=(POSITIVES, NEGATIVES))),
    "DistMult": (rng.normal(2.0, 1.6, POSITIVES), rng.normal(size=(POSITIVES, NEGATIVES))),
}
samples = [
    sd.from_scores(pos, neg, ENTITIES, ties="mean-rank", system=name)
    for name, (pos, neg) in arrays.items()
]
for srs in samples:
    published = sd.estimate("MRR", srs, "uncorrected").value
    print(f"{srs.system}: MRR {published:.3f} with {NEGATIVES} negatives, as published")
    for metric in ("MRR", "Hits@500"):
        print(f"  {metric} on all {ENTITIES:,}: {sd.estimate(metric, srs, 'monotone-mle')}")
for metric in ("MRR", "Hits@500", "AUC"):
    print(f"{metric} on all entities: {sd.compare(metric, *samples)}")
