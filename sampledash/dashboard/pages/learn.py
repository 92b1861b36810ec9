"""Script of the page Learn: eleven lessons, each with one question and one picture."""

from sampledash.dashboard import learn as page

page.check_link()
page.show()
