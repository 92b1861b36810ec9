"""Paper: every printed number and statement of the papers beside ours."""

from sampledash.dashboard.paper import page

page.show()
