"""Rules on the model and its layers."""
