"""Rules on the course of losses over a run."""
