"""Paper: every printed number and statement of the papers beside ours."""

from sampledash.dashboard import paper as page

page.show()
