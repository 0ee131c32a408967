"""Pure answers drawn from a run, shared by rules and views."""
