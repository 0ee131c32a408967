"""Rules about the data: what loaders give, and what of it reaches the model."""
