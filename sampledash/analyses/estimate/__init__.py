"""The Correct page on sampled ranks or on a printed table: its results and pictures."""
