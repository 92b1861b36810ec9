"""Estimates of the exact metric from sampled ranks: rank distributions, corrections, intervals."""
