"""The Correct page: its main part and its tabs."""
