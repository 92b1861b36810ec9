"""Script of the page Start: it shows what sampling does to a comparison of recommenders."""

from sampledash.dashboard import start

start.show()
