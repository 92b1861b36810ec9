"""Results, pictures and texts of the page "Correct" for a metric that the user corrects."""
