"""Results, pictures and texts of the Correct page, if its input is a metric to be corrected."""
