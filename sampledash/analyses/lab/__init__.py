"""The Lab page: it trains the recommenders of the papers on interactions and ranks test items."""
