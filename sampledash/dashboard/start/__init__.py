"""The first page: what sampling does, in one picture, and the doors to the others."""
