"""Explore: what does sampling do to this metric at this rank?"""

from __future__ import annotations

from sampledash.dashboard.explore import page

page.show()
