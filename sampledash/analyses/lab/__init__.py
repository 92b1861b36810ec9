"""The Lab: from interactions to rank sets, with the recommenders of the papers."""
