"""Explore: what does sampling do to this metric at this rank?"""

from sampledash.dashboard.explore import page

page.show()
