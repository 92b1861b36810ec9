"""Start: in ten seconds, what sampling does to a comparison."""

from __future__ import annotations

from sampledash.dashboard.start import page

page.show()
