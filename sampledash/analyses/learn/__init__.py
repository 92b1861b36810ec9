"""The Learn course: nine lessons, one question and one picture each."""
