"""Rules on losses and their targets."""
