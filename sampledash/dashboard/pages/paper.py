"""Script of the page Paper: it compares the numbers and statements of the papers with ours."""

from sampledash.dashboard import paper as page

page.show()
