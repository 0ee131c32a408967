"""This file is the room of profiles: torch's profiler put around some steps, and what it noted down made sense of."""
