"""Results and pictures of the Correct page for sampled ranks and for printed tables."""
