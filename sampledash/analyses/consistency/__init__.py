"""The Consistency page: its question, its result, its pictures and its texts."""
