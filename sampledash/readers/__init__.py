"""Readers of files and pasted text, which return rank sets; errors name file, row and column."""
