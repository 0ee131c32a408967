"""The taps on torch, and the probes that measure what the taps let through."""
