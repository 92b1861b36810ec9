"""The printed numbers of two papers, as data, compared with what the package computes."""
