"""Comparison of systems by sampled and exact metrics: means, order, significance and planning."""
