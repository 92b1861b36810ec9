"""The Learn course: ten lessons, each with one question and one picture."""
