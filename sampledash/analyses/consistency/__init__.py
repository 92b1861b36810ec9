"""The Consistency page, which compares the sampled order of systems with their true order."""
