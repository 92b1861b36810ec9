"""Script of the page Explore: what does sampling do to a metric at a true rank?"""

from sampledash.dashboard import explore as page

page.show()
