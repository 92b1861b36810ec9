"""The Paper page: every printed number and statement beside ours."""
