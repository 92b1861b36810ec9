"""Read files and pasted text into sets of ranks, or into the tables that a paper prints.

Errors name file, row and column.
"""
