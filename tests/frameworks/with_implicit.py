"""Run with implicit 0.7.3."""

from implicit.als import AlternatingLeastSquares
from implicit.nearest_neighbours import CosineRecommender
from scipy.sparse import csr_matrix

from tests.frameworks.world import ITEMS, USERS, check, np, seen, users

user_items = csr_matrix(
    (np.ones(8 * USERS, np.float32), (np.repeat(users, 8), np.concatenate(seen))), (USERS, ITEMS)
)
model = AlternatingLeastSquares(factors=4, random_state=0, use_gpu=False)
model.fit(user_items, show_progress=False)
check("implicit ALS", lambda users: model.user_factors[users] @ model.item_factors.T)

model = CosineRecommender(K=5)
model.fit(user_items, show_progress=False)
check("implicit cosine", lambda users: (user_items[users] @ model.similarity).toarray())
