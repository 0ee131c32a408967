"""Rules on parameters and the optimizers that own them."""
