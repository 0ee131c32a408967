"""Rules on the order of calls in the training loop."""
