"""What lists of negatives give away about how they were drawn."""
