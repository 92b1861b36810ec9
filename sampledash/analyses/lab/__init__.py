"""The Lab page: it trains recommenders on interactions and lets them rank the test items."""
