"""Lab: from interactions to rank sets, with the recommenders of the papers."""

from sampledash.dashboard import lab as page

page.show()
