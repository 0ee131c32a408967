"""What people type in Python and read back: the session with its views, exports and switches."""
