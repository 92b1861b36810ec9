"""Paper: every printed number and statement of the papers, compared with ours."""

from sampledash.dashboard import paper as page

page.show()
