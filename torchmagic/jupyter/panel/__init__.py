"""The live widget panel and its tabs."""
