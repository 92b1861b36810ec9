"""Script of the page Lab: it trains recommenders on interactions, and analyses their ranks."""

from sampledash.dashboard import lab as page

page.show()
