"""The Consistency page: its main part, its tabs, and its version for truncated ranked lists."""
