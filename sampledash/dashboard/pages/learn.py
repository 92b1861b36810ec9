"""Learn: nine lessons, one question and one picture each."""

from sampledash.dashboard.learn import page

page.show()
