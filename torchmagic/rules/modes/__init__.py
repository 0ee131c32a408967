"""Rules on training and evaluation mode."""
