"""The Consistency page: its main part, its tabs, and its version for lists that end early."""
