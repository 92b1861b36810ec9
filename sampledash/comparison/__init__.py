"""Comparison of systems: means, flips, chances, significance, plans and the verdict."""
