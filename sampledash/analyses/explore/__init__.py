"""The Explore page, which shows what sampling does to a metric at each rank."""
