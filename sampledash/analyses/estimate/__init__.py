"""The Correct page on what is at hand: sampled ranks, or a printed table."""
