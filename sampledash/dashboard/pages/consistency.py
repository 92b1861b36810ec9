"""Script of the page Consistency: do sampled metrics order recommenders as exact metrics do?"""

from sampledash.dashboard.consistency import page

page.show()
