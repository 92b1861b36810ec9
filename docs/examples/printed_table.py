"""Two rows of a printed table: what do they allow on all items, and do they decide the order?"""

import sampledash as sd

N, M, DECIMALS = 3541, 100, 4  # candidates, sampled negatives, decimals as printed
table = {
    "ModelA": {"HR@1": 0.1746, "HR@5": 0.4892, "HR@10": 0.6622, "NDCG@10": 0.3921},
    "ModelB": {"HR@1": 0.1502, "HR@5": 0.4110, "HR@10": 0.5651, "NDCG@10": 0.3323},
}
setting = (N, M, DECIMALS)
for system, printed in table.items():
    low, high = sd.bounds_from_table("Recall@10", printed, *setting)
    print(f"{system}: Recall@10 on all items is {low:.1%} to {high:.1%}, without an assumption")
    low, high = sd.bounds_from_table("Recall@10", printed, *setting, shape="non-increasing")
    print(f"  if no rank is more frequent than a better one, {low:.1%} to {high:.1%}")
    print(f"  estimate: {sd.estimate_from_table('Recall@10', printed, *setting)}")

a, b = table["ModelA"], table["ModelB"]
for shape in (None, "non-increasing"):
    low, high = sd.bounds_from_table("Recall@10", a, *setting, versus=b, shape=shape)
    decided = "ModelA > ModelB" if low > 0 else "ModelB > ModelA" if high < 0 else "undecided"
    print(f"ModelA - ModelB, shape {shape}: {low:.1%} to {high:.1%}: {decided}")
