"""Rules about what a profile shows: where the time of a step goes, and what would save some of it."""
