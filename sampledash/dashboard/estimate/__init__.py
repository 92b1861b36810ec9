"""The page "Correct" for sampled ranks and for a printed table."""
