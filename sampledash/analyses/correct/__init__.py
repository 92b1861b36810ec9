"""Results, pictures and texts of the Correct page for a metric that the user wants to correct."""
