"""Where the rank sets of a page come from, and what was understood of them."""
