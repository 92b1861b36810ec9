"""An audit of lists of negatives: an example and a picture."""
