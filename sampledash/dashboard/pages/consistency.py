"""Consistency: is the order of these recommenders on a sample their order on all items?"""

from sampledash.dashboard.consistency import page

page.show()
