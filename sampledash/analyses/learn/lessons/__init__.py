"""The lessons, one module each, in the order of the module names."""
