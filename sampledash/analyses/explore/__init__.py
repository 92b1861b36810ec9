"""The Explore page: its scene, its parts, its tabs."""
