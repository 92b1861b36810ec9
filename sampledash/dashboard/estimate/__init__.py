"""The Correct page for sampled ranks and for a printed table."""
