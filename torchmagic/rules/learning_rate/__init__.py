"""Rules on learning rates, their schedules, and how far steps go."""
