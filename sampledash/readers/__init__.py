"""Readers of files and pasted text; errors name file, row and column.

They return rank sets, or the tables that a paper prints.
"""
