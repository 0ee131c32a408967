"""This file is the notes: what a profile says of itself where it could not be what was asked for."""

ALREADY = (
    "Not profiled: a profiler of torch was running when the profile was to begin, and there can be one at a time. "
    "Leave one of the two out."
)
INTERRUPTED = (
    "The code started a profiler of its own, and there can be one at a time: the profile ends there. Leave one of the "
    "two out."
)
ELSEWHERE = "Some of the code ran in another thread, and a profile is that of the thread that begins it."
LOST = "Nothing was profiled: somebody else stopped torch's profiler, and what it had noted down went with that."
REFUSED = "Not profiled: torch's profiler did not start ({})."
FULL = "The profile was ended after {:,.0f} s, because what it noted down grew too large; profile a shorter part."
ONLY_WARMUP = (
    "The code made no step after those that are left out at its beginning, so {:,} of these are profiled: they may be "
    "slower than later ones. Run more steps, or choose a shorter warm-up."
)
