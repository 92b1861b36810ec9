"""Explore: what does sampling do to this metric at this rank?"""

from sampledash.dashboard import explore as page

page.show()
