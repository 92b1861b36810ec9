"""Words and formulas for what is on the screen, made from its numbers."""
