"""The Correct page on a metric: its results, its pictures and its texts."""
