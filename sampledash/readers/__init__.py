"""Read files into rank sets; every error names file, row and column."""
