"""Audits of lists of negatives: what the lists show about how the negatives were drawn."""
