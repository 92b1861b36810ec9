"""The page "Correct" for a metric: its main part and its tabs."""
