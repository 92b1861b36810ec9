"""Script of the page Paper: it compares values in papers with the values that we compute."""

from sampledash.dashboard import paper as page

page.show()
