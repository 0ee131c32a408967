"""Optimisation recipes, proven equal and timed: modes, recipes, measured comparisons, and the loop that trains."""
