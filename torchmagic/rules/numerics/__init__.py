"""Rules on non-finite values and the size of gradients."""
