"""Start: in ten seconds, what sampling does to a comparison."""

from sampledash.dashboard.start import page

page.show()
