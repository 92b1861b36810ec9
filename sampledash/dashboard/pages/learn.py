"""Learn: nine lessons, one question and one picture each."""

from __future__ import annotations

from sampledash.dashboard.learn import page

page.show()
