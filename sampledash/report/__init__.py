"""Outputs to take away: sentences, tables, vectors, scripts and reports."""
