"""What a training logs: events, metrics and progress, written by a thread of their own."""
