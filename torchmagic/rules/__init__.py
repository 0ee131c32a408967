"""Rules that turn a run's records into findings, one rule a file."""
