"""The Learn course: eleven lessons, each with one question and one picture."""
