"""The lessons, one file each, in the order of their names."""
