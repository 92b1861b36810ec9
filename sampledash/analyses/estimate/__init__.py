"""Results and pictures of the page "Correct" for sampled ranks and for printed tables."""
