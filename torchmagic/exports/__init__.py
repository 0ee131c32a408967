"""Ways out of a run: files that other people and tools read."""
