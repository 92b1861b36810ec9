"""The Correct page: its scene, its parts, its tabs."""
