"""The Paper page: comparison of every printed number and statement with ours."""
