"""Paper: every printed number and statement of the papers beside ours."""

from __future__ import annotations

from sampledash.dashboard.paper import page

page.show()
