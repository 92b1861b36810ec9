"""What a reader takes away: tables, vectors, scripts."""
