"""Computation of rank sets from interactions: data, splits, recommenders and full ranking."""
