"""Results and pictures of the Correct page, if its input is sampled ranks or a printed table."""
