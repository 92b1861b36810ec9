"""The printed numbers of two papers, and their comparison with what the package computes."""
