"""From interactions to rank sets: data, splits, recommenders and full ranking."""
