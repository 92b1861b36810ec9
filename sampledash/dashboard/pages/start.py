"""Script of the page Start: it shows in ten seconds what sampling does to a comparison."""

from sampledash.dashboard import start

start.show()
