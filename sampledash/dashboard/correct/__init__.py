"""The Correct page for a metric: its main part and its tabs."""
