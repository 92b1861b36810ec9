"""Lab: from interactions to rank sets, with the recommenders of the papers."""

from sampledash.dashboard.lab import page

page.show()
