"""Files to rank sets; every complaint names file, row and column."""
