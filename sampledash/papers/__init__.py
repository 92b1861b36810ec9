"""What two papers print, as data, and each number held against the core."""
