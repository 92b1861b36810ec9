"""Learn: nine lessons, one question and one picture each."""

from sampledash.dashboard import learn as page

page.show()
