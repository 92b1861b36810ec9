"""Run with Cornac 3.0.1."""

from cornac.data import Dataset
from cornac.models import BPR

from tests.frameworks.world import check, np, seen, users

data = Dataset.from_uir([(int(u), int(i), 1.0) for u in users for i in seen[u]], seed=0)
model = BPR(k=4, max_iter=20, seed=0, verbose=False).fit(data)
row = [data.uid_map[int(user)] for user in users]
column = dict(data.iid_map)
for item in range(40):  # items that nobody took have no score: a column of their own at the end
    column.setdefault(item, len(column))


def scores_of(users):
    known = np.stack([model.score(row[user]) for user in users])
    lacking = np.zeros((len(users), len(column) - known.shape[1]))
    return np.hstack([known, lacking])


check("Cornac BPR", scores_of, lambda item: column[int(item)])
