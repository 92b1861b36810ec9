"""The Explore page: its results, its pictures and its texts."""
