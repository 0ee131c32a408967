"""Rules about the ranks of a distributed run, side by side."""
